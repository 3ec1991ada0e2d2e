"""What each block of the code is responsible for, in pictures: decoded alone, in each group, and moved while others rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.block_sheets import counterfactuals, shown
from unbraid.blocks import Sorts, sorts, speaking
from unbraid.data import Data
from unbraid.runs import Run

SHOWN = 10
SIDE = 6  # codes on a side of the plane between two samples


def block_pictures(run: Run, data: Data, rows: Tensor, given: dict[str, Any]) -> dict[str, np.ndarray]:
    """What is to be shown of data in groups.

    Arguments:
        run: the run.
        data: its data, images.
        rows: the rows that are known.
        given: what is known of them (encoding.py): `mean`, `group`, `groups`, and `labels` if there are any.

    - `blocks` (sets, samples, *shape) and `block_sets`, what they are: targets, decoded from all of the code, from each block.
    - `groups` (groups, 2, samples, *shape) and `group_names`: originals and reconstructions of each group.
    - `counterfactual/GROUP` (rows, samples, *shape) and `counterfactual_rows/GROUP`, what they are: of domains, as it is, as each.
    - `between/BLOCK` (side, side, *shape): one block from a target's to another's, at all else of the first.
    """
    known = sorts(given.get("labels", {}), given["group"], given["groups"])
    codes = torch.from_numpy(given["mean"].astype(np.float32))
    targets = _one_of_each(known)
    if not targets:
        return {}
    found = _blocks(run, data.draw(rows[targets]).numpy(), codes[targets])
    found |= _groups(run, data, rows, codes, given["group"], known)
    other = next((at for at in targets if known.number[at] != known.number[targets[0]]), targets[-1])
    if known.background is None:
        found |= _counterfactuals(run, data)
    return found | _between(run, codes[targets[0]], codes[other])


def _one_of_each(known: Sorts) -> list[int]:
    """Places of targets, in turn one of each sort."""
    kinds = [at for at in range(len(known.names)) if at != known.background]
    places = [np.flatnonzero(known.number == kind) for kind in kinds]
    turns = [int(own[turn]) for turn in range(SHOWN) for own in places if turn < len(own)]
    return turns[:SHOWN]


def _decoded(run: Run, codes: Tensor, blocks: list[str]) -> np.ndarray:
    found: np.ndarray = run.decode(speaking(run.method, codes, blocks).numpy())
    return found


def _blocks(run: Run, originals: np.ndarray, codes: Tensor) -> dict[str, np.ndarray]:
    """x, [z, s], [z, 0] and [0, s] of paper 001, Fig. 5, for blocks of any name."""
    names = list(run.method.blocks)
    sets = {"original": originals, "all of the code": _decoded(run, codes, names)}
    if len(names) > 1:
        sets |= {f"{name} alone": _decoded(run, codes, [name]) for name in names}
    return {"block_sets": np.array(list(sets)), "blocks": np.stack(list(sets.values()))}


def _groups(
    run: Run, data: Data, rows: Tensor, codes: Tensor, group: np.ndarray, known: Sorts
) -> dict[str, np.ndarray]:
    """Each group as training decodes it, Fig. 7."""
    places = {name: np.flatnonzero(group == number)[:SHOWN] for number, name in enumerate(data.groups)}
    fewest = min(map(len, places.values()))
    if not fewest:
        return {}
    pairs = [
        np.stack([data.draw(rows[at[:fewest]]).numpy(), _decoded(run, codes[at[:fewest]], run.method.heard(name))])
        for name, at in places.items()
    ]
    return {"group_names": np.array(list(places)), "groups": np.stack(pairs)}


def _counterfactuals(run: Run, data: Data) -> dict[str, np.ndarray]:
    """Each domain decoded as every other one: paper 000, Fig. 6."""
    found = {}
    with torch.no_grad():
        for each in shown(run.method, data, SHOWN):
            sheet = counterfactuals(run.method, each)
            found[f"counterfactual/{each.group}"] = sheet.samples
            found[f"counterfactual_rows/{each.group}"] = np.array(sheet.names)
    return found


def _between(run: Run, one: Tensor, other: Tensor) -> dict[str, np.ndarray]:
    """A plane through two codes of a block, Fig. 8: rows move the first half of its latents, columns the second."""
    found = {}
    for name, where in run.method.blocks.items():
        if name == "common" or not (size := where.stop - where.start):
            continue
        share = torch.linspace(0, 1, SIDE)
        down, across = share[:, None].expand(SIDE if size > 1 else 1, SIDE), share.expand(SIDE if size > 1 else 1, SIDE)
        by = torch.stack([down] * (size // 2) + [across] * (size - size // 2), -1)
        codes = one.repeat(*by.shape[:2], 1)
        codes[..., where] += by * (other - one)[where]
        made = run.decode(codes.reshape(-1, len(one)).numpy())
        found[f"between/{name}"] = made.reshape(*by.shape[:2], *made.shape[1:])
    return found
