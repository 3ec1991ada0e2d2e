"""beta-VAE (Higgins et al. 2017): a VAE whose KL weighs beta."""

from __future__ import annotations

from torch import Tensor

from unbraid.methods import Terms
from unbraid.methods.vae import VAE
from unbraid.networks import Net
from unbraid.posteriors import DiagonalGaussian


class BetaVAE(VAE):
    """A VAE that pays beta for every nat of precision.

    Arguments:
        net: maker of encoder and decoder.
        latents: number of code coordinates.
        beta: weight of the KL; larger prunes more latents.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(self, net: Net, latents: int = 10, *, beta: float = 4.0, reconstruction: str = "auto") -> None:
        super().__init__(net, latents, reconstruction=reconstruction)
        self.beta = beta

    def penalty(self, q: DiagonalGaussian, z: Tensor) -> tuple[Tensor, Terms]:
        """beta times the KL, Eq. 2.4."""
        kl = q.kl().sum(-1).mean()
        return self.beta * kl, {"kl": kl}
