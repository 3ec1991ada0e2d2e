"""Gradient boosting of shallow regression trees, Friedman 2001, with scikit-learn's choices and its splits.

A stage fits to the gradient r of the loss one tree per class (one in all for two classes or real targets):

- split of n samples with sum S into left and right: gain = x² n / (n_left n_right), x = S_left - S n_left / n,
  the fall of the squared error; a feature's importance is its share of all gains of all trees;
- value of a leaf: one Newton step, sum r / sum |r|(1 - |r|), times (K - 1) / K for K > 2 classes; mean r if real;
- prediction += rate * value of the leaf; it starts from the log of the shares of the classes, or the mean.

Splits are found without sorting. Codes are ranked once and cut into at most 64 bins of equal mass; histograms (of the
smaller child; the larger is what remains) give the gain at every bin edge, and, from the sums of the positive and of
the negative gradients inside a bin, a bound on the gain within it. Only bins whose bound beats the best edge are read
sample by sample.

Importing this module imports numba.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

BINS = 64
TIE = 1 + 1e-10  # gains closer than this are equal: the order of summation decides which is larger
A = np.ndarray
STILL = np.finfo(float).eps  # a node of smaller variance is not split


@dataclass(frozen=True)
class Boosted:
    """What the trees say: share of the gain that each feature brought, predictions for fitted and for test rows."""

    importances: np.ndarray
    fitted: np.ndarray
    predicted: np.ndarray


@dataclass(frozen=True)
class Ranked:
    """Columns (features, samples) sorted once for all trees."""

    values: np.ndarray  # sorted
    order: np.ndarray  # row of each sorted value
    rank: np.ndarray  # place of each row among the sorted values
    starts: np.ndarray  # (features, BINS + 1) first place of every bin; later bins may be empty
    bins: np.ndarray  # (samples, features) bin of every row


def ranked(codes: np.ndarray) -> Ranked:
    """Sort the columns of codes (samples, features) and cut them into bins of equal mass."""
    columns = np.ascontiguousarray(codes.T)
    order = np.argsort(columns, axis=1, kind="stable").astype(np.int32)
    values = np.take_along_axis(columns, order, axis=1)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(codes), dtype=np.int32)[None], axis=1)
    starts = np.full((len(columns), BINS + 1), len(codes), dtype=np.int32)
    bins = np.empty(codes.shape, dtype=np.uint8)
    for j, column in enumerate(values):
        first = np.flatnonzero(np.diff(column, prepend=-np.inf) > 0)  # where a new value begins
        if len(first) > BINS:
            first = np.unique(first[np.searchsorted(first, np.arange(BINS) * len(column) // BINS)])
        starts[j, : len(first)] = first
        bins[:, j] = np.searchsorted(first, rank[j], side="right") - 1
    return Ranked(values, order, rank, starts, bins)


def canonical(fit: np.ndarray, held: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns in an order and with signs that do not depend on how they came; back[i] is where column i went.

    Which of two splits of equal gain is taken depends on order and sign, which say nothing about a representation.
    """
    place = fit[0] - np.median(fit, axis=0)
    sign = np.where(place < 0, -1.0, 1.0)
    ranks = [np.unique(column, return_inverse=True)[1].tobytes() for column in (fit * sign).T]
    order = sorted(range(len(ranks)), key=lambda i: ranks[i])
    return (fit * sign)[:, order], (held * sign)[:, order], np.argsort(order)


def boost_classes(
    codes: np.ndarray | Ranked, classes: np.ndarray, test_codes: np.ndarray, *, seed: int = 0, **trees: Any
) -> Boosted:
    """Boosted classifier; classes are any whole numbers, predictions are among those that were fitted."""
    names, target = np.unique(classes, return_inverse=True)
    if len(names) == 1:
        alone = [np.full(rows, names[0]) for rows in (len(target), len(test_codes))]
        return Boosted(np.zeros(test_codes.shape[1]), *alone)
    share = np.bincount(target) / len(target)
    several = len(names) > 2
    start = np.log(share) if several else np.log(share[1:] / share[:1])
    result = _boost(codes, target.astype(float), test_codes, start, len(names), seed, **trees)
    chosen = [raw.argmax(0) if several else (raw[0] >= 0).astype(int) for raw in result[1:]]
    return Boosted(result[0], names[chosen[0]], names[chosen[1]])


def boost_values(
    codes: np.ndarray | Ranked, target: np.ndarray, test_codes: np.ndarray, *, seed: int = 0, **trees: Any
) -> Boosted:
    """Boosted regression of real numbers by squared error."""
    importances, fitted, predicted = _boost(codes, target, test_codes, target.mean()[None], 0, seed, **trees)
    return Boosted(importances, fitted[0], predicted[0])


def _boost(
    codes: np.ndarray | Ranked,
    target: np.ndarray,
    test_codes: np.ndarray,
    start: np.ndarray,
    classes: int,
    seed: int,
    stages: int = 100,
    depth: int = 3,
    rate: float = 0.1,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sorted_codes = codes if isinstance(codes, Ranked) else ranked(codes)
    test = np.ascontiguousarray(test_codes, dtype=float)
    raw = np.repeat(start[:, None], len(target), axis=1)
    held = np.repeat(start[:, None], len(test), axis=1)
    s = sorted_codes
    gains = _stages(
        s.values, s.order, s.rank, s.starts, s.bins,
        target, test, raw, held, classes, seed, stages, depth, rate,
    )  # fmt: skip
    total = gains.sum()
    return gains / total if total > 0 else gains, raw, held


@njit(cache=True, nogil=True)
def _stages(
    values: A, order: A, rank: A, starts: A, bins: A, target: A, test: A, raw: A, held: A,
    classes: int, seed: int, stages: int, depth: int, rate: float,
) -> A:  # fmt: skip
    """All stages; raw and held (trees per stage, samples) become the predictions, the gains per feature return."""
    d, n = order.shape
    trees = len(raw)
    leaves = 1 << depth
    gains = np.zeros(d)
    gradient = np.empty((trees, n))
    across = np.empty((n, trees))
    # Probabilities, up to a factor per sample, follow each leaf by one multiplication: no exponential per sample.
    weight = np.exp(raw)
    total = np.empty(n)
    roots = np.empty((d, BINS, 2, trees))
    histogram = np.empty((leaves, d, BINS, 4))
    rows = np.empty(n, np.int32)
    spare = np.empty(n, np.int32)
    place = np.empty(n, np.int8)
    feature = np.empty(leaves, np.int64)
    threshold = np.empty(leaves)
    ends = np.empty((depth + 1, leaves + 1), np.int64)
    values_of_leaves = np.empty(leaves)
    for stage in range(stages):
        if classes == 0:
            for i in range(n):
                gradient[0, i] = target[i] - raw[0, i]
        elif trees == 1:
            for i in range(n):
                gradient[0, i] = target[i] - weight[0, i] / (1 + weight[0, i])
        else:
            total[:] = 0
            for k in range(trees):
                for i in range(n):
                    total[i] += weight[k, i]
            for i in range(n):
                total[i] = 1 / total[i]
            for k in range(trees):
                for i in range(n):
                    weight[k, i] *= total[i]
                    gradient[k, i] = -weight[k, i]
            for i in range(n):
                gradient[int(target[i]), i] += 1
        for k in range(trees):
            for i in range(n):
                across[i, k] = gradient[k, i]
        _root_histograms(across, bins, roots)
        wild = False
        for k in range(trees):
            state = _scrambled(seed, stage, k)
            _grow(
                values, order, rank, starts, bins, gradient[k], roots[:, :, :, k], state, depth,
                histogram, rows, spare, place, feature, threshold, ends, gains,
            )  # fmt: skip
            for leaf in range(leaves):
                begin, end = ends[depth, leaf], ends[depth, leaf + 1]
                above, below = 0.0, 0.0
                for p in range(begin, end):
                    r = gradient[k, rows[p]]
                    above += r
                    below += abs(r) * (1 - abs(r)) if classes else 1.0
                step = 0.0
                if end > begin and below >= 1e-150 * (end - begin):
                    step = rate * above / below
                    if trees > 1:
                        step *= (trees - 1) / trees
                values_of_leaves[leaf] = step
                wild |= abs(step) > 30
                factor = np.exp(step) if abs(step) < 700 else 1.0
                for p in range(begin, end):
                    raw[k, rows[p]] += step
                    weight[k, rows[p]] *= factor
            for i in range(len(test)):
                at = 1
                for _ in range(depth):
                    at = 2 * at + (test[i, feature[at]] > threshold[at])
                held[k, i] += values_of_leaves[at - leaves]
        if wild or stage % 20 == 19:
            # Products of large steps leave the range of floats: back to the raw predictions.
            for i in range(n):
                most = 0.0
                if trees > 1:
                    most = raw[0, i]
                    for k in range(1, trees):
                        most = max(most, raw[k, i])
                for k in range(trees):
                    weight[k, i] = np.exp(min(raw[k, i] - most, 700.0))
    return gains


@njit(cache=True, nogil=True)
def _scrambled(seed: int, stage: int, tree: int) -> Any:
    """A state of the random generator for every tree, so that trees do not depend on who grew before."""
    state = np.uint64(seed * 1_000_003 + stage * 8_191 + tree + 1) * np.uint64(0x9E3779B97F4A7C15)
    return (state ^ (state >> np.uint64(29))) | np.uint64(1)


@njit(cache=True, nogil=True)
def _root_histograms(across: A, bins: A, roots: A) -> None:
    """Sum of gradients and of positive gradients in every bin, for all trees of a stage at once."""
    n, trees = across.shape
    roots[:] = 0
    for j in range(bins.shape[1]):
        for i in range(n):
            b = bins[i, j]
            for k in range(trees):
                r = across[i, k]
                roots[j, b, 0, k] += r
                roots[j, b, 1, k] += max(r, 0.0)


@njit(cache=True, nogil=True)
def _grow(
    values: A, order: A, rank: A, starts: A, bins: A, gradient: A, root: A, state: Any, depth: int,
    histogram: A, rows: A, spare: A, place: A, feature: A, threshold: A, ends: A, gains: A,
) -> None:  # fmt: skip
    """One tree. Nodes are numbered as in a heap; a node that is not split sends everything left.

    Leaves in rows (their samples, leaf after leaf) and ends the last level, in feature and threshold the splits.
    """
    d, n = order.shape
    for i in range(n):
        rows[i] = i
        place[i] = 1
    for j in range(d):
        for b in range(BINS):
            histogram[0, j, b, 0] = root[j, b, 0]
            histogram[0, j, b, 1] = starts[j, b + 1] - starts[j, b]
            histogram[0, j, b, 2] = root[j, b, 1]
    ends[0, 0], ends[0, 1] = 0, n
    turn = np.arange(d)
    for level in range(depth):
        width = 1 << level
        # From the last node on: children of node a use the histograms 2a and 2a + 1, which no later node needs.
        for a in range(width - 1, -1, -1):
            begin, end = ends[level, a], ends[level, a + 1]
            node = width + a
            for j in range(d - 1, 0, -1):
                state ^= state << np.uint64(13)
                state ^= state >> np.uint64(7)
                state ^= state << np.uint64(17)
                other = int(state % np.uint64(j + 1))
                turn[j], turn[other] = turn[other], turn[j]
            f, at, cut, gain = -1, 0, np.inf, 0.0
            if end - begin > 1:
                f, at, cut, gain = _best_split(
                    values, order, starts, gradient, turn, node, rows[begin:end], place, histogram[a]
                )
            if f < 0:
                feature[node], threshold[node] = 0, np.inf
                ends[level + 1, 2 * a + 1] = end
                ends[level + 1, 2 * a + 2] = end
                for p in range(begin, end):
                    place[rows[p]] = 2 * node
                if level + 1 < depth:
                    histogram[2 * a] = histogram[a]
                continue
            feature[node], threshold[node] = f, cut
            gains[f] += gain
            left, right = begin, 0
            for p in range(begin, end):
                i = rows[p]
                goes = rank[f, i] >= at
                place[i] = 2 * node + goes
                spare[right] = i
                rows[left] = i
                right += goes
                left += not goes
            rows[left:end] = spare[:right]
            ends[level + 1, 2 * a + 1] = left
            ends[level + 1, 2 * a + 2] = end
            if level + 1 < depth:
                if left - begin < end - left:
                    small, large, members = 2 * a, 2 * a + 1, rows[begin:left]
                else:
                    small, large, members = 2 * a + 1, 2 * a, rows[left:end]
                histogram[large] = histogram[a]
                _histogram(members, gradient, bins, histogram[small])
                for j in range(d):
                    for b in range(BINS):
                        for q in range(3):
                            histogram[large, j, b, q] -= histogram[small, j, b, q]
        ends[level + 1, 0] = 0


@njit(cache=True, nogil=True)
def _histogram(members: A, gradient: A, bins: A, histogram: A) -> None:
    """Per feature and bin: sum of gradients, samples, sum of positive gradients."""
    histogram[:] = 0
    for i in members:
        r = gradient[i]
        positive = max(r, 0.0)
        for j in range(bins.shape[1]):
            b = bins[i, j]
            histogram[j, b, 0] += r
            histogram[j, b, 1] += 1.0
            histogram[j, b, 2] += positive


@njit(cache=True, nogil=True)
def _best_split(
    values: A, order: A, starts: A, gradient: A, turn: A, node: int, members: A, place: A, histogram: A
) -> tuple[int, int, float, float]:
    """Feature, first place that goes right, threshold and gain of the best split; feature -1 if there is none."""
    n = float(len(members))
    total, squares = 0.0, 0.0
    for i in members:
        total += gradient[i]
        squares += gradient[i] ** 2
    mean = total / n
    f, at, cut, best = -1, 0, np.inf, 0.0
    if squares / n - mean**2 <= STILL:
        return f, at, cut, best
    # best is x² / (n_left n_right): the gain without its factor n. First the edges, for something to beat,
    for j in range(len(turn)):
        left, count = 0.0, 0.0
        for b in range(BINS - 1):
            left += histogram[j, b, 0]
            count += histogram[j, b, 1]
            x = left - mean * count
            room = count * (n - count)
            if room > 0.5 and x * x > best * room:
                best = x * x / room
    best /= TIE * TIE
    # then everything that may reach it, feature by feature in random order: the first of equal gains is taken.
    for j in turn:
        left, count = 0.0, 0.0
        for b in range(BINS):
            here = histogram[j, b, 1]
            if here < 0.5:
                continue
            s, up = histogram[j, b, 0], histogram[j, b, 2]
            x = left - mean * count
            room = count * (n - count)
            if room > 0.5 and x * x > best * TIE * room:
                best, f, at = x * x / room, j, starts[j, b]
            if here > 1.5:
                high = x + up + max(-mean * here, 0.0)
                low = x + s - up - max(mean * here, 0.0)
                # room is concave: smallest at one of the two ends of the bin.
                room = min((count + 1) * (n - count - 1), (count + here - 1) * (n - count - here + 1))
                if max(high * high, low * low) > best * TIE * room:
                    inside, seen, last = left, count, np.inf
                    for p in range(starts[j, b], starts[j, b + 1]):
                        i = order[j, p]
                        if place[i] != node:
                            continue
                        if values[j, p] > last:
                            x = inside - mean * seen
                            room = seen * (n - seen)
                            if x * x > best * TIE * room:
                                best, f, at = x * x / room, j, p
                        last = values[j, p]
                        inside += gradient[i]
                        seen += 1.0
            left += s
            count += here
    if f < 0:
        return f, at, cut, best
    below, above = at - 1, at  # the node's own neighbours of the cut
    while place[order[f, below]] != node:
        below -= 1
    while place[order[f, above]] != node:
        above += 1
    return f, at, 0.5 * values[f, below] + 0.5 * values[f, above], best * n
