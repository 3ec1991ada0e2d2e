"""Exact optimal transport between two samples with squared Euclidean cost, and what it costs if they are of one distribution.

Of equal size, uniform weights leave a permutation as an optimal plan (Birkhoff): the assignment problem, which SciPy
solves faster than a network simplex does. Of unequal size it is a linear programme, solved by POT. POT itself needs no
more than NumPy and SciPy, but unpacks to 177 MB and is only wanted here: an extra, `pip install 'unbraid[transport]'`.
"""

from __future__ import annotations

import numpy as np

from unbraid.errors import UserError


def costs(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """C_ij = |a_i - b_j|² in float64; paper 001, Eq. 9."""
    from scipy.spatial.distance import cdist

    return cdist(a.astype(np.float64, copy=False), b.astype(np.float64, copy=False), "sqeuclidean")


def matching(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """For each row of a its partner in b, under the cheapest of all one-to-one matchings."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(_finite(costs(a, b)))[1]


def plan(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """T* of Eq. 9: (rows of a, rows of b), non-negative, with uniform marginals."""
    cost = _finite(costs(a, b))
    if len(a) == len(b):
        exact = np.zeros_like(cost)
        exact[np.arange(len(a)), matching(a, b)] = 1 / len(a)
        return exact
    try:
        import ot
    except ImportError as error:
        raise UserError(
            f"samples of unequal size ({len(a)} and {len(b)}) are transported by POT: pip install 'unbraid[transport]'"
        ) from error
    found: np.ndarray = ot.emd(np.full(len(a), 1 / len(a)), np.full(len(b), 1 / len(b)), cost, numItermax=10_000_000)
    return found


def squared_w2(a: np.ndarray, b: np.ndarray) -> float:
    """W2² between the uniform measures on the rows of a and of b, Eq. 9."""
    if len(a) != len(b):
        return float((plan(a, b) * costs(a, b)).sum())
    return float(np.square(a - b[matching(a, b)]).sum(-1).mean())


def floor(codes: np.ndarray, batch: int, repeats: int = 20, seed: int = 0) -> np.ndarray:
    """W2² between two batches of the very same distribution: what an estimate from batches cannot fall below on average.

    It grows with the dimension and falls slowly with the batch, about as batch^(-2/d).

    Arguments:
        codes: array (samples, latents), at least 2 * batch rows.
        batch: rows of each of the two, which share none.
        repeats: pairs of batches; one value each is returned.
        seed: draws them.
    """
    if len(codes) < 2 * batch:
        raise UserError(f"two batches of {batch} need {2 * batch} samples, there are {len(codes)}")
    draw = np.random.default_rng(seed)
    pairs = (draw.permutation(len(codes))[: 2 * batch] for _ in range(repeats))
    return np.array([squared_w2(codes[rows[:batch]], codes[rows[batch:]]) for rows in pairs])


def normal_floor(latents: int, batch: int, repeats: int = 20, seed: int = 0) -> np.ndarray:
    """The same for N(0, I): of every pair of batches, one value."""
    draw = np.random.default_rng(seed).standard_normal((repeats, 2, batch, latents))
    return np.array([squared_w2(a, b) for a, b in draw])


def _finite(cost: np.ndarray) -> np.ndarray:
    """A training that diverged is stopped for its loss: a bad number must reach the loss and not fail on the way."""
    return cost if np.isfinite(cost).all() else np.zeros_like(cost)
