"""The official dSprites: 737,280 binary pictures of one sprite (Matthey et al. 2017)."""

from __future__ import annotations

import math
import os
import pickletools
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from unbraid.data import Data, grid, named
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.npz import header
from unbraid.official import Official, OtherFile, cache_folder, checksum, fetch

NAME = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
FILE = Official(
    NAME,
    "md5:7da33b31b13a06f4b04a70402ce90c2e",
    (
        f"https://github.com/google-deepmind/dsprites-dataset/raw/master/{NAME}",
        f"https://raw.githubusercontent.com/google-deepmind/dsprites-dataset/master/{NAME}",
    ),
)
FACTORS = (
    Factor("shape", 3, "category"),
    Factor("scale", 6, "order"),
    Factor("orientation", 40, "cycle"),
    Factor("x", 32, "order"),
    Factor("y", 32, "order"),
)
SIZES = tuple(factor.size for factor in FACTORS)
SIDE = 64
RIGHT = ((math.prod(SIZES), SIDE, SIDE), False, np.dtype(np.uint8))
AT_ONCE = 8192


def dsprites(accept_other: bool = False) -> Data:
    """Binary pictures of a square, an ellipse or a heart, every combination of five factors.

    They take 0.4 GB of memory. The first and the last of the 40 orientations are the same angle (0 and a full
    turn). The factor colour, which has one value, is left out.

    Arguments:
        accept_other: use a file even if it is not the official one; every result then says so.
    """
    notes: tuple[str, ...] = ()
    fingerprint = ""
    try:
        packed = _packed(fetch("dsprites", FILE))
    except OtherFile as error:
        if not accept_other:
            raise UserError(f"{error}; to use it all the same, ask for dsprites:accept_other=true") from error
        packed = _packed(error.path)
        fingerprint = checksum(error.path)
        notes = (
            "made with a dSprites file that is not the official one: "
            f"its checksum differs ({fingerprint[:19]}...) and it calls itself {_title(error.path)!r}",
        )
    return Data(
        name=named("dsprites", {"accept_other": accept_other}),
        source=Bits(packed),
        shape=(1, SIDE, SIDE),
        pixels="binary",
        factors=FACTORS,
        values=grid(SIZES),
        notes=notes,
        fingerprint=fingerprint,
    )


class Bits:
    """Samples kept as one bit per pixel and unpacked where they are."""

    def __init__(self, packed: Tensor, eights: Tensor | None = None) -> None:
        self.packed = packed
        if eights is None:
            every_byte = np.arange(256, dtype=np.uint8)[:, None]
            eights = torch.from_numpy(np.unpackbits(every_byte, axis=1)).view(torch.int64).view(-1)
        # Entry b is the eight pixels of byte b, one byte each, moved about as a single word.
        self.eights = eights

    def __len__(self) -> int:
        return len(self.packed)

    def draw(self, rows: Tensor) -> Tensor:
        """Unpack the rows."""
        found = self.packed[rows.to(self.packed.device)].reshape(-1).to(torch.int32)
        pixels = self.eights.index_select(0, found).view(torch.uint8)
        return pixels.view(*rows.shape, 1, SIDE, SIDE).to(torch.float32)

    def to(self, device: torch.device) -> Bits:
        """Move the bits."""
        return Bits(self.packed.to(device), self.eights.to(device))


def _packed(path: Path) -> Tensor:
    """The pictures as bits, kept in the cache because unpacking three gigabytes takes seconds."""
    kept = cache_folder() / "dsprites" / f"bits-{checksum(path).partition(':')[2][:24]}.npy"
    size = math.prod(SIZES) * SIDE * SIDE // 8
    # Mapped copy-on-write: nothing is read before it is drawn, and torch wants memory it may write to.
    if kept.is_file() and kept.stat().st_size > size:
        return torch.from_numpy(np.load(kept, mmap_mode="c"))
    packed = _pack(path)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, suffix=".part", delete=False) as part:
            np.save(part, packed)
        os.replace(part.name, kept)
    except OSError:
        # Without a cache the next start is slower, nothing more.
        pass
    return torch.from_numpy(packed)


def _pack(path: Path) -> NDArray[np.uint8]:
    """Read the pictures a few thousand at a time, checking that they are what the official file holds."""
    count = math.prod(SIZES)
    packed = np.empty((count, SIDE * SIDE // 8), np.uint8)
    try:
        with zipfile.ZipFile(path) as archive:
            with archive.open("latents_classes.npy") as member:
                classes = np.lib.format.read_array(member, allow_pickle=False)
            if not np.array_equal(classes[:, 1:], grid(SIZES).numpy()):
                raise UserError(f"{path}: latents_classes are not in the order of the official file")
            with archive.open("imgs.npy") as member:
                found = header(member)
                if found != RIGHT:
                    raise UserError(f"{path}: imgs is {found}, should be {RIGHT}")
                for start in tqdm(range(0, count, AT_ONCE), desc="dsprites", disable=None, leave=False):
                    stop = min(start + AT_ONCE, count)
                    pixels = np.frombuffer(member.read((stop - start) * SIDE * SIDE), np.uint8)
                    if pixels.size and pixels.max() > 1:
                        raise UserError(f"{path}: imgs must hold 0 and 1, found {pixels.max()}")
                    packed[start:stop] = np.packbits(pixels.reshape(stop - start, -1), axis=1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, KeyError, ValueError) as error:
        raise UserError(f"{path} is damaged or not a dSprites file: {error}") from error
    return packed


def _title(path: Path) -> str:
    """What the file says it is. Its metadata are pickled: their words are read without running them."""
    with zipfile.ZipFile(path) as archive:
        if "metadata.npy" not in archive.namelist():
            return "nothing"
        content = archive.read("metadata.npy")
    pickled = content[content.index(b"\n") + 1 :]
    words = [word for _, word, _ in pickletools.genops(pickled) if isinstance(word, str)]
    return words[words.index("title") + 1] if "title" in words[:-1] else "nothing"
