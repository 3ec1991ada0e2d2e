"""The convolutional pair of disentanglement_lib, sized from the data: any height, width and channel count."""

from __future__ import annotations

from math import ceil, floor, log2

from torch import Tensor, nn
from torch.nn.functional import pad

from unbraid.errors import UserError
from unbraid.networks import Pair, layers


class Fit(nn.Module):
    """Pad with zeros, or cut, at the right and the bottom, to a height and width."""

    def __init__(self, height: int, width: int) -> None:
        super().__init__()
        self.height, self.width = height, width

    def forward(self, x: Tensor) -> Tensor:
        """A negative padding cuts."""
        right, bottom = self.width - x.shape[-1], self.height - x.shape[-2]
        return x if right == bottom == 0 else pad(x, (0, right, 0, bottom))


def conv(shape: tuple[int, ...], latents: int) -> Pair:
    """At 64×64: 32 k4, 32 k4, 64 k2, 64 k2, FC256; FC256, FC1024, then 64, 32, 32, C transposed k4; all stride 2, ReLU."""
    if len(shape) != 3:
        raise UserError(f"net conv needs images (channels, height, width), the data have shape {shape}: use net mlp")
    channels, height, width = shape
    halvings = max(1, floor(log2(min(height, width) / 4)))
    rows, columns = ceil(height / 2**halvings), ceil(width / 2**halvings)
    down = [channels, *([32, 32] + [64] * halvings)[:halvings]]
    grid = rows * columns * down[-1]
    encoder: list[nn.Module] = [Fit(rows * 2**halvings, columns * 2**halvings)]
    for i in range(halvings):
        kernel = 4 if i < 2 else 2
        encoder += [nn.Conv2d(down[i], down[i + 1], kernel, stride=2, padding=kernel // 2 - 1), nn.ReLU()]
    encoder += [nn.Flatten(), *layers([grid, 256], nn.ReLU)]
    up = [down[-1], *([64] * max(0, halvings - 3) + [32, 32])[: halvings - 1], channels]
    decoder = [*layers([latents, 256, grid], nn.ReLU), nn.Unflatten(1, (down[-1], rows, columns))]
    for i in range(halvings):
        decoder += [nn.ConvTranspose2d(up[i], up[i + 1], 4, stride=2, padding=1), nn.ReLU()]
    decoder[-1] = Fit(height, width)  # the last layer has no activation, only the cut
    return nn.Sequential(*encoder), nn.Sequential(*decoder)
