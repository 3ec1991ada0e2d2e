"""What a minibatch says of the aggregate posterior q(z) = mean over the data of q(z|x): total correlation and its two companions.

Three ways to weigh the batch's posteriors in place of the data's. Their gradients hardly differ, their values do: only
"mss" is near the truth, and even that is low by about a nat at 64 samples of 10 latents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.posteriors import DiagonalGaussian

ESTIMATORS = ("mws", "mss", "lib")


@dataclass(frozen=True)
class Aggregate:
    """Logarithms of densities at the codes z_j of a batch; every array has shape (samples,).

    Arguments:
        own: log q(z_j|x_j).
        joint: log q(z_j).
        product: sum over latents of log q(z_jl).
        prior: log p(z_j).
    """

    own: Tensor
    joint: Tensor
    product: Tensor
    prior: Tensor

    def mutual_information(self) -> Tensor:
        """Of sample and code: E log q(z|x) - log q(z), Chen et al. 2018, Eq. 2, first term."""
        return (self.own - self.joint).mean()

    def total_correlation(self) -> Tensor:
        """E log q(z) - sum_l log q(z_l), second term."""
        return (self.joint - self.product).mean()

    def dimension_kl(self) -> Tensor:
        """sum_l KL(q(z_l) || p(z_l)), third term."""
        return (self.product - self.prior).mean()


def aggregate(z: Tensor, densities: Tensor, log_weights: Tensor | float) -> Aggregate:
    """Densities of the mixture of a batch's posteriors with given weights.

    Arguments:
        z: codes (samples j, latents l).
        densities: log q(z_jl|x_i), (samples j, posteriors i, latents l), from `log_densities`.
        log_weights: of posterior i for sample j, from `log_weights`.
    """
    together = densities.sum(-1)
    weights = torch.zeros_like(together) + log_weights
    return Aggregate(
        own=together.diagonal(),
        joint=(together + weights).logsumexp(1),
        product=(densities + weights.unsqueeze(-1)).logsumexp(1).sum(-1),
        prior=-0.5 * (z.square() + math.log(2 * math.pi)).sum(-1),
    )


def log_densities(z: Tensor, q: DiagonalGaussian) -> Tensor:
    """log N(z_jl; mu_il, sigma_il²), (samples j, posteriors i, latents l)."""
    distance = (z.unsqueeze(1) - q.mean).square() * (-q.log_variance).exp()
    return -0.5 * (distance + q.log_variance + math.log(2 * math.pi))


def log_weights(estimator: str, batch: int, samples: int, like: Tensor) -> Tensor | float:
    """The batch's posteriors in place of all.

    Arguments:
        estimator: "mws" 1/(N B) each (Chen et al. 2018, Eq. 3); "mss" the stratified ones of their appendix, with 1/N for the
            sample's own posterior, which must be on the diagonal; "lib" 1 each, as disentanglement_lib, whose total
            correlation is therefore low by (d - 1) log(N B) beside "mws", with the same gradient.
        batch: B, samples in the batch.
        samples: N, samples in the data; never taken to be fewer than the batch.
        like: a tensor on the device where the weights are wanted.
    """
    total, others = max(samples, batch), batch - 1
    if estimator == "lib":
        return 0.0
    if estimator == "mws" or others == 0:
        return -math.log(total * batch)
    diagonal = torch.eye(batch, device=like.device, dtype=like.dtype)
    one_other = diagonal.roll(1, 1)  # any other will do; here the next in the batch
    rest = 1 - diagonal - one_other
    return (diagonal / total + one_other * ((total - others) / (total * others)) + rest / others).log()
