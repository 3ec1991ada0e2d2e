"""Beta-VAE score: how well a linear classifier tells from differences of codes which factor two samples share.

Higgins et al. 2017 as disentanglement_lib computes it: mean |z - z'| over 64 pairs that share factor j is one point
with label j; logistic regression (L2, C = 1) on 10,000 points, accuracy on 5,000 others. It can be 1 with all but
one factor encoded, and with factors spread over latents: read it with MIG.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid import logistic
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.fixed_factor import FixedFactor, portions
from unbraid.metrics import Score, check, kinds_of, usual_warnings
from unbraid.one_thread import one_thread

# Not sample_order: pairs are drawn by row number. Not perfect_codes_reach_ceiling: entangled codes reach it as well.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_lowers",
    "duplicates_keep",
    "monotone_warp_keeps",
    "relabelled_category_keeps",
    "dead_latents_keep",
    "noise_latents_keep",
}

NEAR_ONE = 0.99
CHUNK = 2**17  # numbers gathered at a time: what a processor's own cache holds


def beta_vae_score(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    votes: int = 10_000,
    scored: int = 5_000,
    batch: int = 64,
    bins: int = 20,
    seed: int = 0,
    reference: bool = False,
) -> Score:
    """Accuracy of a linear classifier of the shared factor.

    Pairs are drawn from the given rows (see `unbraid.fixed_factor`), not from newly encoded samples: the same
    distribution as in disentanglement_lib where factors are independent, other draws. Codes are divided by the
    largest standard deviation of a latent, so that the penalty does not depend on the unit of the code.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor; a continuous one is shared within a bin.
        votes: points that the classifier is fitted on.
        scored: points that it is scored on.
        batch: pairs per point.
        bins: equal-width bins of a continuous factor.
        seed: draws the pairs.
        reference: codes as they are, draws one after another and scikit-learn's solver, as in disentanglement_lib.
    """
    codes, factors = check(codes, factors)
    kind = kinds_of(factors, kinds)
    if min(votes, scored, batch) < 1:
        raise UserError(f"votes={votes}, scored={scored}, batch={batch}: at least 1 of each is needed")
    if bins < 2:
        raise UserError(f"bins={bins}: a continuous factor needs at least 2 bins")
    fixed = FixedFactor(factors, kind, bins)
    if not len(fixed.usable):
        raise UserError("no factor column has two values of which one is shared by two rows")
    chance = 1 / len(fixed.usable)
    found = [*usual_warnings(codes, factors, kinds), *fixed.warnings(kinds, bins)]
    if len(fixed.usable) == 1:
        found.append("a single factor leaves nothing to tell apart: any code scores 1")
    scale = 1.0 if reference else codes.std(axis=0).max() or 1.0
    # Legacy generator: the one that disentanglement_lib uses.
    draw = np.random.RandomState(seed) if reference else np.random.default_rng(seed)
    points, labels = _points(codes / scale, fixed, draw, votes, batch)
    predict = _reference_classifier(points, labels, draw, found) if reference else _classifier(points, labels)
    trained = float((predict(points) == labels).mean())
    points, labels = _points(codes / scale, fixed, draw, scored, batch)
    guess = predict(points)
    if (value := float((guess == labels).mean())) >= NEAR_ONE:
        found.append(
            "near 1 this score does not see a factor that is missing, or factors that are mixed: read it with MIG"
        )
    size = factors.shape[1]
    return Score(
        value=value,
        parts={
            "train_accuracy": trained,
            "confusion": np.bincount(labels * size + guess, minlength=size * size).reshape(size, size),
        },
        settings={
            "votes": votes,
            "scored": scored,
            "batch": batch,
            "estimator": "logistic regression, L2, C 1",
            "scale": "none" if reference else "divided by the largest std",
            "bins": bins,
            "seed": seed,
            "samples": len(codes),
            "kinds": kind,
            "binned_factors": fixed.binned,
            "pairs": "rows at hand that share a value" + (", drawn one by one" if reference else ""),
            "reference": reference,
        },
        chance=chance,
        warnings=tuple(found),
    )


def _points(codes: np.ndarray, fixed: FixedFactor, draw: Any, votes: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = fixed.pairs if isinstance(draw, np.random.Generator) else fixed.pairs_one_by_one
    points, labels = [], []
    for count in portions(votes):
        held, left, right = pairs(draw, count, batch)
        points.append(mean_distances(codes, left, right))
        labels.append(held)
    return np.concatenate(points), np.concatenate(labels)


def mean_distances(codes: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Mean |z - z'| over the pairs of each point, (points, latents)."""
    points, batch = left.shape
    distances = np.empty((points, codes.shape[1]))
    step = max(1, CHUNK // (batch * codes.shape[1]))
    share = np.full((1, batch), 1 / batch)
    for begin in range(0, points, step):
        part = slice(begin, begin + step)
        gap = np.take(codes, left[part], axis=0)
        gap -= np.take(codes, right[part], axis=0)
        np.abs(gap, out=gap)
        distances[part] = np.matmul(share, gap)[:, 0]
    return distances


def _classifier(points: np.ndarray, labels: np.ndarray) -> Any:
    weights, present = logistic.fit(points, labels)
    return lambda columns: logistic.predict(weights, present, columns)


def _reference_classifier(points: np.ndarray, labels: np.ndarray, draw: Any, found: list[str]) -> Any:
    """scikit-learn's own, as it comes; it may stop before the optimum, which is added to the warnings found."""
    if len(np.unique(labels)) == 1:
        return lambda columns: np.full(len(columns), labels[0])
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(random_state=draw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one_thread(model.fit)(points, labels)
    if model.n_iter_.max() >= model.max_iter:
        found.append(f"the reference's classifier stopped after {model.max_iter} steps, before its optimum")
    return model.predict
