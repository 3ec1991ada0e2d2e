"""Correlation of latents with a factor of any kind, and the linear read-out of all latents that correlates best.

A factor is replaced by an *image*, the functions of it that a latent may follow: its value, (cos, sin) of an angle,
the indicators of its classes. The correlation is the length of the projection of the centred latent of unit length
on the span of the centred image, that is

- for a number, |Pearson|, or |Spearman| of ranks;
- for an angle, the multiple correlation R on (cos, sin), R^2 = 1 - residual / total variance;
- for a category, the correlation ratio eta, eta^2 = variance of the class means / total variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unbraid.factors import Factor
from unbraid.information import distinct

MEASURES = {"order": "|r|", "continuous": "|r|", "cycle": "R on (cos, sin)", "category": "eta"}


@dataclass(frozen=True)
class Image:
    """An orthonormal basis of functions of a factor: as columns, or as the class of each sample (indicators)."""

    columns: np.ndarray | None
    classes: np.ndarray | None = None

    def project(self, centred: np.ndarray) -> np.ndarray:
        """Coordinates (functions, columns) of centred columns in the basis."""
        if self.columns is not None:
            return self.columns.T @ centred
        assert self.classes is not None
        count = np.bincount(self.classes)[:, None]
        sums = np.stack([np.bincount(self.classes, column) for column in centred.T], axis=1)
        return sums / np.sqrt(np.maximum(count, 1))


def image(factor: np.ndarray, kind: str, period: float, ranked: bool) -> Image:
    """What a latent may follow of a factor; numbers as ranks if asked."""
    if kind == "category":
        return Image(None, distinct(factor))
    if kind == "cycle":
        angle = 2 * np.pi * factor / period
        return Image(_basis(np.stack([np.cos(angle), np.sin(angle)], axis=1)))
    return Image(unit(ranks(factor[:, None]) if ranked else factor[:, None]))


def period_of(factor: np.ndarray, given: Factor | str | None) -> float:
    """After how much an angle repeats: its size, its number of whole values, or a full turn in radians."""
    if not (factor == np.round(factor)).all():
        return 2 * np.pi
    size = given.size if isinstance(given, Factor) else 0
    return float(size or factor.max() - factor.min() + 1)


def correlations(columns: np.ndarray, images: list[Image]) -> np.ndarray:
    """Correlation of each column with each image, (columns, images), from 0 to 1."""
    directions = unit(columns)
    return np.stack([np.linalg.norm(one.project(directions), axis=0) for one in images], axis=1)


def best_readouts(columns: np.ndarray, images: list[Image]) -> np.ndarray:
    """Weights (columns, images) of the linear combination that correlates best with each image.

    For a number this is least squares, for several functions the first canonical pair.
    """
    centred = columns - columns.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    scale[scale == 0] = 1.0
    left, sizes, right = np.linalg.svd(centred / scale, full_matrices=False)
    kept = sizes > 1e-10 * max(sizes[0], 1e-10)
    if not kept.any():
        return np.zeros((columns.shape[1], len(images)))
    white = left[:, kept]
    best = [np.linalg.svd(one.project(white), full_matrices=False)[2][0] for one in images]
    return right[kept].T @ (np.stack(best, axis=1) / sizes[kept, None]) / scale[:, None]


def ranks(columns: np.ndarray) -> np.ndarray:
    """Rank of each value in its column, from 0; equal values share their mean rank."""
    found = np.empty(columns.shape)
    for j, column in enumerate(columns.T):
        _, place, count = np.unique(column, return_inverse=True, return_counts=True)
        found[:, j] = (np.cumsum(count) - (count + 1) / 2)[place.reshape(-1)]
    return found


def unit(columns: np.ndarray) -> np.ndarray:
    """Columns centred and scaled to length 1; a constant one becomes 0."""
    centred = columns - columns.mean(axis=0)
    centred[:, np.ptp(columns, axis=0) <= 4 * np.spacing(np.abs(columns).max(axis=0))] = 0.0
    length = np.linalg.norm(centred, axis=0)
    return centred / np.where(length > 0, length, 1.0)


def _basis(columns: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the span of centred columns."""
    left, sizes, _ = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)
    return left[:, sizes > 1e-10 * max(sizes[0], 1.0)]
