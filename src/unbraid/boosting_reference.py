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
    order = np.argsort(x, axis=1, kind="stable").astype(np.int32)
    raw = np.repeat(start[:, None], len(target), axis=1)
    held = np.repeat(start[:, None], len(test), axis=1)
    trees = np.array([draw.randint(0, 2**31 - 1) for _ in range(stages * len(start))], dtype=np.uint32)
    gains = _stages(x, order, target, test, raw, held, trees.reshape(stages, len(start)))
    total = gains.sum()
    chosen: list[Any] = [r.argmax(0) if len(names) > 2 else (r[0] >= 0).astype(int) for r in (raw, held)]
    return Boosted(gains / total if total > 0 else gains, names[chosen[0]], names[chosen[1]])


@njit(cache=True, nogil=True)
def _stages(x: A, order: A, target: A, test: A, raw: A, held: A, seeds: A) -> A:
    d, n = x.shape
    trees = len(raw)
    gains = np.zeros(d)
    gradient = np.empty((trees, n))
    powers = np.empty(trees)
    presorted = np.empty((d, n), np.int32)
    samples = np.empty(n, np.int32)
    leaf = np.empty(n, np.int8)
    feature, threshold = np.empty(1 << DEPTH, np.int64), np.empty(1 << DEPTH)
    leaves = np.empty(1 << DEPTH)
    above, below = np.empty(n), np.empty(n)
    for stage in range(len(seeds)):
        for i in range(n):
            if trees == 1:
                y = float(target[i])
                if raw[0, i] <= -37:
                    gradient[0, i] = -(np.exp(raw[0, i]) - y)
                else:
                    e = np.exp(-raw[0, i])
                    gradient[0, i] = -(((1 - y) - y * e) / (1 + e))
                continue
            most = raw[0, i]
            for k in range(1, trees):
                most = max(most, raw[k, i])
            total = 0.0
            for k in range(trees):
                powers[k] = np.exp(raw[k, i] - most)
                total += powers[k]
            for k in range(trees):
                p = powers[k] / total
                gradient[k, i] = 1 - p if target[i] == k else -p
        for k in range(trees):
            presorted[:] = order
            _grow(x, presorted, samples, gradient[k], seeds[stage, k], leaf, feature, threshold, gains)
            for at in range(1 << DEPTH):
                count = 0
                for i in range(n):
                    if leaf[i] == at:
                        y = 1.0 if target[i] == (k if trees > 1 else 1) else 0.0
                        p = y - gradient[k, i]
                        above[count], below[count] = gradient[k, i], p * (1 - p)
                        count += 1
                leaves[at] = 0.0
                if count:
                    up, down = _pairwise(above, 0, count) / count, _pairwise(below, 0, count) / count
                    if trees > 1:
                        up *= (trees - 1) / trees
                    if abs(down) >= 1e-150:
                        leaves[at] = up / down
            for i in range(n):
                raw[k, i] += 0.1 * leaves[leaf[i]]
            for i in range(len(test)):
                at = 1
                for _ in range(DEPTH):
                    at = 2 * at + (test[i, feature[at]] > threshold[at])
                held[k, i] += 0.1 * leaves[at - (1 << DEPTH)]
    return gains


@njit(cache=True, nogil=True)
def _pairwise(terms: A, first: int, count: int) -> float:
    """NumPy's sum: halves above 128 terms, eight running sums below."""
    if count < 8:
        total = 0.0
        for p in range(first, first + count):
            total += terms[p]
        return total
    if count > 128:
        half = count // 2
        half -= half % 8
        return _pairwise(terms, first, half) + _pairwise(terms, first + half, count - half)
    r0, r1, r2, r3 = terms[first], terms[first + 1], terms[first + 2], terms[first + 3]
    r4, r5, r6, r7 = terms[first + 4], terms[first + 5], terms[first + 6], terms[first + 7]
    p = first + 8
    while p < first + count - count % 8:
        r0 += terms[p]
        r1 += terms[p + 1]
        r2 += terms[p + 2]
        r3 += terms[p + 3]
        r4 += terms[p + 4]
        r5 += terms[p + 5]
        r6 += terms[p + 6]
        r7 += terms[p + 7]
        p += 8
    total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    while p < first + count:
        total += terms[p]
        p += 1
    return total


@njit(cache=True, nogil=True)
def _grow(
    x: A, presorted: A, samples: A, gradient: A, seed: Any, leaf: A, feature: A, threshold: A, gains: A
) -> None:
    """One tree, nodes from left to right as a stack visits them; numbered as in a heap."""
    d, n = x.shape
    features, constant = np.arange(d), np.empty(d, np.int64)
    spare = np.empty(n, np.int32)
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
        for p in range(start, end):
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
            left, done = 0.0, start
            before = value[row[start]]
            for p in range(start + 1, end):
                here = value[row[p]]
                if here <= before + EQUAL:
                    before = here
                    continue
                if p - done <= end - p:
                    for q in range(done, p):
                        left += gradient[row[q]]
                else:
                    left = total
                    for q in range(end - 1, p - 1, -1):
                        left -= gradient[row[q]]
                done = p
                right = total - left
                score = left * left / (p - start) + right * right / (end - p)
                if score > best:
                    best, best_at, best_f = score, p, f
                    cut = float(before) / 2.0 + float(here) / 2.0
                before = here
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
