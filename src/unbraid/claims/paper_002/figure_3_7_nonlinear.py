"""Figure 3.7, nonlinear square: line search over beta"""

from __future__ import annotations

import numpy as np

from unbraid.claims import Bench, Outcome, values
from unbraid.claims.paper_002._setting import SCORES, budget, square
from unbraid.claims.paper_002.figure_3_7 import draw, text

BETAS = (1e-5, 1e-3, 1e-1)


def run(bench: Bench) -> Outcome:
    """Too little regularisation leaves the axes arbitrary, too much kills latents."""
    jobs = {str(beta): square(bench, "nonlinear", beta=beta) for beta in BETAS}
    runs = bench.train(jobs, metrics=SCORES)
    score = {b: float(np.mean(values(runs[str(b)], "disentanglement_score"))) for b in BETAS}
    far = {b: float(np.mean(values(runs[str(b)], "distance_to_orthogonality"))) for b in BETAS}
    orderings = {
        "at the smallest beta the decoder is less orthogonal than at the thesis's 1e-3": far[1e-5] > far[1e-3],
        "the best DS is at none of the ends": max(score, key=lambda b: score[b]) not in (BETAS[0], BETAS[-1]),
    }
    return Outcome(
        [],
        orderings,
        budget(jobs),
        figures=draw(bench, runs, BETAS, "nonlinear square"),
        notes=text(score, runs, BETAS),
    )
