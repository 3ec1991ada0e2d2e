"""Training over time: every term, every latent, and how polarized the code is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.report.advice import LIMIT
from unbraid.report.charts import Mark, Series, line_chart
from unbraid.report.folder import Run
from unbraid.report.latents import latents_of, polarisation
from unbraid.report.markup import Safe
from unbraid.report.numbers import show, spread
from unbraid.report.page import figure

FLOOR = " floor"  # what the history calls the distance within one group
NAMES = {"kl": "KL", "loss": "Loss", "reconstruction": "Reconstruction"}


def _wide(values: Sequence[float]) -> bool:
    found = [v for v in values if math.isfinite(v)]
    return bool(found) and min(found) > 0 and max(found) > 40 * min(found)


def term_figures(runs: Sequence[Run]) -> list[Safe]:
    """One chart per term; several seeds become their mean with a band of one standard deviation."""
    names = list(dict.fromkeys(name for run in runs for name in run.terms()))
    found = [_term(runs, name, "terms", NAMES.get(name, name.replace("_", " ").replace("kl", "KL"))) for name in names]
    weights = list(dict.fromkeys(n for run in runs for r in run.history for n in (r.get("weights") or {})))
    for name in weights:
        if any(len(set(run.curve(name, "weights")[1])) > 1 for run in runs):
            found.append(_term(runs, name, "weights", f"Weight {name}"))
    return [one for one in found if one is not None]


def distance_figures(runs: Sequence[Run]) -> list[Safe]:
    """How far groups are apart in each block over training, beside two batches of one group."""
    names = list(
        dict.fromkeys(name for run in runs for r in run.history for name in _held(r) if name + FLOOR in _held(r))
    )
    found = []
    for name in names:
        curves, floors = ([run.curve(n, "distances") for run in runs] for n in (name, name + FLOOR))
        least = [values[-1] for _, values in floors if values and math.isfinite(values[-1])]
        if not least or max(len(steps) for steps, _ in curves) < 2:
            continue
        mark = float(np.mean(least))
        label = f"W2² between groups, {name}"
        series, note = _series([curve for curve in curves if any(map(math.isfinite, curve[1]))], label)
        chart = line_chart(
            [series], title=f"{label}, over training", x_label="step", y_marks=[Mark(mark, "within one group")],
            log_y=_wide([*series.y, *(series.low or ())]),
        )  # fmt: skip
        found.append(
            figure(
                label, chart, f"{note}; within one group {show(mark, 4)} at the end; drawn codes of validation samples"
            )
        )
    return found


def _held(record: Mapping[str, Any]) -> dict[str, Any]:
    held = record.get("distances")
    return held if isinstance(held, dict) else {}


def _term(runs: Sequence[Run], name: str, group: str, label: str) -> Safe | None:
    curves = [curve for run in runs if any(map(math.isfinite, (curve := run.curve(name, group))[1]))]
    if not curves:
        return None
    series, note = _series(curves, label)
    if len(curves) == 1:
        finite = [(v, s) for s, v in zip(*curves[0], strict=True) if math.isfinite(v)]
        low, at = min(finite)
        if name in ("loss", "reconstruction"):
            note += f", lowest {show(low, 4)} at step {show(at)}"
        elif group == "terms":
            note += f", between {show(low)} and {show(max(finite)[0])}"
    edges = [*series.y, *(series.low or ())]
    chart = line_chart([series], title=f"{label} over training", x_label="step", log_y=_wide(edges))
    return figure(label, chart, note)


def _series(curves: list[tuple[list[float], list[float]]], label: str) -> tuple[Series, str]:
    """One curve as it is, several as their mean with a band; and what it ends with."""
    if len(curves) > 1:
        return _band(curves, label)
    steps, values = curves[0]
    return Series(label, steps, values), f"last {show([v for v in values if math.isfinite(v)][-1], 4)}"


def _band(curves: list[tuple[list[float], list[float]]], label: str) -> tuple[Series, str]:
    end = min(steps[-1] for steps, _ in curves)
    steps = sorted({step for found, _ in curves for step in found if step <= end})
    rows = np.array([np.interp(steps, found, values) for found, values in curves])
    mean, sd = rows.mean(axis=0), rows.std(axis=0, ddof=1)
    low, high = (mean - sd).tolist(), (mean + sd).tolist()
    said = f"last {spread(rows[:, -1].tolist())} over {len(curves)} seeds"
    return Series(label, steps, mean.tolist(), low, high), said


def latent_series(run: Run, name: str) -> list[Series]:
    """One line per latent: the used ones in colour in the order of noise, the others quiet and behind."""
    steps, rows = run.probes(name)
    latents = latents_of(run)
    order = [at for at in latents.order if rows and at < len(rows[0])]
    used = [at for at in order if not latents.active or latents.active[at]][:8]
    quiet = [at for at in order if at not in used]
    lines = [Series(f"latent {at}", steps, [row[at] for row in rows], colour="quiet") for at in quiet]
    return lines + [
        Series(f"latent {at}", steps, [row[at] for row in rows], colour=f"s{place}") for place, at in enumerate(used)
    ]


def regime_figure(run: Run) -> Safe | None:
    """The share of the KL outside the polarized form, and the line below which a code counts as polarized."""
    steps, delta = polarisation(run)
    if not any(map(math.isfinite, delta)):
        return None
    percent = [100 * value for value in delta]
    score = run.scores.get("polarized_regime")
    since = show(score.parts.get("since")) if score and score.parts.get("since") is not None else None
    note = f"last {show(percent[-1])} %" + (f"; below 3 % for good since step {since}" if since else "")
    chart = line_chart(
        [Series("outside the polarized form, %", steps, percent)],
        title="Share of the KL outside the polarized form over training",
        x_label="step",
        y_label="%",
        log_y=min([v for v in percent if math.isfinite(v)]) > 0,
        y_marks=[Mark(100 * LIMIT, "3 %")],
    )
    return figure("Distance from the polarized regime, Δ(KL)", chart, note)
