"""The spatial broadcast decoder (Watters et al. 2019): the code is written into every pixel, beside the pixel's place.

Position then is a number that is read and not a pattern that is learned. The encoder is paper 000's: three convolutions;
its widths and those of the decoder are not given there.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, unfold

from unbraid.data import whole
from unbraid.errors import UserError
from unbraid.networks import Pair, layers

WIDTHS = (32, 64, 64)
SMALLEST = 2 ** len(WIDTHS)


class Broadcast(nn.Module):
    """A 3x3 convolution of a code tiled over all pixels and of two channels with their places, zeros beyond the border.

    The same at every pixel, the code is not tiled: it goes once through each of the nine taps, and a pixel adds up those
    that lie inside the picture. At 32x32 with 30 latents this layer then costs no more than a last one.
    """

    def __init__(self, latents: int, channels: int, height: int, width: int) -> None:
        super().__init__()
        self.latents, self.height, self.width = latents, height, width
        self.convolution = nn.Conv2d(latents + 2, channels, 3, padding=1)

    def places(self, like: Tensor) -> Tensor:
        """Row and column of every pixel from -1 to 1, (1, 2, height, width)."""
        sides = (torch.linspace(-1, 1, n, dtype=like.dtype, device=like.device) for n in (self.height, self.width))
        return torch.stack(torch.meshgrid(*sides, indexing="ij"))[None]

    def forward(self, z: Tensor) -> Tensor:
        """(samples, channels, height, width)."""
        weight, bias = self.convolution.weight, self.convolution.bias
        inside = unfold(z.new_ones(1, 1, self.height, self.width), 3, padding=1)[0]  # (9, pixels)
        taps = torch.einsum("nl,clt->nct", z, weight[:, : self.latents].flatten(2))
        placed = conv2d(self.places(z).to(weight.dtype), weight[:, self.latents :], bias, padding=1)
        return (taps @ inside.to(taps.dtype)).unflatten(-1, (self.height, self.width)) + placed


def spatial_broadcast(shape: tuple[int, ...], latents: int, channels: int = 32, hidden: int = 2) -> Pair:
    """Encoder: 32, 64, 64 k4 stride 2, FC 256. Decoder: 3x3 convolutions at full size and no up-sampling. ReLU.

    Arguments:
        channels: of each hidden layer of the decoder.
        hidden: layers of the decoder before the last, of which the first takes the code.
    """
    if len(shape) != 3:
        raise UserError(
            f"net spatial_broadcast needs images (channels, height, width), the data have shape {shape}: use net mlp"
        )
    whole({"channels": channels, "hidden": hidden})
    colours, height, width = shape
    if min(height, width) < SMALLEST:
        raise UserError(
            f"net spatial_broadcast needs images of at least {SMALLEST}x{SMALLEST}, the data have {height}x{width}"
        )
    encoder: list[nn.Module] = []
    for a, b in zip((colours, *WIDTHS[:-1]), WIDTHS, strict=True):
        encoder += [nn.Conv2d(a, b, 4, stride=2, padding=1), nn.ReLU()]
    grid = WIDTHS[-1] * (height // SMALLEST) * (width // SMALLEST)
    decoder: list[nn.Module] = [Broadcast(latents, channels, height, width), nn.ReLU()]
    for _ in range(hidden - 1):
        decoder += [nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU()]
    decoder.append(nn.Conv2d(channels, colours, 3, padding=1))
    return nn.Sequential(*encoder, nn.Flatten(), *layers([grid, 256], nn.ReLU)), nn.Sequential(*decoder)
