"""sRb-VAE (Ruiz et al. 2019; paper 001, Eq. 5): reference-based, with the symmetric KL between model and data, by two critics."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from unbraid.methods import Batch, Step, Terms, Update
from unbraid.methods.rb_vae import RbVAE
from unbraid.networks import Net, layers
from unbraid.posteriors import DiagonalGaussian


class Critic(nn.Module):
    """log q(x, code) / p(x, code) of pairs of sample and code, once it is trained: a trunk of its own, then both together."""

    def __init__(self, trunk: nn.Module, latents: int, width: int) -> None:
        super().__init__()
        self.trunk = trunk
        activation = partial(nn.LeakyReLU, 0.2)
        self.head = nn.Sequential(activation(), *layers([width + latents, width], activation), nn.Linear(width, 1))

    def forward(self, x: Tensor, codes: Tensor) -> Tensor:
        """One number per pair."""
        both = torch.cat([self.trunk(x).to(x.dtype), codes], dim=-1)
        return self.head(both).to(x.dtype).squeeze(-1)


class SRbVAE(RbVAE):
    """Encoder and decoder make pairs that critics cannot tell apart: samples with their codes, and codes with their samples.

    Of q (data, encoded) and p (prior, decoded) it minimises KL(q || p) + KL(p || q) = E_q log q/p - E_p log q/p, for targets
    with (z, s) and for background with z, where critics give the logarithm; and what the paper adds, reconstruction of
    samples and of codes. The critics minimise their own cross-entropy: it is adversarial.

    Arguments:
        net: maker of encoder and decoder, and of the critics' trunks.
        common: coordinates z of what targets and background share.
        salient: coordinates s of what only targets have.
        lambda_rec: weight of the reconstruction of samples.
        lambda_lat: weight of the reconstruction of codes drawn from the prior.
        learned: learn background's salient code; it is 0 otherwise, as in paper 001.
        critic_width: units of the critics' last layers.
        critic_lr: learning rate of the critics.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(
        self,
        net: Net,
        common: int = 8,
        salient: int = 4,
        *,
        lambda_rec: float = 1.0,
        lambda_lat: float = 1.0,
        learned: bool = False,
        critic_width: int = 128,
        critic_lr: float = 1e-4,
        reconstruction: str = "auto",
    ) -> None:
        super().__init__(net, common, salient, learned=learned, reconstruction=reconstruction)
        self.lambda_rec, self.lambda_lat, self.critic_lr = lambda_rec, lambda_lat, critic_lr
        self.noise += self.latents + common  # codes from the prior: (z, s) for targets, z for background
        trunks = [net.build(self.latents, critic_width)[0] for _ in range(2)]
        self.target_critic = Critic(trunks[0], self.latents, critic_width)
        self.background_critic = Critic(trunks[1], common, critic_width)

    def updates(self) -> list[Update]:
        """Encoder and decoder, then both critics."""
        critics = [self.target_critic, self.background_critic]
        return [
            Update(self.loss, over=[self.encoder, self.decoder, self.reference], betas=(0.5, 0.999)),
            Update(self.critic_loss, over=critics, lr=self.critic_lr, betas=(0.5, 0.999)),
        ]

    def prior(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """(z, s) for targets and (z, s_ref) for background, from the prior."""
        target, z = batch["noise"][:, 2 * self.latents :].split([self.latents, self.common], dim=-1)
        return target, torch.cat([z, self.absent(z)], dim=-1)

    def loss(self, batch: Batch, step: Step) -> Terms:
        """Eq. 5, with the two reconstructions."""
        seen = self.see(batch)
        errors = self.reconstructions(batch, seen)
        codes, dreams = self.dream(batch)
        read = self.posterior(dreams)
        rows = len(batch["x"])
        forgotten = _surprise(DiagonalGaussian(read.mean[:rows], read.log_variance[:rows]), codes[:rows])
        z = self.block(DiagonalGaussian(read.mean[rows:], read.log_variance[rows:]), "common")
        forgotten_background = _surprise(z, codes[rows:, : self.common])
        drawn = torch.cat([seen.z_x_drawn, seen.s_x_drawn], dim=-1)
        targets = self.target_critic(batch["x"], drawn).mean() - self.target_critic(dreams[:rows], codes[:rows]).mean()
        backgrounds = (
            self.background_critic(batch["background"], seen.z_y_drawn).mean()
            - self.background_critic(dreams[rows:], codes[rows:, : self.common]).mean()
        )
        latent = forgotten + forgotten_background
        return {
            "loss": targets + backgrounds + self.lambda_rec * (errors[0] + errors[1]) + self.lambda_lat * latent,
            "reconstruction": errors[0],
            "background_reconstruction": errors[1],
            "latent_reconstruction": latent,
            "symmetric_kl": targets,
            "background_symmetric_kl": backgrounds,
        }

    def critic_loss(self, batch: Batch, step: Step) -> Terms:
        """Cross-entropy of telling encoded samples (1) from decoded codes (0), for both critics."""
        with torch.no_grad():
            seen, (codes, dreams) = self.see(batch), self.dream(batch)
        rows, drawn = len(batch["x"]), torch.cat([seen.z_x_drawn, seen.s_x_drawn], dim=-1)
        error = (
            softplus(-self.target_critic(batch["x"], drawn)).mean()
            + softplus(self.target_critic(dreams[:rows], codes[:rows])).mean()
            + softplus(-self.background_critic(batch["background"], seen.z_y_drawn)).mean()
            + softplus(self.background_critic(dreams[rows:], codes[rows:, : self.common])).mean()
        )
        return {"loss": error, "critic": error}

    def dream(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Codes from the prior, targets' and then background's, and what they decode to."""
        codes = torch.cat(self.prior(batch))
        return codes, self.decode(codes).to(codes.dtype)


def _surprise(q: DiagonalGaussian, codes: Tensor) -> Tensor:
    """-log q(codes), summed over latents."""
    squares = (codes - q.mean).square() * (-q.log_variance).exp()
    return 0.5 * (squares + q.log_variance + math.log(2 * math.pi)).sum(-1).mean()
