"""Common and salient codes (paper 001, Eq. 3): one VAE of targets and background; background is decoded without a salient code."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.losses.reconstruction import kind_for, picture, reconstruction_error
from unbraid.methods import Batch, Method, Step, Terms
from unbraid.networks import Net
from unbraid.posteriors import DiagonalGaussian


@dataclass(frozen=True)
class Seen:
    """What the encoder says of targets x and of background y, and codes drawn from it."""

    z_x: DiagonalGaussian
    s_x: DiagonalGaussian
    z_y: DiagonalGaussian
    s_y: DiagonalGaussian
    z_x_drawn: Tensor
    s_x_drawn: Tensor
    z_y_drawn: Tensor


class CommonSalientVAE(Method):
    """The loss that contrastive VAEs share. Nothing but the decoder says what belongs where: add a term, as they do.

    Arguments:
        net: maker of encoder and decoder.
        common: coordinates z of what targets and background share.
        salient: coordinates s of what only targets have.
        beta: weight of the KL; paper 001 takes 2 for grassy digits.
        reconstruction: "squared", "bernoulli", or "auto" to choose by the data (0..1 pixels: bernoulli).
    """

    needs = ("x", "background")

    def __init__(
        self, net: Net, common: int = 8, salient: int = 4, *, beta: float = 1.0, reconstruction: str = "auto"
    ) -> None:
        super().__init__()
        self.common, self.salient, self.beta = common, salient, beta
        self.latents = common + salient
        self.noise = 2 * self.latents  # for z and s of targets, then of background, whose s not every loss draws
        self.reconstruction = kind_for(net.pixels, reconstruction)
        self.encoder, self.decoder = net.build(self.latents, 2 * self.latents)

    @property
    def blocks(self) -> dict[str, slice]:
        """z first, then s."""
        return {"common": slice(0, self.common), "salient": slice(self.common, self.latents)}

    def posterior(self, x: Tensor) -> DiagonalGaussian:
        """q(z|x) q(s|x): one trunk, a linear head for each mean and log variance."""
        return DiagonalGaussian(*self.encoder(x).to(x.dtype).chunk(2, dim=-1))

    def decode(self, codes: Tensor) -> Tensor:
        """Samples in the units of the data, from [z, s]."""
        return picture(self.reconstruction, self.decoder(codes))

    def block(self, q: DiagonalGaussian, name: str) -> DiagonalGaussian:
        """One block of a posterior."""
        where = self.blocks[name]
        return DiagonalGaussian(q.mean[:, where], q.log_variance[:, where])

    def see(self, batch: Batch) -> Seen:
        """Encode both at once, and draw."""
        targets = len(batch["x"])
        q = self.posterior(torch.cat([batch["x"], batch["background"]]))
        q_x, q_y = (DiagonalGaussian(q.mean[rows], q.log_variance[rows]) for rows in (slice(targets), slice(targets, None)))  # fmt: skip
        z_x, s_x, z_y, s_y = (self.block(half, name) for half in (q_x, q_y) for name in ("common", "salient"))
        z_noise, s_noise, y_noise, _ = self.noises(batch)
        return Seen(z_x, s_x, z_y, s_y, z_x.sample(z_noise), s_x.sample(s_noise), z_y.sample(y_noise))

    def noises(self, batch: Batch) -> tuple[Tensor, ...]:
        """Of z and s of targets, then of z and s of background."""
        sizes = [self.common, self.salient] * 2
        return batch["noise"][:, : sum(sizes)].split(sizes, dim=-1)

    def absent(self, codes: Tensor) -> Tensor:
        """The salient code of background, for as many rows: nothing."""
        return codes.new_zeros(len(codes), self.salient)

    def reconstructions(self, batch: Batch, seen: Seen) -> tuple[Tensor, Tensor]:
        """Of x from [z, s] and of y from [z, 0]."""
        target = torch.cat([seen.z_x_drawn, seen.s_x_drawn], dim=-1)
        background = torch.cat([seen.z_y_drawn, self.absent(seen.z_y_drawn)], dim=-1)
        both = torch.cat([batch["x"], batch["background"]])
        error = reconstruction_error(self.reconstruction, both, self.decoder(torch.cat([target, background])))
        return error[: len(target)].mean(), error[len(target) :].mean()

    def loss(self, batch: Batch, step: Step) -> Terms:
        """L_VAE, Eq. 3, and what a method adds to it."""
        seen = self.see(batch)
        target, background = self.reconstructions(batch, seen)
        kl = {name: q.kl().sum(-1).mean() for name, q in (("common", seen.z_x), ("salient", seen.s_x), ("background", seen.z_y))}  # fmt: skip
        loss = target + background + self.beta * (kl["common"] + kl["salient"] + kl["background"])
        added, terms = self.penalty(batch, seen)
        return {
            "loss": loss + added,
            "reconstruction": target,
            "background_reconstruction": background,
            **{f"{name}_kl": value for name, value in kl.items()},
            **terms,
        }

    def penalty(self, batch: Batch, seen: Seen) -> tuple[Tensor | float, Terms]:
        """What is added to Eq. 3, and its unweighted terms: nothing."""
        return 0.0, {}
