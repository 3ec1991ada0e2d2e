"""What a data set is. Every other file in this folder is one: a function, named as its file, that returns `Data`.

The function's keywords are the data set's options, given as `name:option=value,option=value` wherever a data set
is named. A sample is addressed by its row number; `draw` turns row numbers into float32 samples on the device
where the data live, either looked up or rendered there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import torch
from torch import Tensor

from unbraid.factors import Factor

Part = Literal["train", "validation", "test"]
SHARES: dict[str, tuple[float, float]] = {"train": (0.0, 0.8), "validation": (0.8, 0.9), "test": (0.9, 1.0)}


class Source(Protocol):
    """Where samples come from."""

    def __len__(self) -> int: ...

    def draw(self, rows: Tensor) -> Tensor:
        """Samples (rows, *shape) as float32, for row numbers of any shape."""
        ...

    def to(self, device: torch.device) -> Source:
        """The same source with its tensors on a device."""
        ...


@dataclass(frozen=True)
class Stored:
    """Samples kept as one tensor: uint8 (read as 0..1) or float32."""

    samples: Tensor

    def __len__(self) -> int:
        return len(self.samples)

    def draw(self, rows: Tensor) -> Tensor:
        """Look the rows up."""
        found = self.samples[rows]
        return found if found.is_floating_point() else found.to(torch.float32).div_(255)

    def to(self, device: torch.device) -> Stored:
        """Move the samples."""
        return Stored(self.samples.to(device))


@dataclass(frozen=True)
class Data:
    """Samples, their factors if known, and what a result must say about them.

    Arguments:
        name: how the user asked for it, options included; part of a run's identity.
        source: where samples come from.
        shape: of one sample: (channels, height, width) or (features,).
        pixels: "binary" and "unit" lie in 0..1 (images), "real" anywhere.
        factors: the known causes; empty if there are none.
        values: (samples, factors), one column per factor; class numbers, or real numbers for continuous ones.
        notes: facts that every result made with these data must repeat.
        fingerprint: changes when the samples change; for data without a name of their own.
    """

    name: str
    source: Source
    shape: tuple[int, ...]
    pixels: Literal["binary", "unit", "real"] = "unit"
    factors: tuple[Factor, ...] = ()
    values: Tensor | None = None
    notes: tuple[str, ...] = ()
    fingerprint: str = ""
    _parts: dict[str, Tensor] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.source)

    def draw(self, rows: Tensor) -> Tensor:
        """Samples for row numbers of any shape."""
        return self.source.draw(rows)

    def to(self, device: torch.device | str) -> Data:
        """The same data on a device."""
        return replace(self, source=self.source.to(torch.device(device)), _parts={})

    def rows(self, part: Part) -> Tensor:
        """Row numbers of the thesis's random 80/10/10 split; the split never depends on the training seed."""
        if not self._parts:
            order = torch.randperm(len(self), generator=torch.Generator().manual_seed(0))
            for name, (low, high) in SHARES.items():
                self._parts[name] = order[round(low * len(self)) : round(high * len(self))]
        return self._parts[part]

    def factor_values(self, rows: Tensor) -> Tensor:
        """(rows, factors) for row numbers; raises if the data have no factors."""
        if self.values is None:
            raise ValueError(f"{self.name} has no factors")
        return self.values[rows.to(self.values.device)]
