"""What a data set is. Every other file in this folder is one: a function, named as its file, returns `Data`.

The function's keywords are the data set's options, given as `name:option=value,option=value` wherever a data
set is named. A sample is addressed by its row number; `draw` turns row numbers into float32 samples on the
device where the data live, either looked up or rendered there.

Three options belong to every data set with factors, a user's own files included (dependence.py). They change
which samples are trained on and validated with; the test part keeps every combination equally often:

    sprites:correlate=x-y,strength=0.2      x and y near to each other, the nearer the smaller the strength
    sprites:hold_out=shape0-scale5          no square of the largest size in training and validation
    faces.npz:correlate=age-pose+age-light  more than one, joined by +

Data may come in groups (groups.py): a background and what stands against it, or domains. Three more options make
groups of the values of a factor, or of a column of a table:

    cells.csv:group=condition,background=control       every other condition is a target
    faces.npz:group=camera,target=left+right           only these two

Images can be moved and coloured at random (augmentation.py), anew at every step of training, by amounts that are factors:

    mnist:size=32,colour=true,shift=6,turn=45          a canvas of 32x32, up to 6 pixels in both directions, 45 degrees
    photos/:shift=4-0,hue=true                         to the right and left only, in any hue

Tables have two more, alone or before groups are made: raw counts made comparable (counts.py), and the columns that vary
most (features.py), of the counts made comparable if both are given:

    cells.h5ad:counts=log1p,columns=1000,group=condition,background=control
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

from unbraid import catalog
from unbraid.errors import UserError, unknown
from unbraid.factors import Factor

Part = Literal["train", "validation", "test"]
SHARES: dict[str, tuple[float, float]] = {"train": (0.0, 0.8), "validation": (0.8, 0.9), "test": (0.9, 1.0)}
FEWEST = 10  # samples of data, and of a group: of fewer, a part of the split would be empty


class Source(Protocol):
    """Where samples come from."""

    def __len__(self) -> int: ...

    def draw(self, rows: Tensor) -> Tensor:
        """Samples (rows, *shape) as float32, for row numbers of any shape."""
        ...

    def to(self, device: torch.device) -> Source:
        """The same source with its tensors on a device."""
        ...


@runtime_checkable
class ByChance(Source, Protocol):
    """A source that leaves something to chance: `chance` numbers in 0..1 per sample, a row's own where none are given."""

    @property
    def chance(self) -> int:
        """Numbers per sample."""
        ...

    def draw(self, rows: Tensor, uniforms: Tensor | None = None) -> Tensor:
        """The same, by numbers (rows..., at least `chance`)."""
        ...


def chance_of(source: Source) -> int:
    """How many numbers in 0..1 a source takes per sample."""
    return source.chance if isinstance(source, ByChance) else 0


def drawn(source: Source, rows: Tensor, uniforms: Tensor | None = None) -> Tensor:
    """Samples of any source, by numbers in 0..1 if it takes any and they are given."""
    if uniforms is None or not (isinstance(source, ByChance) and source.chance):
        return source.draw(rows)
    return source.draw(rows, uniforms[..., : source.chance])


@dataclass(frozen=True)
class Stored:
    """Samples kept as one tensor: uint8 (read as 0..1) or float32."""

    samples: Tensor

    def __len__(self) -> int:
        return len(self.samples)

    def draw(self, rows: Tensor) -> Tensor:
        """Look the rows up."""
        flat = rows.reshape(-1).to(self.samples.device)
        found = self.samples.index_select(0, flat).view(*rows.shape, *self.samples.shape[1:])
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
        chosen: rows of those parts that are not the plain split's: correlated, without held-out combinations, or
            split within each group.
        groups: names of the groups that rows belong to; empty where there are none.
        group: (samples,) the number of each row's group.
        members: each group as data of its own, with row numbers and factors of its own; on the host.
        features: what the numbers of a sample are called, where a table says so.
    """

    name: str
    source: Source
    shape: tuple[int, ...]
    pixels: Literal["binary", "unit", "real"] = "unit"
    factors: tuple[Factor, ...] = ()
    values: Tensor | None = None
    notes: tuple[str, ...] = ()
    fingerprint: str = ""
    chosen: Mapping[str, Tensor] = field(default_factory=dict, repr=False, compare=False)
    groups: tuple[str, ...] = ()
    group: Tensor | None = None
    members: Mapping[str, Data] = field(default_factory=dict, repr=False, compare=False)
    features: tuple[str, ...] = field(default=(), repr=False)
    _parts: dict[str, Tensor] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def chance(self) -> int:
        """Numbers in 0..1 that a sample is drawn by, where the data leave something to chance."""
        return chance_of(self.source)

    def draw(self, rows: Tensor, uniforms: Tensor | None = None) -> Tensor:
        """Samples for row numbers of any shape; what is left to chance by these numbers, or by each row's own."""
        return drawn(self.source, rows, uniforms)

    def to(self, device: torch.device | str) -> Data:
        """The same data on a device."""
        there = torch.device(device)
        group = None if self.group is None else self.group.to(there)
        return replace(self, source=self.source.to(there), group=group, _parts={})

    def rows(self, part: Part) -> Tensor:
        """Row numbers of the thesis's random 80/10/10 split; the split never depends on the training seed.

        In a chosen part a row may come more than once.
        """
        if part in self.chosen:
            return self.chosen[part]
        if not self._parts:
            order = torch.randperm(len(self), generator=torch.Generator().manual_seed(0))
            for name, (low, high) in SHARES.items():
                self._parts[name] = order[round(low * len(self)) : round(high * len(self))]
        return self._parts[part]

    def member(self, group: str) -> Data:
        """One group as data of its own, with its own factors, row numbers and parts."""
        if group not in self.members:
            raise unknown(f"group of {self.name}", group, self.members)
        return self.members[group]

    def rows_of(self, group: str) -> Tensor:
        """Where a group's rows are: `rows_of(group)[row of the member]` is the row here."""
        if self.group is None or group not in self.groups:
            raise unknown(f"group of {self.name}", group, self.groups)
        return (self.group == self.groups.index(group)).nonzero()[:, 0]

    def factor_values(self, rows: Tensor) -> Tensor:
        """(rows, factors) for row numbers; raises if the data have no factors."""
        if self.values is None:
            raise ValueError(f"{self.name} has no factors")
        return self.values[rows.to(self.values.device)]


def grid(sizes: Sequence[int]) -> Tensor:
    """Every combination of class numbers, one per row, the last column running fastest."""
    axes = torch.meshgrid(*[torch.arange(size, dtype=torch.int16) for size in sizes], indexing="ij")
    return torch.stack([axis.reshape(-1) for axis in axes], 1)


def named(name: str, options: Mapping[str, Any]) -> str:
    """The one spelling of a data set with these options: those left at their default are not mentioned."""
    said = [
        f"{option.name}={spelled(options[option.name])}"
        for option in catalog.entry("data", name).options
        if option.name in options and not catalog.is_default(option, options[option.name])
    ]
    return f"{name}:{','.join(said)}" if said else name


def whole(options: Mapping[str, int], least: int = 1) -> None:
    """Refuse numbers of something that are not whole or too small."""
    for name, value in options.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise UserError(f"{name}={spelled(value)}: must be a whole number of at least {least}")


def enough(name: str, samples: int) -> None:
    """Refuse fewer samples than can be split."""
    if samples < FEWEST:
        raise UserError(f"{name} has {samples} sample{'' if samples == 1 else 's'}: at least {FEWEST} are needed")


def open_data(what: Any) -> Data:
    """Data from whatever names or holds them.

    Arguments:
        what: a `Data` (returned as it is), a NumPy array, a torch tensor, a map-style torch `Dataset`, a path
            to a file or a folder of images, a name with options: "sprites:pixels=32,positions=16", or groups:
            a mapping from their names to any of these, or "target=cases.npy & background=controls.npy".
    """
    if isinstance(what, Data):
        return what
    from unbraid import datafiles, groups, opening

    if isinstance(what, Path):
        return datafiles.open_path(str(what))
    if isinstance(what, Mapping):
        return groups.open_groups(what)
    return opening.open_name(what) if isinstance(what, str) else datafiles.open_object(what)


def is_named(what: Any) -> bool:
    """Whether data were given by names and paths alone, which open them again."""
    return all(map(is_named, what.values())) if isinstance(what, Mapping) else isinstance(what, str | Path)


def drawn_fingerprint(data: Data) -> str:
    """Of data that were put together by hand: their length and a thousand of their samples."""
    rows = torch.linspace(0, len(data) - 1, min(len(data), 1000)).long()
    samples = data.draw(rows).cpu().contiguous().numpy()
    return hashlib.blake2b(repr(len(data)).encode() + samples.tobytes(), digest_size=8).hexdigest()


def spelled(value: Any) -> str:
    """An option's value as a name has it."""
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
