"""The page part of what a salient code changes in the columns of a table, by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unbraid.report.axes import fit
from unbraid.report.charts import LETTER
from unbraid.report.folder import Run
from unbraid.report.markup import Safe, join, svg, table, tag
from unbraid.report.numbers import short, show
from unbraid.report.page import Section, figure, figures, fold

SHOWN = 20


def change_section(run: Run) -> Section | None:
    """The columns that change most, as bars and as a table; nothing where evaluation kept none."""
    path = run.folder / "salient_change.npz"
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as held:
        change, sd, difference, features = (held[name] for name in ("change", "sd", "difference", "features"))
    order = np.argsort(-np.abs(change))[:SHOWN]
    chart = name_bars(change[order].tolist(), features[order].tolist(), title=f"The {len(order)} columns that the salient code changes most")  # fmt: skip
    rows = [
        [features[at], show(float(change[at])), show(float(change[at] / sd[at])) if sd[at] > 0 else "–", show(float(difference[at]))]
        for at in order
    ]  # fmt: skip
    named = table(["Column", "Change", "In sd", "Difference of the groups' means"], rows, "Change by the salient code, largest first; in the units of the data.")  # fmt: skip
    lead = (
        "Targets decoded with their salient code, less the same targets decoded without it, mean over targets: what the model "
        "holds to be theirs alone. It says nothing of chance: look whether another seed names the same columns."
    )
    return Section("change", "What the salient code changes", join([figures([figure("Change, by column", chart)]), fold("As a table", named)]), lead)  # fmt: skip


def name_bars(
    values: Sequence[float], names: Sequence[str], *, title: str, x_label: str = "", width: int = 360
) -> Safe:
    """A bar to the right or to the left for each name, one below the other."""
    row, top = 15, 8
    bottom = top + row * len(values)
    left = 12 + max((LETTER * len(name) + 2 * sum(map(str.isupper, name)) for name in names), default=LETTER)
    x = fit([0.0, *values], left, width - 14, pad=0.03)
    parts = []
    for value in x.ticks(4):
        parts.append(tag("path", d=f"M{x(value):.1f} {top}V{bottom}", class_="rule"))
        parts.append(tag("text", short(value), x=f"{x(value):.1f}", y=bottom + 14, class_="tick mid"))
    for at, (value, name) in enumerate(zip(values, names, strict=True)):
        y = top + row * at
        shape = f"M{x(0.0):.1f} {y + 3}H{x(value):.1f}v{row - 5}H{x(0.0):.1f}Z"
        parts.append(tag("path", tag("title", f"{name}: {show(value, 4)}"), d=shape, class_=f"bar {'s0' if value > 0 else 's1'}"))  # fmt: skip
        parts.append(tag("text", name, x=f"{left - 6:.1f}", y=y + row - 4, class_="tick end"))
    if x_label:
        parts.append(tag("text", x_label, x=width - 14, y=bottom + 30, class_="soft end"))
    return svg(parts, width, bottom + (36 if x_label else 20), title)
