"""Large arrays of bytes on disk: made once in the cache, mapped into memory, and read row by row as they are drawn."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from filelock import FileLock
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from unbraid.errors import UserError
from unbraid.official import cache_folder

HOST = torch.device("cpu")
Bytes = NDArray[np.uint8]
MOST_IN_MEMORY = 1 << 30  # of an array that finds no room in the cache


def keep(dataset: str, key: str, shape: tuple[int, ...], pieces: Callable[[], Iterable[Bytes]]) -> Bytes:
    """The array that the pieces make one after the other, mapped read-only.

    Arguments:
        dataset: the folder in the cache.
        key: tells apart what is kept there; must name everything that the pieces depend on.
        shape: of the whole array.
        pieces: runs of rows, asked for only if the array is not in the cache yet.
    """
    path = cache_folder() / dataset / f"{key}.npy"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            if not path.is_file():
                _room_for(path, shape)
                _write(path, shape, pieces())
    except OSError as error:
        if error.errno is None:  # of the pieces, not of the cache
            raise
        if math.prod(shape) > MOST_IN_MEMORY:
            raise UserError(
                f"cannot write to {path.parent} ({error}): set UNBRAID_CACHE to a folder you own"
            ) from error
        # Without a cache the next start is slower, nothing more.
        return np.concatenate(list(_shown(dataset, shape, pieces())))
    return np.load(path, mmap_mode="r")


def _room_for(path: Path, shape: tuple[int, ...]) -> None:
    needed, free = math.prod(shape), shutil.disk_usage(path.parent).free
    if needed > free:
        raise UserError(
            f"{path.parent} has {free / 1e9:.1f} GB free and {needed / 1e9:.1f} are needed: "
            "set UNBRAID_CACHE to a folder with more room"
        )


def _write(path: Path, shape: tuple[int, ...], pieces: Iterable[Bytes]) -> None:
    # Written, not mapped: a full disk is an error then, and not the end of the process.
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as part:
        try:
            np.lib.format.write_array_header_2_0(part, {"descr": "|u1", "fortran_order": False, "shape": shape})
            written = sum(part.write(np.ascontiguousarray(piece).data) for piece in _shown(path.stem, shape, pieces))
            if written != math.prod(shape):
                raise ValueError(f"{path}: the pieces have {written} bytes, {shape} needs {math.prod(shape)}")
        except BaseException:
            os.unlink(part.name)
            raise
    os.replace(part.name, path)


def _shown(name: str, shape: tuple[int, ...], pieces: Iterable[Bytes]) -> Iterable[Bytes]:
    with tqdm(desc=name, total=shape[0], disable=None, leave=False) as bar:
        for piece in pieces:
            yield piece
            bar.update(len(piece))


@dataclass(frozen=True)
class Mapped:
    """Samples that stay on disk or in the host's memory; only what is drawn goes to the device, read as 0..1.

    Arguments:
        samples: bytes (samples, *shape), mapped or not.
        channels_last: whether they are stored (height, width, channels) and must be turned.
        device: where samples are wanted.
    """

    samples: Bytes
    channels_last: bool = False
    device: torch.device = HOST

    def __len__(self) -> int:
        return len(self.samples)

    def draw(self, rows: Tensor) -> Tensor:
        """Read the rows."""
        found = torch.from_numpy(self.samples[rows.reshape(-1).cpu().numpy()]).to(self.device)
        if self.channels_last:
            found = found.movedim(-1, 1)
        drawn = torch.empty(found.shape, dtype=torch.float32, device=self.device).copy_(found).div_(255)
        return drawn.view(*rows.shape, *drawn.shape[1:])

    def to(self, device: torch.device) -> Mapped:
        """The same samples, drawn to another device."""
        return replace(self, device=device)
