"""A beta that training finds by itself: the thesis's tip (Section 3.3.6) as an update of its own.

The tip: watch E sigma_j² of every latent and raise beta until it reaches about 1 for the first, which then has given way.
Here beta stops half-way there: E sigma² of the k-th most precise latent is held at 1/2, so that k latents stay active and
what is weaker gives way. A linear VAE has sigma² = beta / (2 lambda), so beta is lambda_k: half of what k survives.

log beta is a parameter with a loss of its own. It is therefore saved, resumed, stacked over seeds and compiled like every
other; AdaGrad makes its steps smaller and smaller.
"""

from __future__ import annotations

import re

import torch
from torch import Tensor, nn

from unbraid.errors import UserError

RATE = 0.05  # of the first step of log beta; the n-th is about RATE / sqrt n
VERGE = 0.5  # where E sigma² of the weakest latent that stays is held
SETTLED = 0.15  # how far from there it may end
ACTIVE = 0.8  # a latent is active if E sigma_j² is less, thesis Chapter 4
FINEST = 1e-3  # E sigma² of the most precise latent; a beta that leaves so little noise is not lowered


class AutomaticBeta(nn.Module):
    """The weight itself, and the loss that moves it.

    Arguments:
        wanted: latents that shall stay active.
    """

    def __init__(self, wanted: int) -> None:
        super().__init__()
        self.wanted = wanted
        self.log = nn.Parameter(torch.zeros(()))

    def beta(self) -> Tensor:
        """The weight, a constant for whoever uses it."""
        return self.log.detach().exp()

    def verge(self, noise: Tensor) -> Tensor:
        """E sigma² of the weakest latent that shall stay."""
        return noise.sort().values[self.wanted - 1]

    def loss(self, noise: Tensor) -> Tensor:
        """Its gradient, between -1 and 1, raises log beta while that latent has noise to gain.

        Arguments:
            noise: E sigma_j² over a batch, (latents,).
        """
        distance = (2 * (self.verge(noise) - VERGE)).clamp(max=1.0)
        falls = noise.min() > FINEST
        return torch.where(falls, distance, distance.clamp(max=0.0)) * self.log

    def note(self, noise: Tensor) -> str:
        """What was chosen, and why."""
        verge, active = self.verge(noise).item(), int((noise < ACTIVE).sum())
        said = (
            f"beta = {self.beta().item():.3g} was found by training: {active} of {len(noise)} latents are active, "
            f"{self.wanted} were wanted, and E sigma² of number {self.wanted} in precision is {verge:.2g}"
        )
        if abs(verge - VERGE) <= SETTLED:
            return f"{said}, half-way to giving way"
        if active >= self.wanted:
            return f"{said}: beta was still moving, train longer"
        return f"{said}: train longer, or ask for fewer latents, as in beta auto:{max(1, active)}"


def automatic(beta: float | str, latents: int) -> AutomaticBeta | None:
    """What "auto" (no latent gives way, but the first is near) and "auto:5" (five are left) mean; None for a number."""
    if not isinstance(beta, str):
        return None
    named = re.fullmatch(r"auto(?::(\d+))?", beta)
    if named is None:
        raise UserError(f"beta must be a number, auto, or auto:5 to keep 5 latents active, not {beta!r}")
    wanted = int(named[1] or latents)
    if not 1 <= wanted <= latents:
        raise UserError(f"beta={beta!r}: of {latents} latents between 1 and {latents} can stay active")
    return AutomaticBeta(wanted)
