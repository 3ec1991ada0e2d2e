"""beta-VAE with full covariance (thesis Section 3.2.7): the ablation that gives rotational symmetry back."""

from __future__ import annotations

from torch import Tensor

from unbraid.losses.reconstruction import reconstruction_error
from unbraid.methods import Batch, Step, Terms
from unbraid.methods.autoencoder import Autoencoder
from unbraid.networks import Net
from unbraid.posteriors import FullGaussian


class BetaVAEFull(Autoencoder):
    """A beta-VAE whose posterior may be any Gaussian, so that no alignment of the axes is preferred.

    Arguments:
        net: maker of encoder and decoder.
        latents: number of code coordinates.
        beta: weight of the KL.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(self, net: Net, latents: int = 10, *, beta: float = 4.0, reconstruction: str = "auto") -> None:
        super().__init__(net, latents, reconstruction=reconstruction)
        self.noise = latents
        self.beta = beta

    @staticmethod
    def numbers(latents: int) -> int:
        """Means and a Cholesky factor."""
        return latents + latents * (latents + 1) // 2

    def posterior(self, x: Tensor) -> FullGaussian:
        """N(mu, L Lᵀ)."""
        return FullGaussian.from_numbers(self.encoder(x).to(x.dtype), self.latents)

    def loss(self, batch: Batch, step: Step) -> Terms:
        """Reconstruction of a sampled code plus beta times Eq. 3.30."""
        q = self.posterior(batch["x"])
        error = reconstruction_error(self.reconstruction, batch["x"], self.decoder(q.sample(batch["noise"]))).mean()
        kl = q.kl().mean()
        return {"loss": error + self.beta * kl, "reconstruction": error, "kl": kl}
