"""What the model shows: reconstructions, traversals, and the plane of its two least noisy latents."""

from __future__ import annotations

import numpy as np

from unbraid.report.charts import Series, scatter_chart
from unbraid.report.folder import Run
from unbraid.report.latents import latents_of
from unbraid.report.markup import Safe, join, tag
from unbraid.report.numbers import show
from unbraid.report.page import figure, figures
from unbraid.report.pictures import picture

MOST = 12
POINTS = 2000


def reconstructions(run: Run) -> Safe | None:
    """Originals above what the model made of them, in strips that fit a narrow screen."""
    original, made = run.pictures.get("originals"), run.pictures.get("reconstructions")
    if original is None or made is None or original.ndim != 4 or original.shape != made.shape or not original.size:
        return None
    count, strips = min(len(original), MOST), []
    for start in range(0, count, 6):
        pair = np.stack([original[start : min(start + 6, count)], made[start : min(start + 6, count)]])
        alt = f"Images {start + 1} to {min(start + 6, count)}: originals above, reconstructions below"
        strips.append(tag("div", picture(pair, alt)))
    return figures(strips)


def traversals(run: Run) -> Safe | None:
    """One row of decoded images per latent, least noisy first, with what is known of it beside it."""
    rows = run.pictures.get("traversals")
    if rows is None or rows.ndim != 5 or not rows.size:
        return None
    latents, factors = latents_of(run), run.factors
    shown = run.pictures.get("traversal_latents")
    numbers = [int(v) for v in shown] if shown is not None and len(shown) == len(rows) else list(range(len(rows)))
    values = run.pictures.get("traversal_values")
    parts: list[Safe] = []
    for at, images in zip(numbers, rows, strict=True):
        facts = []
        if at < len(latents.noise):
            facts.append(f"σ² {show(latents.noise[at])}")
        if at < len(latents.kl):
            facts.append(f"KL {show(latents.kl[at])}")
        used = at >= len(latents.active) or latents.active[at]
        known = latents.known_factor(at, factors) if used else None
        block = run.block_of(at)
        said = [tag("b", f"Latent {at}" + (f" ({block})" if block else "")), tag("br"), ", ".join(facts)]
        last = f"knows {known}" if known else "" if used else "not used"
        said += [tag("br"), last] if last else []
        ends = f" from {show(values[0])} to {show(values[-1])}" if values is not None and len(values) > 1 else ""
        alt = f"Decoded images while latent {at} moves{ends}" + (f"; it knows {known}" if known else "")
        parts += [tag("p", join(said)), picture(images, alt)]
    return tag("div", *parts, class_="rows")


def plane(run: Run) -> Safe | None:
    """The two least noisy latents, once per factor, coloured by it."""
    mean, factors = run.codes.get("mean"), run.codes.get("factors")
    if mean is None or mean.ndim != 2 or len(mean) < 2:
        return None
    if run.pictures and mean.shape[1] > 2:
        return None
    keep = np.unique(np.linspace(0, len(mean) - 1, min(len(mean), POINTS)).astype(int))
    order = [at for at in latents_of(run).order if at < mean.shape[1]] or list(range(mean.shape[1]))
    x, across = mean[keep, order[0]], f"latent {order[0]}"
    charts = []
    columns = factors[keep].T if factors is not None and factors.ndim == 2 and len(factors) == len(mean) else []
    for at, column in enumerate(columns):
        name = run.factors[at] if at < len(run.factors) else f"factor {at}"
        y, upward = (mean[keep, order[1]], f"latent {order[1]}") if len(order) > 1 else (column, name)
        chart = scatter_chart(
            _coloured(x, y, column),
            title=f"{upward} against {across}, coloured by {name}",
            x_label=across,
            y_label=upward,
            legend=False,
        )
        finite = column[np.isfinite(column)]
        note = f"dark to bright: {show(finite.min())} to {show(finite.max())}" if finite.size else None
        charts.append(figure(f"Coloured by {name}", chart, note))
    if not charts and len(order) > 1:
        series = [Series("codes", x.tolist(), mean[keep, order[1]].tolist(), colour="s0")]
        chart = scatter_chart(series, title="Codes", x_label=across, y_label=f"latent {order[1]}")
        charts.append(figure("Codes", chart))
    return figures(charts) if charts else None


def _coloured(x: np.ndarray, y: np.ndarray, by: np.ndarray) -> list[Series]:
    low, high = (np.nanmin(by), np.nanmax(by)) if np.isfinite(by).any() else (0.0, 1.0)
    place = np.nan_to_num((by - low) / (high - low or 1.0))
    bins = np.clip((place * 10).astype(int), 0, 9)
    return [
        Series(f"{at}", x[bins == at].tolist(), y[bins == at].tolist(), colour=f"q{at}")
        for at in range(10)
        if (bins == at).any()
    ]
