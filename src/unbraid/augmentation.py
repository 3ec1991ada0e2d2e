"""Pictures moved and coloured at random on the device, and how much, as factors: an option of every data set of images.

A training step draws anew from the run's own chance (streams.py), so that no picture comes twice the same and a killed
training still goes on bit for bit. Everywhere else a row has chance of its own (row_chance.py): validation and test see
the same pictures every time, and their factors say how each was moved.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample, interpolate

from unbraid.data import Data, Source, spelled, whole
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.groups import join
from unbraid.row_chance import uniform

FACTORS = (
    Factor("shift_x", 0, "continuous"),  # pixels to the right
    Factor("shift_y", 0, "continuous"),  # pixels down
    Factor("turn", 0, "continuous"),  # degrees clockwise
    Factor("hue", 0, "cycle"),  # radians round the colour circle, from red over green
)
SEED = 0  # of what a row has of its own; part of what a name means, so it never changes
SMALLEST = 4


@dataclass(frozen=True)
class Augmented:
    """Pictures of a source, each moved and coloured by four numbers in 0..1, whether or not all four are used.

    Arguments:
        base: where the pictures come from.
        height: of the canvas.
        width: of the canvas.
        scale: of the pictures on it.
        reach: most of each factor to either side; of hue a half turn.
        colours: channels of what is drawn.
    """

    base: Source
    height: int
    width: int
    scale: float
    reach: tuple[float, ...]
    colours: int
    chance: int = len(FACTORS)

    def __len__(self) -> int:
        return len(self.base)

    def draw(self, rows: Tensor, uniforms: Tensor | None = None) -> Tensor:
        """Draw, move and colour."""
        flat = rows.reshape(-1)
        x = self.base.draw(flat)
        given = uniform(flat, self.chance, SEED) if uniforms is None else uniforms.reshape(len(flat), self.chance)
        x_shift, y_shift, turn, hue = self.parameters(given.to(x.device)).unbind(-1)
        x = self.moved(x, x_shift, y_shift, turn.deg2rad())
        x = coloured(x, hue) if self.reach[3] else x.expand(-1, self.colours, -1, -1)
        return x.reshape(*rows.shape, *x.shape[1:])

    def parameters(self, uniforms: Tensor) -> Tensor:
        """The factors (..., 4) that numbers in 0..1 stand for."""
        reach = uniforms.new_tensor(self.reach)
        least = torch.cat([-reach[:3], 0 * reach[3:]])
        return least + 2 * reach * uniforms

    def moved(self, x: Tensor, right: Tensor, down: Tensor, angle: Tensor) -> Tensor:
        """Scaled, turned round the middle, then shifted, on a canvas of zeros; bilinear, all samples at once."""
        if self.scale != 1:
            size = [max(1, round(side * self.scale)) for side in x.shape[-2:]]
            x = interpolate(x, size, mode="bilinear", antialias=True)
        height, width = x.shape[-2:]
        if (height, width) == (self.height, self.width) and not any(self.reach[:3]):
            return x
        # where each place of the canvas lies in the picture, both from -1 to 1
        cos, sin = angle.cos(), angle.sin()
        across = torch.stack([cos * self.width, sin * self.height, -2 * (cos * right + sin * down)], -1) / width
        along = torch.stack([-sin * self.width, cos * self.height, -2 * (cos * down - sin * right)], -1) / height
        shape = [len(x), x.shape[1], self.height, self.width]
        grid = affine_grid(torch.stack([across, along], 1), shape, align_corners=False)
        return grid_sample(x, grid, align_corners=False)

    def to(self, device: torch.device) -> Augmented:
        """Move the source."""
        return replace(self, base=self.base.to(device))


def coloured(x: Tensor, hue: Tensor) -> Tensor:
    """Grey pictures in a pure colour, pictures in colour with all colours turned; hue in radians."""
    if x.shape[1] == 1:
        sixths = 3 / math.pi * hue[:, None] + hue.new_tensor([0.0, 4.0, 2.0])
        return x * ((sixths % 6 - 3).abs() - 1).clamp(0, 1)[:, :, None, None]
    # about the grey axis: Rodrigues' formula for the unit vector (1, 1, 1) / √3
    third, across = torch.full((3, 3), 1 / 3), torch.tensor([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / 3**0.5
    cos, sin = hue.cos()[:, None, None], hue.sin()[:, None, None]
    turn = cos * (torch.eye(3) - third).to(x) + third.to(x) + sin * across.to(x)
    return torch.einsum("nij,njhw->nihw", turn, x).clamp(0, 1)


def augmented(
    data: Data,
    size: int = 0,
    scale: float = 1.0,
    colour: bool = False,
    shift: str = "",
    turn: float = 0.0,
    hue: bool = False,
) -> Data:
    """The same pictures on a canvas, at random places, turned and coloured at random, with factors that say how.

    Arguments:
        data: images.
        size: side of a square canvas of zeros, in pixels; 0 keeps height and width.
        scale: of the pictures on the canvas.
        colour: three channels, all alike for pictures in grey.
        shift: most pixels to the right or left, down or up; 6-0 for right and left alone, 0-6 for down and up.
        turn: most degrees to either side.
        hue: any hue: grey pictures in a pure colour, pictures in colour with all colours turned.
    """
    said = _said({"size": size, "scale": scale, "colour": colour, "shift": shift, "turn": turn, "hue": hue})
    if not said:
        return data
    name = f"{data.name}{',' if ':' in data.name else ':'}{said}"
    if data.groups:
        return join({g: augmented(m, size, scale, colour, shift, turn, hue) for g, m in data.members.items()}, name)
    if len(data.shape) != 3:
        raise UserError(f"{said}: {data.name} has samples of shape {data.shape}; only images can be moved and coloured")
    channels, height, width = data.shape
    if size:
        whole({"size": size}, least=SMALLEST)
        height = width = size
    if not 0 < scale < math.inf:
        raise UserError(f"scale={scale:g}: must be a number above 0")
    if not 0 <= turn <= 180:
        raise UserError(f"turn={turn:g}: must be from 0 to 180 degrees")
    if (colour or hue) and channels not in (1, 3):
        raise UserError(f"{said}: {data.name} has {channels} channels; colour and hue need 1 or 3")
    if hue and data.pixels == "real":
        raise UserError(f"hue=true: the pixels of {data.name} do not lie in 0..1")
    reach = (*_shifts(shift), float(turn), math.pi if hue else 0.0)
    colours = 3 if colour or hue else channels
    source = Augmented(data.source, height, width, float(scale), reach, colours)
    used = [place for place, most in enumerate(reach) if most]
    if twice := {FACTORS[place].name for place in used} & {factor.name for factor in data.factors}:
        raise UserError(f"{said}: {data.name} has a factor {min(twice)} already")
    own = source.parameters(uniform(torch.arange(len(data)), source.chance, SEED))[:, used].double()
    values = own if data.values is None else torch.cat([data.values.double(), own], 1)
    return replace(
        data,
        name=name,
        source=source,
        shape=(colours, height, width),
        pixels="unit" if data.pixels == "binary" else data.pixels,
        factors=(*data.factors, *(FACTORS[place] for place in used)),
        values=values if used or data.values is not None else None,
        fingerprint=f"{data.fingerprint}{said}" if data.fingerprint else "",
        _parts={},
    )


def _said(options: dict[str, bool | int | float | str]) -> str:
    """The one spelling of options that are not at their defaults."""
    defaults = {"scale": 1.0, "shift": "", "size": 0}
    told = {key: value for key, value in options.items() if value != defaults.get(key, 0)}
    return ",".join(f"{key}={f'{v:g}' if isinstance(v, float) else spelled(v)}" for key, v in told.items())


def _shifts(text: str) -> tuple[float, float]:
    """Most pixels across and down."""
    if not text:
        return 0.0, 0.0
    number = r"(\d+(?:\.\d+)?)"
    if not (match := re.fullmatch(f"{number}(?:-{number})?", text)):
        raise UserError(f"shift={text}: must be a number of pixels, or one across and one down, as 6 or 6-0")
    return float(match[1]), float(match[2] or match[1])
