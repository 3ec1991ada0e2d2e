"""InfoM: does each latent know of one factor only, in shares of the information it holds.

Modularity of Hsu et al. 2023 (InfoMEC). With NMI_ij what latent i tells of factor j in shares of the entropy of j, over
the active latents i and K factors: InfoM = (mean_i max_j NMI_ij / sum_j NMI_ij - 1/K) / (1 - 1/K).
A latent counts as active if its range is over a twentieth of the largest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.metrics import Score, check, kinds_of, usual_warnings
from unbraid.neighbours import active, concentrated, normalised
from unbraid.targets import are_classes, targets, varying

HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "perfect_codes_reach_ceiling",
    "rotation_lowers",
    "dead_latents_keep",
    "constant_code_scores_chance",
    "monotone_warp_keeps",
    "relabelled_category_keeps",
    "duplicates_keep",
}
SECONDS = 1  # of 10,000 samples, about


def infom(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    neighbours: int = 10,
    seed: int = 0,
) -> Score:
    """InfoM, modularity by information; the value lies between 0 and 1.

    Information is estimated from nearest neighbours (see unbraid.neighbours) and never quite 0: of latents that know
    nothing the largest share is still large. `chance` is the score of the same codes with their rows shuffled.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor; information on continuous ones is measured in shares of what they tell of themselves.
        neighbours: neighbours of the estimate; 10 in the reference.
        seed: draws the noise that separates equal values, and the shuffled rows.
    """
    codes, factors = check(codes, factors)
    if not 1 <= neighbours < len(codes):
        raise UserError(f"neighbours={neighbours}: must be from 1 to {len(codes) - 1}, one less than the samples")
    kind = kinds_of(factors, kinds)
    varies = varying(factors, factors, "InfoM")
    wanted = targets(factors, kind)
    kept = active(codes)
    shares = normalised(codes, factors, wanted, neighbours, seed)
    shuffled = codes[np.random.default_rng(seed).permutation(len(codes))]
    by_chance = normalised(shuffled, factors, wanted, neighbours, seed)
    each = concentrated(shares[kept][:, varies])
    per = np.full(codes.shape[1], np.nan)
    per[kept] = each
    return Score(
        value=float(each.mean()) if len(each) else 0.0,
        parts={"information": shares, "per_latent": per, "active": kept},
        settings={
            "neighbours": neighbours,
            "seed": seed,
            "samples": len(codes),
            "kinds": kind,
            "estimator": ["Ross 2014" if are_classes(t) else "Kraskov et al. 2004" for t in wanted],
        },
        chance=float(concentrated(by_chance[kept][:, varies]).mean()) if kept.any() else None,
        warnings=tuple(_warnings(codes, factors, shares, by_chance, kept, varies, kinds)),
    )


def _warnings(
    codes: np.ndarray,
    factors: np.ndarray,
    shares: np.ndarray,
    by_chance: np.ndarray,
    kept: np.ndarray,
    varies: np.ndarray,
    kinds: Sequence[Factor | str] | None,
) -> list[str]:
    found = usual_warnings(codes, factors, kinds)
    if not kept.all():
        found.append(f"code columns {np.flatnonzero(~kept).tolist()} are not active: under 1/20 of the largest range")
    idle = kept & (shares[:, varies].max(axis=1) <= 1.5 * by_chance[kept][:, varies].max(initial=0))
    if idle.any():
        found.append(
            f"code columns {np.flatnonzero(idle).tolist()} know no more of any factor than chance: "
            "their place in the mean is noise"
        )
    if varies.sum() == 1:
        found.append("a single factor: every latent is modular by definition")
    return found
