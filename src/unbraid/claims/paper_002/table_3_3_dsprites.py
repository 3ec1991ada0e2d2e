"""Table 3.3, dSprites: DtO and DS of beta-VAE, VAE, AE and full covariance"""

from __future__ import annotations

from unbraid.claims import Bench, Cell, Outcome, values
from unbraid.claims.paper_002._setting import budget, dsprites

PUBLISHED = {
    "beta_vae": {"DS": (0.33, 0.15), "DtO": (0.76, 0.08)},
    "vae": {"DS": (0.21, 0.10), "DtO": (1.08, 0.15)},
    "autoencoder": {"DS": (0.09, 0.04), "DtO": (1.62, 0.03)},
    "beta_vae_full": {"DS": (0.12, 0.06), "DtO": (1.73, 0.14)},
}


def run(bench: Bench) -> Outcome:
    """A small part of the thesis's 50 epochs at cpu scale: orderings are the aim there, not numbers."""
    jobs = {method: dsprites(bench, method) for method in PUBLISHED}
    runs = bench.train(jobs, metrics=("disentanglement_score", "distance_to_orthogonality", "active_units"))
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
    notes = runs["beta_vae"].members[0].results["notes"]
    return Outcome(cells, orderings, budget(jobs), notes=notes)
