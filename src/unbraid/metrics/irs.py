"""IRS: how little a latent moves, at worst, while the factor that it stands for is held still.

Interventional robustness, Suter et al. 2018 as disentanglement_lib computes it. For latent i and factor j: the 0.99
quantile of |z_i - E[z_i | v_j]| among samples of equal v_j, averaged over the values, in shares of max |z_i - E z_i|;
one minus that; the best factor of each latent; mean over latents with weights max |z_i - E z_i|.

A latent that is noise scores one minus its 0.99 quantile over its largest value, about 0.3 for Gaussian noise: `chance`
is the score of these very codes if no factor held anything still.

disentanglement_lib cuts the factors into its histogram bins first; `kinds` continuous for all does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.information import constant_columns, equal_width, is_binned, levels
from unbraid.metrics import Score, check, kinds_of, usual_warnings
from unbraid.pitfalls import crowded_bins

# A latent that repeats another one is as robust as that one.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "sample_order",
    "perfect_codes_reach_ceiling",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_lowers",
    "duplicates_keep",
    "dead_latents_keep",
    "relabelled_category_keeps",
}


def irs(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    quantile: float = 0.99,
    bins: int = 20,
    reference: bool = False,
) -> Score:
    """Interventional robustness score.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor (category, order, continuous, cycle); continuous ones are binned.
        quantile: of the deviations among samples of equal value; 1 in the paper, 0.99 in disentanglement_lib.
        bins: equal-width bins of a continuous factor.
        reference: the number of disentanglement_lib, from every value of a factor for itself.
    """
    codes, factors = check(codes, factors)
    if not 0 < quantile <= 1:
        raise UserError(f"quantile={quantile}: must be above 0 and at most 1")
    if reference:
        quantile = 0.99
    if bins < 2:
        raise UserError(f"bins={bins}: a continuous factor needs at least 2 bins")
    kind = kinds_of(factors, kinds)
    if reference:
        kind = ["order"] * len(kind)
    truth = levels(factors, kind, bins)
    varies = truth.max(axis=0) > 0
    if not varies.any():
        raise UserError("no factor column varies; IRS needs at least one factor with two values")
    known = varies | reference
    largest = np.where(constant_columns(codes, 2), 0.0, np.abs(codes - codes.mean(axis=0)).max(axis=0))
    matrix = _robustness(codes, truth, largest, quantile)
    by_chance = _robustness(codes, np.zeros((len(codes), 1), dtype=np.int64), largest, quantile)
    warnings = [warning for warning in usual_warnings(codes, factors, kinds) if "second best" not in warning]
    return Score(
        value=_mean(matrix[:, known], largest),
        parts={"matrix": matrix, "per_latent": matrix[:, known].max(axis=1), "weights": largest},
        settings={
            "estimator": "quantile of deviations from the mean of equal factor values",
            "quantile": quantile,
            "bins": bins,
            "reference": reference,
            "samples": len(codes),
            "kinds": kind,
            "binned_factors": [j for j, k in enumerate(kind) if is_binned(factors[:, j], k)],
        },
        chance=_mean(by_chance, largest),
        warnings=(*warnings, *crowded_bins(equal_width(codes, bins))),
    )


def _mean(matrix: np.ndarray, weights: np.ndarray) -> float:
    """The best factor of each latent, weighted by how far the latent ever goes."""
    return float(np.average(matrix.max(axis=1), weights=weights)) if weights.any() else 0.0


def _robustness(codes: np.ndarray, truth: np.ndarray, largest: np.ndarray, quantile: float) -> np.ndarray:
    """1 minus the mean over values of the quantile of deviations, (latents, factors)."""
    deviations = np.zeros((codes.shape[1], truth.shape[1]))
    for j, values in enumerate(truth.T):
        grouped = np.ascontiguousarray(codes.T[:, np.argsort(values, kind="stable")])
        groups = np.split(grouped, np.cumsum(np.bincount(values))[:-1], axis=1)
        groups = [group for group in groups if group.shape[1]]
        for group in groups:
            deviations[:, j] += _quantile(np.abs(group - group.mean(axis=1, keepdims=True)), quantile) / len(groups)
    return 1 - np.divide(deviations, largest[:, None], out=np.ones_like(deviations), where=largest[:, None] > 0)


def _quantile(rows: np.ndarray, quantile: float) -> np.ndarray:
    """Quantile of each row, between its two neighbours by their distance; reorders the rows."""
    place = quantile * (rows.shape[1] - 1)
    low = int(place)
    rows.partition(low, axis=1)
    lower = rows[:, low]
    if low == rows.shape[1] - 1:
        return lower
    return lower + (rows[:, low + 1 :].min(axis=1) - lower) * (place - low)
