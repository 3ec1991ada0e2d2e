"""Adam and AdaGrad twice: torch's own fused ones, and the same equations as plain tensor code for a compiled step.

Both read and write the same state, so that a checkpoint of one resumes in the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from unbraid.errors import unknown
from unbraid.methods import Update

EPSILON = {"adam": 1e-8, "adagrad": 1e-10}
State = dict[str, Tensor]


def optimiser(update: Update, parameters: Sequence[Tensor]) -> torch.optim.Optimizer:
    """The torch optimiser of an update, its state made at once so that it can be compiled, saved and loaded."""
    if update.optimiser == "adam":
        made: torch.optim.Optimizer = torch.optim.Adam(parameters, lr=update.lr, betas=update.betas, fused=True)
        moments: tuple[str, ...] = ("exp_avg", "exp_avg_sq")
    elif update.optimiser == "adagrad":
        made = torch.optim.Adagrad(parameters, lr=update.lr, fused=True)
        moments = ("sum",)
    else:
        raise unknown("optimiser", update.optimiser, EPSILON)
    for parameter in parameters:
        state: Any = made.state[parameter]
        state.setdefault("step", torch.zeros((), dtype=torch.float32, device=parameter.device))
        for name in moments:
            state.setdefault(name, torch.zeros_like(parameter, memory_format=torch.preserve_format))
    return made


def equations(update: Update) -> Callable[[Tensor, Tensor, State], None]:
    """Moves one parameter by its gradient, in place."""
    return adam(update.lr, update.betas) if update.optimiser == "adam" else adagrad(update.lr)


def adam(lr: float, betas: tuple[float, float]) -> Callable[[Tensor, Tensor, State], None]:
    """Kingma & Ba 2015, Algorithm 1."""
    first, second = betas

    def move(parameter: Tensor, gradient: Tensor, state: State) -> None:
        step, mean, square = state["step"].add_(1), state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(gradient, 1 - first)
        square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        scale = (square / (1 - second**step)).sqrt() + EPSILON["adam"]
        parameter.sub_(lr / (1 - first**step) * mean / scale)

    return move


def adagrad(lr: float) -> Callable[[Tensor, Tensor, State], None]:
    """Duchi et al. 2011."""

    def move(parameter: Tensor, gradient: Tensor, state: State) -> None:
        state["step"].add_(1)
        total = state["sum"].addcmul_(gradient, gradient)
        parameter.sub_(lr * gradient / (total.sqrt() + EPSILON["adagrad"]))

    return move


def clip(gradients: Sequence[Tensor], largest: float, stacked: bool) -> list[Tensor]:
    """Scale gradients so that their joint norm is at most `largest`; each seed of a stack by itself."""
    keep = 1 if stacked else 0
    squares = [g.square().flatten(keep).sum(-1) if g.ndim > keep else g.square() for g in gradients]
    scale = (largest / torch.stack(squares).sum(0).sqrt().clamp(min=1e-12)).clamp(max=1.0)
    return [g * scale.reshape(scale.shape + (1,) * (g.ndim - keep)) for g in gradients]
