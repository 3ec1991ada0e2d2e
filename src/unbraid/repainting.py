"""Data made from other data by painting over them: the same factors, and something that is not a factor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from unbraid.data import Data, Source, named, open_data, whole
from unbraid.errors import UserError

MOST_ROWS = 2**26


class Paint(Protocol):
    """What is done to samples, given the numbers of their rows."""

    def __call__(self, x: Tensor, rows: Tensor) -> Tensor:
        """Pictures (n, 3, height, width) from pictures (n, 1, height, width) and rows (n,)."""
        ...

    def to(self, device: torch.device) -> Paint:
        """The same with its tensors on a device."""
        ...


@dataclass(frozen=True)
class Repainted:
    """Every sample of a source, several times, each time painted otherwise."""

    base: Source
    paint: Paint
    copies: int

    def __len__(self) -> int:
        return len(self.base) * self.copies

    def draw(self, rows: Tensor) -> Tensor:
        """Draw and paint."""
        flat = rows.reshape(-1)
        painted = self.paint(self.base.draw(flat % len(self.base)), flat)
        return painted.view(*rows.shape, *painted.shape[1:])

    def to(self, device: torch.device) -> Repainted:
        """Move the source and the paint."""
        return Repainted(self.base.to(device), self.paint.to(device), self.copies)


def opened(name: str, base: str) -> Data:
    """The data that are painted over; the + between their options is the comma of a name by itself."""
    found = open_data(base.replace("+", ","))
    if len(found.shape) != 3 or found.shape[0] != 1 or found.pixels == "real":
        raise UserError(f"{name}:base={base}: must have pictures of one channel in 0..1, as dsprites and sprites have")
    if found.chosen:
        raise UserError(f"{name}:base={base}: give correlate and hold_out to {name}, not to its base")
    return found


def repainted(
    name: str, base: Data, paint: Paint, options: Mapping[str, Any], copies: int, fingerprint: str = ""
) -> Data:
    """Data with the factors of their base, which say nothing of the paint.

    Arguments:
        name: of the data set.
        base: what is painted over.
        paint: how.
        options: of the data set, for its name.
        copies: how often every sample comes, each time painted otherwise.
        fingerprint: of what the paint is made from, if that is a user's own file.
    """
    whole({"copies": copies})
    whole({"seed": options["seed"]}, least=0)
    if len(base) * copies > MOST_ROWS:
        raise UserError(f"{name}:copies={copies}: at most {MOST_ROWS // len(base)} for {base.name}")
    return Data(
        name=named(name, options),
        source=Repainted(base.source, paint, copies),
        shape=(3, *base.shape[1:]),
        factors=base.factors,
        values=None if base.values is None else base.values.repeat(copies, 1),
        notes=base.notes,
        fingerprint=base.fingerprint + fingerprint,
    )
