"""Images as PNG: a grid in a file, or inside the page as a data: URI."""

from __future__ import annotations

import base64
import io
import os
from pathlib import Path

import numpy as np
from PIL import Image

from unbraid.errors import UserError
from unbraid.report.markup import Safe, tag


def grid(images: np.ndarray, gap: int = 1) -> np.ndarray:
    """Images (rows, columns, C, H, W) in 0..1 as one uint8 picture (height, width, 4), gaps see-through."""
    images = np.asarray(images)
    if images.ndim == 4:
        images = images[None]
    if images.ndim != 5 or 0 in images.shape:
        raise UserError(f"a grid of images must have shape (rows, columns, C, H, W), not {images.shape}")
    rows, columns, channels, height, width = images.shape
    picture = np.zeros((rows * (height + gap) - gap, columns * (width + gap) - gap, 4), dtype=np.uint8)
    colour = _rgb(images, channels)
    for row in range(rows):
        for column in range(columns):
            top, left = row * (height + gap), column * (width + gap)
            cell = picture[top : top + height, left : left + width]
            cell[..., :3] = colour[row, column]
            cell[..., 3] = 255
    return picture


def grid_png(images: np.ndarray, path: Path, *, scale: int = 1, gap: int = 1) -> Path:
    """Save a grid of images (rows, columns, C, H, W) in 0..1 to a PNG file, every pixel `scale` wide."""
    picture = np.kron(grid(images, gap), np.ones((scale, scale, 1), dtype=np.uint8))
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_bytes(_png(picture))
    part.replace(path)
    return path


def picture(images: np.ndarray, alt: str, tile: int = 64) -> Safe:
    """A grid of images as an `img`, its smallest tiles about `tile` pixels wide and its pixels kept sharp."""
    pixels = grid(images)
    scale = max(1, round(tile / np.asarray(images).shape[-1]))
    data = base64.b64encode(_png(pixels)).decode("ascii")
    height, width = pixels.shape[:2]
    source = f"data:image/png;base64,{data}"
    return tag("img", src=source, alt=alt, width=width * scale, height=height * scale, class_="pixels")


def _rgb(images: np.ndarray, channels: int) -> np.ndarray:
    images = np.clip(np.nan_to_num(images.astype(np.float32)), 0.0, 1.0)
    images = np.rint(images * 255).astype(np.uint8)
    if channels == 1:
        images = np.repeat(images, 3, axis=2)
    elif channels == 2:
        images = np.concatenate([images, np.zeros_like(images[:, :, :1])], axis=2)
    return np.moveaxis(images[:, :, :3], 2, -1)


def _png(pixels: np.ndarray) -> bytes:
    image = Image.fromarray(pixels)
    opaque = bool((pixels[..., 3] == 255).all())
    grey = bool((pixels[..., 0] == pixels[..., 1]).all() and (pixels[..., 1] == pixels[..., 2]).all())
    image = image.convert(("L" if opaque else "LA") if grey else ("RGB" if opaque else "RGBA"))
    held = io.BytesIO()
    image.save(held, "PNG", optimize=True)
    return held.getvalue()
