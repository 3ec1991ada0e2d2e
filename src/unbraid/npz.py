"""One array of bytes inside an .npz file, without reading the file: mapped where it lies, or unpacked once."""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from unbraid.errors import UserError
from unbraid.kept import Bytes, keep

AT_ONCE = 1 << 24  # bytes


def array_in(dataset: str, path: Path, name: str, key: str) -> Bytes:
    """The array of bytes called `name` in an .npz file, in the shape that it has there.

    Arguments:
        dataset: whose cache it goes to if the file is compressed.
        path: the .npz file.
        name: of the array.
        key: tells this file's content from others in the cache.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            about = archive.getinfo(f"{name}.npy")
            with archive.open(about) as member:
                shape, fortran, dtype = header(member)
                begins = member.tell()
            if dtype != np.uint8 or fortran or about.file_size != begins + math.prod(shape):
                raise UserError(f"{path}: {name} is {dtype} {shape}, should be whole rows of uint8")
            if about.compress_type == zipfile.ZIP_STORED:
                # The array lies in the file as it is, behind the headers of its entry and of itself.
                return np.memmap(path, np.uint8, "r", _entry(path, about) + begins, shape)
            return keep(dataset, key, shape, lambda: _unpacked(archive, about, begins, shape))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, KeyError, ValueError) as error:
        raise UserError(f"{path} is damaged or not an .npz file that holds {name}: {error}") from error


def header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    """Shape, order and type of the .npy array that a stream begins with."""
    version = np.lib.format.read_magic(member)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(member)
    return shape, fortran, dtype


def _entry(path: Path, about: zipfile.ZipInfo) -> int:
    """Where the content of an entry begins: its own header repeats name and extra field, in sizes of its own."""
    with path.open("rb") as file:
        file.seek(about.header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))
    return about.header_offset + 30 + int(name) + int(extra)


def _unpacked(archive: zipfile.ZipFile, about: zipfile.ZipInfo, begins: int, shape: tuple[int, ...]) -> Iterator[Bytes]:
    row = math.prod(shape[1:])
    with archive.open(about) as member:
        member.read(begins)
        while piece := member.read(max(AT_ONCE // row, 1) * row):
            yield np.frombuffer(piece, np.uint8).reshape(-1, *shape[1:])
