"""cVAE (Abid & Zou 2019; paper 001, Eq. 4): common and salient codes of targets are made independent, as a critic sees them."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from unbraid.methods import Batch, Step, Terms, Update
from unbraid.methods.common_salient_vae import CommonSalientVAE, Seen
from unbraid.networks import Net, layers


class CVAE(CommonSalientVAE):
    """Pays for the total correlation KL(q(z, s) || q(z) q(s)) of the targets' codes, over all targets together.

    Paper 001 writes it for each x by itself, where the posterior has z and s independent and it is 0. The authors' code
    has a critic of a single linear layer: joint and shuffled pairs have equal marginals, so the best such critic is
    blind, and the term is noise. Here the critic is a small network, unless `linear_tc` asks for theirs.

    Arguments:
        net: maker of encoder and decoder.
        common: coordinates z of what targets and background share.
        salient: coordinates s of what only targets have.
        gamma: weight of the total correlation, lambda in Eq. 4.
        beta: weight of the KL; paper 001 takes 2 for grassy digits.
        critic_width: units of each of the critic's two hidden layers.
        critic_lr: learning rate of the critic.
        linear_tc: the critic of the authors' code.
        joint_code: one optimiser minimises the sum of all losses, as the authors' code does.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    def __init__(
        self,
        net: Net,
        common: int = 8,
        salient: int = 4,
        *,
        gamma: float = 1.0,
        beta: float = 1.0,
        critic_width: int = 64,
        critic_lr: float = 1e-3,
        linear_tc: bool = False,
        joint_code: bool = False,
        reconstruction: str = "auto",
    ) -> None:
        super().__init__(net, common, salient, beta=beta, reconstruction=reconstruction)
        self.gamma, self.critic_lr, self.joint_code = gamma, critic_lr, joint_code
        sizes = [self.latents] if linear_tc else [self.latents, critic_width, critic_width]
        self.critic = nn.Sequential(*layers(sizes, partial(nn.LeakyReLU, 0.2)), nn.Linear(sizes[-1], 1))

    def updates(self) -> list[Update]:
        """The VAE, then the critic; or all at once."""
        if self.joint_code:
            return [Update(self.loss, over=[self])]
        return [
            Update(self.loss, over=[self.encoder, self.decoder]),
            Update(self.critic_loss, over=[self.critic], lr=self.critic_lr, betas=(0.5, 0.9)),
        ]

    def penalty(self, batch: Batch, seen: Seen) -> tuple[Tensor | float, Terms]:
        """gamma E log D / (1 - D); the critic gives this logarithm itself."""
        z, s = seen.z_x_drawn, seen.s_x_drawn
        total_correlation = self.judge(z, s).mean()
        penalty, terms = self.gamma * total_correlation, {"total_correlation": total_correlation}
        if self.joint_code:
            error = self.mistakes(z, s)
            return penalty + error, {**terms, "critic": error}
        return penalty, terms

    def critic_loss(self, batch: Batch, step: Step) -> Terms:
        """Cross-entropy of telling pairs (z, s) of one target from pairs of two."""
        z_noise, s_noise, *_ = self.noises(batch)
        with torch.no_grad():
            q = self.posterior(batch["x"])
            z, s = self.block(q, "common").sample(z_noise), self.block(q, "salient").sample(s_noise)
        error = self.mistakes(z, s)
        return {"loss": error, "critic": error}

    def judge(self, z: Tensor, s: Tensor) -> Tensor:
        """log D / (1 - D) of each pair."""
        return self.critic(torch.cat([z, s], dim=-1)).to(z.dtype).squeeze(-1)

    def mistakes(self, z: Tensor, s: Tensor) -> Tensor:
        """-E log D(z, s) - E log (1 - D(z', s)), z' from the other half of the batch."""
        other = z.roll(len(z) // 2, 0)
        return softplus(-self.judge(z, s)).mean() + softplus(self.judge(other, s)).mean()
