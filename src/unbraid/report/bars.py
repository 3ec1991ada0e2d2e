"""Small charts of few numbers: bars per latent, strips of seeds, meters against a limit, heat maps."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unbraid.report.axes import fit
from unbraid.report.charts import LETTER, Mark
from unbraid.report.markup import Safe, svg, table, tag
from unbraid.report.numbers import MISSING, short, show


def bar_chart(
    values: Sequence[float],
    labels: Sequence[str],
    *,
    title: str,
    y_label: str = "",
    x_label: str = "",
    strong: Sequence[bool] | None = None,
    y_marks: Sequence[Mark] = (),
    width: int = 360,
    height: int = 190,
) -> Safe:
    """One bar per label; those not `strong` are drawn quietly."""
    top, bottom = 26 if y_label else 10, height - (36 if x_label else 22)
    y = fit([0.0, *values, *(mark.at for mark in y_marks)], bottom, top, pad=0.03)
    ticks = [(value, short(value)) for value in y.ticks(4)]
    left = 12 + LETTER * max(len(name) for _, name in ticks)
    parts = [tag("text", y_label, x=2, y=12, class_="soft")] if y_label else []
    for value, name in ticks:
        parts.append(tag("path", d=f"M{left:.1f} {y(value):.1f}H{width - 14}", class_="rule"))
        parts.append(tag("text", name, x=f"{left - 6:.1f}", y=f"{y(value) + 3.5:.1f}", class_="tick end"))
    room = (width - 14 - left) / max(len(values), 1)
    bar = min(room * 0.72, 26)
    every = math.ceil(max((LETTER * len(label) + 5 for label in labels), default=1) / room)
    for at, (value, label) in enumerate(zip(values, labels, strict=True)):
        middle = left + room * (at + 0.5)
        if math.isfinite(value):
            said = tag("title", f"latent {label}: {show(value, 4)}")
            shape = f"M{middle - bar / 2:.1f} {y(0):.1f}h{bar:.1f}V{y(value):.1f}h{-bar:.1f}Z"
            colour = "s0" if strong is None or strong[at] else "quiet"
            parts.append(tag("path", said, d=shape, class_=f"bar {colour}"))
        if at % every == 0:
            parts.append(tag("text", label, x=f"{middle:.1f}", y=bottom + 15, class_="tick mid"))
    if x_label:
        parts.append(tag("text", x_label, x=width - 14, y=height - 3, class_="soft end"))
    for mark in y_marks:
        place = f"{y(mark.at):.1f}"
        parts.append(tag("path", d=f"M{left:.1f} {place}H{width - 14}", class_="mark"))
        parts.append(tag("text", mark.label, x=width - 16, y=f"{y(mark.at) - 4:.1f}", class_="marked end"))
    return svg(parts, width, height, title, "chart")


def strip(values: Sequence[float], low: float, high: float, title: str, names: Sequence[str]) -> Safe:
    """Each seed's value as a dot and their mean as a tick, from `low` to `high`."""
    width, height = 170, 26
    x = fit([low, high], 6, width - 6, pad=0.0)
    parts = [tag("path", d=f"M6 {height / 2}H{width - 6}", class_="rule")]
    shown = [(value, name) for value, name in zip(values, names, strict=True) if math.isfinite(value)]
    if len(shown) > 1:
        mean = x(float(np.mean([value for value, _ in shown])))
        parts.append(tag("path", d=f"M{mean:.1f} 3v{height - 6}", class_="line quiet"))
    for at, (value, name) in enumerate(shown):
        lift = height / 2 + (-4, 0, 4)[at % 3] * (len(shown) > 3)
        said = tag("title", f"{name}: {show(value, 4)}")
        parts.append(tag("path", said, d=f"M{x(value):.1f} {lift}h0", class_="dot s0"))
    return svg(parts, width, height, title, "chart strip")


def meter(value: float, end: float, title: str, mark: float | None = None) -> Safe:
    """A bar from zero towards `end`, with an optional tick on the way."""
    width, height, end = 200, 14, end or 1.0
    reach = width * min(max(value / end, 0.0), 1.0)
    parts = [
        tag("path", d=f"M0 4h{width}v6H0Z", class_="track"),
        tag("path", d=f"M0 4h{reach:.1f}v6H0Z", class_="bar s0"),
    ]
    if mark is not None:
        parts.append(tag("path", d=f"M{width * min(mark / end, 1.0):.1f} 0v{height}", class_="line s1"))
    return svg(parts, width, height, title, "chart meter")


def heat_table(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    caption: str,
    corner: str,
    top: float | None = None,
) -> Safe:
    """A matrix as a table whose cells are as deep as their numbers."""
    finite = values[np.isfinite(values)]
    top = top or (float(finite.max()) if finite.size else 1.0) or 1.0
    body = [
        [name, *(_heat(float(value), float(value) / top) for value in row)]
        for name, row in zip(rows, values, strict=True)
    ]
    return table([corner, *columns], body, caption, "heat")


def _heat(value: float, depth: float) -> Safe:
    if not math.isfinite(value):
        return tag("span", MISSING)
    depth = min(max(depth, 0.0), 1.0)
    deep = "deep" if depth > 0.55 else None
    return tag("span", f"{value:.2f}".replace("-", "−"), style=f"--v:{depth:.3f}", class_=deep)
