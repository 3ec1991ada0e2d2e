"""What a metric is. Every other file here is one: a function of arrays, named as its file, giving a `Score`.

Samples come first: `codes` (samples, latents) and `factors` (samples, factors), NumPy arrays. `kinds` says
for each factor whether it is a category, an order, a cycle or continuous.
`unbraid.metrics.mig(codes, factors)` works without importing anything else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from unbraid import catalog
from unbraid.errors import UserError, unknown
from unbraid.factors import KINDS, Factor


@dataclass(frozen=True)
class Score:
    """A number, what it is made of, and how to read it.

    Arguments:
        value: the score.
        parts: arrays and numbers it was made from, by name.
        settings: what was chosen (bins, neighbours, seed, sample counts).
        ceiling: what a perfect code would reach on these factors; None if 1 (or not bounded).
        chance: what structure by chance alone would score; None if that is 0 or unknown.
        warnings: pitfalls that apply to this very input, one sentence each.
        best: whether larger or smaller is better.
    """

    value: float
    parts: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    ceiling: float | None = None
    chance: float | None = None
    warnings: tuple[str, ...] = ()
    best: str = "high"

    def __float__(self) -> float:
        return self.value


def check(codes: Any, factors: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes and factors as 2-D float arrays of equal length, or one clear line saying why not."""
    codes, factors = table(codes, "codes"), table(factors, "factors")
    if len(codes) != len(factors):
        raise UserError(f"codes have {len(codes)} rows but factors {len(factors)}; they must describe the same samples")
    return codes, factors


def table(values: Any, name: str) -> np.ndarray:
    """One finite (samples, columns) float array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    try:
        array = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise UserError(f"{name} must be a numeric array: {error}") from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise UserError(f"{name} must have shape (samples, columns), not {array.shape}")
    if len(array) < 2:
        raise UserError(f"{name} has a single row; a score needs many samples")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise UserError(f"{name} has a value that is not finite (row {row}, column {column}: {array[row, column]})")
    return array


def kinds_of(factors: np.ndarray, given: Sequence[Factor | str] | None) -> list[str]:
    """The kind of each factor column; where not given, whole numbers are an order and the rest continuous."""
    if given is None:
        return ["order" if (column == np.round(column)).all() else "continuous" for column in factors.T]
    if len(given) != factors.shape[1]:
        raise UserError(f"{len(given)} factor kinds given for {factors.shape[1]} factor columns")
    kinds: list[str] = [kind.kind if isinstance(kind, Factor) else kind for kind in given]
    for kind in kinds:
        if kind not in KINDS:
            raise unknown("factor kind", kind, KINDS)
    return kinds


class Room(ModuleType):
    """A package whose files stand for the function of their name."""

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing a file binds its module here, which would hide the function from the second use on.
        super().__setattr__(name, getattr(value, name, value) if isinstance(value, ModuleType) else value)


sys.modules[__name__].__class__ = Room


def __getattr__(name: str) -> Callable[..., Score]:
    if name.startswith("_") or name not in catalog.names("metrics"):
        raise AttributeError(f"module 'unbraid.metrics' has no attribute {name!r}")
    return catalog.load("metrics", name)
