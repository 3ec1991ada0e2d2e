"""Data that users bring: arrays, tensors, torch data sets, files, and folders of images of any size."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sized
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageOps
from tqdm import tqdm

from unbraid.data import Data, Stored, enough
from unbraid.errors import UserError
from unbraid.tables import SUFFIXES, Columns, columns_of, csv_columns, csv_rows, finite, read_table

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".gif", ".tif", ".tiff")
LAYOUTS = "(samples, features), (N, H, W), (N, H, W, C) or (N, C, H, W) with 1 to 4 channels"


def is_path(text: str) -> bool:
    """Whether a text means a file or a folder rather than a name."""
    separators = [mark for mark in (os.sep, os.altsep, "/") if mark]
    return any(mark in text for mark in separators) or text.lower().endswith(SUFFIXES + IMAGES) or Path(text).exists()


def open_path(path: str, column: str = "") -> Data:
    """The samples of a .npy, .npz or .csv file, or of a folder of images, with factors if they are there.

    Arguments:
        path: the file or folder.
        column: of a .csv file, a factor even if its header does not mark it as one.
    """
    file = Path(path).expanduser()
    if not file.exists():
        raise UserError(f"no such file or folder: {path}")
    if file.is_dir():
        return _from_folder(path, file)
    if file.suffix.lower() in IMAGES:
        raise UserError(f"{path} is one image: name the folder that holds the images")
    table = read_table(path, column=column)
    if table.samples is None:
        raise UserError(f"{path} has only factor columns, no samples")
    return from_array(path, table.samples, table.columns, table.features)


def open_object(what: Any) -> Data:
    """Data from a NumPy array, a data frame, a torch tensor or a map-style torch data set."""
    if isinstance(what, np.ndarray):
        return from_array("array", what)
    if isinstance(what, torch.Tensor):
        return from_array("tensor", what.detach().cpu().numpy())
    if hasattr(what, "to_numpy"):
        return from_array("table", np.asarray(what.to_numpy()))
    if hasattr(what, "__getitem__") and isinstance(what, Sized) and not isinstance(what, list | tuple | dict):
        return _from_dataset(what)
    raise UserError(
        f"cannot read data from a {type(what).__name__}: give a name, a path, an array, a data frame, "
        "a tensor or a torch Dataset with a length"
    )


def from_array(
    name: str, samples: NDArray[Any], columns: Columns | None = None, features: tuple[str, ...] = ()
) -> Data:
    """Data from samples in any usual layout: bytes stay bytes, other numbers become float32."""
    if samples.ndim:
        enough(name, len(samples))
    samples = channels_first(name, _plain_numbers(name, samples))
    if columns is not None and len(columns.values) != len(samples):
        raise UserError(f"{name}: {len(samples)} samples but {len(columns.values)} rows of factors")
    finite(name, samples)
    samples, pixels, notes = _as_pixels(name, samples)
    digest = hashlib.blake2b(repr((samples.shape, pixels)).encode(), digest_size=8)
    digest.update(samples.data)
    if columns is not None:
        digest.update(repr((columns.names, columns.kinds)).encode())
        digest.update(np.ascontiguousarray(columns.values).data)
    return Data(
        name=name,
        source=Stored(torch.from_numpy(samples)),
        shape=samples.shape[1:],
        pixels=pixels,
        factors=() if columns is None else columns.factors,
        values=None if columns is None else torch.from_numpy(columns.values),
        notes=notes,
        fingerprint=digest.hexdigest(),
        features=features,
    )


def _plain_numbers(name: str, samples: NDArray[Any]) -> NDArray[Any]:
    if samples.dtype.kind not in "buif":
        raise UserError(f"{name} holds {samples.dtype}: samples must be real numbers")
    if np.ma.is_masked(samples):
        raise UserError(f"{name} has {np.ma.count_masked(samples)} masked values: fill or drop them")
    if samples.dtype == np.uint8:
        return samples
    if samples.dtype == np.bool_:
        return samples.astype(np.uint8)
    are_pixels = samples.dtype.kind in "ui" and samples.ndim > 2 and samples.size > 0
    if are_pixels and samples.min() >= 0 and samples.max() <= 255:
        return samples.astype(np.uint8)
    if samples.dtype == np.uint16 and samples.ndim > 2:
        return (samples / np.float32(65535)).astype(np.float32)
    with np.errstate(over="ignore"):
        found = samples.astype(np.float32)
    if samples.dtype == np.float64 and np.isinf(found).any() and np.isfinite(samples).all():
        raise UserError(
            f"{name} has values up to {np.abs(samples).max():.3g}, too large for single precision: rescale it"
        )
    return found


def channels_first(name: str, samples: NDArray[Any]) -> NDArray[Any]:
    """Vectors (N, features) or images (N, C, H, W), from any usual layout."""
    shape = samples.shape
    if samples.ndim not in (2, 3, 4) or 0 in shape:
        raise UserError(f"{name} has shape {shape}: give {LAYOUTS}")
    if samples.ndim == 2:
        return np.ascontiguousarray(samples)
    if samples.ndim == 3:
        return np.ascontiguousarray(samples[:, None])
    first, last = shape[1] <= 4, shape[3] <= 4
    if first and last:
        raise UserError(f"{name} has shape {shape}: cannot tell which axis is the channels; give {LAYOUTS}")
    if not first and not last:
        raise UserError(f"{name} has shape {shape}: no axis has 1 to 4 channels; give {LAYOUTS}")
    return np.ascontiguousarray(samples if first else np.moveaxis(samples, 3, 1))


def _as_pixels(name: str, samples: NDArray[Any]) -> tuple[NDArray[Any], Any, tuple[str, ...]]:
    """How the numbers are to be read: as black and white, as 0..1, or as they are."""
    low, high = samples.min(), samples.max()
    if samples.dtype == np.uint8:
        if high <= 1:
            return samples * np.uint8(255), "binary", ()
        black_and_white = np.bincount(samples.reshape(-1), minlength=256)[1:255].sum() == 0
        return samples, "binary" if black_and_white else "unit", ()
    if samples.ndim == 2:
        return samples, "real", ()
    if low < 0 or high > 1:
        note = f"the pixels of {name} lie in {low:g}..{high:g}, not in 0..1, and were read as any real numbers"
        return samples, "real", (note,)
    return samples, "binary" if ((samples == 0) | (samples == 1)).all() else "unit", ()


def _from_folder(path: str, folder: Path) -> Data:
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in IMAGES and file.is_file())
    if not files:
        raise UserError(f"{path} holds no images ({', '.join(IMAGES)})")
    pictures = [read_picture(file) for file in tqdm(files, desc=folder.name, disable=None, leave=False)]
    for file, picture in zip(files, pictures, strict=True):
        if picture.size != pictures[0].size:
            first, other = ("x".join(map(str, p.size)) for p in (pictures[0], picture))
            raise UserError(f"{path}: images must have one size: {files[0].name} is {first}, {file.name} {other}")
    grey = all(picture.mode == "L" for picture in pictures)
    samples = np.stack([np.asarray(picture if grey else picture.convert("RGB")) for picture in pictures])
    table = folder / "factors.csv"
    columns = _folder_factors(table, [file.relative_to(folder).as_posix() for file in files])
    return from_array(path, samples[..., None] if grey else samples, columns)


def read_picture(file: Path) -> Image.Image:
    """Eight bits of grey or of colour, as the camera was held."""
    try:
        with Image.open(file) as opened:
            picture = ImageOps.exif_transpose(opened)
            picture.load()
    except (OSError, SyntaxError, ValueError) as error:
        raise UserError(f"{file} is damaged or not an image: {error}") from error
    if picture.mode.startswith("I"):
        deep = np.asarray(picture).clip(0, 65535)
        return Image.fromarray((deep >> 8).astype(np.uint8))
    return picture.convert("L" if picture.mode in ("1", "L", "LA") else "RGB")


def _folder_factors(table: Path, names: list[str]) -> Columns | None:
    if not table.is_file():
        return None
    path = str(table)
    header, rows = csv_rows(path, table)
    if not header or header[0] != "file" or len(header) < 2:
        raise UserError(f"{path}: the first column must be headed file, the others by names of factors")
    found = {row[0]: row[1:] for row in rows}
    lacking = [name for name in names if name not in found]
    strangers = [name for name in found if name not in set(names)]
    if lacking or strangers or len(found) != len(rows):
        reason = f"no row for {lacking[0]}" if lacking else f"no image {strangers[0]}" if strangers else "a file twice"
        raise UserError(f"{path} ({len(rows)} rows) does not fit the {len(names)} images of its folder: {reason}")
    words = [name.removeprefix("factor:").partition(":") for name in header[1:]]
    cells = np.array([found[name] for name in names])
    return csv_columns(path, cells, [word[0] for word in words], [word[2] for word in words])


def _from_dataset(dataset: Any) -> Data:
    """Read a torch data set into memory, item by item: samples, and targets if they are numbers."""
    name = type(dataset).__name__
    samples: list[NDArray[Any]] = []
    targets: list[NDArray[Any]] = []
    for i in tqdm(range(len(dataset)), desc=name, disable=None, leave=False):
        item = dataset[i]
        x, *rest = item if isinstance(item, tuple | list) else (item,)
        samples.append(_item(name, x))
        if rest and isinstance(rest[0], int | float | np.number | np.ndarray | torch.Tensor):
            target = np.asarray(rest[0])
            if target.ndim <= 1 and target.size:
                targets.append(target.reshape(-1))
    if not samples:
        raise UserError(f"{name} has no samples")
    _same_shapes(name, samples, "samples")
    columns = None
    if len(targets) == len(samples):
        _same_shapes(name, targets, "targets")
        columns = columns_of(name, np.stack(targets))
    return from_array(name, np.stack(samples), columns)


def _item(name: str, x: Any) -> NDArray[Any]:
    if isinstance(x, Image.Image | np.ndarray):
        return np.asarray(x)
    if isinstance(x, torch.Tensor):
        return x.detach().cpu().numpy()
    raise UserError(f"{name} gives samples of type {type(x).__name__}: give tensors or arrays")


def _same_shapes(name: str, arrays: Iterable[NDArray[Any]], what: str) -> None:
    shapes = sorted({array.shape for array in arrays})
    if len(shapes) > 1:
        raise UserError(f"{name}: {what} must have one shape, found {shapes[0]} and {shapes[-1]}")
