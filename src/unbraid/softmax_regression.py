"""Multinomial logistic regression by L-BFGS, step for step as scikit-learn's LogisticRegression (solver lbfgs).

Minimised from zero: the weighted mean of -log softmax(x W + b)[class] plus |W|² / (2 C sum of weights); C may be
infinite. Where classes can be separated and C is infinite there is no minimum, and the number of steps decides the
result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unbraid.one_thread import one_thread


@dataclass(frozen=True)
class Logistic:
    """A fitted model: classes, weights (features, classes) and offsets."""

    classes: np.ndarray
    weights: np.ndarray
    offsets: np.ndarray

    def log_probabilities(self, codes: np.ndarray) -> np.ndarray:
        """Log of the probability of each class, (samples, classes)."""
        score = codes @ self.weights + self.offsets
        score -= score.max(axis=1, keepdims=True)
        return score - np.log(np.exp(score).sum(axis=1, keepdims=True))

    def predict(self, codes: np.ndarray) -> np.ndarray:
        """The most probable class."""
        return self.classes[(codes @ self.weights + self.offsets).argmax(axis=1)]

    def cross_entropy(self, codes: np.ndarray, wanted: np.ndarray) -> float:
        """Mean -log probability of the true class in nats; a class that was never fitted has probability eps."""
        place = np.minimum(np.searchsorted(self.classes, wanted), len(self.classes) - 1)
        found = self.log_probabilities(codes)[np.arange(len(wanted)), place]
        floor = np.log(np.finfo(float).eps)
        return float(-np.maximum(np.where(self.classes[place] == wanted, found, floor), floor).mean())


@one_thread
def fit(
    codes: np.ndarray,
    wanted: np.ndarray,
    *,
    c: float = np.inf,
    balanced: bool = False,
    steps: int = 100,
    start: Logistic | None = None,
) -> Logistic:
    """Fit class values wanted (samples,) from codes (samples, features).

    Arguments:
        codes: what is known; on a common scale, for the penalty and for few steps.
        wanted: class values.
        c: inverse of the penalty's weight.
        balanced: every class weighs the same.
        steps: at most so many steps of L-BFGS.
        start: a model of the same classes to start from instead of zero.
    """
    from scipy.optimize import minimize

    classes, member = np.unique(wanted, return_inverse=True)
    n, d = codes.shape
    k = len(classes)
    mass = (n / (k * np.bincount(member)))[member] if balanced else np.ones(n)
    mass = mass / mass.sum()
    hard = 0.0 if np.isinf(c) else 1 / (c * n)
    inputs = np.column_stack([codes, np.ones(n)])
    rows = np.arange(n)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(d + 1, k)
        score = inputs @ weights
        score -= score.max(axis=1, keepdims=True)
        own = score[rows, member]
        np.exp(score, out=score)
        total = score.sum(axis=1)
        value = mass @ (np.log(total) - own) + 0.5 * hard * (weights[:d] ** 2).sum()
        score *= (mass / total)[:, None]
        score[rows, member] -= mass
        slope = inputs.T @ score
        slope[:d] += hard * weights[:d]
        return float(value), slope.ravel()

    first = np.zeros((d + 1, k)) if start is None else np.vstack([start.weights, start.offsets])
    options: Any = {"maxiter": steps, "maxls": 50, "gtol": 1e-4, "ftol": 64 * np.finfo(float).eps}
    found = minimize(loss, first.ravel(), (), "L-BFGS-B", True, options=options).x.reshape(d + 1, k)
    return Logistic(classes, found[:d], found[d])
