"""DIP-VAE-II (Kumar et al. 2018): a VAE whose sampled codes are pushed to have the identity as covariance."""

from __future__ import annotations

import torch
from torch import Tensor

from unbraid.methods.dip_vae_i import DIPVAEI
from unbraid.networks import Net
from unbraid.posteriors import DiagonalGaussian


class DIPVAEII(DIPVAEI):
    """A VAE that matches the covariance of the aggregate posterior, noise included, to the prior's.

    Arguments:
        net: maker of encoder and decoder.
        latents: number of code coordinates.
        lambda_od: weight of the squared covariances off the diagonal.
        lambda_d: weight of the squared distance of the variances from 1; the paper takes lambda_od.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(
        self,
        net: Net,
        latents: int = 10,
        *,
        lambda_od: float = 10.0,
        lambda_d: float = 10.0,
        reconstruction: str = "auto",
    ) -> None:
        super().__init__(net, latents, lambda_od=lambda_od, lambda_d=lambda_d, reconstruction=reconstruction)

    def moments(self, q: DiagonalGaussian) -> Tensor:
        """S = Cov[mu] + E diag sigma², Eq. 5, which is Cov[z]."""
        return super().moments(q) + torch.diag_embed(q.variance.mean(0))
