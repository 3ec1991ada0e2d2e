"""Factors as the class numbers that a classifier is fitted to and scored on."""

from __future__ import annotations

import numpy as np

from unbraid.errors import UserError
from unbraid.information import is_binned, levels


def classes(
    fitted: np.ndarray, held: np.ndarray, kinds: list[str], bins: int, whole: bool = False
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Class numbers of the fitted and the held-out rows, and the columns that had to be cut into equal-width bins.

    Classes are those that the fitted rows have, 0..K-1; a held-out row of any other is -1. Real numbers are binned,
    and so is an order with more values than half the samples.

    Arguments:
        fitted: array (samples, factors).
        held: array (samples, factors).
        kinds: kind of each factor.
        bins: bins of a factor that has too many values.
        whole: take every value as a class, whatever the kind.
    """
    factors = np.vstack([fitted, held])
    cut = []
    if whole:
        every_value_a_class(factors)
    for j, (column, kind) in enumerate(zip(factors.T, kinds, strict=True)):
        values = len(np.unique(column))
        if not whole and (is_binned(column, kind) or (kind == "order" and values > len(column) / 2)):
            cut.append(j)
    numbers = levels(factors, ["continuous" if j in cut else "order" for j in range(len(kinds))], bins)
    for j, column in enumerate(numbers.T):
        seen = np.flatnonzero(np.bincount(column[: len(fitted)]))
        number = np.full(column.max() + 1, -1)
        number[seen] = np.arange(len(seen))
        numbers[:, j] = number[column]
    return numbers[: len(fitted)], numbers[len(fitted) :], cut


def every_value_a_class(factors: np.ndarray) -> None:
    """Refuse real numbers where every value of a factor is taken for a class."""
    for j, column in enumerate(factors.T):
        values = len(np.unique(column))
        if values > len(column) / 2:
            raise UserError(f"reference=True takes every value as a class, but factor column {j} has {values} of them")
