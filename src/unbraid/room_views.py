"""A room with one solid in it, seen from places around it: how much light each pixel gets from floor, wall and object.

A ray caster for one picture only: a square room without ceiling, a sun through an open front, soft shadows on the floor.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.solids import SOLIDS, Numbers, Solid, seen

FINER = 4  # rays along each side of a pixel
TURN = 30.0  # degrees that the camera goes round to either side
DISTANCE, UP, LOOK = 6.2, 2.9, 0.68  # of the camera: from the middle, above the floor; the height that it looks at
FIELD = 0.38  # tangent of half the angle of view
WALL = 3.1  # from the middle to a wall
SMALLEST, LARGEST = 0.65, 1.3  # scales of the object
SUN = np.array([-0.65, 1.0, 0.35]) / np.linalg.norm([-0.65, 1.0, 0.35])
PATCH, FINE = 3.2, 96  # the floor about an object of scale 1 on which its shadow is worked out, and in how many steps
PLANES = 4  # floor, wall, object, white


def views(scales: int, shapes: int, orientations: int, pixels: int) -> Tensor:
    """Planes (view, plane, pixels, pixels), in 255ths, of every scale, shape and orientation, the last changing fastest."""
    found = np.empty((scales, shapes, orientations, PLANES, pixels, pixels), np.uint8)
    sizes = np.linspace(SMALLEST, LARGEST, scales) if scales > 1 else np.ones(1)
    turns = np.linspace(-TURN, TURN, orientations) if orientations > 1 else np.zeros(1)
    solids = list(SOLIDS.values())[:shapes]
    shadows = [_shadow(solid) for solid in solids]
    for at, turn in enumerate(np.radians(turns)):
        camera = _Camera(float(turn), pixels)
        floor, wall = camera.room()
        for shape, (solid, shadow) in enumerate(zip(solids, shadows, strict=True)):
            for scale, size in enumerate(sizes):
                # Rounded down, so that no mixture of planes is above 1.
                found[scale, shape, at] = 255 * camera.view(solid, float(size), shadow, floor, wall)
    return torch.from_numpy(found.reshape(-1, PLANES, pixels, pixels))


class _Camera:
    """Rays of one orientation, and what they see."""

    def __init__(self, turn: float, pixels: int) -> None:
        self.pixels = pixels
        self.place = np.array([DISTANCE * np.sin(turn), UP, DISTANCE * np.cos(turn)], np.float32)
        forward = np.array([0, LOOK, 0]) - self.place
        forward /= np.linalg.norm(forward)
        right = np.cross(forward, [0, 1, 0])
        right /= np.linalg.norm(right)
        self.axes = np.stack([right, np.cross(right, forward), forward]).astype(np.float32)
        self.rays = self._through(pixels * FINER)
        self.middles = self._floor(self._through(pixels))

    def _through(self, side: int) -> Numbers:
        """Directions (3, side, side) through the middles of so many cells."""
        away = ((np.arange(side) + 0.5) / side * 2 - 1) * FIELD
        down, across = np.meshgrid(-away, away, indexing="ij")
        screen = np.stack([across, down, np.ones_like(down)]).astype(np.float32)
        rays = np.einsum("ai,ahw->ihw", self.axes, screen)
        return np.asarray(rays / np.sqrt((rays**2).sum(0)), np.float32)

    def _floor(self, rays: Numbers) -> Numbers:
        """Where rays meet the floor, as x and z; far away if they do not."""
        along = self.place[1] / np.maximum(-rays[1], 1e-3)
        return np.stack([self.place[0] + along * rays[0], self.place[2] + along * rays[2]])

    def room(self) -> tuple[Numbers, Numbers]:
        """Light on the floor and on the walls, each where it is seen and the room is empty."""
        planes = np.stack([self.place[0] + np.zeros_like(self.rays[0]), self.place[2] + np.zeros_like(self.rays[0])])
        rays = self.rays[[0, 2]]
        ends = (np.sign(rays) * WALL - planes) / np.where(rays == 0, 1e-9, rays)
        out = ends.min(0)
        floor = self.place[1] + out * self.rays[1] < 0
        points = self._floor(self.rays)
        corner = np.maximum(WALL - np.maximum(np.abs(points[0]), -points[1]), 0)  # the front is open
        on_floor = np.where(floor, _light(float(SUN[1])) * _nook(corner), 0)
        facing = np.where(ends[0] < ends[1], -np.sign(rays[0]) * SUN[0], -np.sign(rays[1]) * SUN[2])
        hit = planes + out * rays
        edge = np.maximum(WALL - np.where(ends[0] < ends[1], np.abs(hit[1]), np.abs(hit[0])), 0)
        height = np.maximum(self.place[1] + out * self.rays[1], 0)
        on_wall = np.where(floor, 0, _light(facing) * _nook(height) * _nook(edge))
        return on_floor.astype(np.float32), on_wall.astype(np.float32)

    def view(self, solid: Solid, size: float, shadow: Numbers, floor: Numbers, wall: Numbers) -> Numbers:
        """The planes of one solid at one size."""
        light, white, there = self._object(solid, size)
        free = 1 - there
        dark = _looked_up(shadow, self.middles / np.float32(size))
        return np.stack(
            [self._mean(floor * free) * dark, self._mean(wall * free), self._mean(light), self._mean(white)]
        )

    def _object(self, solid: Solid, size: float) -> tuple[Numbers, Numbers, Numbers]:
        """Light and gloss on the object, and where it is."""
        found = np.zeros((3, *self.rays.shape[1:]), np.float32)
        down, across = self._window(solid, size)
        rays = self.rays[:, down, across]
        # The solid is larger by `size`, so the camera is nearer by as much to one that is not.
        start = np.broadcast_to((self.place / np.float32(size)).reshape(3, 1, 1), rays.shape)
        near, normal = solid.meet(start, rays)
        there = np.isfinite(near)
        height = (start[1] + np.where(there, near, 0) * rays[1]) * size
        sun = np.einsum("i,ihw->hw", SUN.astype(np.float32), normal)
        half = SUN.reshape(3, 1, 1) - rays
        gloss = np.einsum("ihw,ihw->hw", half / np.sqrt((half**2).sum(0)), normal)
        light = _light(sun) * (1 - 0.3 * np.exp(-np.maximum(height, 0) / 0.18))
        white = 0.35 * np.maximum(gloss, 0) ** 40 * (sun > 0)
        found[:, down, across] = np.stack([light * (1 - white), white, np.ones_like(light)]) * there
        return found[0], found[1], found[2]

    def _window(self, solid: Solid, size: float) -> tuple[slice, slice]:
        """The part of the picture that the solid lies in."""
        corners = np.array([[x, y, z] for x in (-1, 1) for y in (0, 1) for z in (-1, 1)], np.float32)
        corners = corners * np.array([solid.reach, solid.height, solid.reach], np.float32) * np.float32(size)
        seen_ = (corners - self.place) @ self.axes.T
        side = self.pixels * FINER
        screen = (seen_[:, :2] / seen_[:, 2:] / FIELD + 1) / 2 * side
        low, high = np.floor(screen.min(0)).astype(int), np.ceil(screen.max(0)).astype(int)
        return slice(max(side - high[1], 0), max(side - low[1], 0)), slice(max(low[0], 0), max(high[0], 0))

    def _mean(self, fine: Numbers) -> Numbers:
        cells = fine.reshape(self.pixels, FINER, self.pixels, FINER)
        return np.asarray(cells.mean((1, 3)), np.float32)


def _light(cosine: NDArray[np.floating] | float) -> Numbers:
    """Brightness of a surface whose normal makes this cosine with the sun: Lambert's law, softened, plus daylight."""
    return np.asarray(0.34 + 0.66 * ((1 + cosine) / 2) ** 1.5, np.float32)


def _nook(distance: NDArray[np.floating]) -> Numbers:
    """How an edge of the room darkens what is near it."""
    return np.asarray(1 - 0.22 * np.exp(-distance / 0.35), np.float32)


def _shadow(solid: Solid) -> Numbers:
    """Light on the floor around a solid of scale 1, as a share of what an empty floor has."""
    steps = np.linspace(-PATCH, PATCH, FINE, dtype=np.float32)
    points = np.stack(np.meshgrid(steps, steps, indexing="ij"))
    side = np.cross(SUN, [0, 1, 0])
    side /= np.linalg.norm(side)
    disc = _disc(40)
    sun = SUN + 0.2 * (disc[:, :1] * side + disc[:, 1:] * np.cross(side, SUN))
    disc = _disc(120)
    sky = np.stack([disc[:, 0], np.sqrt(1 - (disc**2).sum(1)), disc[:, 1]], 1)
    lost = 0.4 * (1 - seen(solid, points, sun)) + 0.35 * (1 - seen(solid, points, sky))
    fade = np.clip((PATCH - np.abs(points).max(0)) / 1.2, 0, 1)
    return np.asarray(1 - lost * fade, np.float32)


def _disc(count: int) -> NDArray[np.float64]:
    """Points of the unit disc, as even as the seeds of a sunflower."""
    seed = np.arange(count)
    far, angle = np.sqrt((seed + 0.5) / count), seed * np.pi * (3 - np.sqrt(5))
    return np.stack([far * np.cos(angle), far * np.sin(angle)], 1)


def _looked_up(patch: Numbers, points: Numbers) -> Numbers:
    """A patch of the floor between its points; 1 beyond it."""
    at = (points / PATCH + 1) / 2 * (FINE - 1)
    inside = (at >= 0).all(0) & (at < FINE - 1).all(0)
    at = np.where(inside, at, 0)
    whole_ = at.astype(int)
    (x, z), (u, v) = whole_, at - whole_
    mixed = (patch[x, z] * (1 - u) + patch[x + 1, z] * u) * (1 - v)
    mixed += (patch[x, z + 1] * (1 - u) + patch[x + 1, z + 1] * u) * v
    return np.where(inside, mixed, 1).astype(np.float32)
