"""Grass that is drawn, for those who have no pictures of it: noise stretched along blades, in greens.

A patch is white noise through an anisotropic Gaussian filter, longest along the blades, with light that falls off to one
side; the three channels are shares of this brightness, green the largest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft

Numbers = NDArray[np.float32]
MARGIN = 10  # the filter wraps round: the seam is cut off
LEAN = 0.4  # radians, how far the blades of a patch lean from upright
LENGTH, WIDTH = (3.0, 8.0), (0.7, 1.4)  # standard deviations of the filter in pixels
CONTRAST = (0.08, 0.2)
LIGHT = 0.05
RED, BLUE = (0.5, 0.95), (0.2, 0.6)  # shares of green
GRAIN = 0.015
AT_ONCE = 256  # patches whose numbers a processor's cache holds


def drawn_grass(count: int, side: int, random: np.random.Generator) -> NDArray[np.uint8]:
    """Patches (count, 3, side, side)."""
    return np.concatenate([_patches(min(AT_ONCE, count - done), side, random) for done in range(0, count, AT_ONCE)])


def _patches(count: int, side: int, random: np.random.Generator) -> NDArray[np.uint8]:
    def drawn(low: float, high: float) -> Numbers:
        return random.uniform(low, high, (count, 1, 1)).astype(np.float32)

    def normal(*shape: int) -> Numbers:
        return random.standard_normal((count, *shape), np.float32)

    slope = np.linspace(-1, 1, side, dtype=np.float32)
    light = normal(1, 1) * slope[:, None] + normal(1, 1) * slope
    blades = _blades(normal(side + 2 * MARGIN, side + 2 * MARGIN), LEAN * normal(1, 1), drawn(*LENGTH), drawn(*WIDTH))
    green = 0.45 + 0.08 * normal(1, 1) + drawn(*CONTRAST) * blades + LIGHT * light
    channels = np.stack([drawn(*RED) * green, green, drawn(*BLUE) * green], 1) + GRAIN * normal(3, side, side)
    found: NDArray[np.uint8] = (channels.clip(0, 1) * 255).round().astype(np.uint8)
    return found


def _blades(noise: Numbers, lean: Numbers, length: Numbers, width: Numbers) -> Numbers:
    """Noise made smooth over `length` along the blades and `width` across, of variance 1, without its margin."""
    size = noise.shape[-1]
    down, across = np.fft.fftfreq(size).astype(np.float32)[:, None], np.fft.rfftfreq(size).astype(np.float32)
    along, aside = np.cos(lean) * down + np.sin(lean) * across, np.cos(lean) * across - np.sin(lean) * down
    passed = np.exp(-2 * np.pi**2 * ((length * along) ** 2 + (width * aside) ** 2))
    smooth: Numbers = fft.irfft2(fft.rfft2(noise) * passed, s=(size, size))
    smooth /= smooth.std(axis=(1, 2), keepdims=True)
    return smooth[:, MARGIN:-MARGIN, MARGIN:-MARGIN]
