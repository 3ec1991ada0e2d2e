"""Fully connected layers of any widths; thesis Table 3.1 has three such pairs."""

from __future__ import annotations

from math import prod

from torch import nn

from unbraid.errors import UserError, unknown
from unbraid.networks import Pair, layers

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU, "leaky_relu": nn.LeakyReLU}


def mlp(
    shape: tuple[int, ...],
    latents: int,
    encoder: str = "256-256",
    decoder: str = "256-256",
    activation: str = "relu",
    decoder_activation: str = "",
) -> Pair:
    """Hidden layers as widths joined by dashes.

    Arguments:
        encoder: widths of the encoder's hidden layers.
        decoder: widths of the decoder's hidden layers.
        activation: relu, tanh, gelu or leaky_relu.
        decoder_activation: of the decoder, if it is another.
    """
    inner, outer = widths(encoder), widths(decoder)
    trunk = [nn.Flatten(), *layers([prod(shape), *inner], kind(activation))]
    head = layers([latents, *outer], kind(decoder_activation or activation))
    last = [nn.Linear((latents, *outer)[-1], prod(shape)), nn.Unflatten(1, shape)]
    return nn.Sequential(*trunk), nn.Sequential(*head, *last)


def kind(name: str) -> type[nn.Module]:
    """An activation by name."""
    if name not in ACTIVATIONS:
        raise unknown("activation", name, ACTIVATIONS)
    return ACTIVATIONS[name]


def widths(text: str | int) -> list[int]:
    """The numbers in "1200-1200"."""
    parts = str(text).split("-") if str(text) else []
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise UserError(f"layer widths must be whole numbers joined by dashes, such as 400-200, not {text!r}")
    return [int(part) for part in parts]
