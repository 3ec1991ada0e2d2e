"""Seeds are an axis: the parameters of several seeds stacked, and the loss mapped over them.

Adam and AdaGrad act element by element, so the ordinary optimiser on stacked tensors is one independent optimiser per
seed. `Single` and `Ensemble` look the same to the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from unbraid.methods import Batch, Method, Step, Terms, Update

Parameters = dict[str, Tensor]
See = Callable[[Method, Tensor], dict[str, Tensor]]


class _Call(nn.Module):
    """Lets `functional_call` reach any function of a method, not only `forward`."""

    def __init__(self, method: Method) -> None:
        super().__init__()
        self.method = method

    def forward(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return function(*arguments)


class Single:
    """One seed of a method."""

    stacked = False

    def __init__(self, methods: Sequence[Method]) -> None:
        self.method = methods[0]
        self.tensors: Parameters = {f"method.{k}": p for k, p in self.method.named_parameters()}
        self._call = _Call(self.method)

    @property
    def state(self) -> Parameters:
        """All that a seed is: its parameters, and buffers such as batch-norm statistics where there are any."""
        buffers = {} if self.stacked else {f"method.{k}": b for k, b in self.method.named_buffers()}
        return {**self.tensors, **buffers}

    def names(self, update: Update) -> list[str]:
        """The parameters that an update moves."""
        moved = {id(p) for module in update.over for p in module.parameters()}
        return [f"method.{k}" for k, p in self.method.named_parameters() if id(p) in moved and p.requires_grad]

    def terms(self, update: Update, batch: Batch, step: Step) -> Terms:
        """The update's named terms, ready for `backward`."""
        return update.loss(batch, step)

    def terms_of(self, tensors: Parameters, update: Update, batch: Batch, step: Step) -> Terms:
        """The same as a pure function of the parameters, for a compiler."""
        return functional_call(self._call, tensors, (update.loss, batch, step))

    def look(self, see: See, x: Tensor) -> dict[str, Tensor]:
        """What is seen of the same samples for every seed, (seeds, …)."""
        return {name: value[None] for name, value in see(self.method, x).items()}

    def load(self, state: Parameters) -> None:
        """Overwrite everything."""
        with torch.no_grad():
            for name, tensor in self.state.items():
                tensor.copy_(state[name])

    def member(self, state: Parameters, place: int) -> Parameters:
        """One seed's weights out of a state, under the method's own names."""
        return {name.removeprefix("method."): t.detach().cpu().contiguous() for name, t in state.items()}


class Ensemble(Single):
    """Several seeds of a method at once; losses have one value per seed."""

    stacked = True

    def __init__(self, methods: Sequence[Method]) -> None:
        super().__init__(methods)
        stacked, _ = stack_module_state([_Call(m) for m in methods])
        self.tensors = {name: tensor.detach().requires_grad_() for name, tensor in stacked.items()}

    def terms(self, update: Update, batch: Batch, step: Step) -> Terms:
        """One value per seed."""
        return self.terms_of(self.tensors, update, batch, step)

    def terms_of(self, tensors: Parameters, update: Update, batch: Batch, step: Step) -> Terms:
        """The loss mapped over seeds, each with its own batch."""

        def one(own: Parameters, part: Batch) -> Terms:
            return functional_call(self._call, own, (update.loss, part, step))

        return vmap(one, randomness="different")(tensors, batch)

    def look(self, see: See, x: Tensor) -> dict[str, Tensor]:
        """The same, mapped over seeds."""

        def one(own: Parameters) -> dict[str, Tensor]:
            return functional_call(self._call, own, (see, self.method, x))

        return vmap(one)(self.tensors)

    def member(self, state: Parameters, place: int) -> Parameters:
        """One seed's weights out of a stacked state."""
        return super().member({name: tensor[place] for name, tensor in state.items()}, place)


def statistics(method: Method, x: Tensor) -> dict[str, Tensor]:
    """What the polarized regime and the activity rules are judged by, per latent."""
    q = method.posterior(x)
    mean, variance = q.mean, q.variance
    log_variance = variance.clamp(min=1e-30).log()
    kl = 0.5 * (mean.square() + variance - log_variance - 1)
    return {
        "mu2": mean.square().mean(0),
        "var_mu": mean.var(0),
        "sigma2": variance.mean(0),
        "log_sigma2": log_variance.mean(0),
        "kl": kl.mean(0),
    }


def can_be_stacked(method: Method) -> bool:
    """Whether seeds can be mapped: no running statistics, no random layers with a state of their own."""
    return not any(True for _ in method.buffers())


def pays(method: Method, device: torch.device) -> bool:
    """Whether mapping is faster than one seed after another: on a CPU only for small fully connected networks."""
    if not can_be_stacked(method):
        return False
    if device.type != "cpu":
        return True
    size = sum(p.numel() for p in method.parameters())
    return size < 200_000 and not any(isinstance(m, nn.modules.conv._ConvNd) for m in method.modules())
