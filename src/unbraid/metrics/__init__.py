"""What a metric is. Every other file here is one: a function of arrays, named as its file, giving a `Score`.

Samples come first: `codes` (samples, latents) and `factors` (samples, factors), NumPy arrays. `kinds` says
for each factor whether it is a category, an order, a cycle or continuous.
`unbraid.metrics.mig(codes, factors)` works without importing anything else.

- The docstring's first line is "NAME: what it says, in words a newcomer understands."; reports print both.
- `HOLDS` names the properties of `tests/test_metrics.py` that the metric has.
- Where a model is fitted, `test_codes` and `test_factors` may be given; without them `split` makes a seeded split.
- `reference=True` gives the number that disentanglement_lib computes on the same arrays.
- Whatever was chosen is in `settings`, whatever may mislead in `warnings`: `usual_warnings` has the common ones.
- `SECONDS` is about how long it takes for 10,000 samples, if that is long: those come last.
- `SLOW = True` keeps a metric out of what is computed unless it is asked for by name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import numpy as np

from unbraid import catalog
from unbraid.errors import UserError, nearest, unknown
from unbraid.factors import KINDS, Factor
from unbraid.information import constant_columns, dependent_pairs

LARGEST = 1e140  # sums of squares of many such numbers are still finite


@dataclass(frozen=True)
class Score:
    """A number, what it is made of, and how to read it.

    Arguments:
        value: the score.
        facets: the numbers that are published together under this name, if there are several (D, C and I of DCI).
        parts: arrays and numbers it was made from, by name.
        settings: what was chosen (bins, neighbours, seed, sample counts).
        ceiling: what a perfect code would reach on these factors; None if 1 (or not bounded).
        chance: what structure by chance alone would score; None if that is 0 or unknown.
        warnings: pitfalls that apply to this very input, one sentence each.
        best: whether larger or smaller is better.
        interval: where the value would lie with other samples of the same size, if `bootstrap` was asked.

    Facets and parts can be read as attributes: `score.disentanglement`.
    """

    value: float
    parts: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    ceiling: float | None = None
    chance: float | None = None
    warnings: tuple[str, ...] = ()
    best: str = "high"
    facets: dict[str, float] = field(default_factory=dict)
    interval: tuple[float, float] | None = None

    def __float__(self) -> float:
        return self.value

    def apart(self, name: str) -> dict[str, Score]:
        """This score under its name, and each facet that is another number as a score of its own: `dci.completeness`."""
        others = {k: v for k, v in self.facets.items() if v != self.value}
        alone = {f"{name}.{k}": Score(v, settings=self.settings, best=self.best) for k, v in others.items()}
        return {name: self, **alone}

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            for held in (self.facets, self.parts):
                if name in held:
                    return held[name]
        raise AttributeError(f"this score has no {name!r}: it has {', '.join([*self.facets, *self.parts])}")


def bootstrap(
    metric: Callable[..., Score] | str,
    *arrays: Any,
    repeats: int = 100,
    level: float = 0.95,
    seed: int = 0,
    **options: Any,
) -> Score:
    """The score of all samples, with an interval from half samples.

    Half samples drawn without replacement spread around the full value as full samples spread around the truth
    (their variance is s²(2/n - 1/n)); unlike resampled rows they have no duplicates, which would look like neighbours,
    fill bins unevenly and leak from fitted to scored samples. Bias is the same for all and cancels.

    Arguments:
        metric: a metric, or its name.
        arrays: what the metric takes: codes and factors.
        repeats: half samples.
        level: how much of their spread the interval covers.
        seed: draws the half samples.
        options: of the metric.
    """
    measure = catalog.load("metrics", metric) if isinstance(metric, str) else metric
    if repeats < 2 or not 0 < level < 1:
        raise UserError(f"repeats={repeats}, level={level}: at least 2 repeats and a level between 0 and 1")
    score = measure(*arrays, **options)
    held = [table(array, "codes") for array in arrays]
    draw = np.random.default_rng(seed)
    values = []
    for _ in range(repeats):
        rows = np.sort(draw.permutation(len(held[0]))[: len(held[0]) // 2])
        values.append(measure(*[array[rows] for array in held], **options).value)
    low, high = np.nanquantile(values, [(1 - level) / 2, (1 + level) / 2]) - np.nanmean(values)
    settings = {**score.settings, "bootstrap": repeats, "level": level}
    return replace(score, interval=(float(score.value + low), float(score.value + high)), settings=settings)


def split(
    codes: np.ndarray, factors: np.ndarray, test_codes: Any, test_factors: Any, seed: int, share: float = 2 / 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Codes and factors to fit on, and to score on: as given, or a seeded split (two thirds are fitted)."""
    if (test_codes is None) != (test_factors is None):
        raise UserError("give test_codes and test_factors both, or neither")
    if test_codes is not None:
        test_codes, test_factors = check(test_codes, test_factors)
        for what, a, b in (("codes", codes, test_codes), ("factors", factors, test_factors)):
            if a.shape[1] != b.shape[1]:
                raise UserError(f"test_{what} have {b.shape[1]} columns but {what} {a.shape[1]}")
        return codes, factors, test_codes, test_factors
    order = np.random.default_rng(seed).permutation(len(codes))
    cut = max(1, min(len(codes) - 1, round(share * len(codes))))
    fit, held = order[:cut], order[cut:]
    return codes[fit], factors[fit], codes[held], factors[held]


def label(kinds: Sequence[Factor | str] | None, column: int) -> str:
    """How a warning names a factor: by its name if it is known."""
    given = kinds[column] if kinds is not None else None
    return f"{given.name!r}" if isinstance(given, Factor) else f"in column {column}"


def usual_warnings(codes: np.ndarray, factors: np.ndarray, kinds: Sequence[Factor | str] | None) -> list[str]:
    """Pitfalls that concern every score: dead codes, factors that never vary or go together, few samples."""
    found = []
    dead = np.flatnonzero(constant_columns(codes, 2))
    if len(dead):
        found.append(f"constant code columns {dead.tolist()} carry no information")
    for still in np.flatnonzero(np.ptp(factors, axis=0) == 0):
        found.append(f"factor {label(kinds, int(still))} never varies and is left out of the mean")
    for i, j, v in dependent_pairs(factors) if factors.shape[1] > 1 else ():
        found.append(
            f"factors {label(kinds, i)} and {label(kinds, j)} depend on each other (Cramér's V {v:.2f}): "
            "no score can tell a latent of one from a latent of the other"
        )
    if codes.shape[1] == 1:
        found.append("a single latent has no second best, which counts as 0")
    if len(codes) < 1000:
        found.append(f"{len(codes)} samples are few: scores are biased and noisy, ask for a bootstrap interval")
    return found


def check(codes: Any, factors: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes and factors as 2-D float arrays of equal length, or one clear line saying why not."""
    codes, factors = table(codes, "codes"), table(factors, "factors")
    if len(codes) != len(factors):
        turned = codes.shape[1] == len(factors) or factors.shape[1] == len(codes)
        hint = "samples come first: is one of them transposed?" if turned else "they must describe the same samples"
        if codes.shape[1] == factors.shape[1]:
            hint = "samples come first: are both transposed?"
        raise UserError(f"codes have {len(codes)} rows but factors {len(factors)}; {hint}")
    return codes, factors


def table(values: Any, name: str) -> np.ndarray:
    """One finite (samples, columns) float array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    array = np.asarray(values)
    if array.dtype.kind == "O":  # pandas and lists hand over numbers in such arrays too
        try:
            array = array.astype(np.float64)
        except (ValueError, TypeError) as error:
            raise UserError(f"{name} must be numbers: {error}") from error
    if array.dtype.kind not in "buif":
        raise UserError(f"{name} must be numbers, not {array.dtype}")
    array = array.astype(np.float64, copy=False)  # no metric writes into what it is given
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise UserError(f"{name} must have shape (samples, columns), not {array.shape}")
    if len(array) < 2:
        raise UserError(f"{name} has a single row; a score needs many samples")
    largest = max(-array.min(), array.max())  # nan if there is any
    if not np.isfinite(largest):
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise UserError(f"{name} has a value that is not finite (row {row}, column {column}: {array[row, column]})")
    if largest > LARGEST:
        raise UserError(f"{name} has values too large to be squared ({largest:.3g}): rescale it")
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
    known = catalog.names("metrics")
    if name.startswith("_") or name not in known:
        near = "" if name.startswith("_") else nearest(name, known)
        raise AttributeError(f"module 'unbraid.metrics' has no attribute {name!r}{': ' if near else ''}{near}")
    return catalog.load("metrics", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *catalog.names("metrics")})
