"""dSprites cut out of a painting as its negative: the background is not a factor (Locatello et al. 2019)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from unbraid.data import Data
from unbraid.errors import UserError
from unbraid.repainting import opened, repainted
from unbraid.row_chance import uniform

ADDRESS = "https://upload.wikimedia.org/wikipedia/commons/f/f4/The_Scream.jpg"
FITS = (350, 274)  # as disentanglement_lib shrinks the painting, for windows of 64 pixels


def scream_dsprites(picture: str = "", base: str = "dsprites", copies: int = 1, seed: int = 0) -> Data:
    """Windows of a picture, tinted by a random colour, with the colours of the sprite's pixels inverted.

    The picture is shrunk to fit into 350 x 274 pixels for sprites of 64, in proportion for others. A sprite keeps
    its background. disentanglement_lib draws another one whenever it shows a sprite; many copies come near that.

    Arguments:
        picture: an image file; the original is The Scream by Edvard Munch.
        base: the sprites: dsprites, or others with + between their options, as sprites:pixels=32+positions=16.
        copies: how many backgrounds every sprite comes on.
        seed: of windows and tints.
    """
    if not picture:
        raise UserError(f"scream_dsprites needs a picture, as in scream_dsprites:picture=scream.jpg ({ADDRESS})")
    sprites = opened("scream_dsprites", base)
    painting = _painting(picture, sprites.shape[1], sprites.shape[2])
    options = {"picture": picture, "base": base, "copies": copies, "seed": seed}
    content = hashlib.blake2b(painting.numpy().tobytes(), digest_size=8).hexdigest()
    return repainted("scream_dsprites", sprites, Backdrop(painting, seed), options, copies, content)


@dataclass(frozen=True)
class Backdrop:
    """A window of a painting (3, height, width) and a tint per row."""

    painting: Tensor
    seed: int

    def __call__(self, x: Tensor, rows: Tensor) -> Tensor:
        """Put the sprites, as negatives, into their windows."""
        chance = uniform(rows.to(self.painting.device), 5, self.seed)
        _, tall, wide = self.painting.shape
        height, width = x.shape[2:]
        top = (chance[:, 0] * (tall - height)).to(torch.int64)
        left = (chance[:, 1] * (wide - width)).to(torch.int64)
        line = self.painting.view(-1)
        # Rows of pixels are copied whole, as in sprites.
        strips = line.as_strided((len(line) - width + 1, width), (1, 1))
        first = top * wide + left
        down = torch.arange(3, device=line.device)[:, None] * (tall * wide)
        down = (down + torch.arange(height, device=line.device) * wide).view(-1)
        window = strips.index_select(0, (first[:, None] + down).view(-1)).view(len(x), 3, height, width)
        tinted = window.to(torch.float32).div_(255).add_(chance[:, 2:, None, None]).div_(2)
        # Black and white alike: t where x = 0, 1 - t where x = 1.
        return tinted.mul_(1 - 2 * x).add_(x)

    def to(self, device: torch.device) -> Backdrop:
        """Move the painting."""
        return Backdrop(self.painting.to(device), self.seed)


def _painting(picture: str, height: int, width: int) -> Tensor:
    file = Path(picture).expanduser()
    try:
        with Image.open(file) as image:
            painting = image.convert("RGB")
    except (OSError, SyntaxError, ValueError) as error:
        raise UserError(f"scream_dsprites:picture={picture}: no such image ({error})") from error
    size = (round(FITS[0] * width / 64), round(FITS[1] * height / 64))
    painting.thumbnail(size, Image.Resampling.BICUBIC)
    if painting.width <= width or painting.height <= height:
        raise UserError(
            f"scream_dsprites:picture={picture}: {painting.width}x{painting.height} after shrinking to fit "
            f"{size[0]}x{size[1]}; must be larger than a sprite of {width}x{height}"
        )
    return torch.from_numpy(np.asarray(painting).transpose(2, 0, 1).copy())
