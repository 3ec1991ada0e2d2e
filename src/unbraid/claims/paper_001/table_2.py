"""Table 2, AffectNet: accuracy of a shallow classifier of expressions on salient codes, class by class"""

from __future__ import annotations

from typing import Any

from unbraid.claims import Bench, Cell, Outcome, above, values
from unbraid.claims.paper_001._setting import BETA, COLUMNS, METHODS, job, reduced, row
from unbraid.claims.paper_002._setting import budget
from unbraid.data.affectnet import EXPRESSIONS

TAKES_DATA = True
OWN = "affectnet"
SCORE = "salient_classification"
PUBLISHED = {  # happiness, sadness, surprise, fear, disgust, anger, contempt
    "DIP-VAE-II": (0.548, 0.245, 0.401, 0.389, 0.268, 0.391, 0.463),
    "VAE": (0.583, 0.251, 0.389, 0.349, 0.260, 0.391, 0.469),
    "beta-TCVAE": (0.563, 0.277, 0.393, 0.349, 0.256, 0.427, 0.467),
    "Rb-VAE": (0.536, 0.393, 0.379, 0.311, 0.320, 0.383, 0.421),
    "sRb-VAE": (0.587, 0.405, 0.387, 0.327, 0.344, 0.425, 0.483),
    "Eq. 7": (0.575, 0.488, 0.389, 0.365, 0.356, 0.395, 0.501),
    "Eq. 8": (0.579, 0.491, 0.401, 0.374, 0.358, 0.398, 0.506),
}
ONE_BLOCK = {"DIP-VAE-II": "dip_vae_ii", "VAE": "vae", "beta-TCVAE": "beta_tcvae"}
TOLERANCE = 0.05


def run(bench: Bench) -> Outcome:
    """Your own copy of AffectNet, in UNBRAID_DATA or `--data affectnet:folder=PATH`."""
    jobs = {label: _job(bench, label) for label in PUBLISHED}
    runs = bench.train(jobs, metrics=(SCORE,))
    mean = {label: values(found, SCORE) for label, found in runs.items()}
    cells = [
        Cell(f"{label} {expression}", (PUBLISHED[label][at], 0.0), _class(runs[label], at), TOLERANCE)
        for label in PUBLISHED
        for at, expression in enumerate(EXPRESSIONS)
    ]
    orderings = {"Eq. 8 tells expressions better than all others, mean over classes": above(mean["Eq. 8"], *[v for label, v in mean.items() if label != "Eq. 8"])}  # fmt: skip
    return Outcome(cells, orderings, budget(jobs), notes=[
        *reduced(bench, "AffectNet"),
        "Logistic regression on salient means, on all latents where a method has one block, judged on held-out samples. The paper's row "
        "\"sVAE\" is taken for a plain VAE.",
        *runs["Eq. 8"].members[0].results["notes"],
    ])  # fmt: skip


def _job(bench: Bench, label: str) -> dict[str, Any]:
    about = COLUMNS["AffectNet"]
    if label in ONE_BLOCK:
        return job(bench, ONE_BLOCK[label], "AffectNet", latents=about.common + about.salient)
    if label in METHODS:
        return row(bench, label, "AffectNet")
    return job(bench, "rb_vae", "AffectNet", common=about.common, salient=about.salient, beta=BETA)


def _class(run: Any, at: int) -> list[float]:
    """The accuracy of one expression, one value per seed."""
    scores = [member.results["scores"][SCORE] for member in run.members if member.status == "finished"]
    return [score["parts"]["per_class"]["expression"][f"{float(at)}"] for score in scores]
