"""Background leakage: how well a linear probe reads from a target's salient code what background there is behind it.

Only where a label is known of targets and of background alike: such a cause is common, and the salient code should not
know it. Held-out accuracy of logistic regression on targets; what the common code gives is in `parts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.contrast import are_targets, common_classes
from unbraid.metrics import Score, table
from unbraid.probes import leak

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


def background_leakage(
    codes: Any, labels: Any, group: Any, groups: Sequence[str], blocks: Mapping[str, slice], *, seed: int = 0
) -> Score:
    """Accuracy from the block `salient` of targets, mean over labels that background has too.

    Arguments:
        codes: array (rows, latents), usually posterior means.
        labels: a mapping from factors to columns of classes, NaN for none.
        group: number of each row's group.
        groups: names of the groups; the one called background is the background.
        blocks: name to slice of the code.
        seed: which two thirds are fitted.
    """
    array = table(codes, "codes")
    targets = are_targets(group, groups, len(array))
    wanted = {name: np.where(targets, column, np.nan) for name, column in common_classes(labels, targets).items()}
    return leak(array, blocks, wanted, of="salient", beside="common", seed=seed)
