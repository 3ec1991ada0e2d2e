"""What a method is. Every other file in this folder is one: a class, named as its file, that reads like its paper.

A method is a plain module. It owns its networks, its losses as named terms and its *updates*: which loss moves which
modules with which optimiser. It knows nothing of devices, logging or the loop. Its constructor's keywords are the
options of the command line, of the config file and of the documentation.

    class MyMethod(VAE):
        def __init__(self, net: Net, latents: int = 10, *, weight: float = 1.0) -> None: ...
        def penalty(self, q, z): ...

What a loss reads beside single samples, the class says in `needs`, and views/ provides it:

    needs = ("x", "background")     targets, and as many rows of the background
    needs = ("x", "domain")         samples, and the number of each one's domain

A constructor that has the keyword `domains` is told the names of the data's groups; it is no option.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from unbraid.posteriors import Posterior
from unbraid.spelling import BACKGROUND

Batch = dict[str, Tensor]
Terms = dict[str, Tensor]
Step = int | Tensor  # batches before this one; a 0-d tensor in a compiled step: computed with, never branched on


@dataclass(frozen=True)
class Update:
    """Which loss moves which modules, and how.

    Arguments:
        loss: batch and step to named terms; `terms["loss"]` is minimised.
        over: the modules that this update moves, and no others.
        optimiser: "adam" or "adagrad".
        lr: learning rate.
        betas: Adam's two decay rates.
    """

    loss: Callable[[Batch, Step], Terms]
    over: Sequence[nn.Module]
    optimiser: str = "adam"
    lr: float = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)


class Method(nn.Module):
    """Learns codes from samples.

    `terms["loss"]` is minimised; every other term is a curve: in nats (or squared units) per sample, unweighted,
    summed over pixels or latents and averaged over the batch. The curve `loss` is the first update's; another update
    that wants its own seen gives it a second name among its terms.
    """

    needs: tuple[str, ...] = ("x",)  # entries of a batch that the losses read, noise aside
    mixed: bool = False  # domains as they come in all rows together, rather than equally many rows of each
    latents: int
    noise: int = 0  # standard normal numbers per sample of x that the losses read from batch["noise"]
    samples: int = 0  # training samples there are for x, told by the loop; 0 where nobody trains

    @property
    def blocks(self) -> dict[str, slice]:
        """Named parts of the code; one block unless the method says otherwise."""
        return {"code": slice(0, self.latents)}

    def heard(self, group: str) -> list[str]:
        """The blocks that are decoded in a group, the others being silent: of background all but the salient one."""
        return [name for name in self.blocks if (name, group) != ("salient", BACKGROUND)]

    def posterior(self, x: Tensor) -> Posterior:
        """What the encoder says of samples."""
        raise NotImplementedError

    def encode(self, x: Tensor) -> Tensor:
        """Codes (samples, latents): the posterior's mean."""
        return self.posterior(x).mean

    def decode(self, codes: Tensor) -> Tensor:
        """Samples in the units of the data, differentiable."""
        raise NotImplementedError

    def loss(self, batch: Batch, step: Step) -> Terms:
        """Named terms; reads `batch["x"]` (samples, *shape) and, if `noise` > 0, `batch["noise"]`."""
        raise NotImplementedError

    def updates(self) -> list[Update]:
        """One update over everything unless the method says otherwise."""
        return [Update(self.loss, over=[self])]

    def notes(self, x: Tensor) -> list[str]:
        """What a finished run must say about itself, seen on validation samples: choices made in training."""
        return []
