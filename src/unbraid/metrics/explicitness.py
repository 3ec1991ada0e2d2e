"""Explicitness: how well a linear classifier on all latents together tells the values of a factor apart.

Ridgeway and Mozer 2018, Section 3: for each factor one logistic regression of all its values on the standardised codes,
and the area under the ROC curve of each value's probability against all other values; mean over values, then over
factors. 0.5 is guessing; `normalised` maps 0.5 to 0.

disentanglement_lib standardises the codes in its repository but not in its release 1.5, which `reference` follows; it
matters where latents are collapsed, for the penalty of the regression silences codes of small variance.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.classes import classes
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.information import constant_columns
from unbraid.metrics import Score, check, kinds_of, label, split, usual_warnings
from unbraid.one_thread import one_thread

# All latents are read together: rotated, repeated or permuted ones tell as much.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_keeps",
    "duplicates_keep",
    "dead_latents_keep",
    "noise_latents_keep",
    "relabelled_category_keeps",
}
SECONDS = 1  # of 10,000 samples, about


def explicitness(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    test_codes: Any = None,
    test_factors: Any = None,
    normalised: bool = False,
    bins: int = 20,
    steps: int = 1000,
    seed: int = 0,
    reference: bool = False,
) -> Score:
    """Explicitness on held-out samples.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor; continuous ones are cut into bins.
        test_codes: codes to score on; without them a third of the samples.
        test_factors: their factors.
        normalised: 2 AUC - 1, so that guessing is 0.
        bins: equal-width bins of a continuous factor.
        steps: of the fit (L-BFGS) at most.
        seed: which two thirds are fitted, if no test codes are given.
        reference: the number of disentanglement_lib 1.5: codes as they are, every value a class, 100 steps.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    codes, factors = check(codes, factors)
    if bins < 2:
        raise UserError(f"bins={bins}: a continuous factor needs at least 2 bins")
    if steps < 1:
        raise UserError(f"steps={steps}: the fit needs at least 1 step")
    if reference:
        normalised, steps = False, 100
    kind = kinds_of(factors, kinds)
    fitted, fit_factors, held, held_factors = split(codes, factors, test_codes, test_factors, seed)
    numbers, held_numbers, cut = classes(fit_factors, held_factors, kind, bins, reference)
    varies = numbers.max(axis=0) > 0
    if not varies.any():
        raise UserError("no factor column varies; explicitness needs at least one factor with two values")
    if not reference:
        mean, scale = fitted.mean(axis=0), fitted.std(axis=0)
        scale[constant_columns(fitted, 2)] = np.inf
        fitted, held = (fitted - mean) / scale, (held - mean) / scale

    areas = np.full((2, len(kind)), np.nan)
    found = [warning for warning in usual_warnings(codes, factors, kinds) if "second best" not in warning]
    for j in np.flatnonzero(varies):
        model = LogisticRegression(max_iter=steps)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            one_thread(model.fit)(fitted, numbers[:, j])
        if max(model.n_iter_) >= steps:
            found.append(f"the fit of factor {label(kinds, int(j))} was stopped after {steps} steps")
        for row, (x, y) in enumerate(((fitted, numbers[:, j]), (held, held_numbers[:, j]))):
            areas[row, j] = np.nanmean(areas_under_roc(model.predict_proba(x), y))
    if normalised:
        areas = 2 * areas - 1
    return Score(
        value=float(np.nanmean(areas[1])),
        facets={"train": float(np.nanmean(areas[0]))},
        parts={"per_factor": areas[1], "per_factor_train": areas[0]},
        settings={
            "estimator": "logistic regression, L2, C 1, on codes " + ("as given" if reference else "standardised"),
            "fitted": len(fitted),
            "scored": len(held),
            "steps": steps,
            "seed": seed,
            "normalised": normalised,
            "reference": reference,
            "kinds": kind,
            "bins": bins,
            "binned_factors": cut,
        },
        chance=0.0 if normalised else 0.5,
        warnings=tuple(found),
    )


def areas_under_roc(scores: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """How often a sample of the class has a higher score than one of the rest, ties half; nan for an absent class.

    Arguments:
        scores: array (samples, classes).
        classes: array (samples,) of class numbers.
    """
    areas = np.full(scores.shape[1], np.nan)
    for k, column in enumerate(np.ascontiguousarray(scores.T)):
        own = column[classes == k]
        rest = len(column) - len(own)
        if len(own) and rest:
            ordered = np.sort(column)
            ranks = (np.searchsorted(ordered, own, "left") + np.searchsorted(ordered, own, "right")).sum() / 2
            areas[k] = (ranks - len(own) ** 2 / 2) / (len(own) * rest)
    return areas
