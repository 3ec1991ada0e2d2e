"""Table 3.3, linear square: DtO and DS of beta-VAE, AE and full covariance"""

from __future__ import annotations

from unbraid.claims import Bench, Outcome
from unbraid.claims.paper_002._setting import SCORES, aligned, beside, budget, square

PUBLISHED = {
    "beta_vae": {"DS": (0.99, 0.01), "DtO": (0.00, 0.00)},
    "autoencoder": {"DS": (0.71, 0.19), "DtO": (0.33, 0.18)},
    "beta_vae_full": {"DS": (0.71, 0.31), "DtO": (0.34, 0.35)},
}
HAAR = 0.55  # DtO of a random rotation of two latents; the thesis's "random decoder" column (0.79) is higher


def run(bench: Bench) -> Outcome:
    """600 epochs at every scale but smoke: ten seeds as one ensemble take about a minute."""
    jobs = {method: square(bench, "linear", method) for method in PUBLISHED}
    runs = bench.train(jobs, metrics=SCORES)
    cells, ours = beside(runs, PUBLISHED)
    mean = {cell.name: cell.mean for cell in cells}
    orderings: dict[str, bool | None] = {
        "beta-VAE DtO is below 0.05": mean["beta_vae DtO"] < 0.05,
        "beta-VAE DS (clipped) is above 0.95": mean["beta_vae DS"] > 0.95,
        "AE and full covariance are within 0.25 of a random rotation (0.55)": all(
            abs(mean[f"{m} DtO"] - HAAR) < 0.25 for m in ("autoencoder", "beta_vae_full")
        ),
    }
    return Outcome(cells, orderings | aligned(ours), budget(jobs), notes=[
        "AE and full covariance have no preferred rotation: exact theory gives a Haar-random one, DtO 0.55 ± 0.31 and "
        "any DS; the published 0.33 and 0.34 lie inside that spread.",
    ])  # fmt: skip
