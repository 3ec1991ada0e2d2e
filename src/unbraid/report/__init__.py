"""Reports: one self-contained HTML file per run, group of seeds or set of runs, from their folders alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unbraid import storage
from unbraid.report import many, one
from unbraid.report.folder import Run, collect
from unbraid.report.page import document


def write_report(folders: Sequence[Path], out: Path) -> Path:
    """Write the report of one run, of a group of seeds, or of several of either, to one HTML file.

    Arguments:
        folders: run folders, or folders of `seed-0`, `seed-1`, …; runs alike but for the seed are grouped.
        out: the file to write; an older one is replaced only once the new one is whole.
    """
    out = Path(out)
    storage.check_file(out)
    page = report_html(collect(folders))
    out.parent.mkdir(parents=True, exist_ok=True)
    storage.write(out, lambda part: part.write_text(page, encoding="utf-8"))
    return out


def report_html(groups: Sequence[Sequence[Run]]) -> str:
    """The report of runs already read, as one page."""
    under = _under(groups[0][0])
    if len(groups) > 1:
        return document(many.heading(groups), many.compare_sentence(groups), under, many.compare_sections(groups))
    group = groups[0]
    title = one.title(group[0])
    if len(group) > 1:
        return document(title, many.seeds_sentence(group), under, many.seeds_sections(group))
    return document(title, one.sentence(group[0]), under, one.sections(group[0]))


def _under(run: Run) -> str:
    facts = [
        f"Unbraid {run.environment.get('unbraid') or ''}".strip(),
        str(run.environment.get("started") or ""),
    ]
    return " · ".join(fact for fact in facts if fact)
