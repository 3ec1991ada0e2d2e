"""Clustering accuracy of common: how well classes of targets can be told by clusters in a map of the common code, which should not know them.

The procedure of `clustering_accuracy`; chance is the best that there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unbraid.clustering import score
from unbraid.metrics import Score

HOLDS = {"noise_scores_chance", "constant_code_scores_chance"}


def common_clustering(
    codes: Any,
    labels: Any,
    blocks: Mapping[str, slice],
    *,
    group: Any = None,
    groups: Sequence[str] | None = None,
    samples: int = 2000,
    seed: int = 0,
) -> Score:
    """Of the block `common`; facets are the two silhouettes.

    Arguments:
        codes: array (rows, latents), usually posterior means.
        labels: a class per row, NaN for none; or a mapping from factors to such columns, of which those count that only targets have.
        blocks: name to slice of the code.
        group: number of each row's group.
        groups: names of the groups; the one called background is the background.
        samples: at most so many rows; about 6 seconds for 2,000.
        seed: draws them, and starts t-SNE and k-means.
    """
    return score("common", "low", codes, labels, blocks, group, groups, samples, seed)
