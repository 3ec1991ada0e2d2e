"""Warnings that several metrics share: what may mislead about binned information, and about factors taken for numbers.

Those that concern every score are in `unbraid.metrics.usual_warnings`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unbraid.correlation import correlations, image, ranks
from unbraid.factors import Factor
from unbraid.metrics import label

CROWD = 0.95  # share of the samples in one bin that says that outliers set the range
ACCIDENT = 0.1  # nats
DOUBT = 0.2  # share of a latent's variance that classes explain and their order does not
CLASSES = 100  # more values than that are hardly a category


def crowded_bins(binned: np.ndarray) -> list[str]:
    """Code columns whose equal-width bins an outlier has set."""
    crowded = []
    few = binned[:: max(1, len(binned) // 64)]  # of a crowded column most of any rows are in that bin
    for j in np.flatnonzero((few == np.median(few, axis=0)).mean(axis=0) > 0.5):
        if CROWD * len(binned) < np.bincount(binned[:, j]).max() < len(binned):
            crowded.append(int(j))
    if not crowded:
        return []
    return [f"code columns {crowded} have over 95 % of the samples in one bin: outliers set its range"]


def coarse_bins(truth: np.ndarray, bins: int, kinds: Sequence[Factor | str] | None) -> list[str]:
    """Factors of more values than a code has bins."""
    return [
        f"{bins} bins are coarser than factor {label(kinds, j)} ({size} values): compare with the ceiling"
        for j, size in enumerate(truth.max(axis=0) + 1)
        if size > bins
    ]


def accidental_nats(truth: np.ndarray, bins: int, kinds: Sequence[Factor | str] | None) -> list[str]:
    """Factors that share much with any binned code by accident: (bins - 1) (values - 1) / 2N nats."""
    shared = (bins - 1) * truth.max(axis=0) / (2 * len(truth))
    return [
        f"factor {label(kinds, j)} shares about {nats:.2f} nats with any latent by accident: more samples, or correction="
        for j, nats in enumerate(shared)
        if nats > ACCIDENT
    ]


def doubtful_orders(
    codes: np.ndarray, factors: np.ndarray, kind: list[str], kinds: Sequence[Factor | str] | None
) -> list[str]:
    """Factors scored as numbers whose values a latent tells apart in another order: categories, or cycles, perhaps."""
    ranked = ranks(codes)
    found = []
    for j, column in enumerate(factors.T):
        if kind[j] != "order" or not 3 <= len(np.unique(column)) <= CLASSES:
            continue
        by_class, by_order = correlations(ranked, [image(column, k, 1.0, True) for k in ("category", "order")]).T ** 2
        best = int(np.argmax(by_class - by_order))
        if by_class[best] - by_order[best] > DOUBT:
            found.append(
                f"factor {label(kinds, j)} is scored as an order, but latent {best} tells its values apart in another "
                "one: is it a category, or a cycle?"
            )
    return found
