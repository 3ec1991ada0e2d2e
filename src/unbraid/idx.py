"""The file format of MNIST and its relatives: big-endian arrays in gzip."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.errors import UserError
from unbraid.official import Official, fetch


def images_and_labels(dataset: str, checksums: Mapping[str, str], folders: tuple[str, ...]) -> tuple[Tensor, Tensor]:
    """All images (N, 1, H, W) and labels (N, 1) in the four files of MNIST, training part first."""
    files = {
        name: fetch(dataset, Official(name, sum_, tuple(f"{folder}/{name}" for folder in folders)))
        for name, sum_ in checksums.items()
    }
    images = [read_idx(path) for name, path in files.items() if "images" in name]
    labels = [read_idx(path) for name, path in files.items() if "labels" in name]
    pixels, classes = np.concatenate(images), np.concatenate(labels)
    return torch.from_numpy(pixels)[:, None], torch.from_numpy(classes)[:, None]


def read_idx(path: Path) -> NDArray[np.uint8]:
    """The array of unsigned bytes in an .idx.gz file."""
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path} is damaged or not a gzip file: {error}") from error
    if len(content) < 4 or content[:3] != b"\x00\x00\x08" or len(content) < 4 + 4 * content[3]:
        raise UserError(f"{path} is not an idx file of unsigned bytes")
    axes = content[3]
    shape = tuple(int(size) for size in np.frombuffer(content[4 : 4 + 4 * axes], ">u4"))
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * axes)
    if math.prod(shape) != len(values):
        raise UserError(f"{path} should hold {shape} values and has {len(values)}")
    return values.reshape(shape).copy()
