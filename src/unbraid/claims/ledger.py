"""The ledger: every claim that was run, paper beside ours, written from results and never by hand.

Figures are copied beside it, except those made from a user's own data, which are the user's to show or not.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from unbraid import storage
from unbraid.claims import MARKS
from unbraid.printing import ledger_rows

HEAD = """# Ledger of reproduced claims

Written by `unbraid claims run` from results; do not edit. `paper` is as printed (mean ± sd), `ours` is mean ± sd over
seeds. *Reproduced*: every ordering that the text concludes holds and every number agrees within the published spread
(at least 0.05, unless said otherwise). *Ordering only*: the conclusions hold, some numbers differ. *Undecided*: no
conclusion fails, but one (marked ?) lies within a standard error over seeds. The scale `cpu` is
the full recipe for the synthetic squares and a reduced budget, stated in each entry, for images.
"""


def update(path: Path, result: dict[str, Any]) -> None:
    """Put one result into the ledger's data file beside it, and write the page anew."""
    data = path.with_suffix(".json")
    kept = json.loads(data.read_text()) if data.exists() else {}
    if result["scale"] == "smoke" and _label({**result, "scale": "cpu"}) in kept:
        return
    (path.parent / "figures").mkdir(parents=True, exist_ok=True)
    shown = [] if result["own"] else [Path(figure) for figure in result["figures"]]
    for figure in shown:
        shutil.copy(figure, path.parent / "figures" / figure.name)
    kept[_label(result)] = {**result, "figures": [figure.name for figure in shown]}
    storage.write_json(data, dict(sorted(kept.items())))
    storage.write_text(path, "\n".join([HEAD, *(_overview(kept)), *(_entry(kept[key]) for key in sorted(kept))]))


def _label(one: dict[str, Any]) -> str:
    """What tells results apart: the claim, its scale, and the data where a user gave some."""
    return " ".join(filter(None, [one["claim"], one["scale"], one["data"]]))


def _overview(kept: dict[str, Any]) -> list[str]:
    rows = ["| claim | scale | verdict |", "|--|--|--|"]
    for key in sorted(kept):
        one = kept[key]
        anchor = key.replace("/", "").replace(".", "").replace(" ", "-").lower()
        rows.append(f"| [{one['claim']}](#{anchor}) {one['title']} | {one['scale']} | {one['verdict']} |")
    return [*rows, ""]


def _entry(one: dict[str, Any]) -> str:
    lines = [f"## {_label(one)}", "", one["title"] + ".", ""]
    lines += [f"**{one['verdict']}** — {one['budget']}; {one['seconds']:.0f} s.", ""]
    rows = ledger_rows(one)
    if rows:
        lines += ["| | paper | ours | seeds | agrees |", "|--|--|--|--|--|"]
        lines += [f"| {r['claim']} | {r['paper']} | {r['ours']} | {r['seeds']} | {r['agrees']} |" for r in rows]
        lines.append("")
    lines += [f"- {MARKS[held]} {sentence}" for sentence, held in one["orderings"].items()]
    lines += ["", *one["notes"], *(f"{c['name']}: {c['note']}" for c in one["cells"] if c["note"]), ""]
    lines += [f"![{name}](figures/{name})" for name in one["figures"]] + [""] * bool(one["figures"])
    return "\n".join(lines)
