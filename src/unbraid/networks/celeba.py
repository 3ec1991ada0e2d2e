"""The thesis's convolutional pair for CelebA (Table 3.1): [32, 32, 64, 64] k4 s2; FC 64, then [64, 32, 32, C] k4 s2."""

from __future__ import annotations

from math import ceil

from torch import nn

from unbraid.errors import UserError
from unbraid.networks import Pair
from unbraid.networks.conv import Fit


def celeba(shape: tuple[int, ...], latents: int) -> Pair:
    """Four halvings; the decoder's first layer gives 64 channels on the coarsest grid."""
    if len(shape) != 3:
        raise UserError(f"net celeba needs images (channels, height, width), the data have shape {shape}: use net mlp")
    channels, height, width = shape
    rows, columns = ceil(height / 16), ceil(width / 16)
    encoder: list[nn.Module] = [Fit(rows * 16, columns * 16)]
    for a, b in zip([channels, 32, 32, 64], [32, 32, 64, 64], strict=True):
        encoder += [nn.Conv2d(a, b, 4, stride=2, padding=1), nn.ReLU()]
    decoder = [nn.Linear(latents, 64 * rows * columns), nn.ReLU(), nn.Unflatten(1, (64, rows, columns))]
    for a, b in zip([64, 64, 32, 32], [64, 32, 32, channels], strict=True):
        decoder += [nn.ConvTranspose2d(a, b, 4, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*encoder, nn.Flatten()), nn.Sequential(*decoder[:-1], Fit(height, width))
