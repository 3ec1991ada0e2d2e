"""Table 1, AffectNet: expressions in salient and common codes, and W2 of common codes, of four methods"""

from __future__ import annotations

from unbraid.claims import Bench, Outcome
from unbraid.claims.paper_001._table import Printed, table

TAKES_DATA = True
OWN = "affectnet"
PUBLISHED = {
    "AffectNet": {
        "cVAE": Printed(19.02, 17.75, 0.17, 0.15, 35.76),
        "sRb-VAE": Printed(18.31, 19.85, 0.15, 0.15, 41.34),
        "Eq. 7": Printed(18.16, 19.06, 0.14, 0.16, 30.04),
        "Eq. 8": Printed(16.06, 22.66, 0.14, 0.18, 10.11),
    },
}


def run(bench: Bench) -> Outcome:
    """Your own copy of AffectNet, in UNBRAID_DATA or `--data affectnet:folder=PATH`."""
    return table(bench, PUBLISHED, {"AffectNet": 0.0})
