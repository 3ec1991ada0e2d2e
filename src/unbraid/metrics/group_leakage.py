"""Group leakage: how well a linear probe tells targets from background by the common code, which should be alike in both.

Held-out accuracy of logistic regression, mean of both groups, so that 0.5 is chance however many there are of each; what
the salient code gives, which should tell them apart, is in `parts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.contrast import are_targets, block, still
from unbraid.metrics import Score, table
from unbraid.probes import probe

HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_keeps",
    "duplicates_keep",
    "dead_latents_keep",
    "noise_latents_keep",
}


def group_leakage(
    codes: Any, group: Any, groups: Sequence[str], blocks: Mapping[str, slice], *, seed: int = 0
) -> Score:
    """Accuracy from the block `common`.

    Arguments:
        codes: array (rows, latents), usually posterior means.
        group: number of each row's group.
        groups: names of the groups; the one called background is the background.
        blocks: name to slice of the code.
        seed: which two thirds are fitted.
    """
    array = table(codes, "codes")
    targets = are_targets(group, groups, len(array)).astype(np.float64)
    part = block(array, blocks, "common")
    found = probe(part, targets, balanced=True, seed=seed)
    parts: dict[str, Any] = {"background": found.per_class[0.0], "target": found.per_class[1.0]}
    if "salient" in blocks:
        parts["from_salient"] = probe(block(array, blocks, "salient"), targets, balanced=True, seed=seed).balanced
    return Score(
        value=found.balanced,
        parts=parts,
        settings={
            "estimator": "logistic regression, groups of equal weight",
            "samples": len(array),
            "scored": found.scored,
            "seed": seed,
        },
        chance=0.5,
        warnings=tuple(still(part)),
        best="low",
    )
