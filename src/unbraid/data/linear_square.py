"""A stretched square laid into space by a rotation: linear toy data on which a VAE's axes can be computed."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import Data, Stored, named, whole
from unbraid.errors import UserError
from unbraid.factors import Factor


def linear_square(ratio: float = 2.0, samples: int = 50000, seed: int = 0) -> Data:
    """Points of the unit square, one axis stretched, laid into space and turned by 45° about (1, -1, 1).

    Arguments:
        ratio: how much longer the first axis is than the second.
        samples: how many points.
        seed: of the points.
    """
    points = square(samples, ratio, generator(seed))
    axis = np.array([1.0, -1.0, 1.0]) / np.sqrt(3)
    embedded = (points * [ratio, 1.0]) @ _rotation(axis, np.pi / 4)[:, :2].T
    return square_data(named("linear_square", {"ratio": ratio, "samples": samples, "seed": seed}), points, embedded)


def generator(seed: int) -> np.random.Generator:
    """Random numbers that are the same on every machine."""
    whole({"seed": seed}, least=0)
    return np.random.default_rng(seed)


def square(samples: int, ratio: float, random: np.random.Generator) -> NDArray[np.float64]:
    """Uniform points of the unit square."""
    whole({"samples": samples}, least=10)
    if not 0 < ratio < float("inf"):
        raise UserError(f"ratio={ratio}: must be a positive number")
    return random.random((samples, 2))


def square_data(name: str, points: NDArray[np.float64], embedded: NDArray[np.float64]) -> Data:
    """Data whose causes are the two coordinates of a square, before any stretching."""
    return Data(
        name=name,
        source=Stored(torch.from_numpy(embedded.astype(np.float32))),
        shape=(embedded.shape[1],),
        pixels="real",
        factors=(Factor("w1", 0, "continuous"), Factor("w2", 0, "continuous")),
        values=torch.from_numpy(points.astype(np.float32)),
    )


def _rotation(axis: NDArray[np.float64], angle: float) -> NDArray[np.float64]:
    """Rodrigues' formula: the rotation about a unit vector."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turned: NDArray[np.float64] = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return turned
