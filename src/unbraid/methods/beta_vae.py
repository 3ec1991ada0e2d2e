"""beta-VAE (Higgins et al. 2017): a VAE whose KL weighs beta."""

from __future__ import annotations

import torch
from torch import Tensor

from unbraid.automatic_beta import ACTIVE, RATE, automatic
from unbraid.methods import Batch, Step, Terms, Update
from unbraid.methods.vae import VAE
from unbraid.networks import Net
from unbraid.posteriors import DiagonalGaussian


class BetaVAE(VAE):
    """A VAE that pays beta for every nat of precision.

    Arguments:
        net: maker of encoder and decoder.
        latents: number of code coordinates.
        beta: weight of the KL; larger prunes more latents. auto: as large as lets all stay active, auto:5: five.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(self, net: Net, latents: int = 10, *, beta: float | str = 4.0, reconstruction: str = "auto") -> None:
        super().__init__(net, latents, reconstruction=reconstruction)
        self.beta = beta
        self.search = automatic(beta, latents)

    def weight(self) -> float | Tensor:
        """beta: as given, or as found so far."""
        return float(self.beta) if self.search is None else self.search.beta()

    def penalty(self, q: DiagonalGaussian, z: Tensor) -> tuple[Tensor, Terms]:
        """beta times the KL, Eq. 2.4."""
        kl = q.kl().sum(-1).mean()
        return self.weight() * kl, {"kl": kl}

    def updates(self) -> list[Update]:
        """The networks; then beta, if it is to be found."""
        if self.search is None:
            return super().updates()
        return [
            Update(self.loss, over=[self.encoder, self.decoder]),
            Update(self.beta_loss, over=[self.search], optimiser="adagrad", lr=RATE),
        ]

    def beta_loss(self, batch: Batch, step: Step) -> Terms:
        """Moves beta by what the encoder now says of the batch."""
        assert self.search is not None
        with torch.no_grad():
            noise = self.posterior(batch["x"]).variance.mean(0)
        active = (noise < ACTIVE).to(noise.dtype).sum()
        return {"loss": self.search.loss(noise), "beta": self.search.beta(), "active": active}

    def notes(self, x: Tensor) -> list[str]:
        """The beta that was found."""
        return [] if self.search is None else [self.search.note(self.posterior(x).variance.mean(0))]
