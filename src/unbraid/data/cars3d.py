"""Photograph-like renderings of 183 car models: elevation, azimuth and model (Reed et al. 2015)."""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from unbraid.data import Data, Stored, grid, named, whole
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.kept import Bytes, keep
from unbraid.official import Official, checksum, fetch

FILE = Official(
    "nips2015-analogy-data.tar.gz",
    "md5:4e866a7919c1beedf53964e6f7a23686",
    (
        "http://www.scottreed.info/files/nips2015-analogy-data.tar.gz",
        "http://www-personal.umich.edu/~reedscot/files/nips2015-analogy-data.tar.gz",
    ),
)
FACTORS = (Factor("elevation", 4, "order"), Factor("azimuth", 24, "cycle"), Factor("model", 183, "category"))
SIZES = tuple(factor.size for factor in FACTORS)
SIDE = 128


def cars3d(pixels: int = 64) -> Data:
    """Colour pictures of cars, every combination of three factors, 17,568 in all.

    They are shrunk from 128 pixels by Pillow's Lanczos filter, which is what disentanglement_lib does, and kept in
    the cache. Models are in the order of their file names.

    Arguments:
        pixels: height and width, at most the 128 of the originals.
    """
    whole({"pixels": pixels}, least=8)
    if pixels > SIDE:
        raise UserError(f"pixels={pixels}: the pictures of cars3d have {SIDE}")
    path = fetch("cars3d", FILE)
    shape = (int(np.prod(SIZES)), 3, pixels, pixels)
    samples = keep("cars3d", f"{checksum(path)[-24:]}-{pixels}", shape, lambda: _pictures(path, pixels))
    return Data(
        name=named("cars3d", {"pixels": pixels}),
        source=Stored(torch.from_numpy(np.array(samples))),
        shape=shape[1:],
        factors=FACTORS,
        values=grid(SIZES),
        notes=FILE.notes(path),
    )


def _pictures(path: Path, pixels: int) -> Iterator[Bytes]:
    """All pictures, in the order of the factors."""
    elevations, azimuths, models = SIZES
    cars = dict(sorted(_cars(path, pixels)))
    if len(cars) != models:
        raise UserError(f"{path} holds {len(cars)} cars, should be {models}")
    for elevation in range(elevations):
        for azimuth in range(azimuths):
            yield np.stack([car[elevation, azimuth] for car in cars.values()])


def _cars(path: Path, pixels: int) -> Iterator[tuple[str, Bytes]]:
    """Name and pictures (elevation, azimuth, channel, height, width) of every car in the archive."""
    from scipy.io import loadmat

    elevations, azimuths, _ = SIZES
    try:
        with tarfile.open(path, "r|gz") as archive:
            for entry in archive:
                file = archive.extractfile(entry) if "/cars/" in entry.name and entry.name.endswith(".mat") else None
                if file is None:
                    continue
                content: Any = io.BytesIO(file.read())
                views = loadmat(content, variable_names=["im"])["im"]
                if views.shape != (SIDE, SIDE, 3, azimuths, elevations) or views.dtype != np.uint8:
                    found = f"{views.dtype} {views.shape}"
                    raise UserError(
                        f"{path}: im in {entry.name} is {found}, should be uint8 of 24 azimuths, 4 elevations"
                    )
                yield entry.name, _shrunk(views.transpose(4, 3, 0, 1, 2), pixels)
    except (tarfile.TarError, zlib.error, EOFError, KeyError, ValueError, TypeError) as error:
        raise UserError(f"{path} is damaged or not the archive of cars3d: {error}") from error


def _shrunk(views: Bytes, pixels: int) -> Bytes:
    small = np.empty((*views.shape[:2], 3, pixels, pixels), np.uint8)
    for at in np.ndindex(views.shape[:2]):
        picture = Image.fromarray(np.ascontiguousarray(views[at]))
        small[at] = np.asarray(picture.resize((pixels, pixels), Image.Resampling.LANCZOS)).transpose(2, 0, 1)
    return small
