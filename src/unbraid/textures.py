"""Patches cut from a user's pictures at random places: a background to put things before."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unbraid import own_folders
from unbraid.datafiles import IMAGES, read_picture
from unbraid.errors import UserError


@dataclass(frozen=True)
class Patches:
    """Patches (patches, 3, side, side) as bytes, the number of the picture that each was cut from, and their names."""

    samples: NDArray[np.uint8]
    pictures: NDArray[np.int64]
    names: tuple[str, ...]


def cut(asked: str, count: int, side: int, random: np.random.Generator) -> Patches:
    """Patches of every picture equally often, anywhere within it.

    Arguments:
        asked: a folder of pictures of any size, one picture, or several of either with + between them; each as it is
            named or in the folder UNBRAID_DATA.
        count: how many patches.
        side: their height and width.
        random: chooses pictures and places.
    """
    files = _files(asked)
    turns = np.resize(random.permutation(len(files)), count)
    random.shuffle(turns)
    samples = np.empty((count, 3, side, side), np.uint8)
    for number in np.unique(turns):
        whole = _channels(files[number], side)
        for place in np.flatnonzero(turns == number):
            top, left = random.integers(0, np.array(whole.shape[1:]) - side + 1)
            samples[place] = whole[:, top : top + side, left : left + side]
    used, pictures = np.unique(turns, return_inverse=True)
    return Patches(samples, pictures, tuple(files[number].stem for number in used))


def _files(asked: str) -> list[Path]:
    """All pictures that are meant; a name may itself have a + in it."""
    parts = [asked] if own_folders.found(asked) is not None else asked.split("+")
    files = list[Path]()
    for part in parts:
        place = own_folders.found(part.strip()) if part.strip() else None
        if place is None:
            raise UserError(f"textures={asked}: no such file or folder {part!r}, here or in UNBRAID_DATA")
        inside = sorted(place.rglob("*")) if place.is_dir() else [place]
        pictures = [file for file in inside if file.suffix.lower() in IMAGES and file.is_file()]
        if not pictures:
            raise UserError(f"textures={asked}: {part} holds no pictures ({', '.join(IMAGES)})")
        files += pictures
    return list(dict.fromkeys(files))


def _channels(file: Path, side: int) -> NDArray[np.uint8]:
    """(3, height, width): what is transparent is as it would be without, what is grey is grey in all channels."""
    pixels = np.asarray(read_picture(file).convert("RGB"))
    if min(pixels.shape[:2]) < side:
        height, width = pixels.shape[:2]
        raise UserError(f"{file} is {width}x{height}: patches of {side}x{side} pixels cannot be cut from it")
    return np.moveaxis(pixels, 2, 0)
