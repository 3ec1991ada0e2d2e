"""AnnealedVAE (Burgess et al. 2018): the KL is held at a capacity that grows while training goes on."""

from __future__ import annotations

import torch

from unbraid.methods import Batch, Step, Terms
from unbraid.methods.vae import VAE
from unbraid.networks import Net
from unbraid.schedules import linear


class AnnealedVAE(VAE):
    """A VAE that may spend a growing number of nats, so that factors enter the code one after another.

    Arguments:
        net: maker of encoder and decoder.
        latents: number of code coordinates.
        gamma: weight of the distance between the KL and the capacity.
        capacity: C in the end, in nats.
        ramp: steps in which C grows from 0; the run should be longer.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(
        self,
        net: Net,
        latents: int = 10,
        *,
        gamma: float = 1000.0,
        capacity: float = 25.0,
        ramp: int = 100_000,
        reconstruction: str = "auto",
    ) -> None:
        super().__init__(net, latents, reconstruction=reconstruction)
        self.gamma, self.capacity, self.ramp = gamma, capacity, ramp

    def loss(self, batch: Batch, step: Step) -> Terms:
        """Reconstruction + gamma |KL - C(step)|, Eq. 8."""
        terms = super().loss(batch, step)
        capacity = torch.zeros_like(terms["kl"]) + linear(step, 0.0, self.capacity, self.ramp)
        distance = (terms["kl"] - capacity).abs()
        return {**terms, "loss": terms["reconstruction"] + self.gamma * distance, "capacity": capacity}
