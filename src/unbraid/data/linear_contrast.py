"""Linear toy data of contrastive analysis: four groups of targets behind background that varies far more (Abid et al. 2017)."""

from __future__ import annotations

import numpy as np
import torch

from unbraid.data import Data, Stored, named, whole
from unbraid.data.linear_square import generator
from unbraid.errors import UserError, unknown
from unbraid.factors import Factor

TENTH = 10  # coordinates of each third
PARTS = ("target", "background")
SPREAD = (10.0, 3.0, 1.0)  # of background, in each third


def linear_contrast(part: str = "target", samples: int = 400, gap: float = 3.0, seed: int = 0) -> Data:
    """Thirty coordinates, Gaussian in thirds. Background has spread 10, 3 and 1; targets 10, 1 and 1, and their group moves
    the second third by twice the gap and the last one by the gap: four groups, in two directions that PCA does not see.

    Arguments:
        part: target, or background.
        samples: how many; targets are as many of each group.
        gap: how far groups are apart.
        seed: of the samples; target and background of one seed are independent.
    """
    if part not in PARTS:
        raise unknown("part of linear_contrast", part, PARTS)
    whole({"samples": samples}, least=20)
    if not 0 <= gap < float("inf"):
        raise UserError(f"gap={gap}: must be a number of at least 0")
    random = generator(seed).spawn(2)[PARTS.index(part)]
    noise = random.standard_normal((samples, 3, TENTH))
    factors: tuple[Factor, ...] = ()
    values = None
    if part == "background":
        points = noise * np.array(SPREAD)[:, None]
    else:
        group = np.arange(samples) * 4 // samples
        moved = np.stack([0 * group, 2 * gap * (group // 2), gap * (group % 2)], 1)
        points = noise * np.array([SPREAD[0], 1.0, 1.0])[:, None] + moved[:, :, None]
        factors, values = (Factor("group", 4, "category"),), torch.from_numpy(group[:, None].astype(np.int16))
    return Data(
        name=named("linear_contrast", {"part": part, "samples": samples, "gap": gap, "seed": seed}),
        source=Stored(torch.from_numpy(points.reshape(samples, -1).astype(np.float32))),
        shape=(3 * TENTH,),
        pixels="real",
        factors=factors,
        values=values,
    )
