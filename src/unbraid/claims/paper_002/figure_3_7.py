"""Figure 3.7, linear square: line search over beta, with the collapse steps that the closed form predicts"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.claims import Bench, Outcome, values
from unbraid.claims.paper_002._setting import SCORES, budget, square
from unbraid.linear_theory import linear_closed_form
from unbraid.report.charts import Mark, Series, line_chart, standalone

BETAS = (1e-5, 1e-4, 1e-3, 1e-2, 0.15, 0.2, 0.5, 0.75)
COVARIANCE = np.diag([1 / 3, 1 / 12])  # of a unit square with one side twice as long


def run(bench: Bench) -> Outcome:
    """Ten seeds at every beta; the theory says where a latent dies, with nothing fitted."""
    jobs = {str(beta): square(bench, "linear", beta=beta) for beta in BETAS}
    runs = bench.train(jobs, metrics=SCORES)
    collapse = linear_closed_form(COVARIANCE, 1e-3, 2).collapse
    predicted = [int(linear_closed_form(COVARIANCE, beta, 2).active.sum()) for beta in BETAS]
    found = [[int(v) for v in alive(runs[str(beta)])] for beta in BETAS]
    marks = [Mark(float(c), f"{c:.2f}") for c in collapse]
    figures = draw(bench, runs, BETAS, "linear square", marks)
    score = {beta: float(np.mean(values(runs[str(beta)], "disentanglement_score"))) for beta in BETAS}
    orderings = {
        f"beta {beta:g}: {expected} of 2 latents alive, as predicted": all(n == expected for n in each)
        for beta, expected, each in zip(BETAS, predicted, found, strict=True)
    } | {
        "DS rises to a plateau near 1 (above 0.95 at some beta)": max(score.values()) > 0.95,
        "beyond the first collapse DS falls": score[0.2] < max(score.values()) - 0.2,
    }
    return Outcome([], orderings, budget(jobs), figures=figures, notes=[
        f"predicted collapse at beta = {collapse[1]:.4f} and {collapse[0]:.4f} (2 lambda); alive: "
        "var mu above 0.01, since the rule sqrt(var mu) > 0.5 cuts at sigma² = 0.75, before the collapse itself.",
        *text(score, runs, BETAS),
    ])  # fmt: skip


def alive(runs: Any) -> list[float]:
    """Latents per seed whose means vary at all."""
    return [float((np.load(m.path / "codes.npz")["mean"].var(0) > 0.01).sum()) for m in runs.members]


def text(score: dict[float, float], runs: dict[str, Any], betas: Sequence[float]) -> list[str]:
    """The figure's numbers in words."""
    parts = [
        f"beta {b:g}: DS {score[b]:.2f}, DtO {np.mean(values(runs[str(b)], 'distance_to_orthogonality')):.2f}"
        for b in betas
    ]
    return ["; ".join(parts)]


def draw(
    bench: Bench, runs: dict[str, Any], betas: Sequence[float], words: str, marks: Sequence[Mark] = ()
) -> list[str]:
    """DS and DtO over beta, with the spread over seeds."""
    figures = []
    for short, score in (("DS", "disentanglement_score"), ("DtO", "distance_to_orthogonality")):
        each = [np.array(values(runs[str(b)], score)) for b in betas]
        mean, sd = [float(v.mean()) for v in each], [float(v.std()) for v in each]
        low, high = (
            [m - s for m, s in zip(mean, sd, strict=True)],
            [m + s for m, s in zip(mean, sd, strict=True)],
        )
        series = [Series(short, list(betas), mean, low, high)]
        chart = line_chart(
            series,
            title=f"{short} over beta, {words}",
            x_label="beta",
            y_label=short,
            log_x=True,
            x_marks=marks,
            dots=True,
            width=440,
        )
        path = bench.figure(f"{bench.name.split('-', 1)[1]}-{short.lower()}.svg")
        path.write_text(standalone(chart))
        figures.append(str(path))
    return figures
