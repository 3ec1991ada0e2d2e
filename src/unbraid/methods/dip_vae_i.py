"""DIP-VAE-I (Kumar et al. 2018): a VAE whose code means are pushed to have the identity as covariance."""

from __future__ import annotations

from torch import Tensor

from unbraid.losses.covariance import covariance, off_diagonal, off_unit_diagonal
from unbraid.methods import Terms
from unbraid.methods.vae import VAE
from unbraid.networks import Net
from unbraid.posteriors import DiagonalGaussian


class DIPVAEI(VAE):
    """A VAE that matches the covariance of the means, over the batch, to the prior's.

    Arguments:
        net: maker of encoder and decoder.
        latents: number of code coordinates.
        lambda_od: weight of the squared covariances off the diagonal.
        lambda_d: weight of the squared distance of the variances from 1; the paper takes ten times lambda_od.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(
        self,
        net: Net,
        latents: int = 10,
        *,
        lambda_od: float = 10.0,
        lambda_d: float = 100.0,
        reconstruction: str = "auto",
    ) -> None:
        super().__init__(net, latents, reconstruction=reconstruction)
        self.lambda_od, self.lambda_d = lambda_od, lambda_d

    def moments(self, q: DiagonalGaussian) -> Tensor:
        """S = Cov[mu], Eq. 5, first term."""
        return covariance(q.mean)

    def penalty(self, q: DiagonalGaussian, z: Tensor) -> tuple[Tensor, Terms]:
        """The KL plus Eq. 6."""
        kl, terms = super().penalty(q, z)
        moments = self.moments(q)
        off, diagonal = off_diagonal(moments), off_unit_diagonal(moments)
        terms |= {"off_diagonal": off, "off_unit_diagonal": diagonal}
        return kl + self.lambda_od * off + self.lambda_d * diagonal, terms
