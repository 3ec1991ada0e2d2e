"""Figure 3.7, dSprites: line search over beta"""

from __future__ import annotations

import numpy as np

from unbraid.claims import Bench, Outcome, values
from unbraid.claims.paper_002._setting import budget, dsprites
from unbraid.claims.paper_002.figure_3_7 import draw, text

TAKES_DATA = True
BETAS = (0.1, 4.0, 16.0)


def run(bench: Bench) -> Outcome:
    """A reduced budget at cpu scale, so that only the trend is judged."""
    jobs = {str(beta): dsprites(bench, beta=beta) for beta in BETAS}
    runs = bench.train(jobs, metrics=("disentanglement_score", "distance_to_orthogonality"))
    score = {b: float(np.mean(values(runs[str(b)], "disentanglement_score"))) for b in BETAS}
    far = {b: float(np.mean(values(runs[str(b)], "distance_to_orthogonality"))) for b in BETAS}
    orderings = {"the decoder is more orthogonal at the literature's beta of 4 than at 0.1": far[4.0] < far[0.1]}
    notes = [*text(score, runs, BETAS), *runs["4.0"].members[0].results["notes"]]
    return Outcome([], orderings, budget(jobs), figures=draw(bench, runs, BETAS, "dSprites"), notes=notes)
