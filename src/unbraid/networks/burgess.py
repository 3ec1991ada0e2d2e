"""The convolutional pair of Burgess et al. (2018): 32 channels k4 s2 down to 4×4, FC 256, FC 256, and the mirror; ReLU."""

from __future__ import annotations

from math import ceil, floor, log2

from torch import nn

from unbraid.errors import UserError
from unbraid.networks import Pair, layers
from unbraid.networks.conv import Fit


def burgess(shape: tuple[int, ...], latents: int) -> Pair:
    """Four halvings at 64×64, three at 32×32, and sizes between them padded."""
    if len(shape) != 3:
        raise UserError(f"net burgess needs images (channels, height, width), the data have shape {shape}: use net mlp")
    channels, height, width = shape
    halvings = max(1, floor(log2(min(height, width) / 4)))
    rows, columns = ceil(height / 2**halvings), ceil(width / 2**halvings)
    encoder: list[nn.Module] = [Fit(rows * 2**halvings, columns * 2**halvings)]
    for a in [channels, *[32] * (halvings - 1)]:
        encoder += [nn.Conv2d(a, 32, 4, stride=2, padding=1), nn.ReLU()]
    encoder += [nn.Flatten(), *layers([32 * rows * columns, 256, 256], nn.ReLU)]
    decoder = [*layers([latents, 256, 256, 32 * rows * columns], nn.ReLU), nn.Unflatten(1, (32, rows, columns))]
    for b in [*[32] * (halvings - 1), channels]:
        decoder += [nn.ConvTranspose2d(32, b, 4, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*encoder), nn.Sequential(*decoder[:-1], Fit(height, width))
