"""The convolutional pair for grassy digits (paper 001, A.3): five convolutions, channel norm, LeakyReLU, one FC; mirrored.

The paper gives neither widths nor strides. These are 32, 32, 64, 64, 128 with strides 2, 1, 2, 1, 2, so 28 → 14 → 7 → 4;
"channel normalization" is taken as one group over all channels of a sample, which knows no other sample of the batch.
"""

from __future__ import annotations

from math import ceil

from torch import nn

from unbraid.errors import UserError
from unbraid.networks import Pair
from unbraid.networks.conv import Fit

WIDTHS = (1, 1, 2, 2, 4)  # over the first layer's
STRIDES = (2, 1, 2, 1, 2)


def grassy(shape: tuple[int, ...], latents: int, first: int = 32) -> Pair:
    """Three halvings, rounded up; the decoder cuts what is too much.

    Arguments:
        first: channels of the first convolution, which the others are multiples of.
    """
    if len(shape) != 3:
        raise UserError(f"net grassy needs images (channels, height, width), the data have shape {shape}: use net mlp")
    channels, height, width = shape
    rows, columns = (ceil(ceil(ceil(size / 2) / 2) / 2) for size in (height, width))
    if first < 1:
        raise UserError(f"first={first}: a convolution has at least one channel")
    widths = [first * times for times in WIDTHS]
    encoder: list[nn.Module] = []
    for a, b, stride in zip((channels, *widths[:-1]), widths, STRIDES, strict=True):
        encoder += [nn.Conv2d(a, b, 3, stride, padding=1), *_between(b)]
    decoder = [nn.Linear(latents, widths[-1] * rows * columns), nn.LeakyReLU(), nn.Unflatten(1, (widths[-1], rows, columns))]  # fmt: skip
    up = (*widths[::-1], channels)
    for a, b, stride in zip(up[:-1], up[1:], STRIDES[::-1], strict=True):
        kernel = 4 if stride == 2 else 3
        decoder += [nn.ConvTranspose2d(a, b, kernel, stride, padding=1), *_between(b)]
    return nn.Sequential(*encoder, nn.Flatten()), nn.Sequential(*decoder[:-2], Fit(height, width))


def _between(channels: int) -> list[nn.Module]:
    """After every convolution but the last."""
    return [nn.GroupNorm(1, channels), nn.LeakyReLU()]
