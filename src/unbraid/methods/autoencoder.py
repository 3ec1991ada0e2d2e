"""Autoencoder: reconstruction alone (thesis Section 2.2); the control that has no reason to disentangle."""

from __future__ import annotations

from torch import Tensor

from unbraid.losses.reconstruction import kind_for, picture, reconstruction_error
from unbraid.methods import Batch, Method, Step, Terms
from unbraid.networks import Net
from unbraid.posteriors import Point, Posterior


class Autoencoder(Method):
    """Encode to a point, decode, compare.

    Arguments:
        net: maker of encoder and decoder.
        latents: number of code coordinates.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(self, net: Net, latents: int = 10, *, reconstruction: str = "auto") -> None:
        super().__init__()
        self.latents = latents
        self.reconstruction = kind_for(net.pixels, reconstruction)
        self.encoder, self.decoder = net.build(latents, self.numbers(latents))

    @staticmethod
    def numbers(latents: int) -> int:
        """How many numbers the encoder gives per sample."""
        return latents

    def posterior(self, x: Tensor) -> Posterior:
        """A point: nothing is uncertain."""
        return Point(self.encoder(x).to(x.dtype))

    def decode(self, codes: Tensor) -> Tensor:
        """Samples in the units of the data."""
        return picture(self.reconstruction, self.decoder(codes))

    def loss(self, batch: Batch, step: Step) -> Terms:
        """Reconstruction error, Eq. 3.1."""
        error = reconstruction_error(self.reconstruction, batch["x"], self.decoder(self.encode(batch["x"]))).mean()
        return {"loss": error, "reconstruction": error}
