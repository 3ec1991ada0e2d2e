"""Sheets of samples that show what blocks do: rows with a name each, of a few samples of every group, made by `unbraid blocks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from unbraid.block_operations import (
    decoder,
    latents_in,
    most_sensitive,
    moved,
    plane,
    private,
    swapped,
    without,
)
from unbraid.data import Data
from unbraid.encoding import scored_rows
from unbraid.errors import UserError, unknown
from unbraid.methods import Method

ACTIVE = 0.5  # standard deviation of a latent that is worth moving, paper 000's Appendix C
STEPS, REACH = 7, 3.0  # of a traversal
LOOKED_AT = 200  # codes that sensitivity is the mean over


class Sheet(NamedTuple):
    """Rows of samples (rows, columns, *shape), each with a name."""

    names: list[str]
    samples: np.ndarray


class Shown(NamedTuple):
    """One group: its name, a few samples, their codes and more codes, and the names of all groups."""

    group: str
    x: Tensor
    codes: Tensor
    many: Tensor
    groups: tuple[str, ...]


def counterfactuals(method: Method, shown: Shown, name: str = "") -> Sheet:
    """Samples, decoded as their own group, as every other one, and from what each group has for itself (paper 000, Fig. 6)."""
    others = [group for group in shown.groups if group != shown.group]
    rows = {f"{shown.group} as it is": shown.x}
    for group in [shown.group, *others]:
        rows[f"{shown.group} as {group}"] = decoder(method, method.heard(group))(shown.codes)
    for group in [shown.group, *others]:
        if own := private(method, group, shown.groups):
            rows[f"{shown.group} from {' and '.join(own)} alone"] = decoder(method, own)(shown.codes)
    return _sheet(rows)


def as_group(method: Method, shown: Shown, name: str) -> Sheet:
    """Samples, and the same decoded as another group."""
    if name not in shown.groups:
        raise unknown("group", name, shown.groups)
    made = decoder(method, method.heard(name))(shown.codes)
    return _sheet({f"{shown.group} as it is": shown.x, f"{shown.group} as {name}": made})


def zeroed(method: Method, shown: Shown, name: str) -> Sheet:
    """Samples, decoded as their group, and without a block."""
    heard = [block for block in without(method, [name]) if block in method.heard(shown.group)]
    whole = decoder(method, method.heard(shown.group))(shown.codes)
    return _sheet({
        f"{shown.group} as it is": shown.x,
        f"{shown.group} decoded": whole,
        f"{shown.group} without {name}": decoder(method, heard)(shown.codes),
    })  # fmt: skip


def exchanged(method: Method, shown: Shown, name: str) -> Sheet:
    """Samples, and each with a block of its neighbour to the right (the last with that of the first)."""
    made = decoder(method, method.heard(shown.group))(
        swapped(method, shown.codes, shown.codes.roll(-1, 0), [name])
    )  # fmt: skip
    return _sheet({f"{shown.group} as it is": shown.x, f"{shown.group} with {name} of the next": made})


def traversed(method: Method, shown: Shown, name: str) -> Sheet:
    """The first sample while one latent of a block moves; latents that the group does not use rest."""
    values = torch.linspace(-REACH, REACH, STEPS)
    spread = shown.many.std(0)
    latents = [at for at in latents_in(method, [name]) if spread[at] > ACTIVE]
    if not latents:
        return Sheet([], np.zeros((0, STEPS, *shown.x.shape[1:]), np.float32))
    codes = moved(shown.codes[0], latents, values)
    made = decoder(method, method.heard(shown.group))(codes.flatten(0, 1)).unflatten(0, codes.shape[:2])
    return Sheet([f"{shown.group}, latent {at} of {name}" for at in latents], made.numpy())


def sensitive(method: Method, shown: Shown, name: str = "") -> Sheet:
    """The first sample over the plane of the two latents that change the group's samples most."""
    decode = decoder(method, method.heard(shown.group))
    first, second = most_sensitive(decode, shown.many)
    values = torch.linspace(-REACH, REACH, STEPS)
    codes = plane(shown.codes[0], (first, second), values)
    made = decode(codes.flatten(0, 1)).unflatten(0, codes.shape[:2])
    return Sheet([f"{shown.group}, latent {first} at {v:+.1f}, latent {second} across" for v in values], made.numpy())


OPERATIONS: dict[str, Callable[[Method, Shown, str], Sheet]] = {
    "counterfactual": counterfactuals,
    "as": as_group,
    "zero": zeroed,
    "swap": exchanged,
    "traverse": traversed,
    "plane": sensitive,
}
NAMED = {"as": "group", "zero": "block", "swap": "block", "traverse": "block"}  # operations that need a name


def sheet(run: Any, data: Data, operation: str = "counterfactual", name: str = "", samples: int = 8) -> Sheet:
    """One operation on a few test samples of every group, one group below the other.

    Arguments:
        run: a run with one seed.
        data: its data.
        operation: counterfactual, as, zero, swap, traverse or plane.
        name: of the group that `as` wants, of the block that zero, swap and traverse want.
        samples: of each group.
    """
    if operation not in OPERATIONS:
        raise unknown("operation", operation, OPERATIONS)
    if bool(name) != (operation in NAMED):
        known = data.groups if NAMED.get(operation) == "group" else run.method.blocks
        asked = f"name a {NAMED[operation]} ({', '.join(known)})" if operation in NAMED else "it takes no name"
        raise UserError(f"{operation}: {asked}")
    if operation in ("counterfactual", "as") and not data.groups:
        raise UserError(f"{operation}: {data.name} has no groups")
    with torch.no_grad():
        found = [OPERATIONS[operation](run.method, each, name) for each in shown(run.method, data, samples)]
    names = [one for each in found for one in each.names]
    if not names:
        raise UserError(f"{operation} {name}: no latent of it varies by more than {ACTIVE}")
    return Sheet(names, np.concatenate([each.samples for each in found if each.names]))


def shown(method: Method, data: Data, samples: int) -> list[Shown]:
    """A few test samples of every group; of all where there are none."""
    rows, _ = scored_rows(data, len(data))
    found = []
    for place, group in enumerate(data.groups or ("samples",)):
        own = rows if data.group is None else rows[data.group[rows] == place]
        many = data.draw(own[: max(samples, LOOKED_AT)])
        codes = method.encode(many)
        found.append(Shown(group, many[:samples], codes[:samples], codes, data.groups))
    return found


def _sheet(rows: dict[str, Tensor]) -> Sheet:
    return Sheet(list(rows), np.stack([each.numpy() for each in rows.values()]))
