"""Linear toy data of several domains: factors of one domain alone, factors of all, mixed by one matrix (paper 000, Eq. 4)."""

from __future__ import annotations

import re
from string import ascii_lowercase

import numpy as np
import torch

from unbraid.data import Data, Stored, named, whole
from unbraid.data.linear_square import generator
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.groups import join


def linear_domains(
    private: str = "3-4",
    shared: int = 2,
    samples: str = "400-300",
    features: int = 40,
    orthogonal: bool = False,
    apart: float = 0.0,
    seed: int = 0,
) -> Data:
    """Domains a, b, …: X_k = (A_k C_k) W_k with the factors of a domain of mean 0 and variance 1 and exactly uncorrelated,
    and rows of W of length about 1 in directions at random, or of length 1 at right angles.

    Arguments:
        private: factors of each domain alone, joined by dashes; as many domains as there are numbers.
        shared: factors of all domains.
        samples: of each domain, joined by dashes.
        features: numbers per sample.
        orthogonal: rows of the matrix at right angles to each other.
        apart: distance of each domain's mean from the origin, in a direction of its own.
        seed: of factors, matrix and directions.
    """
    own, counts = _numbers("private", private), _numbers("samples", samples)
    whole({"shared": shared}, least=0)
    whole({"features": features})
    if not 2 <= len(own) <= len(ascii_lowercase) or len(own) != len(counts):
        raise UserError(
            f"private={private}, samples={samples}: at least two domains, and a number of each for every one"
        )
    if min(counts) <= max(own) + shared or min(counts) < 10:
        raise UserError(f"samples={samples}: a domain needs more samples than factors, and at least 10")
    if not 0 <= apart < float("inf"):
        raise UserError(f"apart={apart}: must be a number of at least 0")
    options = {
        "private": private,
        "shared": shared,
        "samples": samples,
        "features": features,
        "orthogonal": orthogonal,
        "apart": apart,
        "seed": seed,
    }
    name, (mixing, *draws) = named("linear_domains", options), generator(seed).spawn(1 + len(own))
    weights = mixing.standard_normal((sum(own) + shared, features)) / features**0.5
    if orthogonal:
        if features < len(weights):
            raise UserError(f"features={features}: {len(weights)} rows at right angles need as many features")
        weights = np.linalg.qr(weights.T)[0].T
    away = mixing.standard_normal((len(own), features))
    away *= apart / np.linalg.norm(away, axis=1, keepdims=True)
    common = [Factor(f"shared{place + 1}", 0, "continuous") for place in range(shared)]
    members, start = {}, 0
    for letter, size, count, random, mean in zip(ascii_lowercase, own, counts, draws, away, strict=False):
        z = _uncorrelated(random.standard_normal((count, size + shared)))
        x = z @ np.concatenate([weights[start : start + size], weights[sum(own) :]]) + mean
        members[letter] = Data(
            name=f"{name} ({letter})",
            source=Stored(torch.from_numpy(x.astype(np.float32))),
            shape=(features,),
            pixels="real",
            factors=(*(Factor(f"{letter}{place + 1}", 0, "continuous") for place in range(size)), *common),
            values=torch.from_numpy(z),
        )
        start += size
    return join(members, name)


def _uncorrelated(draws: np.ndarray) -> np.ndarray:
    """The nearest columns of mean 0 and variance 1 that are orthogonal."""
    left, _, right = np.linalg.svd(draws - draws.mean(0), full_matrices=False)
    return np.asarray(left @ right * len(draws) ** 0.5)


def _numbers(option: str, text: str) -> list[int]:
    if not re.fullmatch(r"\d+(-\d+)*", text):
        raise UserError(f"{option}={text}: must be whole numbers joined by dashes, one for each domain, as 3-4")
    return [int(word) for word in text.split("-")]
