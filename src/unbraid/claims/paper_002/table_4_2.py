"""Table 4.2, original data: MIG of AE, beta-VAE, FactorVAE and TC-VAE"""

from __future__ import annotations

from unbraid.claims import Bench, Outcome
from unbraid.claims.paper_002._chapter_4 import table

PUBLISHED = {
    "dsprites": {
        "autoencoder": (0.09, 0.06),
        "beta_vae": (0.23, 0.08),
        "factor_vae": (0.27, 0.11),
        "beta_tcvae": (0.25, 0.08),
    },
    "shapes3d": {
        "autoencoder": (0.06, 0.03),
        "beta_vae": (0.60, 0.31),
        "factor_vae": (0.27, 0.18),
        "beta_tcvae": (0.58, 0.20),
    },
}


def run(bench: Bench) -> Outcome:
    """The trainings are those of the neighbouring tables."""
    return table(bench, "mig", PUBLISHED)
