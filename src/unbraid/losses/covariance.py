"""Second moments of a batch of codes, and how far they are from the identity (Kumar et al. 2018)."""

from __future__ import annotations

import torch
from torch import Tensor


def covariance(codes: Tensor) -> Tensor:
    """(latents, latents), over the batch, divided by its size."""
    centred = codes - codes.mean(0)
    # products and a mean, not a matrix product, which autocast would round to half precision
    return (centred.unsqueeze(2) * centred.unsqueeze(1)).mean(0)


def off_diagonal(matrix: Tensor) -> Tensor:
    """sum over i ≠ j of S_ij²."""
    return (matrix - torch.diag_embed(matrix.diagonal())).square().sum()


def off_unit_diagonal(matrix: Tensor) -> Tensor:
    """sum over i of (S_ii - 1)²."""
    return (matrix.diagonal() - 1).square().sum()
