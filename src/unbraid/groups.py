"""Data in groups: several data sets as one whose rows know which they came from, or one split by a factor.

The group called `background` is the background, and every other one a target; or all groups are domains: which it is
depends on the method. Rows of a group are consecutive and in its own order; each part of the split is 80/10/10 of
every group, in mixed order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from unbraid.data import SHARES, Data, Part, Source, Stored, chance_of, drawn, drawn_fingerprint, enough, open_data
from unbraid.errors import UserError, unknown
from unbraid.factors import Factor
from unbraid.spelling import BACKGROUND, joined

GROUPING = ("group", "background", "target")  # options of `grouped`, and so of every data set with factors
PIXELS = ("binary", "unit", "real")  # from the narrowest to the widest


@dataclass(frozen=True)
class Picked:
    """Some rows of a source, in an order of their own."""

    base: Source
    rows: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def chance(self) -> int:
        """As much as the source leaves to it."""
        return chance_of(self.base)

    def draw(self, rows: Tensor, uniforms: Tensor | None = None) -> Tensor:
        """Draw from the source."""
        return drawn(self.base, self.rows[rows.to(self.rows.device)], uniforms)

    def to(self, device: torch.device) -> Picked:
        """Move the source and the row numbers."""
        return Picked(self.base.to(device), self.rows.to(device))


@dataclass(frozen=True)
class Chained:
    """Sources one after another."""

    sources: tuple[Source, ...]
    shape: tuple[int, ...]
    device: torch.device

    def __len__(self) -> int:
        return sum(map(len, self.sources))

    @property
    def chance(self) -> int:
        """As much as any of them leaves to it."""
        return max(map(chance_of, self.sources))

    def draw(self, rows: Tensor, uniforms: Tensor | None = None) -> Tensor:
        """Draw each row from the source that it belongs to."""
        flat, start = rows.reshape(-1).to(self.device), 0
        given = None if uniforms is None else uniforms.flatten(0, -2)
        found = torch.empty(len(flat), *self.shape, device=self.device)
        for source in self.sources:
            mine = ((flat >= start) & (flat < start + len(source))).nonzero()[:, 0]
            if len(mine):
                found[mine] = drawn(source, flat[mine] - start, None if given is None else given[mine])
            start += len(source)
        return found.view(*rows.shape, *self.shape)

    def to(self, device: torch.device) -> Chained:
        """Move every source."""
        return Chained(tuple(source.to(device) for source in self.sources), self.shape, device)


def open_groups(what: Mapping[str, Any]) -> Data:
    """Open whatever each group is, and join them; what is wrong with one is said under its name."""
    members = {}
    for name, given in what.items():
        try:
            found = open_data(given)
        except UserError as error:
            raise UserError(f"{name}: {error}") from error
        by_hand = isinstance(given, Data) and not found.fingerprint
        members[name] = replace(found, fingerprint=drawn_fingerprint(found)) if by_hand else found
    return join(members)


def join(members: Mapping[str, Data], name: str | None = None) -> Data:
    """Several data sets as one.

    Arguments:
        members: each group's data.
        name: of the whole; by default the members' own, spelled so that it opens the whole again.
    """
    groups, each = tuple(members), list(members.values())
    name = joined({group: data.name for group, data in members.items()}) if name is None else name
    _check(groups, each)
    source = _chain(each)
    sizes = torch.tensor([len(data) for data in each])
    starts = (sizes.cumsum(0) - sizes).tolist()
    alike = all(data.factors == each[0].factors and data.values is not None for data in each)
    fingerprints = [data.fingerprint for data in each]
    return Data(
        name=name,
        source=source,
        shape=each[0].shape,
        pixels=max((data.pixels for data in each), key=PIXELS.index),
        factors=each[0].factors if alike else (),
        values=torch.cat([data.values for data in each if data.values is not None]) if alike else None,
        notes=_notes(groups, each),
        fingerprint=_digest(*groups, *fingerprints) if any(fingerprints) else "",
        chosen=_parts(each, starts),
        groups=groups,
        group=torch.arange(len(each)).repeat_interleave(sizes),
        features=next((data.features for data in each if data.features), ()),
        # Drawn through the whole, so that samples that were copied into it need not be kept twice.
        members={
            group: replace(data, source=Picked(source, torch.arange(start, start + len(data))), _parts={})
            for group, data, start in zip(groups, each, starts, strict=True)
        },
    )


def grouped(data: Data, group: str, background: str = "", target: str = "") -> Data:
    """Data split by the values of a factor, which then is a factor no more.

    Arguments:
        data: data with factors.
        group: the factor, or a column of a table.
        background: its value that is the background of all others.
        target: keep only these other values, as a or a+b.
    """
    if not data.factors or data.values is None:
        raise UserError(f"{data.name} has no factors: group={group} needs a factor, or a column of a .csv file")
    names = [factor.name for factor in data.factors]
    if group not in names:
        raise unknown(f"factor of {data.name}", group, names)
    at = names.index(group)
    factor = data.factors[at]
    if factor.kind == "continuous" or not factor.size:
        raise UserError(f"group={group}: {group} is continuous; groups need a factor with few values")
    column = data.values[:, at]
    numbers = {factor.label(value): value for value in column.unique().long().tolist()}
    targets = _labels(group, target, numbers) if target else [label for label in numbers if label != background]
    behind = _labels(group, background, numbers) if background else []
    if len(behind) > 1 or set(behind) & set(targets):
        raise UserError(f"background={background}: must be one value of {group} that is no target")
    if behind and BACKGROUND in targets:
        raise UserError(f"background={background}: {group} has a value called {BACKGROUND} already; make it that one")
    if len(targets) + len(behind) < 2:
        raise UserError(f"{data.name}: one group only ({group}={[*targets, *behind][0]}): at least two are needed")
    members = {}
    for label in [*targets, *behind]:
        rows = (column == numbers[label]).nonzero()[:, 0]
        own = _without(data, at, f"{data.name} ({group}={label})", rows)
        members[BACKGROUND if label in behind else label] = own
    said = ",".join(f"{k}={v}" for k, v in zip(GROUPING, (group, background, target), strict=True) if v)
    whole = join(members, f"{data.name}{',' if ':' in data.name else ':'}{said}")
    return replace(whole, fingerprint=data.fingerprint)


def _without(data: Data, at: int, name: str, rows: Tensor) -> Data:
    """Some rows of data, less one factor."""
    assert data.values is not None
    others = [place for place in range(len(data.factors)) if place != at]
    return replace(
        data,
        name=name,
        source=Picked(data.source, rows),
        factors=tuple(data.factors[place] for place in others),
        values=data.values[rows][:, others] if others else None,
        _parts={},
    )


def _labels(group: str, text: str, known: Mapping[str, int]) -> list[str]:
    """Values joined by +, which may also be part of a value."""
    found, words = list[str](), text.split("+")
    while words:
        length = next((n for n in range(len(words), 0, -1) if "+".join(words[:n]) in known), 0)
        if not length:
            raise unknown(f"value of {group}", words[0], known)
        found.append("+".join(words[:length]))
        words = words[length:]
    return list(dict.fromkeys(found))


def _check(groups: Sequence[str], each: Sequence[Data]) -> None:
    if len(groups) < 2:
        raise UserError(f"one group only ({', '.join(groups) or 'none'}): at least two are needed")
    for group, data in zip(groups, each, strict=True):
        if data.groups:
            raise UserError(f"{group}={data.name} has groups of its own ({', '.join(data.groups)}): name those instead")
        enough(f"group {group}", len(data))
        if data.shape != each[0].shape:
            first, other = (f"{g} has samples of shape {d.shape}" for g, d in ((groups[0], each[0]), (group, data)))
            raise UserError(f"groups must have one shape: {first}, {other}")
        known = [(g, d.features) for g, d in zip(groups, each, strict=True) if d.features]
        for (one, ours), (other, theirs) in pairwise(known):
            if ours != theirs:
                at = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
                raise UserError(
                    f"groups must have the same columns in the same order: column {at + 1} is {ours[at]} in {one}, {theirs[at]} in {other}"
                )


def _chain(each: Sequence[Data]) -> Source:
    sources = [data.source for data in each]
    stored = [source for source in sources if isinstance(source, Stored)]
    if len(stored) == len(sources) and len({source.samples.dtype for source in stored}) == 1:
        return Stored(torch.cat([source.samples for source in stored]))
    picked = [source for source in sources if isinstance(source, Picked)]
    if len(picked) == len(sources) and all(source.base is picked[0].base for source in picked):
        return Picked(picked[0].base, torch.cat([source.rows for source in picked]))
    return Chained(tuple(sources), each[0].shape, each[0].draw(torch.tensor([0])).device)


def _parts(each: Sequence[Data], starts: Sequence[int]) -> dict[str, Tensor]:
    parts: tuple[Part, ...] = ("train", "validation", "test")
    found: dict[str, Tensor] = {}
    assert set(parts) == set(SHARES)
    for part in parts:
        rows = torch.cat([start + data.rows(part) for data, start in zip(each, starts, strict=True)])
        # Mixed, because the first thousand of a part stand for all of it.
        found[part] = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))]
    return found


def _notes(groups: Sequence[str], each: Sequence[Data]) -> tuple[str, ...]:
    """What all members say, once; what only some say, under their names."""
    shared = [note for note in each[0].notes if all(note in data.notes for data in each)]
    own = [f"{g}: {note}" for g, data in zip(groups, each, strict=True) for note in data.notes if note not in shared]
    return (*shared, *own)


def _digest(*words: str) -> str:
    return hashlib.blake2b("\n".join(words).encode(), digest_size=8).hexdigest()


def labels_of(data: Data, rows: Tensor) -> dict[Factor, Tensor]:
    """Each factor's values at rows, NaN where a row's group does not have it; and of several targets, which one a row is of."""
    found: dict[Factor, Tensor] = {}
    targets = tuple(group for group in data.groups if group != BACKGROUND)
    if data.group is not None and len(data.groups) > len(targets) > 1:
        which = torch.tensor([targets.index(group) if group in targets else torch.nan for group in data.groups])
        found[Factor("target", len(targets), "category", targets)] = which.double()[data.group.cpu()]
    whole = {"": data} if data.values is not None else data.members
    for group, member in whole.items():
        here = data.rows_of(group) if group else torch.arange(len(data))
        for place, factor in enumerate(member.factors):
            assert member.values is not None
            column = found.setdefault(factor, torch.full((len(data),), torch.nan, dtype=torch.float64))
            column[here] = member.values[:, place].double()
    return {factor: column[rows] for factor, column in found.items()}
