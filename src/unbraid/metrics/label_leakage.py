"""Label leakage: how well a linear probe reads the targets' classes from the common code, which should not know them.

Held-out accuracy of logistic regression; what the salient code gives the same probe is in `parts`. Chance is the share of
the most frequent class, and the best that there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.contrast import block, salient_classes, still
from unbraid.metrics import Score, table
from unbraid.probes import probes

# Not sample_order: which rows fit and which are scored is drawn by row number.
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
    "relabelled_category_keeps",
}


def label_leakage(
    codes: Any,
    labels: Any,
    blocks: Mapping[str, slice],
    *,
    group: Any = None,
    groups: Sequence[str] | None = None,
    seed: int = 0,
) -> Score:
    """Accuracy from the block `common`, mean over labels that targets alone have.

    Arguments:
        codes: array (rows, latents), usually posterior means.
        labels: a class per row, NaN for none; or a mapping from factors to such columns, of which those count that only targets have.
        blocks: name to slice of the code.
        group: number of each row's group.
        groups: names of the groups; the one called background is the background.
        seed: which two thirds are fitted.
    """
    array = table(codes, "codes")
    part = block(array, blocks, "common")
    wanted = salient_classes(labels, group, groups, len(array))
    found = probes(part, wanted, seed)
    parts: dict[str, Any] = {"per_label": {name: each.accuracy for name, each in found.items()}}
    if "salient" in blocks:
        salient = probes(block(array, blocks, "salient"), wanted, seed)
        parts["from_salient"] = {name: each.accuracy for name, each in salient.items()}
    return Score(
        value=float(np.mean([each.accuracy for each in found.values()])),
        parts=parts,
        settings={
            "estimator": "logistic regression",
            "samples": len(array),
            "scored": [each.scored for each in found.values()],
            "seed": seed,
        },
        chance=float(np.mean([each.frequent for each in found.values()])),
        warnings=tuple(still(part)),
        best="low",
    )
