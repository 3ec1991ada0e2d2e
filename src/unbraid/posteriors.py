"""What an encoder says of one sample: a point, a Gaussian with independent coordinates, or a Gaussian with any covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Posterior(Protocol):
    """q(z|x) for a batch; every array has shape (samples, latents)."""

    @property
    def mean(self) -> Tensor:
        """The code."""
        ...

    @property
    def variance(self) -> Tensor:
        """Variance of each coordinate."""
        ...

    def sample(self, noise: Tensor) -> Tensor:
        """A draw, made from standard normal noise of the same shape (the reparameterisation trick)."""
        ...


@dataclass(frozen=True)
class Point:
    """All mass on the mean."""

    mean: Tensor

    @property
    def variance(self) -> Tensor:
        """Nothing varies."""
        return torch.zeros_like(self.mean)

    def sample(self, noise: Tensor) -> Tensor:
        """The mean itself."""
        return self.mean


@dataclass(frozen=True)
class DiagonalGaussian:
    """N(mean, diag exp(log_variance)), thesis Eq. 2.5."""

    mean: Tensor
    log_variance: Tensor

    @property
    def variance(self) -> Tensor:
        """The diagonal."""
        return self.log_variance.exp()

    def sample(self, noise: Tensor) -> Tensor:
        """mean + sigma * noise."""
        return self.mean + (0.5 * self.log_variance).exp() * noise

    def kl(self) -> Tensor:
        """KL to N(0, I) of each coordinate, thesis Eq. 2.6; sum over the last axis for the KL of the code."""
        return 0.5 * (self.mean.square() + self.log_variance.exp() - self.log_variance - 1)


@dataclass(frozen=True)
class FullGaussian:
    """N(mean, L Lᵀ) with L lower triangular (Cholesky), thesis Section 3.2.7."""

    mean: Tensor
    factor: Tensor

    @classmethod
    def from_numbers(cls, numbers: Tensor, latents: int) -> FullGaussian:
        """Read d means, d log diagonals and d(d-1)/2 entries below the diagonal from an encoder's output."""
        mean, log_diagonal, below = numbers.split([latents, latents, latents * (latents - 1) // 2], dim=-1)
        # index_put does not map over seeds; a fixed 0/1 matrix placing each number in its cell does
        rows, columns = torch.tril_indices(latents, latents, -1, device=numbers.device)
        place = torch.zeros(len(rows), latents * latents, device=numbers.device, dtype=numbers.dtype)
        place[torch.arange(len(rows), device=numbers.device), rows * latents + columns] = 1
        lower = (below @ place).unflatten(-1, (latents, latents))
        return cls(mean, lower + torch.diag_embed(log_diagonal.exp()))

    @property
    def variance(self) -> Tensor:
        """The diagonal of L Lᵀ."""
        return self.factor.square().sum(-1)

    def sample(self, noise: Tensor) -> Tensor:
        """mean + L noise, Eq. 3.31."""
        return self.mean + (self.factor * noise.unsqueeze(-2)).sum(-1)

    def kl(self) -> Tensor:
        """KL to N(0, I) of the whole code, Eq. 3.30."""
        log_det = 2 * self.factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        trace = self.factor.square().sum((-2, -1))
        return 0.5 * (self.mean.square().sum(-1) + trace - log_det - self.mean.shape[-1])
