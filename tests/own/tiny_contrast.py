"""Tiny contrast: a VAE of targets and background whose salient half is silent for the background."""

import torch

from unbraid.losses.reconstruction import reconstruction_error
from unbraid.methods.vae import VAE


class TinyContrast(VAE):
    """A VAE of two groups.

    Arguments:
        net: maker of encoder and decoder.
        latents: number of code coordinates, half of them salient.
        weight: of the background.
    """

    needs = ("x", "background")

    def __init__(self, net, latents=4, *, weight=1.0):
        super().__init__(net, latents)
        self.noise, self.weight = 2 * latents, weight

    @property
    def blocks(self):
        half = self.latents // 2
        return {"common": slice(0, half), "salient": slice(half, self.latents)}

    def loss(self, batch, step):
        own, behind = batch["noise"].split(self.latents, -1)
        target, background = self.side(batch["x"], own, 1.0), self.side(batch["background"], behind, 0.0)
        return {"loss": target + self.weight * background, "reconstruction": target, "background": background}

    def side(self, x, noise, loud):
        q = self.posterior(x)
        z = q.sample(noise)
        z = torch.cat([z[:, self.blocks["common"]], loud * z[:, self.blocks["salient"]]], -1)
        return reconstruction_error(self.reconstruction, x, self.decoder(z)).mean() + q.kl().sum(-1).mean()
