"""Binned information: how many nats each code column shares with each factor column.

Binning is that of disentanglement_lib (`utils.make_discretizer` of its metrics): equal-width bins between the
smallest and the largest value of a column, each closed below; the largest value belongs to the last bin.
"""

from __future__ import annotations

import numpy as np


def constant_columns(columns: np.ndarray, bins: int) -> np.ndarray:
    """Mask of columns whose range is too small to be cut into that many floating point intervals."""
    span = columns.max(axis=0) - columns.min(axis=0)
    return span <= 2 * bins * np.spacing(np.abs(columns).max(axis=0))


def equal_width(columns: np.ndarray, bins: int) -> np.ndarray:
    """Bin numbers 0..bins-1 of every column; a constant column is all zeros."""
    binned = np.zeros(columns.shape, dtype=np.int64)
    for j in np.flatnonzero(~constant_columns(columns, bins)):
        edges = np.histogram_bin_edges(columns[:, j], bins)[:-1]
        binned[:, j] = np.digitize(columns[:, j], edges) - 1
    return binned


def distinct(column: np.ndarray) -> np.ndarray:
    """Rank 0..n-1 of each value among the column's n distinct values."""
    return np.unique(column, return_inverse=True)[1].reshape(-1)


def is_binned(column: np.ndarray, kind: str) -> bool:
    """Whether a factor column has to be cut into bins: real numbers, or angles that hardly ever repeat."""
    return kind == "continuous" or (kind == "cycle" and len(np.unique(column)) > len(column) / 2)


def levels(factors: np.ndarray, kinds: list[str], bins: int) -> np.ndarray:
    """Factor columns as whole numbers: distinct values, or bins where the values are real numbers."""
    columns = [
        equal_width(column[:, None], bins)[:, 0] if is_binned(column, kind) else distinct(column)
        for column, kind in zip(factors.T, kinds, strict=True)
    ]
    return np.stack(columns, axis=1)


def _entropy_of_counts(counts: np.ndarray, samples: int) -> np.ndarray:
    return np.log(samples) - (counts * np.log(np.maximum(counts, 1))).sum(axis=-1) / samples


def entropy(columns: np.ndarray) -> np.ndarray:
    """Plug-in entropy in nats of each column of whole numbers from 0."""
    size = int(columns.max()) + 1
    counts = np.bincount((columns + size * np.arange(columns.shape[1])).ravel(), minlength=size * columns.shape[1])
    return _entropy_of_counts(counts.reshape(columns.shape[1], size), len(columns))


def mutual_information(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Plug-in mutual information in nats of all left with all right columns: (left, right)."""
    samples, d = left.shape
    size = int(left.max()) + 1
    shifted = left + size * np.arange(d)
    joint = np.empty((d, right.shape[1]))
    # One count per right column: a joint table of everything would not fit where there are many levels.
    for k, column in enumerate(right.T):
        width = int(column.max()) + 1
        counts = np.bincount((shifted * width + column[:, None]).ravel(), minlength=d * size * width)
        joint[:, k] = _entropy_of_counts(counts.reshape(d, size * width), samples)
    return np.maximum(entropy(left)[:, None] + entropy(right)[None, :] - joint, 0.0)
