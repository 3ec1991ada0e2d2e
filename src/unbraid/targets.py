"""What a model predicts of a factor: one of its values as a class, or real numbers.

A category, and an order or cycle of repeating values, is a class. Real numbers are regressed, and so are orders of
very many values; real angles by their cosine and sine.
"""

from __future__ import annotations

import numpy as np

from unbraid.errors import UserError
from unbraid.information import is_binned

MANY = 400  # values of an order that are too many to be classes


def targets(factors: np.ndarray, kinds: list[str], like: np.ndarray | None = None) -> list[np.ndarray]:
    """Per factor its class values (samples,) as given, or real columns (samples, 1 or 2).

    Arguments:
        factors: array (samples, factors).
        kinds: kind of each factor.
        like: samples that decide what is a class, where factors are only some of them.
    """
    found = []
    for j, kind in enumerate(kinds):
        column, whole = factors[:, j], (factors if like is None else like)[:, j]
        if is_binned(whole, kind):
            angle = kind == "cycle"
            found.append(np.stack([np.cos(column), np.sin(column)], axis=1) if angle else column[:, None])
        else:
            found.append(column[:, None] if kind == "order" and len(np.unique(whole)) > MANY else column)
    return found


def are_classes(wanted: np.ndarray) -> bool:
    """Whether a target is a class."""
    return wanted.ndim == 1


def varying(fit: np.ndarray, held: np.ndarray, metric: str) -> np.ndarray:
    """Which factor columns vary where the model is fitted and where it is scored: a mask; an error if none does."""
    varies = (np.ptp(fit, axis=0) > 0) & (np.ptp(held, axis=0) > 0)
    if not varies.any():
        raise UserError(f"no factor column varies; {metric} needs at least one factor with two values")
    return varies


def accuracy(predicted: np.ndarray, wanted: np.ndarray) -> float:
    """Share of rows whose class was found."""
    return float((predicted == wanted).mean())


def r_squared(predicted: np.ndarray, wanted: np.ndarray) -> float:
    """Explained share of the variance of real columns (samples, columns), at least 0."""
    left = ((predicted - wanted) ** 2).sum()
    whole = ((wanted - wanted.mean(axis=0)) ** 2).sum()
    return max(0.0, float(1 - left / whole)) if whole > 0 else 0.0
