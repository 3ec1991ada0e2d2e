"""Salient classification: how well a shallow classifier names the classes of targets by the salient code.

Paper 001, Table 2: accuracy on held-out samples class by class; the value is the mean over classes, so that guessing gets
one over their number. Logistic regression, or a network with one hidden layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.contrast import block, salient_classes, still
from unbraid.errors import UserError
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
    "relabelled_category_keeps",
}


def salient_classification(
    codes: Any,
    labels: Any,
    *,
    blocks: Mapping[str, slice] | None = None,
    group: Any = None,
    groups: Sequence[str] | None = None,
    hidden: int = 0,
    seed: int = 0,
) -> Score:
    """Of the block `salient`, or of all of a code that has no blocks, as of a plain VAE; mean over labels that targets alone have.

    Arguments:
        codes: array (rows, latents), usually posterior means.
        labels: a class per row, NaN for none; or a mapping from factors to such columns, of which those count that only targets have.
        blocks: name to slice of the code.
        group: number of each row's group.
        groups: names of the groups; the one called background is the background.
        hidden: units of a hidden layer; 0 for logistic regression.
        seed: which two thirds are fitted.
    """
    array = table(codes, "codes")
    undivided = group is not None and blocks is not None and len(blocks) == 1
    part = array if undivided else block(array, blocks, "salient")
    if hidden < 0:
        raise UserError(f"hidden={hidden}: a number of units, or 0 for none")
    wanted = salient_classes(labels, group, groups, len(array))
    found = {name: probe(part, column, balanced=True, hidden=hidden, seed=seed) for name, column in wanted.items()}
    return Score(
        value=float(np.mean([each.balanced for each in found.values()])),
        parts={
            "per_class": {name: each.per_class for name, each in found.items()},
            "accuracy": {name: each.accuracy for name, each in found.items()},
        },
        settings={
            "samples": len(array),
            "hidden": hidden,
            "estimator": f"one hidden layer of {hidden}" if hidden else "logistic regression, classes of equal weight",
            "scored": [each.scored for each in found.values()],
            "seed": seed,
        },
        chance=float(np.mean([1 / len(each.per_class) for each in found.values()])),
        warnings=tuple(still(part)),
    )
