"""Axes of a chart: from values to places on the page, with round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` laid out from `start` to `stop`."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value on the page."""
        low, high, value = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (self.stop - self.start) * (value - low) / (high - low)

    def holds(self, value: float) -> bool:
        """Whether a value can be drawn on this axis."""
        return math.isfinite(value) and not (self.log and value <= 0)

    def ticks(self, count: int = 5) -> list[float]:
        """Round values within the axis."""
        return self._log_ticks(count) if self.log else _round_ticks(self.low, self.high, count)

    def _log_ticks(self, count: int) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        decades = [10.0**power for power in range(first, last + 1)]
        inside = [v for v in decades if self.low <= v <= self.high]
        if len(inside) >= 3:
            return inside[:: math.ceil(len(inside) / (count + 1))]
        finer = [base * decade for decade in decades for base in (1, 2, 5)]
        finer = [v for v in finer if self.low <= v <= self.high]
        return finer if len(finer) >= 2 else _round_ticks(self.low, self.high, count)


def _round_ticks(low: float, high: float, count: int) -> list[float]:
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(base * power for base in (1, 2, 5, 10) if base * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(at * step, 12) for at in range(first, math.floor(high / step + 1e-9) + 1)]


def fit(values: Iterable[float], start: float, stop: float, log: bool = False, pad: float = 0.04) -> Axis:
    """An axis just wide enough for the finite values."""
    found = [v for v in values if math.isfinite(v) and not (log and v <= 0)]
    low, high = (min(found), max(found)) if found else (1.0 if log else 0.0, 10.0 if log else 1.0)
    if log:
        wide = (high / low) ** pad if high > low else 2.0
        return Axis(low / wide, high * wide, start, stop, True)
    flat = high - low <= 1e-9 * max(abs(low), abs(high))
    extra = (abs(low) * 0.5 or 1.0) if flat else (high - low) * pad
    bottom = 0.0 if low >= 0 and low - extra < 0 else low - extra
    return Axis(bottom, high + extra, start, stop)
