"""Photographs of a user's own folder, cut and scaled to one size: read once, kept in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from unbraid.data import Data
from unbraid.datafiles import read_picture
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.kept import Bytes, Mapped, keep

Box = tuple[int, int, int, int]  # left, top, right, bottom
AT_ONCE = 256


@dataclass(frozen=True)
class Shot:
    """A photograph and what of it is shown: a box in pixels, or a square in the middle of so many."""

    file: Path
    cut: Box | int


def photographs(dataset: str, name: str, shots: Sequence[Shot], side: int, factors: Sequence[Factor] = (), values: np.ndarray | None = None,
                notes: Sequence[str] = ()) -> Data:  # fmt: skip
    """Data of photographs (3, side, side).

    Arguments:
        dataset: whose cache they are kept in.
        name: of the data.
        shots: which.
        side: height and width to which they are scaled.
        factors: what is known of them.
        values: (shots, factors).
        notes: what every result must repeat.
    """
    import torch

    lacking = next((shot.file for shot in shots if not shot.file.is_file()), None)
    if lacking is not None:
        raise UserError(f"{dataset}: {lacking} is missing, though the list of pictures has it")
    about = [(shot.file, shot.file.stat()) for shot in shots]
    cuts = repr([(shot.file.name, shot.cut) for shot in shots]) + str(side)
    content = _digest(cuts, repr([stat.st_size for _, stat in about]))  # the same on another machine
    here = _digest(content, repr([(str(file.resolve()), stat.st_mtime_ns) for file, stat in about]))
    samples = keep(dataset, here, (len(shots), side, side, 3), lambda: _pieces(shots, side))
    return Data(
        name=name,
        source=Mapped(samples, channels_last=True),
        shape=(3, side, side),
        factors=tuple(factors),
        values=None if values is None else torch.from_numpy(values),
        notes=tuple(notes),
        fingerprint=content,
    )


def _pieces(shots: Sequence[Shot], side: int) -> Iterator[Bytes]:
    for start in range(0, len(shots), AT_ONCE):
        yield np.stack([_shown(shot, side) for shot in shots[start : start + AT_ONCE]])


def _shown(shot: Shot, side: int) -> Bytes:
    picture = read_picture(shot.file).convert("RGB")
    box = shot.cut
    if isinstance(box, int):
        left, top = ((whole - box) // 2 for whole in picture.size)
        box = (left, top, left + box, top + box)
    if box[0] < 0 or box[1] < 0 or box[2] > picture.width or box[3] > picture.height or box[0] >= box[2] or box[1] >= box[3]:  # fmt: skip
        size = f"{picture.width}x{picture.height}"
        raise UserError(f"{shot.file} is {size}: it does not have the part from {box[:2]} to {box[2:]}")
    return np.asarray(picture.resize((side, side), Image.Resampling.BILINEAR, box))


def _digest(*words: str) -> str:
    return hashlib.blake2b("\n".join(words).encode(), digest_size=8).hexdigest()
