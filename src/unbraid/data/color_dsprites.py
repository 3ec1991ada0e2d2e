"""dSprites in random colours: the colour is not a factor (Locatello et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.data import Data
from unbraid.repainting import opened, repainted
from unbraid.row_chance import uniform


def color_dsprites(base: str = "dsprites", copies: int = 1, seed: int = 0) -> Data:
    """Sprites on black, each times a colour whose red, green and blue are uniform in 0.5..1.

    A sprite keeps its colour. disentanglement_lib draws another one whenever it shows a sprite; many copies come
    near that.

    Arguments:
        base: the sprites: dsprites, or others with + between their options, as sprites:pixels=32+positions=16.
        copies: how many colours every sprite comes in.
        seed: of the colours.
    """
    options = {"base": base, "copies": copies, "seed": seed}
    return repainted("color_dsprites", opened("color_dsprites", base), Colour(seed), options, copies)


@dataclass(frozen=True)
class Colour:
    """One colour per row."""

    seed: int

    def __call__(self, x: Tensor, rows: Tensor) -> Tensor:
        """Give every sprite its colour."""
        return x * uniform(rows, 3, self.seed).add_(1).div_(2).to(x.device)[:, :, None, None]

    def to(self, device: torch.device) -> Colour:
        """Nothing to move."""
        return self
