"""Codes, factors and what disentanglement_lib 1.5 makes of them."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

ARRAYS = (
    "identity",
    "random_rotation",
    "noisy_overcomplete",
    "pure_noise",
    "btcvae_dsprites_mean",
    "VAE_dsprites_mean",
)


def dlib_values(name):
    """Codes and factors of 8000 samples (the first 5000 were fitted, the others scored) and the values by name."""
    if "UNBRAID_DATA" not in os.environ:
        pytest.skip("needs the reference values: set UNBRAID_DATA to the folder that holds reference/")
    folder = Path(os.environ["UNBRAID_DATA"]) / "reference"
    expected = json.loads((folder / "disentanglement_lib_values.json").read_text())[name]
    if "dsprites" in name:
        arrays = np.load(folder / "dsprites_codes_8000.npz")
        return arrays[name], arrays["factors"], expected
    arrays = np.load(folder / "synthetic_codes_8000.npz")
    return arrays[f"{name}_codes"], arrays["synthetic_factors"], expected


SIZES = {
    "dsprites": (3, 6, 40, 32, 32),
    "cars3d": (4, 24, 183),
    "smallnorb": (5, 9, 18, 6),
    "shapes3d": (10, 10, 10, 8, 4, 15),
    "mpi3d-toy": (4, 4, 2, 3, 3, 40, 40),
}


def uniform(sizes, seed=0, samples=10_000):
    """Independent factors of these sizes."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(n, size=samples) for n in sizes], axis=1)
