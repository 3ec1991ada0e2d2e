"""Lasso of many targets on the same columns, from their covariances alone, by coordinate descent.

Minimises  |y - X w|^2 / (2 n) + alpha |w|_1  for every target y; X and y enter only as X^T X / n and X^T y / n, so one
coordinate of all targets is one short vector operation, whatever the number of samples.
"""

from __future__ import annotations

import numpy as np

SWEEPS = 100_000
NEAR = 1e-9  # violation of the optimality conditions at which the descent stops


def lasso(gram: np.ndarray, cross: np.ndarray, alpha: float) -> np.ndarray:
    """Weights (columns, targets); those of a column of zeros are 0.

    Arguments:
        gram: X^T X / n of centred columns.
        cross: X^T Y / n with the centred targets.
        alpha: the penalty.
    """
    weights = np.zeros(cross.shape)
    rest = cross.astype(float)  # X^T (Y - X W) / n
    used = np.flatnonzero(gram.diagonal() > 0)
    for _ in range(SWEEPS):
        for j in used:
            pull = rest[j] + gram[j, j] * weights[j]
            new = (pull - np.minimum(np.maximum(pull, -alpha), alpha)) / gram[j, j]
            rest -= gram[:, j, None] * (new - weights[j])
            weights[j] = new
        if violation(weights[used], rest[used], alpha) <= NEAR:
            break
    return weights


def violation(weights: np.ndarray, rest: np.ndarray, alpha: float) -> float:
    """How far weights are from the optimum: X^T r / n is alpha sign(w), or within +-alpha where w = 0."""
    inside = np.maximum(np.abs(rest) - alpha, 0.0)
    return float(np.where(weights == 0, inside, np.abs(rest - alpha * np.sign(weights))).max(initial=0.0))
