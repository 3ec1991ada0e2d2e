"""MIG: how much more the best latent knows of a factor than the second best does, in shares of its entropy.

Chen et al. 2018 as disentanglement_lib computes it: codes cut into equal-width bins, plug-in mutual
information, mean over factors of (I_first - I_second) / H(factor).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.information import (
    distinct,
    entropy,
    equal_width,
    is_binned,
    levels,
    mutual_information,
)
from unbraid.metrics import Score, check, kinds_of, label, usual_warnings

HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "sample_order",
    "perfect_codes_reach_ceiling",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_lowers",
    "duplicates_lower",
    "dead_latents_keep",
    "noise_latents_keep",
    "relabelled_category_keeps",
}


def mig(codes: Any, factors: Any, *, kinds: Sequence[Factor | str] | None = None, bins: int = 20) -> Score:
    """Mutual information gap.

    The ceiling is the score of a perfect code on these very factor columns with these bins: one latent per
    factor, which carries either the factor's values or their ranks, whichever keeps more after binning.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor (category, order, continuous, cycle); continuous ones are binned too.
        bins: equal-width bins per code; 20 in disentanglement_lib.
    """
    codes, factors = check(codes, factors)
    if bins < 2:
        raise UserError(f"bins={bins}: MIG needs at least 2 bins")
    kind = kinds_of(factors, kinds)
    truth = levels(factors, kind, bins)
    entropies = entropy(truth)
    if not entropies.any():
        raise UserError("no factor column varies; MIG needs at least one factor with two values")
    binned = equal_width(codes, bins)
    information = mutual_information(binned, truth)
    per_factor = _gaps(information, entropies)
    return Score(
        value=float(np.nanmean(per_factor)),
        parts={"information": information, "entropy": entropies, "per_factor": per_factor},
        settings={
            "bins": bins,
            "samples": len(codes),
            "kinds": kind,
            "binned_factors": [j for j, k in enumerate(kind) if is_binned(factors[:, j], k)],
        },
        ceiling=float(np.nanmean(_gaps(mutual_information(_perfect(factors, truth, bins), truth), entropies))),
        warnings=tuple(_warnings(codes, factors, binned, truth, kinds, bins)),
    )


def _gaps(information: np.ndarray, entropies: np.ndarray) -> np.ndarray:
    """Best minus second best per factor, in shares of its entropy; nan for a factor that never varies."""
    ordered = np.sort(np.vstack([np.zeros_like(entropies), information]), axis=0)
    gap = ordered[-1] - ordered[-2]
    return np.divide(gap, entropies, out=np.full_like(gap, np.nan), where=entropies > 0)


def _perfect(factors: np.ndarray, truth: np.ndarray, bins: int) -> np.ndarray:
    """Binned perfect code: per factor its values or their ranks."""
    ranks = np.stack([distinct(column) for column in factors.T], axis=1).astype(float)
    candidates = np.stack([equal_width(factors, bins), equal_width(ranks, bins)])
    kept = np.stack([mutual_information(candidate, truth).diagonal() for candidate in candidates])
    return np.where(kept[0] >= kept[1], candidates[0], candidates[1])


def _warnings(
    codes: np.ndarray,
    factors: np.ndarray,
    binned: np.ndarray,
    truth: np.ndarray,
    kinds: Sequence[Factor | str] | None,
    bins: int,
) -> list[str]:
    found = usual_warnings(codes, factors, kinds)
    varies = np.ptp(binned, axis=0) > 0
    crowded = [int(j) for j in np.flatnonzero(varies) if np.bincount(binned[:, j]).max() > 0.95 * len(codes)]
    if crowded:
        found.append(f"code columns {crowded} have over 95 % of the samples in one bin: outliers set its range")
    for j, size in enumerate(truth.max(axis=0) + 1):
        if size > bins:
            found.append(
                f"{bins} bins are coarser than factor {label(kinds, j)} ({size} values): compare with the ceiling"
            )
    return found
