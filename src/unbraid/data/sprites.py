"""White shapes on black that differ in shape, scale, orientation and place: dSprites, drawn here.

Every shape at every scale and angle is drawn once, in the middle of a canvas larger than a picture. A sample
is a window of a canvas: moving the window moves the sprite, so a batch is one look-up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.data import Data, grid, named, whole
from unbraid.errors import UserError
from unbraid.factors import Factor

Numbers = NDArray[np.float64]
MARGIN = 0.25  # of the picture: how near a sprite's centre comes to the edge; the largest sprite reaches 0.2121
MOST_BYTES = 2**30


def sprites(shapes: int = 3, scales: int = 6, orientations: int = 40, positions: int = 32, pixels: int = 64) -> Data:
    """Binary pictures of one sprite, every combination of five factors, drawn instead of downloaded.

    Angles are k/orientations of a full turn, so all of them differ; in the official dSprites the first and
    the last angle are the same one. Places are equal steps apart, and the whole sprite is always in view.

    Arguments:
        shapes: how many of square, ellipse, heart.
        scales: sizes from one half to one.
        orientations: angles in a full turn.
        positions: places along each of x and y.
        pixels: height and width of a picture, at least 16.
    """
    options = {"shapes": shapes, "scales": scales, "orientations": orientations, "positions": positions}
    whole(options)
    whole({"pixels": pixels}, least=16)
    if shapes > len(SHAPES):
        raise UserError(f"shapes={shapes}: there are {len(SHAPES)}: {', '.join(SHAPES)}")
    places = _places(positions, pixels)
    if shapes * scales * orientations * places.canvas**2 * len(places.phases) ** 2 > MOST_BYTES:
        raise UserError(f"positions={positions}: too fine for {pixels} pixels: use fewer positions or more pixels")
    bank = _bank(shapes, scales, orientations, pixels, places)
    factors = (
        Factor("shape", shapes, "category"),
        Factor("scale", scales, "order"),
        Factor("orientation", orientations, "cycle"),
        Factor("x", positions, "order"),
        Factor("y", positions, "order"),
    )
    return Data(
        name=named("sprites", {**options, "pixels": pixels}),
        source=Windows(bank, _starts(len(bank), places), torch.arange(pixels) * places.canvas, pixels),
        shape=(1, pixels, pixels),
        pixels="binary",
        factors=factors,
        values=grid([factor.size for factor in factors]),
    )


@dataclass(frozen=True)
class Windows:
    """Samples that are square windows of canvases: where each begins, and each of its rows after that.

    Places are counted in the bank read as one long line.
    """

    bank: Tensor
    starts: Tensor
    down: Tensor
    pixels: int

    def __len__(self) -> int:
        return len(self.starts)

    def draw(self, rows: Tensor) -> Tensor:
        """Cut the windows out."""
        line, side = self.bank.view(-1), self.pixels
        # Whole rows of pixels are copied at once, four times faster than indexing pixels.
        strips = line.as_strided((len(line) - side + 1, side), (1, 1))
        first = self.starts.index_select(0, rows.reshape(-1).to(line.device))
        every = first[:, None] + self.down
        found = strips.index_select(0, every.view(-1))
        return found.view(*rows.shape, 1, side, side).to(torch.float32)

    def to(self, device: torch.device) -> Windows:
        """Move the canvases."""
        return Windows(self.bank.to(device), self.starts.to(device), self.down.to(device), self.pixels)


@dataclass(frozen=True)
class _Places:
    """Where sprites stand along one axis: whole pixels by the window, the rest by canvases."""

    pixel: NDArray[np.int64]
    phase: NDArray[np.int64]
    phases: Numbers
    canvas: int


def _places(positions: int, pixels: int) -> _Places:
    room = int(pixels * (1 - 2 * MARGIN))
    steps = max(positions - 1, 1)
    finer = -(-steps // room)
    stride = room * finer // steps
    # In units of 1/(2 finer) of a pixel everything is a whole number, so steps are exactly equal.
    centres = pixels * finer + (2 * np.arange(positions) - (positions - 1)) * stride
    pixel, rest = np.divmod(centres, 2 * finer)
    phases, phase = np.unique(rest, return_inverse=True)
    return _Places(pixel, phase, phases / (2 * finer), pixels + int(pixel[-1] - pixel[0]))


def _starts(canvases: int, places: _Places) -> Tensor:
    side, count = places.canvas, len(places.phases)
    shift = places.pixel[-1] - places.pixel
    across = torch.from_numpy(places.phase * side * side + shift)
    down = torch.from_numpy(places.phase * count * side * side + shift * side)
    first = torch.arange(canvases) * (count * count * side * side)
    return (first[:, None, None] + across[None, :, None] + down[None, None, :]).reshape(-1)


def _bank(shapes: int, scales: int, orientations: int, pixels: int, places: _Places) -> Tensor:
    """Canvases (shape x scale x orientation, phase down, phase across, canvas, canvas) of 0 and 1."""
    count, side = len(places.phases), places.canvas
    bank = np.zeros((shapes, scales, orientations, count, count, side, side), np.uint8)
    middle = int(places.pixel[-1])
    reach = int(np.ceil(MARGIN * pixels))
    near = slice(middle - reach, middle + reach + 1)
    away = (np.arange(near.start, near.stop) + 0.5 - middle)[None, :] - places.phases[:, None]
    down, across = away[:, None, :, None] / pixels, away[None, :, None, :] / pixels
    sizes = np.linspace(0.5, 1, scales) if scales > 1 else np.ones(1)
    for shape, inside in enumerate(list(SHAPES.values())[:shapes]):
        for scale, size in enumerate(sizes):
            for turn in range(orientations):
                angle = 2 * np.pi * turn / orientations
                u = (np.cos(angle) * across - np.sin(angle) * down) / size
                v = (np.sin(angle) * across + np.cos(angle) * down) / size
                bank[shape, scale, turn, :, :, near, near] = inside(u, v)
    return torch.from_numpy(bank.reshape(-1, count, count, side, side))


def _square(u: Numbers, v: Numbers) -> NDArray[np.bool_]:
    return np.maximum(np.abs(u), np.abs(v)) <= 0.15


def _ellipse(u: Numbers, v: Numbers) -> NDArray[np.bool_]:
    return (u / 0.1995) ** 2 + (v / 0.1127) ** 2 <= 1


def _heart(u: Numbers, v: Numbers) -> NDArray[np.bool_]:
    # The curve x = sin³t has one upper and one lower point above every x: at t and at π - t.
    t = np.arcsin(np.cbrt(np.clip(np.abs(u) / 0.15006, 0, 1)))
    inside: NDArray[np.bool_] = (np.abs(u) <= 0.15006) & (_edge(t) <= v) & (v <= _edge(np.pi - t))
    return inside


def _edge(t: Numbers) -> Numbers:
    wave = 13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)
    return -(0.010346 * wave + 0.0225)


SHAPES: dict[str, Callable[[Numbers, Numbers], NDArray[np.bool_]]] = {
    "square": _square,
    "ellipse": _ellipse,
    "heart": _heart,
}
