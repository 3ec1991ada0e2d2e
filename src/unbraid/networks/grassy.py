"""The convolutional pair for grassy digits (paper 001, A.3): five convolutions, channel norm, LeakyReLU, one FC; mirrored.

The paper gives neither widths nor strides. These are 32, 32, 64, 64, 128 with strides 2, 1, 2, 1, 2, so 28 → 14 → 7 → 4;
"channel normalization" is taken as one group over all channels of a sample, which knows no other sample of the batch.
For faces the paper says "8 layer" and no more: `grassy:layers=8` goes on in this way, so that 64 → 4 and 96 → 6.
"""

from __future__ import annotations

from math import ceil, prod

from torch import nn

from unbraid.errors import UserError
from unbraid.networks import Pair
from unbraid.networks.conv import Fit

MOST = 12  # layers, whose last then has 32 times as many channels as the first


def grassy(shape: tuple[int, ...], latents: int, first: int = 32, layers: int = 6) -> Pair:
    """Every other convolution halves, rounded up, and every second one doubles the channels; the decoder cuts what is too much.

    Arguments:
        first: channels of the first convolution, which the others are multiples of.
        layers: of the encoder, its one FC included; the paper has 6 for grassy digits and 8 for faces.
    """
    if type(layers) is not int or not 2 <= layers <= MOST:
        raise UserError(f"net grassy:layers={layers}: must be a whole number from 2 to {MOST}")
    if len(shape) != 3:
        raise UserError(f"net grassy needs images (channels, height, width), the data have shape {shape}: use net mlp")
    channels, height, width = shape
    if type(first) is not int or first < 1:
        raise UserError(f"net grassy:first={first}: must be a whole number of at least 1")
    widths, strides = [first * 2 ** (i // 2) for i in range(layers - 1)], [2 - i % 2 for i in range(layers - 1)]
    rows, columns = (ceil(size / prod(strides)) for size in (height, width))
    encoder: list[nn.Module] = []
    for a, b, stride in zip([channels, *widths[:-1]], widths, strides, strict=True):
        encoder += [nn.Conv2d(a, b, 3, stride, padding=1), *_between(b)]
    decoder = [nn.Linear(latents, widths[-1] * rows * columns), nn.LeakyReLU(), nn.Unflatten(1, (widths[-1], rows, columns))]  # fmt: skip
    up = [*widths[::-1], channels]
    for a, b, stride in zip(up[:-1], up[1:], strides[::-1], strict=True):
        kernel = 4 if stride == 2 else 3
        decoder += [nn.ConvTranspose2d(a, b, kernel, stride, padding=1), *_between(b)]
    return nn.Sequential(*encoder, nn.Flatten()), nn.Sequential(*decoder[:-2], Fit(height, width))


def _between(channels: int) -> list[nn.Module]:
    """After every convolution but the last."""
    return [nn.GroupNorm(1, channels), nn.LeakyReLU()]
