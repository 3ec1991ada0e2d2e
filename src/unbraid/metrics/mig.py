"""MIG: how much more the best latent knows of a factor than the second best does, in shares of its entropy.

Chen et al. 2018 as disentanglement_lib computes it: codes cut into equal-width bins, plug-in mutual
information, mean over factors of (I_first - I_second) / H(factor).

Chen et al. themselves draw the codes from q(z|x), which hides latents that are mostly noise (`sampled`). One
outlier widens all bins of equal width; bins of equal mass do not mind. Few samples share nats by accident;
`correction` takes them away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError, unknown
from unbraid.factors import Factor
from unbraid.information import BINNINGS, CORRECTIONS, entropy, is_binned, levels, mutual_information, perfect
from unbraid.metrics import Score, check, kinds_of, table, usual_warnings
from unbraid.pitfalls import accidental_nats, coarse_bins, crowded_bins

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


def mig(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    bins: int = 20,
    binning: str = "width",
    correction: str = "none",
    variance: Any = None,
    sampled: bool = False,
    seed: int = 0,
    reference: bool = False,
) -> Score:
    """Mutual information gap.

    The ceiling is the score of a perfect code on these very factor columns with these bins: one latent per
    factor, which carries either the factor's values or their ranks, whichever keeps more after binning.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor (category, order, continuous, cycle); continuous ones are binned too.
        bins: bins per code; 20 in disentanglement_lib.
        binning: width (equal-width bins) or mass (quantiles; no outlier can set the range).
        correction: none, miller_madow or shuffled, against the bias of few samples; shuffled over-corrects near H.
        variance: array (samples, latents) of the posterior, used by `sampled` only.
        sampled: draw one code per sample from q(z|x) instead of taking its mean.
        seed: of the drawn codes and of the shuffles.
        reference: the number of disentanglement_lib: 20 equal-width bins, every value of a factor for itself.
    """
    # Column after column in memory: everything below goes through columns.
    codes, factors = map(np.asfortranarray, check(codes, factors))
    if reference:
        bins, binning, correction, sampled = 20, "width", "none", False
    if bins < 2:
        raise UserError(f"bins={bins}: MIG needs at least 2 bins")
    if binning not in BINNINGS:
        raise unknown("binning", binning, BINNINGS)
    if correction not in CORRECTIONS:
        raise unknown("correction", correction, CORRECTIONS)
    if sampled:
        codes = _drawn(codes, variance, seed)
    kind = kinds_of(factors, kinds)
    if reference:
        kind = ["order"] * len(kind)
    truth = levels(factors, kind, bins, binning)
    entropies = entropy(truth, correction)
    if not entropies.any():
        raise UserError("no factor column varies; MIG needs at least one factor with two values")
    binned = BINNINGS[binning](codes, bins)
    information = mutual_information(binned, truth, correction, seed)
    per_factor = _gaps(information, entropies)
    best = mutual_information(perfect(factors, truth, bins, binning), truth, correction, seed)
    return Score(
        value=float(np.nanmean(per_factor)),
        parts={"information": information, "entropy": entropies, "per_factor": per_factor},
        settings={
            "estimator": "plug-in mutual information",
            "bins": bins,
            "binning": binning,
            "correction": correction,
            "codes": "drawn from the posterior" if sampled else "as given",
            "seed": seed,
            "reference": reference,
            "samples": len(codes),
            "kinds": kind,
            "binned_factors": [j for j, k in enumerate(kind) if is_binned(factors[:, j], k)],
        },
        ceiling=float(np.nanmean(_gaps(best, entropies))),
        warnings=(
            *usual_warnings(codes, factors, kinds),
            *crowded_bins(binned),
            *coarse_bins(truth, bins, kinds),
            *(accidental_nats(truth, bins, kinds) if correction == "none" else ()),
        ),
    )


def _drawn(mean: np.ndarray, variance: Any, seed: int) -> np.ndarray:
    """One code per sample, from a diagonal Gaussian."""
    if variance is None:
        raise UserError("sampled=True needs the variance of the posterior: variance=, an array (samples, latents)")
    variance = table(variance, "variance")
    if variance.shape != mean.shape:
        raise UserError(f"variance has shape {variance.shape} but codes {mean.shape}")
    if (variance < 0).any():
        raise UserError(f"variance has negative values, the smallest is {variance.min():.4g}: is it a log variance?")
    return mean + np.sqrt(variance) * np.random.default_rng(seed).standard_normal(mean.shape)


def _gaps(information: np.ndarray, entropies: np.ndarray) -> np.ndarray:
    """Best minus second best per factor, in shares of its entropy; nan for a factor that never varies."""
    ordered = np.sort(np.vstack([np.zeros_like(entropies), information]), axis=0)
    gap = ordered[-1] - ordered[-2]
    return np.divide(gap, entropies, out=np.full_like(gap, np.nan), where=entropies > 0)
