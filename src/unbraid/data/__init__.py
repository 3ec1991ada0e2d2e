"""What a data set is. Every other file in this folder is one: a function, named as its file, returns `Data`.

The function's keywords are the data set's options, given as `name:option=value,option=value` wherever a data
set is named. A sample is addressed by its row number; `draw` turns row numbers into float32 samples on the
device where the data live, either looked up or rendered there.

Three options belong to every data set with factors, a user's own files included (dependence.py). They change
which samples are trained on and validated with; the test part keeps every combination equally often:

    sprites:correlate=x-y,strength=0.2      x and y near to each other, the nearer the smaller the strength
    sprites:hold_out=shape0-scale5          no square of the largest size in training and validation
    faces.npz:correlate=age-pose+age-light  more than one, joined by +
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from unbraid import catalog
from unbraid.errors import UserError, unknown
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
        chosen: rows of those parts that are not the plain split's: correlated, or without held-out combinations.
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
        f"{option.name}={_spelled(options[option.name])}"
        for option in catalog.entry("data", name).options
        if option.name in options and not _is_default(option, options[option.name])
    ]
    return f"{name}:{','.join(said)}" if said else name


def whole(options: Mapping[str, int], least: int = 1) -> None:
    """Refuse numbers of something that are not whole or too small."""
    for name, value in options.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise UserError(f"{name}={_spelled(value)}: must be a whole number of at least {least}")


def open_data(what: Any) -> Data:
    """Data from whatever names or holds them.

    Arguments:
        what: a `Data` (returned as it is), a NumPy array, a torch tensor, a map-style torch `Dataset`, a path
            to a file or a folder of images, or a name with options: "sprites:pixels=32,positions=16".
    """
    if isinstance(what, Data):
        return what
    from unbraid import datafiles

    if isinstance(what, str) and not what.strip():
        raise UserError("data is empty: give a name, a file or a folder")
    if isinstance(what, Path):
        return datafiles.open_path(str(what))
    if not isinstance(what, str):
        return datafiles.open_object(what)
    name, _, options = what.partition(":")
    if name in catalog.names("data") or name.endswith(".py"):
        return _open_named(name, options)
    path, _, options = what.rpartition(":")
    if options.partition("=")[0] in _shared() and datafiles.is_path(path):
        return _depending(datafiles.open_path(path), _given(path, options, _shared()))
    if datafiles.is_path(what):
        return datafiles.open_path(what)
    raise unknown("data set", name, catalog.names("data"))


def _shared() -> dict[str, catalog.Option]:
    """The options of every data set with factors."""
    return {option.name: option for option in catalog.function_options("dependence", "dependent")[1:]}


def _given(name: str, text: str, known: Mapping[str, catalog.Option]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (word.strip() for word in part.partition("="))
        if key not in known:
            raise unknown(f"option of {name}", key, known)
        if not equals:
            raise UserError(f"{name}:{key}: give the option a value, as in {name}:{key}={known[key].default}")
        given[key] = _typed(name, known[key], _literal(value))
    return given


def _depending(data: Data, options: Mapping[str, Any]) -> Data:
    if not options:
        return data
    from unbraid.dependence import dependent

    return dependent(data, **options)


def _open_named(name: str, text: str) -> Data:
    member = catalog.load("data", name)
    own = {option.name: option for option in catalog.entry("data", name).options}
    shared = {key: option for key, option in _shared().items() if key not in own}
    given = _given(name, text, {**own, **shared})
    missing = [key for key, option in own.items() if option.default is None and key not in given]
    if missing:
        raise UserError(f"{name} needs the option {missing[0]}, as in {name}:{missing[0]}=...")
    data = _open_plain(name, member, {key: value for key, value in given.items() if key in own})
    return _depending(data, {key: value for key, value in given.items() if key in shared})


def _open_plain(name: str, member: Callable[..., Any], given: Mapping[str, Any]) -> Data:
    data = member(**given)
    if not isinstance(data, Data):
        raise UserError(f"{name} must return unbraid.data.Data, not {type(data).__name__}")
    if name.endswith(".py"):
        source = hashlib.blake2b(catalog.find("data", name).read_bytes(), digest_size=8).hexdigest()
        return replace(data, name=named(name, given), fingerprint=data.fingerprint + source)
    return data


def _literal(text: str) -> Any:
    words = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text.strip("'\"")


def _typed(name: str, option: catalog.Option, value: Any) -> Any:
    right = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a word"}
    wanted = option.annotation
    if wanted == "float" and type(value) is int:
        return float(value)
    if wanted == "str" and isinstance(value, int | float):
        return _spelled(value)
    if wanted in right and type(value).__name__ != wanted:
        raise UserError(f"{name}:{option.name}={_spelled(value)}: must be {right[wanted]}")
    return value


def _is_default(option: catalog.Option, value: Any) -> bool:
    if option.default is None:
        return False
    try:
        return bool(ast.literal_eval(option.default) == value)
    except ValueError:
        return False


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
