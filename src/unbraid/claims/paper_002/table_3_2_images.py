"""Table 3.2, images: share of training time in the polarized regime"""

from __future__ import annotations

from unbraid.claims import Bench, Outcome
from unbraid.claims.paper_002._setting import budget, digits, dsprites
from unbraid.claims.paper_002.table_3_2 import judged

TAKES_DATA = True
PUBLISHED = {
    "mnist d=6": 99.8, "mnist d=10": 99.5, "fashion_mnist d=6": 99.8, "fashion_mnist d=10": 97.7,
    "dsprites d=5": 97.8, "dsprites d=10": 90.6,
}  # fmt: skip


def run(bench: Bench) -> Outcome:
    """At cpu scale training is 20 times shorter than the thesis's, so the same start-up weighs 20 times more."""
    jobs = {}
    for label in PUBLISHED:
        data, _, latents = label.partition(" d=")
        jobs[label] = (
            dsprites(bench, latents=int(latents)) if data == "dsprites" else digits(bench, data, "vae", int(latents))
        )
    runs = bench.train(jobs, metrics=("polarized_regime",))
    return judged(runs, PUBLISHED, budget(jobs))
