"""CLVM (Severson et al. 2019): the linear Gaussian model of targets and background, by its exact likelihood."""

from __future__ import annotations

import math
from math import prod

import torch
from torch import Tensor, nn

from unbraid.methods import Batch, Method, Step, Terms
from unbraid.networks import Net
from unbraid.posteriors import FullGaussian


class CLVM(Method):
    """Targets x = S z + W t + m_x + noise, background y = S z + m_y + noise; z, t and noise Gaussian, S shared.

    Nothing has to be sampled or bounded: both are Gaussians with low-rank covariances, and the loss of a batch is its exact
    negative log-likelihood. Whatever is encoded is read as a target, and whatever is decoded has the mean of targets.

    Arguments:
        net: only the shape of a sample is taken from it.
        common: coordinates z, columns of S.
        salient: coordinates t, columns of W.
    """

    needs = ("x", "background")

    def __init__(self, net: Net, common: int = 10, salient: int = 2) -> None:
        super().__init__()
        self.common, self.salient, self.shape = common, salient, net.shape
        self.latents, features = common + salient, prod(net.shape)
        self.shared = nn.Linear(common, features)  # S and m_y
        self.target = nn.Linear(salient, features)  # W and m_x
        self.log_noise = nn.Parameter(torch.zeros(()))  # log sigma²

    @property
    def blocks(self) -> dict[str, slice]:
        """z first, then t."""
        return {"common": slice(0, self.common), "salient": slice(self.common, self.latents)}

    def both(self) -> Tensor:
        """[S W], (features, latents)."""
        return torch.cat([self.shared.weight, self.target.weight], dim=-1)

    def posterior(self, x: Tensor) -> FullGaussian:
        """p(z, t|x) = N(M⁻¹ Aᵀ (x - m_x) / sigma², M⁻¹) with A = [S W] and M = I + Aᵀ A / sigma²."""
        loadings, precision = self.both(), (-self.log_noise).exp()
        covariance = torch.cholesky_inverse(_root(loadings, precision))
        mean = ((x.flatten(1) - self.target.bias) @ loadings @ covariance) * precision
        factor = torch.linalg.cholesky_ex(covariance).L
        return FullGaussian(mean.to(x.dtype), factor.expand(len(x), -1, -1))

    def decode(self, codes: Tensor) -> Tensor:
        """S z + W t + m_x."""
        return (codes @ self.both().T + self.target.bias).unflatten(-1, self.shape)

    def loss(self, batch: Batch, step: Step) -> Terms:
        """-log p(x) - log p(y), exactly."""
        target = self.surprise(batch["x"].flatten(1) - self.target.bias, self.both())
        background = self.surprise(batch["background"].flatten(1) - self.shared.bias, self.shared.weight)
        return {"loss": target + background, "target_surprise": target, "background_surprise": background}

    def surprise(self, centred: Tensor, loadings: Tensor) -> Tensor:
        """-log N(0, A Aᵀ + sigma² I) in nats per sample, by Woodbury's identity and the determinant lemma."""
        precision = (-self.log_noise).exp()
        root = _root(loadings, precision)
        explained = torch.linalg.solve_triangular(root, (centred @ loadings).T, upper=False).square().sum(0)
        distance = precision * (centred.square().sum(-1) - precision * explained)
        log_det = centred.shape[-1] * self.log_noise + 2 * root.diagonal().log().sum()
        return 0.5 * (distance.mean() + log_det + centred.shape[-1] * math.log(2 * math.pi))


def _root(loadings: Tensor, precision: Tensor) -> Tensor:
    """The Cholesky factor of M = I + Aᵀ A / sigma²."""
    latents = loadings.shape[-1]
    identity = torch.eye(latents, device=loadings.device, dtype=loadings.dtype)
    return torch.linalg.cholesky_ex(identity + precision * loadings.T @ loadings).L
