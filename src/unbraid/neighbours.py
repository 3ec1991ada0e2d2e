"""Mutual information from nearest neighbours, in nats, as scikit-learn's mutual_info_classif and _regression.

- Ross 2014, real x and class y: psi(N) + <psi(k)> - <psi(N_y)> - <psi(m)>; m counts the samples closer to x than its
  k-th neighbour of the same class.
- Kraskov, Stögbauer, Grassberger 2004, first estimator, real x and y: psi(N) + psi(k) - <psi(n_x + 1) + psi(n_y + 1)>;
  n_x counts the samples closer in x than the k-th neighbour in the larger of both distances.

In one dimension neighbours are found exactly by sorting. Noise of 1e-10 standard deviations separates equal values.
"""

from __future__ import annotations

import numpy as np

NOISE = 1e-10


def with_classes(column: np.ndarray, classes: np.ndarray, neighbours: int, seed: int = 0) -> float:
    """Ross's estimate for a real column and classes of any values; samples alone in their class are left out."""
    from scipy.special import digamma

    names, member, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    if len(names) == 1:
        return 0.0
    x = separated(column, seed)
    kept = sizes[member] > 1
    x, member = x[kept], member[kept]
    if not len(x):
        return 0.0
    radius = np.empty(len(x))
    for name in np.unique(member):
        rows = np.flatnonzero(member == name)
        radius[rows] = kth_distance(x[rows], min(neighbours, len(rows) - 1))
    size = sizes[member]
    found = digamma(len(x)) + (digamma(np.minimum(neighbours, size - 1)) - digamma(size)).mean()
    return max(0.0, float(found - digamma(closer(x, radius)).mean()))


def with_numbers(column: np.ndarray, other: np.ndarray, neighbours: int, seed: int = 0) -> float:
    """Kraskov's estimate for a real column and real numbers (samples,) or (samples, columns)."""
    from scipy.spatial import cKDTree
    from scipy.special import digamma

    others = other.reshape(len(column), -1)
    if np.ptp(column) == 0 or not np.ptp(others, axis=0).any():
        return 0.0
    x = separated(column, seed)
    y = np.stack([separated(part, seed + 1 + i) for i, part in enumerate(others.T)], axis=1)
    k = min(neighbours, len(x) - 1)
    both = np.column_stack([x, y])
    radius = np.asarray(cKDTree(both).query(both, k=[k + 1], p=np.inf)[0])[:, 0]
    if y.shape[1] == 1:
        counts = closer(y[:, 0], radius)
    else:
        inside = cKDTree(y).query_ball_point(y, np.nextafter(radius, 0), p=np.inf, return_length=True)
        counts = np.asarray(inside)
    found = digamma(len(x)) + digamma(k) - digamma(closer(x, radius)).mean() - digamma(counts).mean()
    return max(0.0, float(found))


def separated(column: np.ndarray, seed: int) -> np.ndarray:
    """The column in units of its standard deviation, with noise that keeps equal values apart."""
    x = column / (column.std() or 1.0)
    scale = NOISE * max(1.0, float(np.abs(x).mean()))
    # One draw for all columns: what a column shares with a factor does not depend on its place among the columns.
    return x + scale * np.random.default_rng(seed).standard_normal(len(x))


def kth_distance(x: np.ndarray, k: int) -> np.ndarray:
    """Distance of every value to its k-th neighbour.

    The k nearest lie side by side among the sorted values: of all windows of k + 1 that hold the value, the one whose
    farther end is nearest.
    """
    order = np.argsort(x, kind="stable")
    value = np.concatenate([np.full(k, -np.inf), x[order], np.full(k, np.inf)])
    n = len(x)
    middle = value[k : k + n]
    nearest = np.full(n, np.inf)
    for first in range(k + 1):
        low, high = value[first : first + n], value[first + k : first + k + n]
        nearest = np.minimum(nearest, np.maximum(middle - low, high - middle))
    distance = np.empty(n)
    distance[order] = nearest
    return distance


def closer(x: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """How many values, each itself included, are closer than the radius."""
    ordered = np.sort(x)
    reach = radius - 4 * np.spacing(np.abs(x) + radius)  # the neighbour at the radius itself must not be counted
    reach = np.maximum(reach, 0)
    return np.searchsorted(ordered, x + reach, "right") - np.searchsorted(ordered, x - reach, "left")


def normalised(
    codes: np.ndarray, factors: np.ndarray, wanted: list[np.ndarray], neighbours: int, seed: int = 0
) -> np.ndarray:
    """Information of every latent on every factor, in shares of what the factor has to tell: (latents, factors).

    That is the entropy of a class; for real numbers, whose entropy is not finite, what they tell of themselves by the
    same estimate. A constant latent tells nothing, a constant factor is nan.
    """
    from unbraid.information import distinct, entropy

    shares = np.zeros((codes.shape[1], len(wanted)))
    alive = np.flatnonzero(np.ptp(codes, axis=0) > 4 * np.spacing(np.abs(codes).max(axis=0)))
    for j, truth in enumerate(wanted):
        if np.ptp(factors[:, j]) == 0:
            shares[:, j] = np.nan
            continue
        if truth.ndim == 1:
            whole = float(entropy(distinct(truth)[:, None])[0])
            told = [with_classes(codes[:, i], truth, neighbours, seed) for i in alive]
        else:
            whole = with_numbers(factors[:, j], truth, neighbours, seed)
            told = [with_numbers(codes[:, i], truth, neighbours, seed) for i in alive]
        shares[alive, j] = np.array(told) / whole
    return shares


def active(codes: np.ndarray) -> np.ndarray:
    """Mask of latents whose range is over a twentieth of the largest range."""
    span = np.ptp(codes, axis=0)
    return span > max(span.max() / 20, 4 * float(np.spacing(np.abs(codes).max())))


def concentrated(shares: np.ndarray) -> np.ndarray:
    """Per row the largest of n shares in their sum, from 0 where all are equal (or none is) to 1 where one is all."""
    n = shares.shape[1]
    if n < 2:
        return np.full(len(shares), float(n))
    total = shares.sum(axis=1)
    most = np.divide(shares.max(axis=1, initial=0), total, out=np.full(len(shares), 1 / n), where=total > 0)
    return (most - 1 / n) / (1 - 1 / n)
