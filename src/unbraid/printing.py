"""Tables for a person or, as JSON, for a program. Imports no torch."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid import catalog
from unbraid.errors import unknown

if TYPE_CHECKING:
    from unbraid.metrics import Score

Row = dict[str, Any]
LISTED = ("methods", "data", "networks", "metrics", "claims")


def print_rows(rows: Iterable[Row], first: int, number: int = 9) -> None:
    """Print rows as they come, in columns that must be wide enough before the last row is known.

    Arguments:
        rows: with the same keys each; the first is a name, the last may be long.
        first: width of the first column.
        number: width of the others.
    """
    room = shutil.get_terminal_size((120, 20)).columns
    for place, row in enumerate(rows):
        names = list(row)
        widths = [first, *[max(number, len(n)) for n in names[1:-1]]]
        widths = [max(w, 16) if n == "interval" else w for n, w in zip(names, widths, strict=False)]
        if place == 0:
            print("".join(n.ljust(w) + "  " for n, w in zip(names, [*widths, 0], strict=True)).rstrip())
        head = "".join(cell(row[n]).ljust(w) + "  " for n, w in zip(names, widths, strict=False))
        folded = textwrap.wrap(cell(row[names[-1]]), max(room - len(head), 30)) or [""]
        print("\n".join([(head + folded[0]).rstrip(), *[" " * len(head) + more for more in folded[1:]]]), flush=True)


def print_table(rows: Sequence[Row], as_json: bool, group: str | None = None) -> int:
    """Print rows under their keys; long last columns are folded to the terminal's width."""
    if as_json:
        print(json.dumps(list(rows), indent=1, default=str))
        return 0
    shown = [{k: v for k, v in row.items() if k != group} for row in rows]
    columns = list(dict.fromkeys(k for row in shown for k in row))
    text = [{c: cell(row.get(c)) for c in columns} for row in shown]
    widths = {c: max(len(c), *(len(r[c]) for r in text)) if text else len(c) for c in columns}
    room = shutil.get_terminal_size((120, 20)).columns - sum(widths[c] + 2 for c in columns[:-1])
    last_group: Any = object()
    for place, row in enumerate(text):
        if group and rows[place][group] != last_group:
            last_group = rows[place][group]
            print(("\n" if place else "") + str(last_group))
        elif not group and place == 0:
            print("  ".join(c.ljust(widths[c]) for c in columns).rstrip())
        folded = textwrap.wrap(row[columns[-1]], max(room, 30)) or [""]
        head = ("  " if group else "") + "".join(row[c].ljust(widths[c]) + "  " for c in columns[:-1])
        print((head + folded[0]).rstrip())
        for more in folded[1:]:
            print(" " * len(head) + more)
    sys.stdout.flush()
    return 0


def cell(value: Any) -> str:
    """A number to four digits, nothing for None."""
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def list_rows(room: str | None, wanted: Sequence[str] | None = None) -> list[Row]:
    """Name and one line for every member of a room, or of all; of the claims, those wanted.

    Arguments:
        room: one of `LISTED`, or None.
        wanted: ids of claims; all by default.
    """
    if room is not None and room not in LISTED:
        raise unknown("list", room, LISTED)
    rows: list[Row] = []
    for kind in [room] if room else LISTED:
        if kind == "claims":
            from unbraid.claims import claim_ids, title

            rows += [{"kind": kind, "name": c, "summary": title(c)} for c in wanted or claim_ids()]
            continue
        folders = ("metrics", "geometry") if kind == "metrics" else (kind,)
        for folder in folders:
            for name in catalog.names(folder):
                rows.append({"kind": kind, "name": name, "summary": catalog.entry(folder, name).summary})
    return rows


def score_row(name: str, score: Score) -> Row:
    """One score as a row of a table."""
    told = ", ".join(f"{k} {_setting(v)}" for k, v in score.settings.items() if v not in ([], None) and k != "kinds")
    row: Row = {"score": name, "value": score.value}
    if score.interval:
        row["interval"] = " to ".join(f"{end:.3f}" for end in score.interval)
    return row | {"ceiling": score.ceiling, "by chance": score.chance, "better": score.best, "made with": told}


def _setting(value: Any) -> str:
    """A setting in a few words: of one word per factor, each word once."""
    return " / ".join(dict.fromkeys(map(str, value))) if isinstance(value, list | tuple) else str(value)


def status(run: Any) -> str:
    """Whether a run, or every seed of a group, came to its end; a mean over seeds that were stopped means little."""
    if not run.several:
        return run.status
    stopped = [str(member.config["seed"]) for member in run.members if member.status == "stopped"]
    return f"stopped: seed {', '.join(stopped)}" if stopped else run.status


def summary_rows(run: Any, results: Row) -> list[Row]:
    """Scores of a run, or mean and spread over its seeds."""
    rows = []
    for name, found in results["scores"].items():
        row: Row = {"run": Path(run.path).name if run.several else str(run.path), "score": name}
        if run.several:
            row |= {"mean": found["mean"], "sd": found["sd"], "seeds": len(found["values"])}
        else:
            row |= {"value": found["value"]}
        row |= {"ceiling": found["ceiling"], "by chance": found["chance"], "better": found["best"]}
        row["status"] = status(run)
        rows.append(row)
    return rows


def ledger_rows(result: Row) -> list[Row]:
    """A claim's cells: published beside ours."""
    rows = []
    for one in result["cells"]:
        told = one["published"]
        paper = "–" if told is None else f"{told[0]:g} ± {told[1]:g}" if told[1] else f"{told[0]:g}"
        ours = f"{one['mean']:.3g} ± {one['sd']:.2g}"
        agrees = {True: "yes", False: "no", None: "–"}[one["agrees"]]
        rows.append({"claim": one["name"], "paper": paper, "ours": ours, "seeds": one["seeds"], "agrees": agrees})
    return rows
