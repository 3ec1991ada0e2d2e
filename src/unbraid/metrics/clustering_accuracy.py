"""Clustering accuracy: how well classes of targets can be told by clusters in a map of the salient code alone.

Paper 001, Section 4: t-SNE, k-means, and the best naming of clusters; beside it what clusters of these sizes get right by
chance. The paper's silhouette can be read in two ways, and both are given: of the map with the true classes, and with the clusters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unbraid.clustering import score
from unbraid.metrics import Score

# t-SNE starts from a code's principal components, whose signs a flip or a turn may change: no exact invariance.
HOLDS = {"noise_scores_chance", "constant_code_scores_chance"}


def clustering_accuracy(
    codes: Any,
    labels: Any,
    *,
    blocks: Mapping[str, slice] | None = None,
    group: Any = None,
    groups: Sequence[str] | None = None,
    samples: int = 2000,
    seed: int = 0,
) -> Score:
    """Of the block `salient`, or of all of the code if no blocks are given; facets are the two silhouettes.

    Arguments:
        codes: array (rows, latents), usually posterior means.
        labels: a class per row, NaN for none; or a mapping from factors to such columns, of which those count that only targets have.
        blocks: name to slice of the code.
        group: number of each row's group.
        groups: names of the groups; the one called background is the background.
        samples: at most so many rows; about 6 seconds for 2,000.
        seed: draws them, and starts t-SNE and k-means.
    """
    return score("salient", "high", codes, labels, blocks, group, groups, samples, seed)
