"""Table 4.5, original data: SAP of beta-VAE, FactorVAE and TC-VAE"""

from __future__ import annotations

from unbraid.claims import Bench, Outcome
from unbraid.claims.paper_002._chapter_4 import table

PUBLISHED = {
    "dsprites": {
        "beta_vae": (0.04, 0.01),
        "factor_vae": (0.07, 0.03),
        "beta_tcvae": (0.08, 0.01),
    },
    "shapes3d": {
        "beta_vae": (0.16, 0.08),
        "factor_vae": (0.07, 0.04),
        "beta_tcvae": (0.08, 0.02),
    },
}


def run(bench: Bench) -> Outcome:
    """The trainings are those of the neighbouring tables."""
    return table(bench, "sap", PUBLISHED)
