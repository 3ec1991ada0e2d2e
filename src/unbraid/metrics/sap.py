"""SAP: how much better the best single latent predicts a factor than the second best does.

Separated attribute predictability, Kumar et al. 2018 as disentanglement_lib computes it. For a factor of discrete
values the prediction is that of a linear support vector machine on one latent (C = 0.01, balanced classes), scored by
its accuracy on held-out samples; for a continuous one it is the squared correlation.

The penalty on slopes makes that depend on the scale of the codes; unless `reference` is asked for, they are
standardised. Lines on one axis can tell many ordered values apart only at its ends, so that even the factors
themselves score about 0.2 to 0.5: compare with the ceiling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.classes import classes
from unbraid.errors import UserError, unknown
from unbraid.factors import Factor
from unbraid.information import constant_columns, is_binned
from unbraid.linear_svm import fit, highest
from unbraid.metrics import Score, check, kinds_of, label, split, usual_warnings

# Not sample_order: rows are split by their number. Not relabelled_category_keeps: lines tell the outer classes apart.
# Not perfect_codes_reach_ceiling, which asks for 0.1 more than a mediocre code has: the whole range is about 0.3.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "duplicates_lower",
    "dead_latents_keep",
    "noise_latents_keep",
}

ESTIMATORS = ("auto", "svm", "correlation")
COST = 0.01


def sap(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    test_codes: Any = None,
    test_factors: Any = None,
    estimator: str = "auto",
    standardise: bool = True,
    bins: int = 20,
    seed: int = 0,
    reference: bool = False,
) -> Score:
    """Separated attribute predictability.

    The ceiling is the score of the factors themselves, standardised and taken as codes.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor; a category, an order and a cycle of few values are classified.
        test_codes: codes to score on; without them a third of the samples.
        test_factors: their factors.
        estimator: auto (by kind), svm or correlation for every factor.
        standardise: shift and scale codes to mean 0 and variance 1 first, for the penalty on slopes has a scale.
        bins: equal-width bins of a factor that is classified but has real values.
        seed: which two thirds are fitted, if no test codes are given.
        reference: the number of disentanglement_lib: codes as they are, every value of every factor a class.
    """
    codes, factors = check(codes, factors)
    if estimator not in ESTIMATORS:
        raise unknown("estimator", estimator, ESTIMATORS)
    if bins < 2:
        raise UserError(f"bins={bins}: a factor needs at least 2 bins")
    kind = kinds_of(factors, kinds)
    if reference:
        estimator, standardise = "svm", False
    by_line = [
        estimator == "svm" or (estimator == "auto" and not is_binned(c, k))
        for c, k in zip(factors.T, kind, strict=True)
    ]
    fitted, fit_factors, held, held_factors = split(codes, factors, test_codes, test_factors, seed)
    numbers, held_numbers, cut = classes(fit_factors, held_factors, kind, bins, reference)
    numbers, held_numbers = np.asfortranarray(numbers), np.asfortranarray(held_numbers)
    varies = np.where(by_line, numbers.max(axis=0) > 0, np.ptp(factors, axis=0) > 0)
    if not varies.any():
        raise UserError("no factor column varies; SAP needs at least one factor with two values")

    def scores(codes: np.ndarray, fitted: np.ndarray, held: np.ndarray, scaled: bool = True) -> np.ndarray:
        """How well each latent predicts each factor: (latents, factors)."""
        if scaled:
            mean, scale = codes.mean(axis=0), codes.std(axis=0)
            scale[constant_columns(codes, 2)] = np.inf
            fitted, held = (fitted - mean) / scale, (held - mean) / scale
        matrix = np.zeros((codes.shape[1], factors.shape[1]))
        lined = np.flatnonzero(varies & by_line)
        if len(lined):
            for i in range(codes.shape[1]):
                for j, lines in zip(lined, fit(fitted[:, i], numbers[:, lined], COST), strict=True):
                    matrix[i, j] = (highest(*lines, held[:, i]) == held_numbers[:, j]).mean()
        for j in np.flatnonzero(varies & ~np.array(by_line)):
            angle = estimator == "auto" and kind[j] == "cycle"
            matrix[:, j] = _correlation(codes, _circle(factors[:, j]) if angle else factors[:, [j]])
        return matrix

    matrix = scores(codes, fitted, held, standardise)
    per_factor = _gaps(matrix, varies)
    return Score(
        value=float(np.nanmean(per_factor)),
        parts={"scores": matrix, "per_factor": per_factor},
        settings={
            "estimator": ["svm" if line else "correlation" for line in by_line],
            "C": COST,
            "standardise": standardise,
            "fitted": len(fitted),
            "scored": len(held),
            "seed": seed,
            "reference": reference,
            "kinds": kind,
            "bins": bins,
            "binned_factors": [j for j in cut if by_line[j]],
        },
        ceiling=float(np.nanmean(_gaps(scores(factors, fit_factors, held_factors), varies))),
        warnings=tuple(_warnings(codes, factors, kind, kinds, by_line, standardise)),
    )


def _gaps(scores: np.ndarray, varies: np.ndarray) -> np.ndarray:
    """Best minus second best per factor; nan for a factor that never varies."""
    ordered = np.sort(np.vstack([np.zeros(len(varies)), scores]), axis=0)
    return np.where(varies, ordered[-1] - ordered[-2], np.nan)


def _correlation(codes: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Share of each code's variance that is linear in the target: squared correlation, with cos and sin multiple."""
    codes = codes - codes.mean(axis=0)
    variance = codes.var(axis=0)
    basis = np.linalg.qr(target - target.mean(axis=0))[0]
    explained = ((basis.T @ codes) ** 2).sum(axis=0) / len(codes)
    return np.divide(explained, variance, out=np.zeros_like(variance), where=variance > 1e-12)


def _circle(angle: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _warnings(
    codes: np.ndarray,
    factors: np.ndarray,
    kind: list[str],
    given: Sequence[Factor | str] | None,
    by_line: list[bool],
    standardise: bool,
) -> list[str]:
    found = usual_warnings(codes, factors, given)
    spread = codes.std(axis=0)
    small = np.flatnonzero((spread > 0) & (spread < 0.1)).tolist()
    if small and any(by_line) and not standardise:
        found.append(f"code columns {small} vary by less than 0.1, which the penalty holds back: see standardise=True")
    for j, (k, line) in enumerate(zip(kind, by_line, strict=True)):
        if k == "category" and not line:
            found.append(f"the numbers of the category {label(given, j)} are taken for amounts")
    return found
