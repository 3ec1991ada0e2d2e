"""Clusters in a map of a code against true classes: paper 001's clustering accuracy and silhouettes.

t-SNE to two dimensions (perplexity 30, started at the principal components), k-means with as many clusters as classes and
10 starts, and the matching of clusters to classes that makes most samples right. Because the matching is chosen after
the fact, clusters that know nothing of the classes still get more than 1/K right: `matched_chance`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unbraid.contrast import block as block_of
from unbraid.contrast import salient_classes, still
from unbraid.errors import UserError
from unbraid.metrics import Score, table
from unbraid.one_thread import one_thread

PERPLEXITY = 30.0
STARTS = 10
DRAWS = 200  # of random clusterings, whose mean is the chance level
FEWEST = 100


@dataclass(frozen=True)
class Clusters:
    """What k-means found in a map, beside the true classes."""

    accuracy: float
    by_truth: float  # silhouette of the map with the true classes
    by_cluster: float  # and with the clusters
    chance: float
    found: np.ndarray


def score(
    name: str,
    best: str,
    codes: object,
    labels: object,
    blocks: Mapping[str, slice] | None,
    group: object,
    groups: Sequence[str] | None,
    samples: int,
    seed: int,
) -> Score:
    """The mean over labels that targets alone have, of their rows.

    Arguments:
        name: of the block.
        best: whether the block should know the classes.
        codes: array (rows, latents).
        labels: classes, as `contrast.classes` takes them.
        blocks: name to slice of the code; None for the whole code.
        group: number of each row's group.
        groups: their names.
        samples: at most so many rows; t-SNE takes about 6 seconds for 2,000.
        seed: draws them, and starts both algorithms.
    """
    array = table(codes, "codes")
    part = block_of(array, blocks, name)
    if samples < FEWEST:
        raise UserError(f"samples={samples}: a map needs at least {FEWEST} samples")
    wanted = salient_classes(labels, group, groups, len(part))
    order = np.random.default_rng(seed).permutation(len(part))
    found: dict[str, Clusters] = {}
    maps: dict[bytes, np.ndarray] = {}
    warnings = still(part)
    for label, column in wanted.items():
        rows = order[~np.isnan(column[order])][:samples]
        if len(rows) < FEWEST:
            raise UserError(f"{len(rows)} rows have the label {label}: a map needs at least {FEWEST}")
        key = rows.tobytes()
        maps[key] = maps[key] if key in maps else flat_map(part[rows], seed)  # labels of the same rows share one
        found[label] = clusters(maps[key], column[rows], seed)
    values = {label: each.accuracy for label, each in found.items()}
    first = next(iter(found))
    return Score(
        value=float(np.mean(list(values.values()))),
        facets={
            "silhouette_of_classes": float(np.mean([each.by_truth for each in found.values()])),
            "silhouette_of_clusters": float(np.mean([each.by_cluster for each in found.values()])),
        },
        parts={"per_label": values, "clusters": found[first].found},
        settings={
            "estimator": "t-SNE, k-means, Hungarian matching",
            "block": name,
            "samples": len(part),
            "clustered": len(found[first].found),
            "classes": {label: len(np.unique(column[~np.isnan(column)])) for label, column in wanted.items()},
            "perplexity": PERPLEXITY,
            "starts": STARTS,
            "seed": seed,
        },
        chance=float(np.mean([each.chance for each in found.values()])),
        warnings=tuple(warnings),
        best=best,
    )


@one_thread
def flat_map(codes: np.ndarray, seed: int) -> np.ndarray:
    """t-SNE to two dimensions, (rows, 2)."""
    from sklearn.manifold import TSNE

    scaled = codes - codes.mean(axis=0)
    if not np.ptp(scaled):
        return np.zeros((len(codes), 2))
    start = "pca" if codes.shape[1] > 1 else "random"
    perplexity = min(PERPLEXITY, (len(codes) - 1) / 3)
    embedded = TSNE(2, perplexity=perplexity, init=start, random_state=seed).fit_transform(scaled)
    return embedded.astype(np.float64)


@one_thread
def clusters(places: np.ndarray, truth: np.ndarray, seed: int) -> Clusters:
    """k-means of a map with as many clusters as there are classes, matched to them."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    kinds, numbers = np.unique(truth, return_inverse=True)
    if not np.ptp(places):  # a point: no clusters, and nothing to be silhouetted
        one = np.zeros(len(truth), dtype=np.int64)
        right = matched_accuracy(one, numbers, len(kinds))
        return Clusters(right, 0.0, 0.0, right, one)
    found = KMeans(len(kinds), n_init=STARTS, random_state=seed).fit(places).labels_
    shapes = [float(silhouette_score(places, which)) for which in (numbers, found)]
    right = matched_accuracy(found, numbers, len(kinds))
    return Clusters(right, shapes[0], shapes[1], matched_chance(found, numbers, len(kinds), seed), found)


def matched_accuracy(found: np.ndarray, truth: np.ndarray, kinds: int) -> float:
    """Share of samples that are right under the best one-to-one naming of clusters."""
    from scipy.optimize import linear_sum_assignment

    table = np.bincount(found * kinds + truth, minlength=kinds * kinds).reshape(kinds, kinds)
    return float(table[linear_sum_assignment(-table)].sum() / len(truth))


def matched_chance(found: np.ndarray, truth: np.ndarray, kinds: int, seed: int = 0) -> float:
    """The same for clusters and classes of these very sizes that have nothing to do with each other: mean of many draws."""
    draw = np.random.default_rng(seed)
    return float(np.mean([matched_accuracy(draw.permutation(found), truth, kinds) for _ in range(DRAWS)]))
