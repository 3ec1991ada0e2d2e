"""Cube, cylinder, sphere and capsule that stand on the floor at the origin: where rays meet them, and their shadows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]
Hit = tuple[Numbers, Numbers]  # distance along the ray (infinite where it misses); normal (3, ...) of the surface
NEVER = np.float32(np.inf)


@dataclass(frozen=True)
class Solid:
    """A convex solid.

    Arguments:
        reach: half its width.
        height: of its top above the floor.
        meet: where rays (3, ...) from outside meet it.
        base: which points (2, ...) of the floor, as x and z, it stands on.
    """

    reach: float
    height: float
    meet: Callable[[Numbers, Numbers], Hit]
    base: Callable[[Numbers], NDArray[np.bool_]]


def _box(half: float, height: float) -> Callable[[Numbers, Numbers], Hit]:
    low, high = np.array([-half, 0, -half], np.float32), np.array([half, height, half], np.float32)

    def meet(start: Numbers, ray: Numbers) -> Hit:
        across = (3, *[1] * (ray.ndim - 1))
        with np.errstate(divide="ignore"):  # a ray along a side meets its plane never
            one = (low.reshape(across) - start) / ray
            other = (high.reshape(across) - start) / ray
        enter, leave = np.minimum(one, other), np.maximum(one, other)
        near = enter.max(0)
        axis = enter.argmax(0)
        normal: Numbers = np.where(np.arange(3).reshape(across) == axis, -np.sign(ray), 0).astype(np.float32)
        return np.where((near < leave.min(0)) & (near > 0), near, NEVER), normal

    return meet


def _ball(radius: float, middle: float) -> Callable[[Numbers, Numbers], Hit]:
    def meet(start: Numbers, ray: Numbers) -> Hit:
        x, y, z = start[0], start[1] - np.float32(middle), start[2]
        half = x * ray[0] + y * ray[1] + z * ray[2]
        inside = half * half - (x * x + y * y + z * z - np.float32(radius**2))
        near = -half - np.sqrt(np.maximum(inside, 0))
        near = np.where((inside > 0) & (near > 0), near, NEVER)
        at = np.where(np.isfinite(near), near, 0)
        normal: Numbers = np.float32(1 / radius) * np.stack([x + at * ray[0], y + at * ray[1], z + at * ray[2]])
        return near, normal

    return meet


def _tube(radius: float, low: float, high: float) -> Callable[[Numbers, Numbers], Hit]:
    """The side of a standing cylinder, without its ends."""

    def meet(start: Numbers, ray: Numbers) -> Hit:
        flat = ray[0] ** 2 + ray[2] ** 2 + np.float32(1e-12)
        half = (start[0] * ray[0] + start[2] * ray[2]) / flat
        inside = half * half - (start[0] ** 2 + start[2] ** 2 - np.float32(radius**2)) / flat
        near = -half - np.sqrt(np.maximum(inside, 0))
        up = start[1] + near * ray[1]
        near = np.where((inside > 0) & (near > 0) & (up >= low) & (up <= high), near, NEVER)
        at = np.where(np.isfinite(near), near, 0)
        x, z = (start[0] + at * ray[0]) / np.float32(radius), (start[2] + at * ray[2]) / np.float32(radius)
        return near, np.stack([x, np.zeros_like(x), z])

    return meet


def _lid(radius: float, height: float) -> Callable[[Numbers, Numbers], Hit]:
    def meet(start: Numbers, ray: Numbers) -> Hit:
        near = (np.float32(height) - start[1]) / np.minimum(ray[1], np.float32(-1e-9))
        x, z = start[0] + near * ray[0], start[2] + near * ray[2]
        normal = np.zeros((3, *near.shape), np.float32)
        normal[1] = 1
        return np.where((x * x + z * z <= radius**2) & (near > 0) & (ray[1] < 0), near, NEVER), normal

    return meet


def _first(parts: Sequence[Callable[[Numbers, Numbers], Hit]]) -> Callable[[Numbers, Numbers], Hit]:
    def meet(start: Numbers, ray: Numbers) -> Hit:
        near, normal = parts[0](start, ray)
        for part in parts[1:]:
            other, its = part(start, ray)
            normal = np.where(other < near, its, normal)
            near = np.minimum(other, near)
        return near, normal

    return meet


def _square(half: float) -> Callable[[Numbers], NDArray[np.bool_]]:
    return lambda points: np.abs(points).max(0) <= half


def _disc(radius: float) -> Callable[[Numbers], NDArray[np.bool_]]:
    return lambda points: (points**2).sum(0) <= radius**2


SOLIDS: dict[str, Solid] = {
    "cube": Solid(0.56, 1.12, _box(0.56, 1.12), _square(0.56)),
    "cylinder": Solid(0.6, 1.3, _first([_tube(0.6, 0.0, 1.3), _lid(0.6, 1.3)]), _disc(0.6)),
    "sphere": Solid(0.7, 1.4, _ball(0.7, 0.7), _disc(0)),
    "capsule": Solid(0.46, 1.75, _first([_tube(0.46, 0.46, 1.29), _ball(0.46, 0.46), _ball(0.46, 1.29)]), _disc(0)),
}


def seen(solid: Solid, points: Numbers, directions: NDArray[np.floating]) -> Numbers:
    """The share of directions (n, 3) in which points (2, ...) of the floor, as x and z, are not covered by a solid."""
    start = np.stack([points[0], np.zeros_like(points[0]), points[1]])
    free = np.zeros(points.shape[1:], np.float32)
    for direction in directions.astype(np.float32):
        ray = np.broadcast_to(direction.reshape(3, *[1] * (start.ndim - 1)), start.shape)
        free += ~np.isfinite(solid.meet(start, ray)[0])
    free /= np.float32(len(directions))
    free[solid.base(points)] = 0.5  # nobody sees the floor below, but at its edge half of everything is covered
    return free
