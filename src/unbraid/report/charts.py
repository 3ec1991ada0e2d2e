"""Line and scatter charts as SVG, themed by CSS variables in a page, by fixed colours in a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from unbraid.report.axes import Axis, fit
from unbraid.report.colours import standalone
from unbraid.report.markup import Safe, join, svg, tag
from unbraid.report.numbers import short, show

__all__ = ["Mark", "Series", "line_chart", "scatter_chart", "standalone"]

COLOURS = 10
LETTER = 6.1  # mean width of a letter at the charts' 11 px


@dataclass(frozen=True)
class Series:
    """One line or one cloud of points.

    Arguments:
        label: what the legend and the tooltips say.
        x: horizontal values.
        y: vertical values; NaN leaves a gap.
        low: lower edge of a spread (band of a line, whisker of a point).
        high: upper edge of a spread.
        colour: `s0`–`s9`, `q0`–`q9` of an ordered ramp, `ground` (grey, what others stand before), or `quiet` (grey, no
            legend); by position if None.
        labels: tooltip of each point, instead of its values.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    colour: str | None = None
    labels: Sequence[str] | None = None


@dataclass(frozen=True)
class Mark:
    """A labelled straight line at one value of an axis."""

    at: float
    label: str = ""


def line_chart(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
    x_marks: Sequence[Mark] = (),
    y_marks: Sequence[Mark] = (),
    dots: bool = False,
    width: int = 360,
    height: int = 220,
) -> Safe:
    """Lines with optional bands of spread; hovering near a point tells its values."""
    x, y, frame, said = _frame(series, title, x_label, y_label, log_x, log_y, x_marks, y_marks, width, height)
    drawn = [_line(s, s.colour or f"s{at % COLOURS}", x, y, dots) for at, s in enumerate(series)]
    return svg([*frame, *drawn, *said], width, height, title)


def scatter_chart(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
    x_marks: Sequence[Mark] = (),
    y_marks: Sequence[Mark] = (),
    legend: bool = True,
    width: int = 360,
    height: int = 280,
) -> Safe:
    """Points with optional whiskers; large clouds are drawn as one path and carry no tooltips."""
    x, y, frame, said = _frame(series, title, x_label, y_label, log_x, log_y, x_marks, y_marks, width, height, legend)
    many = sum(len(s.x) for s in series) > 300
    drawn = [_cloud(s, s.colour or f"s{at % COLOURS}", x, y, many) for at, s in enumerate(series)]
    return svg([*frame, *drawn, *said], width, height, title)


def _frame(
    series: Sequence[Series], title: str, x_label: str, y_label: str, log_x: bool, log_y: bool,
    x_marks: Sequence[Mark], y_marks: Sequence[Mark], width: int, height: int, legend: bool = True,
) -> tuple[Axis, Axis, list[Safe], list[Safe]]:  # fmt: skip
    keys, rows = _legend(series, width) if legend and len(series) > 1 else ([], 0)
    top = 10 + 16 * rows + (16 if y_label else 0) + (14 if any(mark.label for mark in x_marks) else 0)
    bottom = height - (38 if x_label else 24)
    heights = [v for s in series for values in (s.y, s.low or (), s.high or ()) for v in values]
    y = fit([*heights, *(m.at for m in y_marks)], bottom, top, log_y)
    ticks = [(v, short(v)) for v in y.ticks(4 if height < 260 else 5)]
    left = 12 + LETTER * max((len(name) for _, name in ticks), default=1)
    x = fit([*(v for s in series for v in s.x), *(m.at for m in x_marks)], left, width - 14, log_x, 0.03)
    parts = list(keys)
    if y_label:
        parts.append(tag("text", y_label, x=2, y=16 * rows + 12, class_="soft"))
    for value, name in ticks:
        place = f"{y(value):.1f}"
        parts.append(tag("path", d=f"M{left:.1f} {place}H{width - 14}", class_="rule"))
        parts.append(tag("text", name, x=f"{left - 6:.1f}", y=f"{y(value) + 3.5:.1f}", class_="tick end"))
    spaced = -math.inf
    for value in x.ticks(max(2, round((width - left) / 75))):
        name = short(value)
        half = LETTER * len(name) / 2
        if x(value) - half < spaced + 8 or x(value) + half > width:
            continue
        spaced = x(value) + half
        parts.append(tag("text", name, x=f"{x(value):.1f}", y=bottom + 16, class_="tick mid"))
    if x_label:
        parts.append(tag("text", x_label, x=width - 14, y=height - 4, class_="soft end"))
    parts.append(tag("path", d=f"M{left:.1f} {bottom}H{width - 14}", class_="rule"))
    parts += [tag("path", d=f"M{x(m.at):.1f} {top}V{bottom}", class_="mark") for m in x_marks]
    flat = [m for m in y_marks if y.holds(m.at)]
    parts += [tag("path", d=f"M{left:.1f} {y(m.at):.1f}H{width - 14}", class_="mark") for m in flat]
    said = [tag("text", m.label, x=f"{x(m.at):.1f}", y=top - 4, class_="marked mid") for m in x_marks if m.label]
    said += [tag("text", m.label, x=width - 16, y=f"{y(m.at) - 4:.1f}", class_="marked end") for m in flat if m.label]
    return x, y, parts, said


def _legend(series: Sequence[Series], width: int) -> tuple[list[Safe], int]:
    parts, row, place = [], 0, 2.0
    for at, one in enumerate(series):
        if one.colour == "quiet":
            continue
        wide = 22 + LETTER * len(one.label)
        if place > 2 and place + wide > width:
            row, place = row + 1, 2.0
        y = 16 * row + 12
        colour = one.colour or f"s{at % COLOURS}"
        parts.append(tag("path", d=f"M{place + 4:.1f} {y - 4}h0", class_=f"dot {colour}"))
        parts.append(tag("text", one.label, x=f"{place + 12:.1f}", y=y))
        place += wide
    return parts, row + 1


def _line(series: Series, colour: str, x: Axis, y: Axis, dots: bool) -> Safe:
    points = [
        (x(a), y(b), a, b) if x.holds(a) and y.holds(b) else None for a, b in zip(series.x, series.y, strict=True)
    ]
    runs: list[list[tuple[float, float]]] = [[]]
    for point in points:
        if point is None:
            runs.append([])
        else:
            runs[-1].append(point[:2])
    path = "".join(_path(_thin(run)) for run in runs if run)
    parts = [_band(series, colour, x, y), tag("path", d=path, class_=f"line {colour}") if path else None]
    found = [(at, point) for at, point in enumerate(points) if point]
    every = math.ceil(len(found) / 48) if found else 1
    for at, (left, up, a, b) in found[::-every]:  # from the end, so that the last value always has its tooltip
        said = series.labels[at] if series.labels else f"{series.label}: {show(b, 4)} at {show(a, 4)}"
        parts.append(_dot(left, up, colour if dots else f"hover {colour}", said))
    return join(parts)


def _band(series: Series, colour: str, x: Axis, y: Axis) -> Safe | None:
    if series.low is None or series.high is None:
        return None
    floor = y.low
    edges = [
        (x(a), y(max(low, floor) if y.log else low), y(high))
        for a, low, high in zip(series.x, series.low, series.high, strict=True)
        if x.holds(a) and math.isfinite(low) and y.holds(high)
    ]
    if len(edges) < 2:
        return None
    outline = [(a, high) for a, _, high in edges] + [(a, low) for a, low, _ in reversed(edges)]
    return tag("path", d=_path(outline) + "Z", class_=f"band {colour}")


def _cloud(series: Series, colour: str, x: Axis, y: Axis, many: bool) -> Safe:
    held = [at for at, (a, b) in enumerate(zip(series.x, series.y, strict=True)) if x.holds(a) and y.holds(b)]
    if many:
        path = "".join(f"M{x(series.x[at]):.0f} {y(series.y[at]):.0f}h0" for at in held)
        return tag("path", tag("title", series.label), d=path, class_=f"cloud {colour}")
    parts: list[Safe] = []
    for at in held:
        a, b = series.x[at], series.y[at]
        if series.low is not None and series.high is not None and y.holds(series.low[at]) and y.holds(series.high[at]):
            whisker = f"M{x(a):.1f} {y(series.low[at]):.1f}V{y(series.high[at]):.1f}"
            parts.append(tag("path", d=whisker, class_=f"line {colour}"))
        said = series.labels[at] if series.labels else f"{series.label}: {show(a, 4)}, {show(b, 4)}"
        parts.append(_dot(x(a), y(b), colour, said))
    return join(parts)


def _dot(x: float, y: float, class_: str, said: str) -> Safe:
    return tag("path", tag("title", said), d=f"M{x:.1f} {y:.1f}h0", class_=f"dot {class_}")


def _path(points: Sequence[tuple[float, float]]) -> str:
    if len(points) == 1:
        return f"M{points[0][0]:.1f} {points[0][1]:.1f}h0"
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)


def _thin(points: list[tuple[float, float]], most: int = 300) -> list[tuple[float, float]]:
    """Keep the lowest and highest point of each stretch, so that no spike is lost."""
    if len(points) <= most:
        return points
    edges = [round(at * len(points) / (most // 2)) for at in range(most // 2 + 1)]
    kept = {0, len(points) - 1}
    for start, stop in pairwise(edges):
        stretch = range(start, stop)
        kept |= {min(stretch, key=lambda at: points[at][1]), max(stretch, key=lambda at: points[at][1])}
    return [points[at] for at in sorted(kept)]
