"""Photographs of fifty toys on a turntable, in grey: category, elevation, azimuth and light (LeCun et al. 2004)."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from unbraid.data import Data, Stored, grid, named, whole
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.kept import Bytes, keep
from unbraid.official import Official, checksum, fetch

FOLDER = "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small"
TRAIN, TEST = "smallnorb-5x46789x9x18x6x2x96x96-training", "smallnorb-5x01235x9x18x6x2x96x96-testing"
CHECKSUMS = {
    f"{TRAIN}-dat.mat.gz": "sha256:5ffd6272a07d32695ee1082a26a41a93a37aab8c28da047f8c34ed348d214873",
    f"{TRAIN}-cat.mat.gz": "sha256:2784e542c1922060691090952b6cd6278879a216c90f81476f0f00256d42cdaa",
    f"{TRAIN}-info.mat.gz": "sha256:de7eb932ebe7a4ee16217fead60660d0eb3d23632c2f4d1c51f88c501c17bf32",
    f"{TEST}-dat.mat.gz": "sha256:cf7104eed3e51174d2f65b66d1e5878b9da233b886f161b0d88f4510ba2c7474",
    f"{TEST}-cat.mat.gz": "sha256:ecaf6d5bb8c3bc5eab9cf0258f6d2198dd474e016e374836fc097f2e5ff509ff",
    f"{TEST}-info.mat.gz": "sha256:16adf314226327ee006d1a44db8cfef52773c06c829951d5653a9f6f310248a2",
}
FACTORS = (
    Factor("category", 5, "category"),
    Factor("instance", 10, "category"),
    Factor("elevation", 9, "order"),
    Factor("azimuth", 18, "cycle"),
    Factor("light", 6, "category"),
)
SIZES = tuple(factor.size for factor in FACTORS)
SIDE = 96
TYPES: dict[int, np.dtype[Any]] = {0x1E3D4C55: np.dtype(np.uint8), 0x1E3D4C54: np.dtype("<i4")}


def smallnorb(pixels: int = 64, instances: bool = False) -> Data:
    """Grey photographs of ten toys in each of five categories, 48,600 in all: those of the left camera.

    The official training and test toys together, ordered by their factors. They are shrunk from 96 pixels by
    Pillow's Lanczos filter, which is what disentanglement_lib does, and kept in the cache.

    Arguments:
        pixels: height and width, at most the 96 of the originals.
        instances: count which toy of its category it is as a factor; disentanglement_lib leaves it out.
    """
    whole({"pixels": pixels}, least=8)
    if pixels > SIDE:
        raise UserError(f"pixels={pixels}: the pictures of smallnorb have {SIDE}")
    paths = [fetch("smallnorb", Official(name, sum_, (f"{FOLDER}/{name}",))) for name, sum_ in CHECKSUMS.items()]
    shape = (math.prod(SIZES), 1, pixels, pixels)
    key = "-".join(checksum(path)[-12:] for path in paths[::3])
    samples = keep("smallnorb", f"{key}-{pixels}", shape, lambda: _pictures(paths, pixels))
    kept = [at for at, factor in enumerate(FACTORS) if instances or factor.name != "instance"]
    return Data(
        name=named("smallnorb", {"pixels": pixels, "instances": instances}),
        source=Stored(torch.from_numpy(np.array(samples))),
        shape=shape[1:],
        factors=tuple(FACTORS[at] for at in kept),
        values=grid(SIZES)[:, kept],
    )


def _pictures(paths: list[Path], pixels: int) -> Iterator[Bytes]:
    """All pictures, in the order of the factors."""
    samples = np.empty((math.prod(SIZES), 1, pixels, pixels), np.uint8)
    seen = np.zeros(len(samples), bool)
    for dat, cat, info in zip(paths[::3], paths[1::3], paths[2::3], strict=True):
        for row, picture in zip(_rows(cat, info), _left(dat), strict=True):
            small = Image.fromarray(picture).resize((pixels, pixels), Image.Resampling.LANCZOS)
            samples[row, 0] = np.asarray(small)
            seen[row] = True
    if not seen.all():
        raise UserError(f"{paths[0].parent}: the files of smallnorb lack {(~seen).sum()} combinations of factors")
    yield samples


def _rows(cat: Path, info: Path) -> NDArray[np.int64]:
    """The row of every pair of pictures; azimuths are even numbers, twenty degrees apart."""
    with gzip.open(cat) as first, gzip.open(info) as second:
        category, others = _matrix(cat, first), _matrix(info, second)
    factors = np.column_stack([category, others]).astype(np.int64)
    factors[:, 3] //= 2
    if (factors < 0).any() or (factors >= SIZES).any():
        raise UserError(f"{info} holds values of factors beyond {SIZES}")
    return np.ravel_multi_index(tuple(factors.T), SIZES)


def _left(dat: Path) -> Iterator[Bytes]:
    """The pictures of the left camera, one by one: the whole file would be half a gigabyte."""
    try:
        with gzip.open(dat) as file:
            dtype, shape = _header(dat, file)
            if dtype != np.uint8 or shape[1:] != (2, SIDE, SIDE):
                raise UserError(f"{dat} holds {dtype} {shape}, should be pairs of {SIDE}x{SIDE} bytes")
            for _ in range(shape[0]):
                yield np.frombuffer(file.read(2 * SIDE * SIDE), np.uint8).reshape(2, SIDE, SIDE)[0]
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise UserError(f"{dat} is damaged: {error}") from error


def _matrix(path: Path, file: gzip.GzipFile) -> NDArray[Any]:
    """A whole binary matrix."""
    try:
        dtype, shape = _header(path, file)
        return np.frombuffer(file.read(), dtype).reshape(shape)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise UserError(f"{path} is damaged: {error}") from error


def _header(path: Path, file: gzip.GzipFile) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Little-endian words: the type, the number of axes, their sizes (three at least, those too many are 1)."""
    kind, axes = (int(word) for word in np.frombuffer(file.read(8), "<u4"))
    if kind not in TYPES or axes > 8:
        raise UserError(f"{path} is not a binary matrix of bytes or of 32-bit numbers")
    sizes = np.frombuffer(file.read(4 * max(axes, 3)), "<u4")
    return TYPES[kind], tuple(int(size) for size in sizes[:axes])
