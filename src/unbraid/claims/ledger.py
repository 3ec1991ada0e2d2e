"""The ledger: every claim that was run, paper beside ours, written from results and never by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unbraid import storage
from unbraid.printing import ledger_rows

HEAD = """# Ledger of reproduced claims

Written by `unbraid claims run` from results; do not edit. `paper` is as printed (mean ± sd), `ours` is mean ± sd over
seeds. *Reproduced*: every ordering that the text concludes holds and every number agrees within the published spread
(at least 0.05, unless said otherwise). *Ordering only*: the conclusions hold, some numbers differ. The scale `cpu` is
the full recipe for the synthetic squares and a reduced budget, stated in each entry, for images.
"""


def update(path: Path, result: dict[str, Any]) -> None:
    """Put one result into the ledger's data file beside it, and write the page anew."""
    data = path.with_suffix(".json")
    kept = json.loads(data.read_text()) if data.exists() else {}
    if result["scale"] == "smoke" and f"{result['claim']} cpu" in kept:
        return
    kept[f"{result['claim']} {result['scale']}"] = {k: v for k, v in result.items() if k != "figures"}
    path.parent.mkdir(parents=True, exist_ok=True)
    storage.write_json(data, dict(sorted(kept.items())))
    storage.write_text(path, "\n".join([HEAD, *(_overview(kept)), *(_entry(kept[key]) for key in sorted(kept))]))


def _overview(kept: dict[str, Any]) -> list[str]:
    rows = ["| claim | scale | verdict |", "|--|--|--|"]
    for key in sorted(kept):
        one = kept[key]
        anchor = one["claim"].replace("/", "").replace(".", "") + f"-{one['scale']}"
        rows.append(f"| [{one['claim']}](#{anchor}) {one['title']} | {one['scale']} | {one['verdict']} |")
    return [*rows, ""]


def _entry(one: dict[str, Any]) -> str:
    lines = [f"## {one['claim']} {one['scale']}", "", one["title"] + ".", ""]
    lines += [f"**{one['verdict']}** — {one['budget']}; {one['seconds']:.0f} s.", ""]
    rows = ledger_rows(one)
    if rows:
        lines += ["| | paper | ours | seeds | agrees |", "|--|--|--|--|--|"]
        lines += [f"| {r['claim']} | {r['paper']} | {r['ours']} | {r['seeds']} | {r['agrees']} |" for r in rows]
        lines.append("")
    lines += [f"- {'✓' if held else '✗'} {sentence}" for sentence, held in one["orderings"].items()]
    lines += ["", *one["notes"], *(f"{c['name']}: {c['note']}" for c in one["cells"] if c["note"]), ""]
    return "\n".join(lines)
