"""Blocks of a code, some of which are silent; and what the rows are called that stand for groups and classes.

A block is silent where it is zero, unless the method has a code of its own for background (`absent`, of the block `salient`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.contrast import BACKGROUND, salient_classes
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.methods import Method

MOST = 10  # classes that can be told apart by colour


def speaking(method: Method, codes: Tensor, names: Collection[str]) -> Tensor:
    """The same codes with all blocks silent but those named."""
    found = torch.zeros_like(codes)
    if absent := getattr(method, "absent", None):
        with torch.no_grad():
            found[:, method.blocks["salient"]] = absent(codes)
    for name in names:
        where = method.blocks[name]
        found[:, where] = codes[:, where]
    return found


@dataclass(frozen=True)
class Sorts:
    """What rows are called by what is best known of them: the class of a target, or else the group.

    Arguments:
        by: name of the label, or `group`.
        names: of the sorts; background, where there is one, is the last.
        number: of each row's sort; -1 for a target without a class.
    """

    by: str
    names: tuple[str, ...]
    number: np.ndarray

    @property
    def background(self) -> int | None:
        """The number of background."""
        return self.names.index(BACKGROUND) if BACKGROUND in self.names else None


def sorts(labels: Mapping[Any, Any], group: np.ndarray, groups: Sequence[str]) -> Sorts:
    """The first label that targets alone have, where it has few enough classes; background is one sort."""
    order = [name for name in groups if name != BACKGROUND] + [name for name in groups if name == BACKGROUND]
    plain = Sorts("group", tuple(order), np.array([order.index(name) for name in groups])[group])
    if plain.background is None:
        return plain
    behind = plain.number == plain.background
    try:
        columns = salient_classes(labels, group, groups, len(group))
    except UserError:  # no such label, or too few rows of it
        return plain
    for factor in labels:
        name = factor.name if isinstance(factor, Factor) else str(factor)
        column = columns.get(name, np.full(len(group), np.nan))
        values = np.unique(column[~np.isnan(column)])
        if not 1 < len(values) <= MOST:
            continue
        told = [factor.label(int(value)) if isinstance(factor, Factor) else f"{value:g}" for value in values]
        number = np.where(np.isnan(column), -1, np.searchsorted(values, np.nan_to_num(column)))
        return Sorts(name, (*told, BACKGROUND), np.where(behind, len(told), number))
    return plain
