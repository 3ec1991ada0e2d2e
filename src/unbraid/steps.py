"""One update of one batch, as torch runs it or as one compiled graph: loss, gradient, optimiser."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from unbraid import optimisers
from unbraid.devices import Devices
from unbraid.ensembles import Single
from unbraid.errors import Notice
from unbraid.methods import Batch, Step, Terms, Update

Act = Callable[[Batch, int], Terms]


def eager(
    update: Update,
    players: Single,
    names: Sequence[str],
    optimiser: torch.optim.Optimizer,
    devices: Devices,
    clip: float | None,
) -> Act:
    """Backward reaches the update's own parameters only, so that no other update's gradient can leak in.

    Arguments:
        update: what to minimise.
        players: one seed or several.
        names: of the parameters that the update moves.
        optimiser: holds these parameters and their state.
        devices: where it runs; averages gradients over processes.
        clip: largest norm of the gradient.
    """
    parameters = [players.tensors[name] for name in names]
    plain = devices.dtype is None

    def act(batch: Batch, step: int) -> Terms:
        if plain:
            terms = players.terms(update, batch, step)
        else:
            with devices.autocast():
                terms = players.terms(update, batch, step)
        for parameter in parameters:
            parameter.grad = None
        loss = terms["loss"].sum() if players.stacked else terms["loss"]
        torch.autograd.backward(loss, inputs=parameters)
        if devices.world > 1 or clip:
            gradients = [p.grad for p in parameters if p.grad is not None]
            if devices.world > 1:
                gradients = devices.average(gradients)
            if clip:
                gradients = optimisers.clip(gradients, clip, players.stacked)
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient
        optimiser.step()
        return terms

    return act


def compiled(
    update: Update,
    players: Single,
    names: Sequence[str],
    optimiser: torch.optim.Optimizer,
    devices: Devices,
    clip: float | None,
) -> Act:
    """The same as one graph; eager again, with a warning, where no compiler works."""
    if devices.world > 1:
        warnings.warn("compile works in one process only: training goes on uncompiled", Notice, stacklevel=2)
        return eager(update, players, names, optimiser, devices, clip)
    move = optimisers.equations(update)
    every = {name: tensor.detach() for name, tensor in players.tensors.items()}
    own = {name: every.pop(name) for name in names}
    state = {name: dict(optimiser.state[players.tensors[name]]) for name in own}

    def objective(own: dict[str, Tensor], batch: Batch, step: Step) -> tuple[Tensor, Terms]:
        with devices.autocast():
            terms = players.terms_of({**every, **own}, update, batch, step)
        return terms["loss"].sum(), terms

    def whole(own: dict[str, Tensor], state: dict[str, Any], batch: Batch, step: Step) -> Terms:
        found, terms = torch.func.grad(objective, has_aux=True)(own, batch, step)
        gradients = list(found.values())
        if clip:
            gradients = optimisers.clip(gradients, clip, players.stacked)
        for (name, parameter), gradient in zip(own.items(), gradients, strict=True):
            move(parameter, gradient, state[name])
        return terms

    fast = torch.compile(torch.no_grad()(whole))
    clock = torch.zeros((), dtype=torch.int64, device=devices.device)  # a number would be compiled in, again and again
    chosen: Act | None = None

    def act(batch: Batch, step: int) -> Terms:
        nonlocal chosen
        if chosen is not None:
            return chosen(batch, step)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch's own deprecations, which no user can mend
                terms = fast(own, state, batch, clock.fill_(step))
        except Exception as error:  # whatever a compiler may do wrong, training can go on without it
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            warnings.warn(f"no working compiler ({reason}): training goes on uncompiled", Notice, stacklevel=2)
            chosen = eager(update, players, names, optimiser, devices, clip)
            return chosen(batch, step)
        chosen = compiled_step
        return terms

    def compiled_step(batch: Batch, step: int) -> Terms:
        return fast(own, state, batch, clock.fill_(step))

    return act
