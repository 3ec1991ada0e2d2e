"""Multinomial logistic regression with an L2 penalty on the weights, solved exactly by Newton's method.

The minimum over W and b of  sum_n -log softmax(W^T x_n + b)[class of n]  +  |W|^2 / (2 C)  is that of scikit-learn's
`LogisticRegression`: with two classes it fits one weight vector, which is twice the penalty here. With a few
dozen weights a handful of Newton steps, the first ones on a tenth of the rows, cost less than its L-BFGS.
"""

from __future__ import annotations

import numpy as np

from unbraid.one_thread import one_thread

STEPS = 100
PART = 10  # the start is fitted on every tenth row
FEW = 2000  # rows that are not worth a start of their own


@one_thread
def fit(columns: np.ndarray, classes: np.ndarray, strength: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Weights (columns + 1, classes present), the intercept last, and the numbers of these classes.

    Arguments:
        columns: array (samples, columns).
        classes: whole number per sample.
        strength: C, the inverse of the penalty.
    """
    present, place = np.unique(classes, return_inverse=True)
    known = np.hstack([columns, np.ones((len(columns), 1))])
    truth = np.eye(len(present))[place]
    penalty = np.full((known.shape[1], 1), (2.0 if len(present) == 2 else 1.0) / strength)
    penalty[-1] = 0.0
    weights = np.zeros((known.shape[1], len(present)))
    if len(known) > FEW:
        part = slice(None, None, PART)
        if truth[part].any(axis=0).all():  # an absent class would send its intercept to minus infinity
            weights = _newton(known[part], truth[part], penalty / PART, weights, 1e-2)
    return _newton(known, truth, penalty, weights, 1e-5), present


def predict(weights: np.ndarray, present: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The most probable class of each row."""
    return present[(columns @ weights[:-1] + weights[-1]).argmax(axis=1)]


def _newton(known: np.ndarray, truth: np.ndarray, penalty: np.ndarray, start: np.ndarray, least: float) -> np.ndarray:
    """Steps until one moves no weight by more than `least`; the error is then of the order of its square."""
    weights, (loss, share) = start, _loss(known, truth, penalty, start)
    for _ in range(STEPS):
        gradient = known.T @ (share - truth) + penalty * weights
        step = np.linalg.solve(_hessian(known, share, penalty), gradient.T.ravel()).reshape(weights.shape[::-1]).T
        size = 1.0
        while True:
            moved = weights - size * step
            new, share = _loss(known, truth, penalty, moved)
            if new <= loss + 1e-9 * abs(loss) or size < 1e-6:
                break
            size /= 2
        weights, loss = moved, new
        if size * np.abs(step).max() <= least:
            break
    return weights


def _loss(known: np.ndarray, truth: np.ndarray, penalty: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """The objective and the probability of each class (samples, classes)."""
    logits = known @ weights
    logits -= logits.max(axis=1, keepdims=True)
    share = np.exp(logits)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    fitted = np.log(total).sum() - np.vdot(truth, logits)
    return float(fitted + 0.5 * (penalty * weights**2).sum()), share


def _hessian(known: np.ndarray, share: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Second derivatives by class and column, (classes * columns) squared: sum_n (diag p - p p^T) x x^T."""
    columns, classes = known.shape[1], share.shape[1]
    weighted = (share[:, :, None] * known[:, None, :]).reshape(len(known), -1)
    hessian = -(weighted.T @ weighted)
    for k in range(classes):
        block = slice(k * columns, (k + 1) * columns)
        hessian[block, block] += known.T @ weighted[:, block] + np.diag(penalty[:, 0])
    # The same number added to every intercept changes nothing: pin that direction, along which the gradient is 0.
    intercepts = np.arange(classes) * columns + columns - 1
    hessian[np.ix_(intercepts, intercepts)] += 1.0
    return hessian
