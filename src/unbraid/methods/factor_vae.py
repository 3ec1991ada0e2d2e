"""FactorVAE (Kim & Mnih 2018): a VAE whose codes a critic cannot tell from codes with shuffled coordinates."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from unbraid.methods import Batch, Step, Terms, Update
from unbraid.methods.vae import VAE
from unbraid.networks import Net, layers
from unbraid.posteriors import DiagonalGaussian


class FactorVAE(VAE):
    """A VAE that pays gamma for the total correlation, as a critic sees it.

    Differs from the paper: the shuffled codes come from the batch that the VAE learns from, as in disentanglement_lib,
    not from a second batch; and the VAE has the library's learning rate of 1e-3, the paper 1e-4 for both.

    Arguments:
        net: maker of encoder and decoder.
        latents: number of code coordinates.
        gamma: weight of the total correlation.
        fresh_batch: compare the codes of half a batch with shuffled codes of the other half, nearer to the paper.
        critic_width: units of each hidden layer of the critic.
        critic_depth: hidden layers of the critic.
        critic_lr: learning rate of the critic.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(
        self,
        net: Net,
        latents: int = 10,
        *,
        gamma: float = 35.0,
        fresh_batch: bool = False,
        critic_width: int = 1000,
        critic_depth: int = 6,
        critic_lr: float = 1e-4,
        reconstruction: str = "auto",
    ) -> None:
        super().__init__(net, latents, reconstruction=reconstruction)
        self.noise = 2 * latents  # for the codes, and for the order of the shuffled ones
        self.gamma, self.fresh_batch, self.critic_lr = gamma, fresh_batch, critic_lr
        hidden = layers([latents, *[critic_width] * critic_depth], partial(nn.LeakyReLU, 0.2))
        self.critic = nn.Sequential(*hidden, nn.Linear(critic_width if critic_depth else latents, 2))

    def updates(self) -> list[Update]:
        """Algorithm 2: the VAE, then the critic."""
        return [
            Update(self.loss, over=[self.encoder, self.decoder]),
            Update(self.critic_loss, over=[self.critic], lr=self.critic_lr, betas=(0.5, 0.9)),
        ]

    def penalty(self, q: DiagonalGaussian, z: Tensor) -> tuple[Tensor, Terms]:
        """KL + gamma log D(z) / (1 - D(z)), Eqs. 2 and 3."""
        kl, terms = super().penalty(q, z)
        joint, shuffled = self.critic(z).to(z.dtype).unbind(-1)
        total_correlation = (joint - shuffled).mean()
        return kl + self.gamma * total_correlation, {**terms, "total_correlation": total_correlation}

    def critic_loss(self, batch: Batch, step: Step) -> Terms:
        """Cross-entropy of telling codes (class 0) from shuffled codes (class 1)."""
        noise, order = batch["noise"].split(self.latents, dim=-1)
        with torch.no_grad():
            z = self.posterior(batch["x"]).sample(noise)
        half = len(z) // 2 if self.fresh_batch else 0
        joint, apart = z[half:], shuffle(z[: half or None], order[: half or None])
        right = [
            log_softmax(self.critic(codes).to(z.dtype), -1)[:, kind].mean() for kind, codes in enumerate((joint, apart))
        ]
        error = -0.5 * (right[0] + right[1])
        return {"loss": error, "critic": error}


def shuffle(codes: Tensor, order: Tensor) -> Tensor:
    """Each coordinate put into an order of its own, that of random numbers: a sample of the product of the marginals."""
    return codes.gather(0, order.argsort(0))
