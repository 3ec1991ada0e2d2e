"""Label leakage: how well a linear probe reads the targets' classes from the common code, which should not know them.

Held-out accuracy of logistic regression; what the salient code gives the same probe is in `parts`. Chance is the share of
the most frequent class, and the best that there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unbraid.contrast import salient_classes
from unbraid.metrics import Score, table
from unbraid.probes import leak

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
    wanted = salient_classes(labels, group, groups, len(array))
    return leak(array, blocks, wanted, of="common", beside="salient", seed=seed)
