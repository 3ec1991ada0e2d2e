"""Maximum mean discrepancy of two batches under a sum of Gaussian kernels (Gretton et al. 2012)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor


def squared_mmd(a: Tensor, b: Tensor, gammas: Sequence[float]) -> Tensor:
    """sum over gammas of E k(a, a') + E k(b, b') - 2 E k(a, b), k = exp(-gamma |.|²), each row also with itself."""
    return _mean_kernel(a, a, gammas) + _mean_kernel(b, b, gammas) - 2 * _mean_kernel(a, b, gammas)


def _mean_kernel(a: Tensor, b: Tensor, gammas: Sequence[float]) -> Tensor:
    distance = (a.unsqueeze(1) - b.unsqueeze(0)).square().sum(-1)
    total = (-gammas[0] * distance).exp()
    for gamma in gammas[1:]:
        total = total + (-gamma * distance).exp()
    return total.mean()
