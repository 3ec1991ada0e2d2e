"""Block deviation: how much latents vary in domains that they do not belong to, where they should not vary at all.

Paper 000, Fig. 3: the standard deviation of each latent's mean in each domain. Private blocks are on in their own domain and off
in every other one; the score is the largest deviation that is there and should not be. Unit variance is the scale of the prior.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.contrast import still
from unbraid.domain_blocks import numbers_of, owners
from unbraid.metrics import Score, table

ACTIVE = 0.5  # paper 000, Appendix C

# Not rescaled_codes: the deviation is the code's own.
HOLDS = {"permuted_codes", "flipped_codes", "sample_order", "duplicates_keep", "dead_latents_keep"}


def block_deviation(codes: Any, group: Any, groups: Sequence[str], blocks: Mapping[str, slice]) -> Score:
    """Largest deviation of a block `private/GROUP` in another group.

    Arguments:
        codes: array (rows, latents) of posterior means.
        group: number of each row's group.
        groups: names of the groups.
        blocks: name to slice of the code.
    """
    mean = table(codes, "codes")
    number, own = numbers_of(group, groups, len(mean)), owners(blocks, groups, mean.shape[1])
    deviation = np.stack([mean[number == place].std(axis=0) for place in range(len(groups))])
    leaks = {
        name: max([float(deviation[place, blocks[block]].max()) for block, owner in own.items() if owner != name] or [0.0])
        for place, name in enumerate(groups)
    }  # fmt: skip
    active = {
        name: {block: int((deviation[place, where] > ACTIVE).sum()) for block, where in blocks.items()}
        for place, name in enumerate(groups)
    }
    return Score(
        value=max(leaks.values()),
        parts={
            "per_group": leaks,
            "active": active,
            "deviation": deviation,
            "unused": float((deviation.max(axis=0) <= ACTIVE).mean()),
        },
        settings={"estimator": "standard deviation", "samples": len(mean), "active": ACTIVE},
        ceiling=0.0,
        warnings=tuple(still(mean)),
        best="low",
    )
