"""Training on factors that depend on each other: correlated pairs, and combinations that are never seen.

Träuble et al. 2021 draw two factors a and b, scaled to 0..1, near the line a = b:

    p(row) ∝ exp(-(a - b)² / (2 strength²))                                          (1)

Training and validation draw from such rows; the test part stays the plain one, with every combination equally
often, because scores of codes against factors mean something only while the factors are independent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from unbraid.data import Data, Part
from unbraid.errors import UserError, unknown
from unbraid.factors import Factor

SEED = 0  # of the order of chosen rows; part of what a name means, so it never changes
STRENGTH = 0.2


def dependent(data: Data, correlate: str = "", strength: float = STRENGTH, hold_out: str = "") -> Data:
    """The same samples, of which other rows are trained on and validated with.

    Arguments:
        data: data with factors.
        correlate: pairs of factors that go together, as x-y or x-y+scale-shape.
        strength: width σ of the correlation: 0.2 is strong, 0.7 weak; the factors scaled to 0..1.
        hold_out: combinations that are not trained on, as shape0-scale5 or shape0-scale5+x3-y4.
    """
    if not data.factors or data.values is None:
        raise UserError(f"{data.name} has no factors: correlate and hold_out need data with factors")
    if not 0 < strength < float("inf"):
        raise UserError(f"strength={strength}: must be a number above 0 (0.2 is strong, 0.7 weak)")
    if strength != STRENGTH and not correlate:
        raise UserError(f"strength={strength}: say which factors go together, as in correlate={_example(data.factors)}")
    pairs = [_pair(text, data.factors) for text in correlate.split("+") if text]
    held = [_combination(text, data.factors) for text in hold_out.split("+") if text]
    weights = torch.ones(len(data), dtype=torch.float64)
    for first, second in pairs:
        away = _scaled(data.values[:, first]) - _scaled(data.values[:, second])
        weights *= torch.exp(-away.square() / (2 * strength**2))  # (1)
    for combination in held:
        weights[torch.stack([data.values[:, at] == value for at, value in combination]).all(0)] = 0
    chosen: dict[str, Tensor] = {}
    parts: tuple[Part, ...] = ("train", "validation")
    for part in parts:
        rows = data.rows(part)
        if not weights[rows].any():
            raise UserError(f"hold_out={hold_out}: nothing is left to train on in {data.name}")
        chosen[part] = _resampled(rows, weights[rows])
    told = {"correlate": correlate, "strength": strength if strength != STRENGTH else "", "hold_out": hold_out}
    said = ",".join(f"{key}={value}" for key, value in told.items() if value)
    if not said:
        return data
    name = f"{data.name}{',' if ':' in data.name else ':'}{said}"
    return replace(data, name=name, chosen=chosen, notes=(*data.notes, *_notes(data.factors, pairs, strength, held)))


def _resampled(rows: Tensor, weights: Tensor) -> Tensor:
    """As many rows, each as often as its weight says to within one (systematic resampling), in random order."""
    if (weights == weights[0]).all():
        return rows
    if set(weights.unique().tolist()) <= {0.0, 1.0}:
        return rows[weights > 0]
    shares = weights.cumsum(0) / weights.sum()
    picks = torch.searchsorted(shares, (torch.arange(len(rows), dtype=torch.float64) + 0.5) / len(rows))
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(SEED))
    return rows[picks.clamp(max=len(rows) - 1)[order]]


def _scaled(column: Tensor) -> Tensor:
    column = column.double()
    low, high = column.min(), column.max()
    return (column - low) / (high - low).clamp_min(1e-300)


def _pair(text: str, factors: Sequence[Factor]) -> tuple[int, int]:
    names = [factor.name for factor in factors]
    words = text.split("-")
    for at in range(1, len(words)):
        first, second = "-".join(words[:at]), "-".join(words[at:])
        if first in names and second in names and first != second:
            return names.index(first), names.index(second)
    if len(words) == 2 and words[0] != words[1]:
        raise unknown("factor", words[0] if words[0] not in names else words[1], names)
    raise UserError(f"correlate={text}: name two factors, as in correlate={_example(factors)}")


def _combination(text: str, factors: Sequence[Factor]) -> list[tuple[int, int]]:
    names = [factor.name for factor in factors]
    found: list[tuple[int, int]] = []
    for word in text.split("-"):
        match = re.fullmatch(r"(.*?)(\d+)", word)
        # A factor's own name may end in digits: the longest name that the word begins with.
        name = max((n for n in names if word.startswith(n) and word[len(n) :].isdecimal()), key=len, default=None)
        if name is None:
            if match is None:
                raise UserError(f"hold_out={text}: {word!r} is not a factor and its value, as in shape0")
            raise unknown("factor", match[1], names)
        factor, value = factors[names.index(name)], int(word[len(name) :])
        if factor.kind == "continuous":
            raise UserError(f"hold_out={text}: {name} is continuous, it has no numbered values")
        if value >= factor.size:
            raise UserError(f"hold_out={text}: {name} has the values 0 to {factor.size - 1}, not {value}")
        found.append((names.index(name), value))
    if len({at for at, _ in found}) < len(found):
        raise UserError(f"hold_out={text}: a factor has one value in a combination; join combinations by +")
    return found


def _example(factors: Sequence[Factor]) -> str:
    return "-".join(factor.name for factor in factors[-2:]) if len(factors) > 1 else "x-y"


def _notes(
    factors: Sequence[Factor],
    pairs: Sequence[tuple[int, int]],
    strength: float,
    held: Sequence[Sequence[tuple[int, int]]],
) -> list[str]:
    notes = []
    if pairs:
        named = " and ".join(f"{factors[a].name} with {factors[b].name}" for a, b in pairs)
        notes.append(f"trained on correlated factors: {named} (strength {strength:g}); tested on independent ones")
    if held:
        named = " and ".join(" ".join(f"{factors[at].name}={value}" for at, value in one) for one in held)
        notes.append(f"trained without the combinations {named}; they are part of the test")
    return notes
