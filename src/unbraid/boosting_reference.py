"""Gradient boosted classification, bit for bit as scikit-learn 1.9 computes it, for comparison with published numbers.

The trees are those of unbraid.boosting. Where few samples are left many splits have the same gain, and which of them
scikit-learn takes hangs on the last bit of sums of gradients, on the order in which it adds them, and on its random
order of features; hence here they are the same: features in the order of its generator, gradients added in the order
of the feature, nodes left to right, samples of a node in the order in which its swaps leave them. Presorted orders are
split with the nodes instead of sorted anew in each. If several samples have equal codes the order of sums may differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from unbraid.boosting import Boosted

A = np.ndarray
EQUAL = np.float32(1e-7)
STILL = np.finfo(float).eps
DEPTH = 3


def boost_classes_reference(
    codes: np.ndarray, classes: np.ndarray, test_codes: np.ndarray, draw: np.random.RandomState, *, stages: int = 100
) -> Boosted:
    """GradientBoostingClassifier(n_estimators=stages, random_state=draw), fitted and asked.

    Arguments:
        codes: array (samples, features).
        classes: whole numbers, at least two different ones.
        test_codes: array (samples, features).
        draw: NumPy's old generator; one number of it is used per tree.
        stages: boosting stages.
    """
    names, target = np.unique(classes, return_inverse=True)
    share = np.clip(np.bincount(target) / len(target), STILL, 1 - STILL)
    if len(names) > 2:
        start = np.log(share / np.exp(np.average(np.log(share))))
    else:
        from scipy.special import logit

        start = logit(share[1:])
    x = np.ascontiguousarray(codes.T, dtype=np.float32)
    test = np.ascontiguousarray(test_codes, dtype=np.float32)
    order = np.argsort(x, axis=1, kind="stable").astype(np.uint32)
    ordered = np.take_along_axis(x, order.astype(np.int64), axis=1)
    apart = np.asarray((ordered[:, 1:] > ordered[:, :-1] + EQUAL).all(axis=1))
    raw = np.repeat(start[:, None], len(target), axis=1)
    held = np.repeat(start[:, None], len(test), axis=1)
    n, d = codes.shape
    gains, gradient, leaf = np.zeros(d), np.empty(raw.shape), np.empty(n, np.int8)
    feature, threshold = np.empty(1 << DEPTH, np.int64), np.empty(1 << DEPTH)
    inverse = 1 / np.maximum(np.arange(n + 1), 1)
    # A loop in Python: compiled together, the kernels are half as fast again as each alone.
    for _ in range(stages):
        _gradients(raw, target, gradient)
        for k in range(len(raw)):
            seed = np.uint32(draw.randint(0, 2**31 - 1))
            _grow(x, apart, inverse, order.copy(), gradient[k], seed, leaf, feature, threshold, gains)
            own = k if len(names) > 2 else 1
            _step(target, own, len(raw), gradient[k], leaf, feature, threshold, test, raw[k], held[k])
    total = gains.sum()
    chosen: list[Any] = [r.argmax(0) if len(names) > 2 else (r[0] >= 0).astype(int) for r in (raw, held)]
    return Boosted(gains / total if total > 0 else gains, names[chosen[0]], names[chosen[1]])


@njit(cache=True, nogil=True)
def _gradients(raw: A, target: A, gradient: A) -> None:
    """Negative gradients of the log loss, (trees, samples)."""
    trees, n = raw.shape
    if trees == 1:
        for i in range(n):
            y, e = float(target[i]), np.exp(raw[0, i] if raw[0, i] <= -37 else -raw[0, i])
            gradient[0, i] = -(e - y) if raw[0, i] <= -37 else -(((1 - y) - y * e) / (1 + e))
        return
    most, total = raw[0].copy(), np.zeros(n)
    for k in range(1, trees):
        for i in range(n):
            most[i] = max(most[i], raw[k, i])
    for k in range(trees):
        for i in range(n):
            gradient[k, i] = np.exp(raw[k, i] - most[i])
            total[i] += gradient[k, i]
    for k in range(trees):
        for i in range(n):
            gradient[k, i] /= -total[i]
    for i in range(n):
        gradient[target[i], i] += 1


@njit(cache=True, nogil=True)
def _step(
    target: A, own: int, trees: int, gradient: A, leaf: A, feature: A, threshold: A, test: A, raw: A, held: A
) -> None:
    """A Newton step in every leaf of one tree, added to the predictions of fitted and of test rows."""
    n = len(target)
    above, below, leaves = np.empty(n), np.empty(n), np.zeros(1 << DEPTH)
    starts = np.zeros((1 << DEPTH) + 1, np.int64)
    for i in range(n):
        starts[leaf[i] + 1] += 1
    for at in range(1 << DEPTH):
        starts[at + 1] += starts[at]
    ends = starts[:-1].copy()
    for i in range(n):
        p = (1.0 if target[i] == own else 0.0) - gradient[i]
        at = leaf[i]
        above[ends[at]], below[ends[at]] = gradient[i], p * (1 - p)
        ends[at] += 1
    for at in range(1 << DEPTH):
        first, count = starts[at], starts[at + 1] - starts[at]
        if count:
            up, down = _numpy_sum(above[first:], count) / count, _numpy_sum(below[first:], count) / count
            if trees > 1:
                up *= (trees - 1) / trees
            if abs(down) >= 1e-150:
                leaves[at] = up / down
    for i in range(n):
        raw[i] += 0.1 * leaves[leaf[i]]
    for i in range(len(test)):
        at = 1
        for _ in range(DEPTH):
            at = 2 * at + (test[i, feature[at]] > threshold[at])
        held[i] += 0.1 * leaves[at - (1 << DEPTH)]


@njit(cache=True, nogil=True)
def _numpy_sum(terms: A, count: int) -> float:
    """NumPy's sum: halves above 128 terms, below that eight running sums; a stack, for numba caches no recursion."""
    firsts, counts, sums = np.empty(128, np.int64), np.empty(128, np.int64), np.empty(128)
    firsts[0], counts[0] = 0, count
    tasks, done = 1, 0
    while tasks:
        tasks -= 1
        first, size = firsts[tasks], counts[tasks]
        if size < 0:  # both halves are summed
            done -= 1
            sums[done - 1] = sums[done - 1] + sums[done]
        elif size > 128:
            half = size // 2
            half -= half % 8
            counts[tasks] = -1
            firsts[tasks + 1], counts[tasks + 1] = first + half, size - half
            firsts[tasks + 2], counts[tasks + 2] = first, half
            tasks += 3
        else:
            sums[done] = _short_sum(terms, first, size)
            done += 1
    return sums[0]


@njit(cache=True, nogil=True)
def _short_sum(terms: A, first: int, count: int) -> float:
    total = 0.0
    p, end = first, first + count
    if count >= 8:
        r0, r1, r2, r3 = terms[p], terms[p + 1], terms[p + 2], terms[p + 3]
        r4, r5, r6, r7 = terms[p + 4], terms[p + 5], terms[p + 6], terms[p + 7]
        for p in range(first + 8, end - count % 8, 8):
            r0, r1, r2, r3 = r0 + terms[p], r1 + terms[p + 1], r2 + terms[p + 2], r3 + terms[p + 3]
            r4, r5, r6, r7 = r4 + terms[p + 4], r5 + terms[p + 5], r6 + terms[p + 6], r7 + terms[p + 7]
        p = end - count % 8
        total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    for q in range(p, end):
        total += terms[q]
    return total


@njit(cache=True, nogil=True)
def _grow(
    x: A,
    apart: A,
    inverse: A,
    presorted: A,
    gradient: A,
    seed: Any,
    leaf: A,
    feature: A,
    threshold: A,
    gains: A,
) -> None:
    """One tree, nodes from left to right as a stack visits them; numbered as in a heap."""
    d, n = x.shape
    features, constant = np.arange(d), np.empty(d, np.int64)
    samples, spare = np.empty(n, np.uint32), np.empty(n, np.uint32)
    lefts, scores, tops = np.empty(n), np.empty(n + 64), np.empty(n // 64 + 1)
    ends = np.empty((2 << DEPTH, 2), np.int64)
    impurities = np.empty(2 << DEPTH)
    constants = np.zeros(2 << DEPTH, np.int64)
    for i in range(n):
        samples[i] = i
    feature[:] = 0
    threshold[:] = np.inf
    ends[1, 0], ends[1, 1], impurities[1] = 0, n, -1.0
    state = np.uint32(seed)
    stack = np.empty(2 << DEPTH, np.int64)
    stack[0], height = 1, 1
    while height:
        height -= 1
        node = stack[height]
        start, end = ends[node]
        deep = node >= 1 << DEPTH
        total, squares = 0.0, 0.0
        for p in range(start, start if deep else end):
            y = gradient[samples[p]]
            total += y
            squares += y * y
        size = float(end - start)
        if node == 1:
            impurities[1] = squares / size - (total / size) * (total / size)
        final = node
        while final < 1 << DEPTH:
            final *= 2
        if deep or end - start < 2 or impurities[node] <= STILL:
            for p in range(start, end):
                leaf[samples[p]] = final - (1 << DEPTH)
            continue
        # The best split, features drawn as in a shuffle that passes by those that are constant here.
        best, best_at, best_f, cut, last = -np.inf, end, -1, np.inf, -1
        known = constants[node]
        drawn, found, f_i = 0, 0, d
        while f_i > known + found:
            if state == 0:
                state = np.uint32(1)
            state ^= np.uint32(state << np.uint32(13))
            state ^= np.uint32(state >> np.uint32(17))
            state ^= np.uint32(state << np.uint32(5))
            state = np.uint32(state)
            f_j = drawn + int(np.uint32(state) % np.uint32(2147483648)) % (f_i - found - drawn)
            if f_j < known:
                features[drawn], features[f_j] = features[f_j], features[drawn]
                drawn += 1
                continue
            f_j += found
            f = features[f_j]
            row, value = presorted[f], x[f]
            last = f
            if value[row[end - 1]] <= value[row[start]] + EQUAL:
                features[f_j], features[known + found] = features[known + found], features[f_j]
                found += 1
                continue
            f_i -= 1
            features[f_i], features[f_j] = features[f_j], features[f_i]
            if apart[f]:
                place, score = _best_place(row[start:end], gradient, total, best, inverse, lefts, scores, tops)
            else:
                place, score = _best_place_of_equals(row[start:end], value, gradient, total)
            if score > best:
                place += start
                best, best_at, best_f = score, place, f
                cut = float(value[row[place - 1]]) / 2.0 + float(value[row[place]]) / 2.0
        if last >= 0:
            samples[start:end] = presorted[last, start:end]
        split = best_at < end
        if split:
            low, high = start, end
            while low < high:
                if x[best_f, samples[low]] <= cut:
                    low += 1
                else:
                    high -= 1
                    samples[low], samples[high] = samples[high], samples[low]
            left = 0.0
            if best_at - start <= end - best_at:
                for p in range(start, best_at):
                    left += gradient[samples[p]]
            else:
                left = total
                for p in range(end - 1, best_at - 1, -1):
                    left -= gradient[samples[p]]
            right = total - left
            square = 0.0
            for p in range(start, best_at):
                square += gradient[samples[p]] * gradient[samples[p]]
            n_left, n_right = float(best_at - start), float(end - best_at)
            of_left = square / n_left - (left / n_left) * (left / n_left)
            of_right = (squares - square) / n_right - (right / n_right) * (right / n_right)
            gain = (size / n) * (impurities[node] - n_right / size * of_right - n_left / size * of_left)
            split = gain + STILL >= 0
        for q in range(known):
            features[q] = constant[q]
        for q in range(known, known + found):
            constant[q] = features[q]
        if not split:
            for p in range(start, end):
                leaf[samples[p]] = final - (1 << DEPTH)
            continue
        feature[node], threshold[node] = best_f, cut
        gains[best_f] += (size * impurities[node] - n_left * of_left - n_right * of_right) / n
        child = 2 * node
        impurities[child], impurities[child + 1] = of_left, of_right
        constants[child] = constants[child + 1] = known + found
        ends[child, 0], ends[child, 1], ends[child + 1, 0], ends[child + 1, 1] = start, best_at, best_at, end
        stack[height], stack[height + 1] = child + 1, child
        height += 2
        if child < 1 << DEPTH:
            for f in range(d):
                to, over = start, 0
                for p in range(start, end):
                    i = presorted[f, p]
                    right_side = x[best_f, i] > cut
                    spare[over] = i
                    presorted[f, to] = i
                    over += right_side
                    to += not right_side
                presorted[f, to:end] = spare[:over]


@njit(cache=True, nogil=True)
def _best_place(
    row: A, gradient: A, total: float, best: float, inverse: A, lefts: A, scores: A, tops: A
) -> tuple[int, float]:
    """How many go left in the first of the best splits of samples in this order, all codes different, and its score.

    Products with inverses find which scores may be the largest, or exceed best; only these are divided.
    """
    size = len(row)
    _approximate(row, gradient, total, inverse, lefts, scores)
    most = max(best, _tops(scores, tops[: (size + 63) // 64]))
    most *= 1 - 1e-13
    at = 1
    for b in range(0, size, 64):
        if tops[b // 64] < most:
            continue
        for p in range(max(b, 1), min(b + 64, size)):
            if scores[p] >= most:
                left, right = lefts[p], total - lefts[p]
                score = left * left / float(p) + right * right / float(size - p)
                if score > best:
                    best, at = score, p
    return at, best


@njit(cache=True, nogil=True)
def _best_place_of_equals(row: A, value: A, gradient: A, total: float) -> tuple[int, float]:
    """The same where codes may be equal, and its score; a long run of equals is subtracted from the other side."""
    left, done, size = 0.0, 0, len(row)
    best, at = -np.inf, 1
    for p in range(1, size):
        if value[row[p]] <= value[row[p - 1]] + EQUAL:
            continue
        if p - done <= size - p:
            for q in range(done, p):
                left += gradient[row[q]]
        else:
            left = total
            for q in range(size - 1, p - 1, -1):
                left -= gradient[row[q]]
        done = p
        right = total - left
        score = left * left / p + right * right / (size - p)
        if score > best:
            best, at = score, p
    return at, best


@njit(cache=True, nogil=True)
def _approximate(row: A, gradient: A, total: float, inverse: A, lefts: A, scores: A) -> None:
    """Running sums of the gradients, and scores by multiplication, filled up to whole blocks of 64."""
    left, size = 0.0, len(row)
    for p in range(1, size):
        left += gradient[row[p - 1]]
        lefts[p] = left
    for p in range(1, size):
        right = total - lefts[p]
        scores[p] = lefts[p] * lefts[p] * inverse[p] + right * right * inverse[size - p]
    scores[0] = -np.inf
    for p in range(size, (size + 63) // 64 * 64):
        scores[p] = -np.inf


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _tops(scores: A, tops: A) -> float:
    """The largest of every 64 scores, and of all; told that none is nan, the compiler compares several at once."""
    most = -np.inf
    for b in range(len(tops)):
        top = -np.inf
        for p in range(64 * b, 64 * b + 64):
            top = scores[p] if scores[p] > top else top
        tops[b] = top
        most = top if top > most else most
    return most
