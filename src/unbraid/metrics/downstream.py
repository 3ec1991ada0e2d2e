"""Downstream: how well simple models predict the factors from the codes, and from how few samples.

Locatello et al. 2019: mean test accuracy over factors of logistic regression and of gradient boosted trees, fitted to
10, 100, 1000 and 10,000 samples, and their sample efficiency, accuracy at 100 samples over accuracy at the most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.metrics import Score, check, kinds_of, split, usual_warnings
from unbraid.targets import accuracy, are_classes, r_squared, targets, varying

# Not sample_order: which rows fit and which are scored is drawn by row number.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "perfect_codes_reach_ceiling",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "duplicates_keep",
    "dead_latents_keep",
    "relabelled_category_keeps",
}
SECONDS = 5  # of 10,000 samples, about

SIZES = (10, 100, 1000, 10_000)
PENALTIES = {False: (0.1, 10.0, 1000.0), True: tuple(np.logspace(-4, 4, 10))}  # C, by whether it is the reference


def downstream(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    test_codes: Any = None,
    test_factors: Any = None,
    sizes: Sequence[int] = SIZES,
    reference: bool = False,
    seed: int = 0,
) -> Score:
    """Test accuracy, mean of both models at the largest size; facets logistic_100, trees_100, … per model and size.

    Sizes beyond what there is become all there is. Every size holds the smaller ones. By default codes are standardised
    and the penalty of the logistic regression is the best of 3 on one held-out fifth; the reference takes codes as they
    are and the best of 10 penalties in 5 folds. The trees are the same in both.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor; continuous ones are regressed and count with R², all others classified.
        test_codes: codes to score on; without them a third of the samples is held out.
        test_factors: their factors.
        sizes: numbers of samples to fit to.
        reference: penalties as disentanglement_lib chooses them, in about ten times the time; classifies everything.
        seed: draws the held-out samples and the order of the fitted ones.
    """
    from unbraid.boosting import canonical

    codes, factors = check(codes, factors)
    if not len(sizes) or min(sizes) < 2:
        raise UserError(f"sizes={tuple(sizes)}: at least one size, and no size below 2")
    kind = kinds_of(factors, kinds)
    fit, wanted, held, truth = split(codes, factors, test_codes, test_factors, seed)
    varies = varying(wanted, truth, "downstream")
    asked = ["category"] * len(kind) if reference else kind
    wanted_of, truth_of = targets(wanted, asked, like=factors), targets(truth, asked, like=factors)
    if not reference:
        spread = np.where(np.ptp(fit, axis=0) > 4 * np.spacing(np.abs(fit).max(axis=0)), fit.std(axis=0), np.inf)
        fit, held = (fit - fit.mean(axis=0)) / spread, (held - fit.mean(axis=0)) / spread
        fit, held, _ = canonical(fit, held)
    used = sorted({min(int(size), len(fit)) for size in sizes})
    order = np.random.default_rng(seed).permutation(len(fit))
    found = {model: np.full((len(used), len(kind)), np.nan) for model in ("logistic", "trees")}
    for at, size in enumerate(used):
        rows = order[:size]
        for j in np.flatnonzero(varies):
            data = fit[rows], wanted_of[j][rows], held, truth_of[j]
            found["logistic"][at, j] = _linear(*data, PENALTIES[reference], 5 if reference else 1)
            found["trees"][at, j] = _trees(*data, seed)
    means = {model: np.nanmean(scores, axis=1) for model, scores in found.items()}
    facets = {f"{model}_{size}": float(means[model][at]) for model in means for at, size in enumerate(used)}
    if 100 in used and len(used) > 1:
        few = used.index(100)
        facets |= {f"{m}_efficiency": float(s[few] / s[-1]) if s[-1] > 0 else 0.0 for m, s in means.items()}
    warnings = usual_warnings(codes, factors, kinds)
    if max(sizes) > len(fit):
        warnings.append(f"only {len(fit)} samples to fit to: the largest size is {used[-1]}, not {max(sizes)}")
    return Score(
        value=float(np.mean([scores[-1] for scores in means.values()])),
        facets=facets,
        parts={**{f"{model}_per_factor": scores for model, scores in found.items()}, "sizes": used},
        settings={
            "sizes": used,
            "penalties": [float(c) for c in PENALTIES[reference]],
            "folds": 5 if reference else "one held-out fifth",
            "trees": "100 stages, depth 3, rate 0.1",
            "estimator": ["classifiers" if are_classes(t) else "regression, R²" for t in wanted_of],
            "reference": reference,
            "seed": seed,
            "fitted": used[-1],
            "scored": len(held),
            "kinds": kind,
        },
        chance=float(np.mean([_constant(wanted_of[j], truth_of[j]) for j in np.flatnonzero(varies)])),
        warnings=tuple(warnings),
    )


def _constant(wanted: np.ndarray, truth: np.ndarray) -> float:
    """What the best constant scores: accuracy of the most frequent class; R² of the mean is 0."""
    if not are_classes(wanted):
        return 0.0
    names, counts = np.unique(wanted, return_counts=True)
    return accuracy(names[counts.argmax()], truth)


def _linear(
    fit: np.ndarray, wanted: np.ndarray, held: np.ndarray, truth: np.ndarray, penalties: Sequence[float], folds: int
) -> float:
    """Test score of the linear model whose penalty predicts the left-out fifths best; the strongest of equals."""
    parts = np.array_split(np.arange(len(fit)), min(5, len(fit)))[-folds:]
    scores = np.zeros(len(penalties))
    for part in parts:
        kept = np.setdiff1d(np.arange(len(fit)), part)
        scores += _scores(fit[kept], wanted[kept], fit[part], wanted[part], penalties)
    return _scores(fit, wanted, held, truth, [penalties[int(scores.argmax())]])[0]


def _scores(
    fit: np.ndarray, wanted: np.ndarray, held: np.ndarray, truth: np.ndarray, penalties: Sequence[float]
) -> list[float]:
    """Score on held samples for every penalty, each fit starting from the last one."""
    from unbraid import softmax_regression

    found, model = [], None
    for c in penalties:
        if are_classes(wanted):
            model = softmax_regression.fit(fit, wanted, c=c, start=model)
            found.append(accuracy(model.predict(held), truth))
        else:
            middle, mean = fit.mean(axis=0), wanted.mean(axis=0)
            square = (fit - middle).T @ (fit - middle) + np.eye(fit.shape[1]) / c
            weights = np.linalg.solve(square, (fit - middle).T @ (wanted - mean))
            found.append(r_squared((held - middle) @ weights + mean, truth))
    return found


def _trees(fit: np.ndarray, wanted: np.ndarray, held: np.ndarray, truth: np.ndarray, seed: int) -> float:
    from unbraid.boosting import boost_classes, boost_values, ranked

    if are_classes(wanted):
        return accuracy(boost_classes(fit, wanted, held, seed=seed).predicted, truth)
    columns = ranked(fit)
    predicted = [boost_values(columns, column, held, seed=seed).predicted for column in wanted.T]
    return r_squared(np.stack(predicted, axis=1), truth)
