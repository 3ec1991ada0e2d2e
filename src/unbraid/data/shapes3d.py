"""The official Shapes3D: 480,000 pictures of an object in a room (Burgess and Kim 2018). `rooms` draws its like."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data import Data, grid
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.kept import Bytes, Mapped, keep
from unbraid.official import Official, checksum, fetch

FILE = Official(
    "3dshapes.h5",
    "sha256:0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785",
    ("https://storage.googleapis.com/3d-shapes/3dshapes.h5",),
)
FACTORS = (
    Factor("floor", 10, "cycle"),
    Factor("wall", 10, "cycle"),
    Factor("object", 10, "cycle"),
    Factor("scale", 8, "order"),
    Factor("shape", 4, "category"),
    Factor("orientation", 15, "order"),
)
SIZES = tuple(factor.size for factor in FACTORS)
SIDE = 64
AT_ONCE = 4096


def shapes3d() -> Data:
    """Colour pictures of one object in a room, every combination of six factors.

    The file of 0.3 GB is unpacked once into 5.9 GB in the cache, from which pictures are read as they are drawn.
    Unpacking needs h5py: pip install 'unbraid[hdf5]'.
    """
    path = fetch("shapes3d", FILE)
    shape = (math.prod(SIZES), 3, SIDE, SIDE)
    samples = keep("shapes3d", checksum(path)[-24:], shape, lambda: _pictures(path))
    return Data(
        name="shapes3d",
        source=Mapped(samples),
        shape=shape[1:],
        factors=FACTORS,
        values=grid(SIZES),
        notes=FILE.notes(path),
    )


def _pictures(path: Path) -> Iterator[Bytes]:
    """All pictures, channels first, whole chunks of the file at a time."""
    try:
        import h5py
    except ImportError as error:
        raise UserError("shapes3d is an HDF5 file, which h5py reads: pip install 'unbraid[hdf5]'") from error
    try:
        with h5py.File(path) as file:
            images, labels = file["images"], file["labels"]
            count = math.prod(SIZES)
            if images.shape != (count, SIDE, SIDE, 3) or images.dtype != np.uint8:
                raise UserError(
                    f"{path}: images is {images.dtype} {images.shape}, should be uint8 {count}x{SIDE}x{SIDE}x3"
                )
            _check_order(path, labels)
            chunk = images.chunks[0] if images.chunks else 1
            step = -(-AT_ONCE // chunk) * chunk
            for start in range(0, count, step):
                yield np.ascontiguousarray(images[start : start + step].transpose(0, 3, 1, 2))
    except (OSError, KeyError) as error:
        raise UserError(f"{path} is damaged or not the file of shapes3d: {error}") from error


def _check_order(path: Path, labels: Any) -> None:
    """Labels are the factors' own values: their ranks must run as the rows do."""
    ranks = np.stack([np.unique(column, return_inverse=True)[1] for column in labels[:].T], 1)
    if not np.array_equal(ranks, grid(SIZES).numpy()):
        raise UserError(f"{path}: labels are not in the order of the official file")
