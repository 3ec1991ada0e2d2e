"""Table 4.3, original data: DCI disentanglement of beta-VAE, FactorVAE and TC-VAE

The thesis prints a lower DCI for the beta-VAE on original dSprites than on noisy ones, against its own MIG: a column
error is likely.
"""

from __future__ import annotations

from unbraid.claims import Bench, Outcome
from unbraid.claims.paper_002._chapter_4 import table

PUBLISHED = {
    "dsprites": {
        "beta_vae": (0.11, 0.03),
        "factor_vae": (0.37, 0.10),
        "beta_tcvae": (0.34, 0.06),
    },
    "shapes3d": {
        "beta_vae": (0.73, 0.14),
        "factor_vae": (0.39, 0.18),
        "beta_tcvae": (0.67, 0.08),
    },
}


def run(bench: Bench) -> Outcome:
    """The trainings are those of the neighbouring tables."""
    return table(bench, "dci", PUBLISHED)
