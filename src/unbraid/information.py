"""Binned information: how many nats each code column shares with each factor column.

Equal-width bins are those of disentanglement_lib (`utils.make_discretizer` of its metrics): between the smallest
and the largest value of a column, each closed below; the largest value belongs to the last bin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

CORRECTIONS = ("none", "miller_madow", "shuffled")
SHUFFLES = 5


def constant_columns(columns: np.ndarray, bins: int) -> np.ndarray:
    """Mask of columns whose range is too small to be cut into that many floating point intervals."""
    return np.array([_constant(np.ascontiguousarray(column), bins) for column in columns.T])


def _constant(column: np.ndarray, bins: int) -> bool:
    low, high = column.min(), column.max()
    return bool(high - low <= 2 * bins * np.spacing(max(-low, high)))


def equal_width(columns: np.ndarray, bins: int) -> np.ndarray:
    """Bin numbers 0..bins-1 of every column; a constant column is all zeros."""
    binned = np.zeros(columns.T.shape, dtype=np.int64)
    for place, strided in zip(binned, columns.T, strict=True):
        column = np.ascontiguousarray(strided)
        if not _constant(column, bins):
            edges = np.linspace(column.min(), column.max(), bins + 1)
            # Where a value lies if arithmetic were exact, then one bin down or up where the rounded edges say so.
            place[:] = (column - edges[0]) * (bins / (edges[-1] - edges[0]))
            np.minimum(place, bins - 1, out=place)
            edges[-1] = np.inf
            place -= column < edges[place]
            place += column >= edges[place + 1]
    return binned.T


def equal_mass(columns: np.ndarray, bins: int) -> np.ndarray:
    """Bin numbers by quantiles: equal values share a bin, and no more values than bins stay as they are."""
    binned = np.empty(columns.T.shape, dtype=np.int64)
    for j, column in enumerate(columns.T):
        ranks, counts = np.unique(column, return_inverse=True, return_counts=True)[1:]
        below = np.cumsum(counts) - counts
        binned[j] = ranks if len(counts) <= bins else (below * bins // len(column))[ranks]
    return binned.T


BINNINGS = {"width": equal_width, "mass": equal_mass}


def distinct(column: np.ndarray) -> np.ndarray:
    """Rank 0..n-1 of each value among the column's n distinct values."""
    low = column.min()
    if column.max() - low < len(column):
        whole = (column - low).astype(np.int64)
        if (whole + low == column).all():
            return (np.cumsum(np.bincount(whole) > 0) - 1)[whole]
    return np.unique(column, return_inverse=True)[1].reshape(-1)


def is_binned(column: np.ndarray, kind: str) -> bool:
    """Whether a factor column has to be cut into bins: real numbers, or angles that hardly ever repeat."""
    return kind == "continuous" or (kind == "cycle" and len(np.unique(column)) > len(column) / 2)


def levels(factors: np.ndarray, kinds: list[str], bins: int, binning: str = "width") -> np.ndarray:
    """Factor columns as whole numbers: distinct values, or bins where the values are real numbers."""
    columns = [
        BINNINGS[binning](column[:, None], bins)[:, 0] if is_binned(column, kind) else distinct(column)
        for column, kind in zip(factors.T, kinds, strict=True)
    ]
    return np.stack(columns).T


def perfect(factors: np.ndarray, truth: np.ndarray, bins: int, binning: str = "width") -> np.ndarray:
    """Binned perfect code: a latent per factor with its values or their ranks, whichever keeps more after binning."""
    cut = BINNINGS[binning]
    binned = cut(factors, bins)
    for j, column in enumerate(factors.T):
        if (column - column.min() != truth[:, j]).any():
            ranks = distinct(column).astype(float)
            both = np.stack([binned[:, j], cut(ranks[:, None], bins)[:, 0]]).T
            kept = mutual_information(both, truth[:, [j]])[:, 0]
            binned[:, j] = both[:, int(kept[1] > kept[0])]
    return binned


def joint_counts(left: np.ndarray, right: np.ndarray) -> Iterator[np.ndarray]:
    """How often values meet: (left columns, right's values, left's values), one right column after the other.

    Counted pair by pair, in arrays that fit the cache.
    """
    d, size = left.shape[1], int(left.max()) + 1
    rows, key = np.ascontiguousarray(left.T), np.empty(len(left), dtype=np.int64)
    for column in right.T:
        offset, width = size * column, int(column.max()) + 1
        table = np.empty((d, width, size))
        for i, row in enumerate(rows):
            table[i].flat = np.bincount(np.add(row, offset, out=key), minlength=width * size)
        yield table


def _entropy(counts: np.ndarray, correction: str) -> np.ndarray:
    """Entropy in nats of counts along the last axis: plug-in, or plus (values - 1) / 2N (Miller 1955)."""
    samples = counts.sum(axis=-1)
    plain = np.log(samples) - (counts * np.log(np.maximum(counts, 1))).sum(axis=-1) / samples
    return plain + ((counts > 0).sum(axis=-1) - 1) / (2 * samples) if correction == "miller_madow" else plain


def entropy(columns: np.ndarray, correction: str = "none") -> np.ndarray:
    """Entropy in nats of each column of whole numbers from 0."""
    size = int(columns.max()) + 1
    return _entropy(np.stack([np.bincount(column, minlength=size) for column in columns.T]), correction)


def information_in(tables: Iterable[np.ndarray], correction: str = "none") -> np.ndarray:
    """I = H(left) + H(right) - H(both) in nats, (left, right), from the joint counts of each right column."""
    columns = []
    for table in tables:
        apart = _entropy(table.sum(axis=1), correction) + _entropy(table[0].sum(axis=1), correction)
        columns.append(apart - _entropy(table.reshape(len(table), -1), correction))
    return np.stack(columns, axis=1)


def mutual_information(left: np.ndarray, right: np.ndarray, correction: str = "none", seed: int = 0) -> np.ndarray:
    """Mutual information in nats of all left with all right columns, (left, right); never below 0.

    The plug-in estimate of few samples is too large, by about (values - 1) (values - 1) / 2N without dependence.
    `miller_madow` corrects each of its three entropies, `shuffled` subtracts what is left after shuffling the samples.
    """
    information = information_in(joint_counts(left, right), correction)
    if correction == "shuffled":
        draw = np.random.default_rng(seed)
        for _ in range(SHUFFLES):
            shuffled = right[draw.permutation(len(right))]
            information -= information_in(joint_counts(left, shuffled)) / SHUFFLES
    return np.maximum(information, 0.0)


def dependence_in(tables: Iterable[np.ndarray]) -> np.ndarray:
    """How many standard deviations Pearson's chi-squared is above independence, (left, right), from joint counts.

    Mean and variance over all shuffles of the samples are exact (Haldane 1940), however few samples a cell has.
    """
    columns = []
    for table in tables:
        margins = table.sum(axis=1), table[:1].sum(axis=2)
        n = float(margins[1].sum())
        (r, v, w), (s, x, y) = (_shape(margin, n) for margin in margins)
        mean = n / (n - 1) * (r - 1) * (s - 1)
        variance = 2 * n / max(n - 3, 1) * (v - w) * (x - y) + n**2 / (n - 1) * w * y
        expected = np.maximum(margins[0][:, None, :] * margins[1][:, :, None], 1)
        excess = n * ((table**2 / expected).sum(axis=(1, 2)) - 1) - mean
        columns.append(np.divide(excess, np.sqrt(np.maximum(variance, 0)), out=0 * excess, where=variance > 1e-9))
    return np.stack(columns, axis=1)


def _shape(counts: np.ndarray, n: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the counts of one side: how many values, and the two sums that the variance is made of."""
    ways = (counts > 0).sum(axis=1)
    inverse = np.where(counts > 0, n / np.maximum(counts, 1), 0.0).sum(axis=1)
    return ways, (ways - 1) * (n - ways) / (n - 1), (inverse - ways**2) / max(n - 2, 1)
