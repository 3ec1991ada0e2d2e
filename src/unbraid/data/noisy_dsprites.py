"""dSprites on coloured noise: the noise is not a factor (Locatello et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.data import Data
from unbraid.repainting import opened, repainted
from unbraid.row_chance import random_bytes


def noisy_dsprites(base: str = "dsprites", copies: int = 1, seed: int = 0) -> Data:
    """White sprites on noise that is uniform in 0..1, in 256 steps, in every pixel and channel.

    A sprite keeps its noise. disentanglement_lib draws another one whenever it shows a sprite; many copies come
    near that.

    Arguments:
        base: the sprites: dsprites, or others with + between their options, as sprites:pixels=32+positions=16.
        copies: how many backgrounds every sprite comes on.
        seed: of the noise.
    """
    options = {"base": base, "copies": copies, "seed": seed}
    return repainted("noisy_dsprites", opened("noisy_dsprites", base), Noise(seed), options, copies)


@dataclass(frozen=True)
class Noise:
    """One picture of noise per row."""

    seed: int

    def __call__(self, x: Tensor, rows: Tensor) -> Tensor:
        """Put the noise behind the sprites."""
        noise = random_bytes(rows, 3 * x[0].numel(), self.seed).to(x.device, torch.float32).div_(255)
        return noise.view(len(x), 3, *x.shape[2:]).add_(x).clamp_(max=1)

    def to(self, device: torch.device) -> Noise:
        """Nothing to move."""
        return self
