"""Variational autoencoder (Kingma & Welling 2014): reconstruction plus the KL of a diagonal Gaussian posterior."""

from __future__ import annotations

from torch import Tensor

from unbraid.losses.reconstruction import reconstruction_error
from unbraid.methods import Batch, Step, Terms
from unbraid.methods.autoencoder import Autoencoder
from unbraid.networks import Net
from unbraid.posteriors import DiagonalGaussian


class VAE(Autoencoder):
    """Codes are noisy, and precision costs KL: the two together choose the axes (thesis Theorem 1).

    Arguments:
        net: maker of encoder and decoder.
        latents: number of code coordinates.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(self, net: Net, latents: int = 10, *, reconstruction: str = "auto") -> None:
        super().__init__(net, latents, reconstruction=reconstruction)
        self.noise = latents

    @staticmethod
    def numbers(latents: int) -> int:
        """Means and log variances."""
        return 2 * latents

    def posterior(self, x: Tensor) -> DiagonalGaussian:
        """N(mu, diag sigma²), Eq. 2.5."""
        return DiagonalGaussian(*self.encoder(x).to(x.dtype).chunk(2, dim=-1))

    def loss(self, batch: Batch, step: Step) -> Terms:
        """Reconstruction of a sampled code plus the penalty, Eq. 2.4."""
        q = self.posterior(batch["x"])
        z = q.sample(batch["noise"][:, : self.latents])
        error = reconstruction_error(self.reconstruction, batch["x"], self.decoder(z)).mean()
        penalty, terms = self.penalty(q, z)
        return {"loss": error + penalty, "reconstruction": error, **terms}

    def penalty(self, q: DiagonalGaussian, z: Tensor) -> tuple[Tensor, Terms]:
        """What is added to the reconstruction, and its unweighted terms: the KL, Eq. 2.6."""
        kl = q.kl().sum(-1).mean()
        return kl, {"kl": kl}
