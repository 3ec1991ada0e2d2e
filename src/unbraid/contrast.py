"""What measures of common and salient codes share: named blocks, rows of targets and of background, and labels of either.

A label that only targets have is what a salient code is to know; one that background has too belongs in the common code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.information import constant_columns
from unbraid.metrics import usual_warnings

BACKGROUND = "background"
FEWEST = 20  # rows of a part, fewer than which say nothing


def block(codes: np.ndarray, blocks: Mapping[str, slice] | None, name: str) -> np.ndarray:
    """The columns of a named block; all of them where no blocks are given."""
    if blocks is None:
        return codes
    if name not in blocks:
        raise UserError(f"the code has no block {name!r}: it has {', '.join(blocks)}")
    found = codes[:, blocks[name]]
    if not found.shape[1]:
        raise UserError(f"the block {name!r} of the code has no latents")
    return found


def are_targets(group: Any, groups: Sequence[str], rows: int) -> np.ndarray:
    """Mask of rows that are not of the background."""
    number = np.asarray(group)
    if number.shape != (rows,):
        raise UserError(f"group has shape {number.shape} but there are {rows} codes: it has one number per row")
    if BACKGROUND not in groups:
        raise UserError(f"no group is called {BACKGROUND!r}: the groups are {', '.join(groups)}")
    targets: np.ndarray = number != list(groups).index(BACKGROUND)
    for name, count in (("target", targets.sum()), (BACKGROUND, (~targets).sum())):
        if count < FEWEST:
            raise UserError(f"{count} rows of {name} are too few: at least {FEWEST} are needed")
    return targets


def classes(labels: Any, rows: int) -> dict[str, np.ndarray]:
    """Labels that are categories, by name: (rows,), NaN where a row has none.

    Arguments:
        labels: one class per row, or a mapping from factors (or names) to such columns, as evaluation has them.
        rows: how many codes there are.
    """
    named = labels if isinstance(labels, Mapping) else {"label": labels}
    found, others = {}, list[str]()
    for factor, column in named.items():
        if isinstance(factor, Factor) and factor.kind != "category":
            others.append(f"{factor.name} is {factor.kind}")
            continue
        name = factor.name if isinstance(factor, Factor) else str(factor)
        found[name] = _numbers(column, name, rows)
    if not found:
        said = f" ({', '.join(others)}: head a column factor:NAME:category)" if others else ""
        raise UserError(f"no label is a category: measures of classes need one{said}")
    return found


def _numbers(column: Any, name: str, rows: int) -> np.ndarray:
    """Classes as numbers, whatever they are called."""
    array = np.asarray(column)
    if array.shape != (rows,):
        raise UserError(f"{name} has shape {array.shape} but there are {rows} codes: it has one label per row")
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    missing = np.array([value is None or value != value for value in array.tolist()])
    numbers = np.full(rows, np.nan)
    numbers[~missing] = np.unique(array[~missing].astype(str), return_inverse=True)[1]
    return numbers


def salient_classes(labels: Any, group: Any, groups: Sequence[str] | None, rows: int) -> dict[str, np.ndarray]:
    """Labels that targets alone have, and that differ among them; all where no groups are given."""
    found = classes(labels, rows)
    if group is not None and groups is not None:
        targets = are_targets(group, groups, rows)
        found = {name: column for name, column in found.items() if np.isnan(column[~targets]).all()}
    found = {name: column for name, column in found.items() if _differ(column)}
    if not found:
        raise UserError("no label belongs to targets alone and takes two values of at least 2 rows each")
    return found


def common_classes(labels: Any, targets: np.ndarray) -> dict[str, np.ndarray]:
    """Labels that background has as well as targets, and that differ within both."""
    found = {
        name: column
        for name, column in classes(labels, len(targets)).items()
        if _differ(column[targets]) and _differ(column[~targets])
    }
    if not found:
        raise UserError("no label is known of targets and of background, with two values in both")
    return found


def _differ(column: np.ndarray) -> bool:
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    return len(values) > 1 and int(np.sort(counts)[-2]) >= 2


def still(codes: np.ndarray) -> list[str]:
    """What is said of a block none of whose latents vary, of single ones, and of few rows."""
    if constant_columns(codes, 2).all():
        return ["the block is constant: it has collapsed and carries no information"]
    return [w for w in usual_warnings(codes, codes[:, :0], None) if "second best" not in w]
