"""Flat maps of each block of the code, all groups together: paper 001, Fig. 4. Where a block is to tell groups apart it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unbraid.blocks import sorts
from unbraid.clustering import FEWEST, flat_map

SAMPLES = 1600  # in all groups together; t-SNE takes about 5 seconds for them


def block_maps(given: Mapping[str, Any], samples: int = SAMPLES, seed: int = 0) -> dict[str, np.ndarray]:
    """`map/BLOCK` (rows, 2), t-SNE or the two latents that there are; `sort` of each row, `sorts` by name, and `sorted_by`.

    Arguments:
        given: what evaluation knows of its samples (encoding.py): `mean`, `blocks`, `group`, `groups`, `labels`.
        samples: at most so many rows, of each group alike.
        seed: draws them, and starts t-SNE.
    """
    group = given["group"]
    order = np.random.default_rng(seed).permutation(len(group))
    each = samples // len(given["groups"])
    rows = np.concatenate([order[group[order] == number][:each] for number in range(len(given["groups"]))])
    if len(rows) < FEWEST:
        return {}
    known = sorts(given.get("labels", {}), group, given["groups"])
    maps = {}
    for name, where in given["blocks"].items():
        if where.stop > where.start:
            part = given["mean"][rows, where]
            maps[f"map/{name}"] = (part if part.shape[1] == 2 else flat_map(part, seed)).astype(np.float32)
    return maps | {"sort": known.number[rows], "sorts": np.array(known.names), "sorted_by": np.array(known.by)}
