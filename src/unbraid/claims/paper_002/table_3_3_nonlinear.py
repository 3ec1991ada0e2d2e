"""Table 3.3, nonlinear square: DtO and DS of beta-VAE, AE and full covariance"""

from __future__ import annotations

from unbraid.claims import Bench, Cell, Outcome, values
from unbraid.claims.paper_002._setting import SCORES, budget, square

PUBLISHED = {
    "beta_vae": {"DS": (0.73, 0.16), "DtO": (0.18, 0.02)},
    "autoencoder": {"DS": (0.59, 0.30), "DtO": (0.54, 0.13)},
    "beta_vae_full": {"DS": (0.42, 0.24), "DtO": (0.55, 0.02)},
}


def run(bench: Bench) -> Outcome:
    """600 epochs of the 60-40-20 network, ten seeds stacked."""
    jobs = {method: square(bench, "nonlinear", method) for method in PUBLISHED}
    runs = bench.train(jobs, metrics=SCORES)
    ours = {
        m: {"DS": values(r, "disentanglement_score"), "DtO": values(r, "distance_to_orthogonality")}
        for m, r in runs.items()
    }
    cells = [Cell(f"{m} {score}", PUBLISHED[m][score], ours[m][score]) for m in PUBLISHED for score in ("DS", "DtO")]
    mean = {cell.name: cell.mean for cell in cells}
    orderings = {
        "beta-VAE is more orthogonal than AE and full covariance": all(
            mean["beta_vae DtO"] < mean[f"{m} DtO"] for m in ("autoencoder", "beta_vae_full")
        ),
        "beta-VAE scores a higher DS than AE and full covariance": all(
            mean["beta_vae DS"] > mean[f"{m} DS"] for m in ("autoencoder", "beta_vae_full")
        ),
    }
    return Outcome(cells, orderings, budget(jobs), notes=[
        "The thesis draws the embedding at random and does not publish it; DS and DtO depend on the drawn network.",
    ])  # fmt: skip
