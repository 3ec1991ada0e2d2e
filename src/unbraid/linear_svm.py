"""Linear support vector machines on one number, each class against the rest, solved exactly.

For each column x and class k, with y = 1 for its samples and -1 for all others,

    min over (w, b) of  (w² + b²) / 2 + sum_i C_i max(0, 1 - y_i (w x_i + b))²,

which is what scikit-learn's `LinearSVC(C, class_weight="balanced")` hands to liblinear: the intercept is penalised
like the slope, and C_i is C N / (K N_k) for the samples of the class and C for the rest (with two classes, C N / (2 N_k)
on either side). Samples inside the margin are a prefix or suffix of the sorted ones, so prefix sums of 1, x and x² give
the loss, its gradient and its Hessian in a few binary searches, and Newton's method ends after finitely many steps.
"""

from __future__ import annotations

import numpy as np

STEPS = 100


def fit(column: np.ndarray, classes: np.ndarray, cost: float = 0.01) -> list[tuple[np.ndarray, np.ndarray]]:
    """Slopes and intercepts of every class against the rest, for each column of classes.

    Arguments:
        column: array (samples,), the number to tell classes by.
        classes: array (samples, factors) of class numbers; all of 0..K-1 occur, K at least 2.
        cost: C.
    """
    problems = _Problems(column, classes, cost)
    slopes, intercepts = problems.solve()
    cuts = problems.sizes.cumsum()[:-1]
    return list(zip(np.split(slopes, cuts), np.split(intercepts, cuts), strict=True))


def highest(slopes: np.ndarray, intercepts: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Which of several lines is highest at each value: from left to right, each line of the upper envelope."""
    line, last = int(np.argmax(slopes * column.min() + intercepts)), column.max()
    order, starts = [line], [-np.inf]
    while True:
        # The next line is the steeper one that crosses this one first.
        steeper = slopes > slopes[line]
        if not steeper.any():
            break
        gain = np.where(steeper, slopes - slopes[line], 1.0)
        crossing = np.where(steeper, (intercepts[line] - intercepts) / gain, np.inf)
        first = crossing.min()
        if not first < last:
            break
        ties = np.flatnonzero(crossing == first)
        line = int(ties[np.argmax(slopes[ties])])
        order.append(line)
        starts.append(first)
    return np.array(order)[np.searchsorted(starts, column, side="left") - 1]


class _Problems:
    """One column against all classes of all factors: sorted once, then Newton's steps for all together."""

    def __init__(self, column: np.ndarray, classes: np.ndarray, cost: float) -> None:
        n = self.n = len(column)
        order = np.argsort(column, kind="stable")
        self.x = column[order]
        self.sums = _prefix_sums(self.x)
        self.sizes = classes.max(axis=0) + 1
        # The same samples class by class: how many of the p smallest belong to class k is a search for k n + p.
        # Short integers are sorted by their digits.
        short = np.int16 if self.sizes.max() < 2**15 else np.int64
        sorted_classes = np.take(classes.T.astype(short), order, axis=1)
        grouped = np.argsort(sorted_classes, axis=1, kind="stable")
        first = self.sizes.cumsum() - self.sizes
        self.keys = ((np.take_along_axis(sorted_classes, grouped, axis=1) + first[:, None]) * n + grouped).ravel()
        self.class_sums = _prefix_sums(self.x[grouped.ravel()])
        counts = [np.bincount(column) for column in classes.T]
        self.ends = np.cumsum(np.concatenate(counts))
        self.starts = self.ends - np.concatenate(counts)
        own = [cost * n / (len(count) * count) for count in counts]
        rest = [weight[::-1] if len(weight) == 2 else np.full(len(weight), cost) for weight in own]
        self.own, self.rest = np.concatenate(own), np.concatenate(rest)

    def solve(self) -> tuple[np.ndarray, np.ndarray]:
        """Slope and intercept of each class of each factor."""
        at = np.zeros((2, len(self.own)))
        loss, gradient, step = self.newton(at)
        for _ in range(STEPS):
            if (np.abs(step) <= 1e-12 * (1 + np.abs(at))).all():
                break
            # Halve a step until the loss falls as its slope promises.
            promised, size = (gradient * step).sum(axis=0), np.ones_like(loss)
            while True:
                trial = self.newton(at + size * step)
                rises = trial[0] > loss + 1e-4 * size * promised + 1e-13 * np.abs(loss)
                if not rises.any() or size.min() < 1e-12:
                    break
                size[rises] /= 2
            at = at + size * step
            loss, gradient, step = trial
        return at[0], at[1]

    def newton(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss, gradient and Newton step of every class at its (slope, intercept)."""
        w, b = at
        inside, outside = self.violating(w, b)
        s0, s1, s2 = self.own * inside + self.rest * outside
        t0, t1, _ = self.own * inside - self.rest * outside
        loss = (w * w + b * b) / 2 + s0 - 2 * (w * t1 + b * t0) + w * w * s2 + 2 * w * b * s1 + b * b * s0
        gradient = np.stack([w + 2 * (w * s2 + b * s1 - t1), b + 2 * (w * s1 + b * s0 - t0)])
        h00, h01, h11 = 1 + 2 * s2, 2 * s1, 1 + 2 * s0
        determinant = h00 * h11 - h01 * h01
        step = np.stack([h01 * gradient[1] - h11 * gradient[0], h01 * gradient[0] - h00 * gradient[1]]) / determinant
        return loss, gradient, step

    def violating(self, w: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of 1, x and x² over the samples inside the margin (3, classes): of the class, and of the rest."""
        rising = w >= 0
        # Of the class those with w x + b < 1 count, of the rest those with w x + b > -1.
        below, own_below = self.split(_crossing(1 - b, w))
        inside = np.where(
            rising, own_below - self.class_sums[:, self.starts], self.class_sums[:, self.ends] - own_below
        )
        below, own_below = self.split(_crossing(-1 - b, w))
        low = below - (own_below - self.class_sums[:, self.starts])
        high = (self.sums[:, -1:] - below) - (self.class_sums[:, self.ends] - own_below)
        return inside, np.where(rising, high, low)

    def split(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Prefix sums up to a threshold per class: over all samples, and over the grouped ones."""
        place = np.searchsorted(self.x, thresholds)
        own = np.searchsorted(self.keys, np.arange(len(thresholds)) * self.n + place)
        return self.sums[:, place], self.class_sums[:, own]


def _prefix_sums(x: np.ndarray) -> np.ndarray:
    """Sums of 1, x and x² over the first 0, 1, ..., n values: (3, n + 1)."""
    sums = np.empty((3, len(x) + 1))
    sums[:, 0] = 0
    sums[0] = np.arange(len(x) + 1)
    np.cumsum(x, out=sums[1, 1:])
    np.cumsum(x * x, out=sums[2, 1:])
    return sums


def _crossing(height: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Where slope x reaches a height; for a flat line, beyond the last sample or before the first."""
    flat = slope == 0
    with np.errstate(over="ignore"):
        return np.where(flat, np.where(height > 0, np.inf, -np.inf), height / np.where(flat, 1.0, slope))
