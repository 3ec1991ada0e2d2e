"""A square bent into six dimensions by a random network: the nonlinear toy data of the linear ones."""

from __future__ import annotations

import numpy as np

from unbraid.data import Data, named
from unbraid.data.linear_square import generator, square, square_data

HIDDEN, OUT = 10, 6


def nonlinear_square(samples: int = 50000, seed: int = 0, ratio: float = 1.0) -> Data:
    """Points of the unit square through a random 2-10-6 network with biases and tanh in its hidden layer.

    Weights and biases are uniform in ±1/√(inputs), which is how PyTorch begins a linear layer, but drawn by
    NumPy so that every machine gets the same ones.

    Arguments:
        samples: how many points.
        seed: of the network and the points.
        ratio: how much longer the first axis is than the second before the network.
    """
    random = generator(seed)
    layers = []
    for inputs, outputs in ((2, HIDDEN), (HIDDEN, OUT)):
        bound = 1 / np.sqrt(inputs)
        weight = random.uniform(-bound, bound, (outputs, inputs))
        layers.append((weight, random.uniform(-bound, bound, outputs)))
    points = square(samples, ratio, random)
    (first, first_bias), (second, second_bias) = layers
    hidden = np.tanh((points * [ratio, 1.0]) @ first.T + first_bias)
    name = named("nonlinear_square", {"samples": samples, "seed": seed, "ratio": ratio})
    return square_data(name, points, hidden @ second.T + second_bias)
