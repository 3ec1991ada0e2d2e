"""The beta-VAE paper's MLP for dSprites, also thesis Table 3.1: 1200-1200 ReLU, 1200-1200-1200 tanh."""

from __future__ import annotations

from unbraid.networks import Pair
from unbraid.networks.mlp import mlp


def higgins(shape: tuple[int, ...], latents: int) -> Pair:
    """Two wide layers in, three out."""
    return mlp(shape, latents, "1200-1200", "1200-1200-1200", "relu", "tanh")
