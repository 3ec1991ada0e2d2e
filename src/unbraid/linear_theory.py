"""Linear VAEs exactly: the optimum in closed form, and the price of noise behind a linear decoder.

Zietlow's thesis, sections 3.2.4 and 5, with its slips corrected: e^(-C/2) where Eqs. 3.21-3.22 print e^(-C),
and the minimiser of Lemma 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unbraid.errors import UserError


@dataclass(frozen=True)
class LinearOptimum:
    """The global optimum of a linear VAE; one entry per latent, the most important first.

    Arguments:
        eigenvalues: all eigenvalues of the data covariance, descending.
        active: which latents carry anything: eigenvalue above beta / 2.
        noise: sigma_j^2 = beta / (2 lambda_j); 1 where passive. The means vary by 1 - sigma_j^2.
        column_norms: |W_j|^2 = lambda_j - beta / 2 of the decoder; 0 where passive.
        axes: (outputs, latents) unit directions of the decoder's columns, the principal axes, up to sign.
        collapse: the beta = 2 lambda_j at which each latent dies.
        loss: E |x - W z|^2 + beta KL.
    """

    eigenvalues: np.ndarray
    active: np.ndarray
    noise: np.ndarray
    column_norms: np.ndarray
    axes: np.ndarray
    collapse: np.ndarray
    loss: float


def linear_closed_form(covariance: Any, beta: float, latents: int) -> LinearOptimum:
    """Optimum of E |x - W z|^2 + beta KL: linear encoder and decoder, centred data, diagonal posterior.

    Per active axis the reconstruction costs beta / 2 and the KL term beta / 2 log(2 lambda / beta); an axis
    without a latent costs its eigenvalue.
    """
    covariance = np.asarray(covariance, dtype=np.float64)
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1]:
        raise UserError(f"covariance must be a square matrix, not of shape {covariance.shape}")
    if not np.allclose(covariance, covariance.T):
        raise UserError("covariance is not symmetric")
    if beta <= 0:
        raise UserError(f"beta={beta}: must be positive")
    if latents < 1:
        raise UserError(f"latents={latents}: at least 1 is needed")
    ascending, vectors = np.linalg.eigh(covariance)
    eigenvalues = np.maximum(ascending[::-1], 0.0)
    available = min(latents, len(eigenvalues))
    own = np.zeros(latents)
    own[:available] = eigenvalues[:available]
    axes = np.zeros((len(eigenvalues), latents))
    axes[:, :available] = vectors[:, ::-1][:, :available]
    active = own > beta / 2
    noise = np.where(active, beta / (2 * np.where(active, own, 1.0)), 1.0)
    return LinearOptimum(
        eigenvalues=eigenvalues,
        active=active,
        noise=noise,
        column_norms=np.where(active, own - beta / 2, 0.0),
        axes=axes,
        collapse=2 * own,
        loss=float(beta / 2 * (1 - np.log(noise[active])).sum() + eigenvalues.sum() - own[active].sum()),
    )


def noise_cost(M: Any, C: float) -> float:
    """Least E |M eps|^2 over noise variances with sum_j -log sigma_j^2 = C (Eqs. 3.18-3.19)."""
    M = _columns(M)
    d = M.shape[1]
    return float(d * np.exp((np.log((M**2).sum(axis=0)).sum() - C) / d))


def noise_variances(M: Any, C: float) -> np.ndarray:
    """The variances that reach `noise_cost`: every column then contributes the same, |M_j|^2 sigma_j^2."""
    M = _columns(M)
    return noise_cost(M, C) / M.shape[1] / (M**2).sum(axis=0)


def rotated_noise_cost(M: Any, C: float) -> float:
    """`noise_cost` of the best M V^T over rotations V: the one with orthogonal columns (Eqs. 3.23-3.24)."""
    M = _columns(M)
    d = M.shape[1]
    return float(d * np.exp((np.linalg.slogdet(M.T @ M)[1] - C) / d))


def optimal_scale(x: Any) -> float:
    """Lemma 7: the c that minimises sum_i (c^2 x_i^2 - log(c^2 y_i^2)) for any y is sqrt(n / sum_i x_i^2)."""
    x = np.asarray(x, dtype=np.float64)
    if not x.any():
        raise UserError("every x is 0: the minimum lies at an infinite scale")
    return float(np.sqrt(x.size / (x**2).sum()))


def _columns(M: Any) -> np.ndarray:
    M = np.asarray(M, dtype=np.float64)
    if M.ndim != 2:
        raise UserError(f"M must be a matrix (outputs, latents), not of shape {M.shape}")
    empty = np.flatnonzero(~M.any(axis=0))
    if len(empty):
        raise UserError(f"columns {empty.tolist()} of M are zero: noise there is free, leave them out")
    return M
