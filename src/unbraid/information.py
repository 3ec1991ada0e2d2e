"""Binned information: how many nats each code column shares with each factor column.

Equal-width bins are those of disentanglement_lib (`utils.make_discretizer` of its metrics): between the smallest
and the largest value of a column, each closed below; the largest value belongs to the last bin.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

CORRECTIONS = ("none", "miller_madow", "shuffled")
SHUFFLES = 5
ENOUGH = 1000


def ranges(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest value of each column; one at a time, which is many times faster than along an axis."""
    low, high = zip(*((c.min(), c.max()) for c in map(np.ascontiguousarray, columns.T)), strict=True)
    return np.array(low), np.array(high)


def constant_columns(columns: np.ndarray, bins: int) -> np.ndarray:
    """Mask of columns whose range is too small to be cut into that many floating point intervals."""
    low, high = ranges(columns)
    return high - low <= 2 * bins * np.spacing(np.maximum(-low, high))


def equal_width(columns: np.ndarray, bins: int) -> np.ndarray:
    """Bin numbers 0..bins-1 of every column; a constant column is all zeros."""
    low, high = ranges(columns)
    edges = np.linspace(low, high, bins + 1).T
    rounding = np.spacing(np.maximum(-low, high))
    binned = np.zeros(columns.T.shape, dtype=np.int32)
    for j in np.flatnonzero(high - low > 2 * bins * rounding):
        scale = bins / (high[j] - low[j])
        exact = (np.ascontiguousarray(columns[:, j]) - low[j]) * scale
        binned[j] = exact
        # Near an edge the rounded edges decide, not this arithmetic.
        exact -= np.rint(exact)
        near = np.flatnonzero(np.abs(exact, out=exact) <= 4 * scale * rounding[j])
        binned[j, near] = np.searchsorted(edges[j, :-1], columns[near, j], side="right") - 1
    return binned.T


def equal_mass(columns: np.ndarray, bins: int) -> np.ndarray:
    """Bin numbers by quantiles: equal values share a bin, and no more values than bins stay as they are."""
    binned = np.empty(columns.T.shape, dtype=np.int32)
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
            return (np.cumsum(np.bincount(whole) > 0) - 1).astype(np.int32)[whole]
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
    # A factor whose values are its ranks, and no more than bins, has a bin for each.
    ranked = (factors - factors.min(axis=0) == truth).all(axis=0)
    cut = np.flatnonzero(~ranked | (truth.max(axis=0) >= bins))
    binned = truth.copy(order="K")
    if len(cut):
        binned[:, cut] = BINNINGS[binning](factors[:, cut], bins)
    for j in np.flatnonzero(~ranked):
        ranks = distinct(factors[:, j]).astype(float)
        both = np.stack([binned[:, j], BINNINGS[binning](ranks[:, None], bins)[:, 0]]).T
        kept = mutual_information(both, truth[:, [j]])[:, 0]
        binned[:, j] = both[:, int(kept[1] > kept[0])]
    return binned


def joint_counts(left: np.ndarray, right: np.ndarray) -> list[np.ndarray]:
    """How often values meet: for each right column (left columns, right's values, left's values).

    Counted pair by pair, in arrays that fit the cache.
    """
    size, key = int(left.max()) + 1, np.empty(len(left), dtype=np.int64)
    offsets = [size * column.astype(np.int64) for column in right.T]
    widths = [int(column.max()) + 1 for column in right.T]
    tables = [np.empty((left.shape[1], width, size)) for width in widths]
    for i, column in enumerate(left.T):
        row = column.astype(np.int64)
        for table, offset, width in zip(tables, offsets, widths, strict=True):
            table[i] = np.bincount(np.add(row, offset, out=key), minlength=width * size).reshape(width, size)
    return tables


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
        left, right = table.sum(axis=1), table[:1].sum(axis=2)
        n = float(right.sum())
        (r, v, w, each_left), (s, x, y, each_right) = _shape(left, n), _shape(right, n)
        mean = n / (n - 1) * (r - 1) * (s - 1)
        variance = 2 * n / max(n - 3, 1) * (v - w) * (x - y) + n**2 / (n - 1) * w * y
        # n sum of count² / (margin margin) - n
        excess = ((each_right @ table**2)[:, 0] * each_left).sum(axis=1) / n - n - mean
        columns.append(np.divide(excess, np.sqrt(np.maximum(variance, 0)), out=0 * excess, where=variance > 1e-9))
    return np.stack(columns, axis=1)


def dependent_pairs(columns: np.ndarray, bins: int = 20, least: float = 0.1) -> list[tuple[int, int, float]]:
    """Pairs of columns whose Cramér's V (bias removed) is at least so large, and surely not by chance.

    Judged by 1,000 rows, which are enough to be sure. They are drawn, for rows may follow a grid.
    """
    if len(columns) > ENOUGH:
        columns = columns[np.random.default_rng(0).choice(len(columns), ENOUGH, replace=False)]
    cut = equal_width(columns, bins).T.astype(np.int64)
    firsts, seconds = np.triu_indices(len(cut), 1)
    pairs = []
    for begin in range(0, len(firsts), 64):
        i, j = firsts[begin : begin + 64], seconds[begin : begin + 64]
        keys = cut[i] + bins * (cut[j] + bins * np.arange(len(i))[:, None])
        tables = np.bincount(keys.ravel(), minlength=len(i) * bins**2).reshape(-1, bins, bins).astype(float)
        for at in np.flatnonzero(_cramers_v(tables) >= least):
            if dependence_in([tables[at, None]])[0, 0] > 6:
                pairs.append((int(i[at]), int(j[at]), float(_cramers_v(tables[[at]])[0])))
    return pairs


def _cramers_v(tables: np.ndarray) -> np.ndarray:
    """Square root of (chi² / n - (r - 1)(s - 1) / (n - 1)) / (min(r, s) - 1) of each table of r by s values."""
    left, right = tables.sum(axis=2, keepdims=True), tables.sum(axis=1, keepdims=True)
    n = left[0].sum()
    chi = (tables**2 / np.maximum(left * right, 1)).sum(axis=(1, 2)) - 1
    r, s = ((margin > 0).sum(axis=(1, 2)) for margin in (left, right))
    excess = np.maximum(chi - (r - 1) * (s - 1) / (n - 1), 0)
    return np.sqrt(excess / np.maximum(np.minimum(r, s) - 1, 1))


def _shape(counts: np.ndarray, n: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of the counts of one side: how many values, two sums that the variance is made of, and n over each count."""
    inverse = np.divide(n, counts, out=np.zeros_like(counts), where=counts > 0)
    ways = (counts > 0).sum(axis=1)
    return ways, (ways - 1) * (n - ways) / (n - 1), (inverse.sum(axis=1) - ways**2) / max(n - 2, 1), inverse
