"""How far groups are apart in each block while a method trains: paper 001, Fig. 6a, for all methods with blocks, whatever their loss.

Exact W2² between codes of two groups, drawn from the posterior with noise that is the same at every look; beside it the floor,
W2² between two batches of one group. Of background against all targets, or else the mean over all pairs of groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from torch import Tensor

from unbraid import transport
from unbraid.contrast import BACKGROUND
from unbraid.data import Data
from unbraid.methods import Method

BATCH = 128
FEWEST = 10  # of a smaller batch the distance says nothing


def sides(data: Data, method: Method) -> dict[str, Tensor]:
    """Rows of validation to look at: two batches of each side; none where there is nothing to compare."""
    if len(method.blocks) < 2 or data.group is None:
        return {}
    rows = data.rows("validation").to(data.group.device)
    number = data.group[rows]
    if BACKGROUND in data.groups:
        behind = number == data.groups.index(BACKGROUND)
        each = {"target": rows[~behind], BACKGROUND: rows[behind]}
    else:
        each = {name: rows[number == place] for place, name in enumerate(data.groups)}
    batch = min(BATCH, *(len(own) // 2 for own in each.values()))
    return {name: own[: 2 * batch] for name, own in each.items()} if batch >= FEWEST else {}


def means_and_variances(method: Method, x: Tensor) -> dict[str, Tensor]:
    """The posterior of samples, (samples, latents)."""
    q = method.posterior(x)
    return {"mean": q.mean, "variance": q.variance.expand_as(q.mean)}


def distances(blocks: Mapping[str, slice], mean: np.ndarray, variance: np.ndarray, count: int) -> dict[str, float]:
    """W2² in each block by the block's name, mean over pairs of sides; and its floor, mean over sides.

    Arguments:
        blocks: name to slice of the code.
        mean: (sides * rows, latents), side by side.
        variance: of the same shape.
        count: of sides.
    """
    noise = np.random.default_rng(0).standard_normal(mean.shape)
    drawn = (mean + np.sqrt(variance) * noise).reshape(count, -1, mean.shape[1])
    half = drawn.shape[1] // 2
    found: dict[str, float] = {}
    for name, where in blocks.items():
        part = drawn[..., where]
        pairs = [transport.squared_w2(a[:half], b[:half]) for a, b in combinations(part, 2)]
        within = [transport.squared_w2(own[:half], own[half:]) for own in part]
        found |= {name: float(np.mean(pairs)), f"{name} floor": float(np.mean(within))}
    return found
