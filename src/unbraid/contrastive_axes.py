"""Contrastive PCA in closed form: axes along which targets vary much and background little (Abid et al. 2018), and for which alpha."""

from __future__ import annotations

from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.metrics import table

ALPHAS = (0.0, *(float(alpha) for alpha in np.logspace(-1, 3, 40)))


def covariance(samples: Any) -> np.ndarray:
    """(features, features), of samples flattened to rows."""
    array = np.asarray(samples)
    return np.atleast_2d(np.cov(table(array.reshape(len(array), -1), "samples"), rowvar=False))


def contrastive_axes(target: np.ndarray, background: np.ndarray, alpha: float, latents: int) -> np.ndarray:
    """The top eigenvectors of C_target - alpha C_background, (features, latents), the first first; PCA where alpha is 0.

    Arguments:
        target: covariance of targets.
        background: covariance of background.
        alpha: what variance of the background costs.
        latents: how many axes.
    """
    if target.shape != background.shape:
        raise UserError(
            f"targets have covariance {target.shape} but background {background.shape}: equal features are needed"
        )
    if not 1 <= latents <= len(target):
        raise UserError(f"{latents} axes of samples with {len(target)} features: from 1 to that many there are")
    return np.linalg.eigh(target - alpha * background)[1][:, ::-1][:, :latents]


def affinity(a: np.ndarray, b: np.ndarray) -> float:
    """How much the subspaces of two sets of orthonormal axes are the same: the product of the cosines of their principal angles."""
    return float(np.linalg.svd(a.T @ b, compute_uv=False).prod())


def exemplary_alphas(
    target: np.ndarray, background: np.ndarray, latents: int = 2, count: int = 4, seed: int = 0
) -> tuple[float, ...]:
    """Alphas whose subspaces stand for all of the grid: 0 first, then one of each cluster of alike subspaces that has not 0.

    Arguments:
        target: covariance of targets.
        background: covariance of background.
        latents: axes of each subspace.
        count: clusters.
        seed: starts the clustering.
    """
    from sklearn.cluster import SpectralClustering

    if not 2 <= count <= len(ALPHAS):
        raise UserError(f"count={count}: from 2 to {len(ALPHAS)} clusters of alphas")
    axes = [contrastive_axes(target, background, alpha, latents) for alpha in ALPHAS]
    alike = np.array([[affinity(a, b) for b in axes] for a in axes])
    # a little of everything, for a graph in several pieces has no spectral embedding
    cluster = SpectralClustering(count, affinity="precomputed", random_state=seed).fit(alike + 1e-6).labels_
    found = [0.0]
    for number in sorted(set(cluster.tolist()) - {int(cluster[0])}, key=lambda n: int(np.argmax(cluster == n))):
        own = np.flatnonzero(cluster == number)
        found.append(ALPHAS[own[alike[np.ix_(own, own)].sum(axis=1).argmax()]])
    return tuple(found)
