"""A beta-VAE as one writes it in plain PyTorch, with no library: what everything else is compared to."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, mse_loss

Reconstruction = Callable[[Tensor, Tensor], Tensor]


def bernoulli(raw: Tensor, x: Tensor) -> Tensor:
    """Negative log-likelihood of 0..1 pixels, summed over all."""
    return binary_cross_entropy_with_logits(raw, x, reduction="sum")


def squared(raw: Tensor, x: Tensor) -> Tensor:
    """Squared error, summed over all."""
    return mse_loss(raw, x, reduction="sum")


class BetaVAE(nn.Module):
    """Encoder, decoder and loss; the encoder ends in means and log variances."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module, beta: float, reconstruction: Reconstruction) -> None:
        super().__init__()
        self.encoder, self.decoder, self.beta, self.reconstruction = encoder, decoder, beta, reconstruction

    def loss(self, x: Tensor) -> Tensor:
        mean, log_variance = self.encoder(x).chunk(2, dim=-1)
        z = mean + (0.5 * log_variance).exp() * torch.randn_like(mean)
        kl = 0.5 * (mean.square() + log_variance.exp() - log_variance - 1).sum()
        return (self.reconstruction(self.decoder(z), x) + self.beta * kl) / len(x)


def seconds_per_step(model: BetaVAE, data: Tensor, batch: int, warm_up: int, steps: int) -> float:
    """Train; the first steps are not counted. Nothing is logged, so nothing waits for a number."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(warm_up + steps):
        if step == warm_up:
            began = time.perf_counter()
        x = data[torch.randint(len(data), (batch,))]
        if x.dtype == torch.uint8:
            x = x.float() / 255
        optimiser.zero_grad()
        model.loss(x).backward()
        optimiser.step()
    return (time.perf_counter() - began) / steps
