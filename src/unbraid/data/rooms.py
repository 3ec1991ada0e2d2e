"""An object in a room, in hues, scales, shapes and orientations: like Shapes3D, drawn here.

The geometry of every scale, shape and orientation is cast once, as four planes: how much of the floor's, the wall's
and the object's colour a pixel shows, and how much white. A sample is its planes times its colours.
"""

from __future__ import annotations

import colorsys
from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.data import Data, grid, named, whole
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.room_views import PLANES, views
from unbraid.solids import SOLIDS

FLOOR, OBJECT = (0.62, 1.0), (0.85, 1.0)  # saturation and value of colours
MOST_BYTES = 2**30


def rooms(
    floors: int = 10,
    walls: int = 10,
    objects: int = 10,
    scales: int = 8,
    shapes: int = 4,
    orientations: int = 15,
    pixels: int = 64,
) -> Data:
    """Colour pictures of one object in a room, every combination of six factors, drawn instead of downloaded.

    Factors, their sizes and their order are those of Shapes3D; the pictures are our own.

    Arguments:
        floors: hues of the floor.
        walls: hues of the walls.
        objects: hues of the object.
        scales: sizes from one half of the largest to the largest.
        shapes: how many of cube, cylinder, sphere, capsule.
        orientations: places of the camera, from 30 degrees left to 30 degrees right.
        pixels: height and width of a picture, at least 16.
    """
    sizes = {"floors": floors, "walls": walls, "objects": objects}
    sizes |= {"scales": scales, "shapes": shapes, "orientations": orientations}
    whole(sizes)
    whole({"pixels": pixels}, least=16)
    if shapes > len(SOLIDS):
        raise UserError(f"shapes={shapes}: there are {len(SOLIDS)}: {', '.join(SOLIDS)}")
    if scales * shapes * orientations * PLANES * pixels**2 > MOST_BYTES:
        raise UserError(f"pixels={pixels}: too many for {scales * shapes * orientations} views: use fewer of either")
    factors = (
        Factor("floor", floors, "cycle"),
        Factor("wall", walls, "cycle"),
        Factor("object", objects, "cycle"),
        Factor("scale", scales, "order"),
        Factor("shape", shapes, "category"),
        Factor("orientation", orientations, "order"),
    )
    return Data(
        name=named("rooms", {**sizes, "pixels": pixels}),
        source=Coloured(views(scales, shapes, orientations, pixels), _colours(floors, walls, objects)),
        shape=(3, pixels, pixels),
        factors=factors,
        values=grid([factor.size for factor in factors]),
    )


@dataclass(frozen=True)
class Coloured:
    """Samples that are planes (views, planes, pixels, pixels), in 255ths, mixed by colours (colourings, 3, planes)."""

    views: Tensor
    colours: Tensor

    def __len__(self) -> int:
        return len(self.views) * len(self.colours)

    def draw(self, rows: Tensor) -> Tensor:
        """Colour the views: a view of every colouring follows the other."""
        flat = rows.reshape(-1).to(self.views.device)
        views = self.views.flatten(2).index_select(0, flat % len(self.views)).to(torch.float32)
        colours = self.colours.index_select(0, flat // len(self.views))
        return torch.bmm(colours, views).view(*rows.shape, 3, *self.views.shape[2:])

    def to(self, device: torch.device) -> Coloured:
        """Move planes and colours."""
        return Coloured(self.views.to(device), self.colours.to(device))


def _colours(floors: int, walls: int, objects: int) -> Tensor:
    """RGB of floor, wall, object and white for every combination of hues, as factors of 255ths."""
    hues = [
        [colorsys.hsv_to_rgb(k / count, *look) for k in range(count)]
        for count, look in ((floors, FLOOR), (walls, FLOOR), (objects, OBJECT))
    ]
    mixed = [[floor, wall, thing, (1, 1, 1)] for floor in hues[0] for wall in hues[1] for thing in hues[2]]
    return torch.tensor(mixed, dtype=torch.float32).transpose(1, 2).contiguous() / 255
