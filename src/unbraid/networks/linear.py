"""One linear map each way: the linear autoencoder of the thesis's synthetic square (Table 3.1)."""

from __future__ import annotations

from math import prod

from torch import nn

from unbraid.networks import Pair


def linear(shape: tuple[int, ...], latents: int) -> Pair:
    """No hidden layer; biases on both sides."""
    return nn.Flatten(), nn.Sequential(nn.Linear(latents, prod(shape)), nn.Unflatten(1, shape))
