"""Numbers as a reader wants them, and numbers out of whatever a file holds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

MISSING = "–"


def number(value: Any) -> float | None:
    """The finite number in a value from a file, or None."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def floats(values: Any) -> list[float]:
    """A list from a file as floats, NaN where there is no number; empty if it is not a list."""
    if not isinstance(values, list | tuple | np.ndarray):
        return []
    return [math.nan if (found := number(value)) is None else found for value in values]


def matrix(values: Any) -> np.ndarray | None:
    """A list of equally long lists as a 2-D array, or None."""
    if not isinstance(values, list | tuple | np.ndarray) or len(values) == 0:
        return None
    rows = [floats(row) for row in values]
    if not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        return None
    return np.asarray(rows)


def show(value: Any, digits: int = 3) -> str:
    """A number in at most `digits` significant digits, whole numbers in full."""
    found = number(value)
    if found is None:
        return MISSING
    if found == round(found) and abs(found) < 1e15:
        return f"{round(found):,}".replace("-", "−")
    size = math.floor(math.log10(abs(found)))
    if size < -4 or size >= 6:
        mantissa, _, exponent = f"{found:.{digits - 1}e}".partition("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    places = max(digits - 1 - max(size, 0), 0 if size >= 0 else 1 - size)
    return f"{found:,.{places}f}".replace("-", "−")


def short(value: float) -> str:
    """A number for the tick of an axis: 20000 is 20k."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e9 or size < 1e-3:
        mantissa, _, exponent = f"{value:.3e}".partition("e")
        return f"{float(mantissa):g}e{int(exponent)}".replace("-", "−")
    for unit, letter in ((1e6, "M"), (1e3, "k")):
        if size >= unit:
            return f"{value / unit:.4g}{letter}".replace("-", "−")
    return f"{value:.4g}".replace("-", "−")


def mean_and_sd(values: list[float]) -> tuple[float, float | None]:
    """The mean and, from two values on, the sample standard deviation."""
    array = np.asarray(values, dtype=float)
    return float(array.mean()), float(array.std(ddof=1)) if len(array) > 1 else None


def spread(values: list[float]) -> str:
    """Mean ± standard deviation in words of a table."""
    if not values:
        return MISSING
    mean, sd = mean_and_sd(values)
    if not sd:
        return show(mean) + ("" if sd is None else " ± 0")
    places = min(max(0, 1 - math.floor(math.log10(sd))), 4)
    return f"{mean:,.{places}f} ± {sd:,.{places}f}".replace("-", "−")


def plain(value: Any) -> str:
    """Any value of a config or a setting on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        inner = ", ".join(plain(item) for item in value[:16])
        return inner + (f", … ({len(value)} values)" if len(value) > 16 else "")
    if isinstance(value, dict):
        return ", ".join(f"{key}: {plain(item)}" for key, item in value.items())
    return str(value)
