"""What a network is. Every other file in this folder is one: a function, named as its file, from the shape of a sample
and the number of latents to two modules: a trunk (sample → features of any width) and a decoder (code → raw sample).

The method puts its own linear head on the trunk, so a trunk never needs to know how a posterior is written.
A user's own pair of modules, or a function with this signature, is taken wherever a name is.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from unbraid import catalog
from unbraid.errors import UserError

Pair = tuple[nn.Module, nn.Module]
Make = Callable[..., Pair]


@dataclass(frozen=True)
class Net:
    """A maker of encoders and decoders for samples of one shape.

    Arguments:
        make: shape and latents to (trunk, decoder).
        shape: of one sample.
        pixels: what its numbers are: "binary", "unit" or "real".
        name: what the config says of it.
    """

    make: Make
    shape: tuple[int, ...]
    pixels: str = "unit"
    name: str = "own"

    def build(self, latents: int, numbers: int) -> Pair:
        """An encoder giving `numbers` per sample, and a decoder of `latents`."""
        trunk, decoder = self.pair(latents)
        with torch.no_grad():
            features = _try(trunk, torch.zeros(2, *self.shape), f"the encoder of net {self.name}")
            raw = _try(decoder, torch.zeros(2, latents), f"the decoder of net {self.name}")
        for who, given in (("encoder", features), ("decoder", raw)):
            if not isinstance(given, torch.Tensor):
                raise UserError(f"the {who} of net {self.name} must give one tensor, not a {type(given).__name__}")
        if features.ndim != 2:
            raise UserError(
                f"the encoder of net {self.name} must give (samples, features), not {tuple(features.shape)}"
            )
        if tuple(raw.shape[1:]) != self.shape:
            raise UserError(
                f"the decoder of net {self.name} gives samples of {tuple(raw.shape[1:])}; the data have {self.shape}"
            )
        return nn.Sequential(trunk, nn.Linear(features.shape[1], numbers)), decoder

    def pair(self, latents: int) -> Pair:
        """Two modules from the maker, or one line saying what it did instead."""
        try:
            made = self.make(self.shape, latents)
        except UserError:
            raise
        except Exception as error:  # a user's own function
            raise UserError(f"net {self.name} cannot be built: {type(error).__name__}: {error}") from error
        if not (isinstance(made, tuple | list) and len(made) == 2 and all(isinstance(m, nn.Module) for m in made)):
            raise UserError(
                f"net {self.name} must give a pair of modules (encoder, decoder), not {type(made).__name__}"
            )
        return made[0], made[1]


def _try(module: nn.Module, given: torch.Tensor, who: str) -> torch.Tensor:
    was = module.training
    try:
        return module.eval()(given)
    except RuntimeError as error:
        reason = str(error).split("\n")[0]
        raise UserError(f"{who} does not take input of shape {tuple(given.shape)}: {reason}") from error
    finally:
        module.train(was)


def open_net(what: Any, shape: tuple[int, ...], pixels: str) -> Net:
    """A `Net` from a name with options, a `.py` file, a function, or a pair of modules."""
    if isinstance(what, Net):
        return what
    if isinstance(what, tuple | list) and len(what) == 2 and all(isinstance(m, nn.Module) for m in what):
        pair = (what[0], what[1])
        return Net(lambda shape, latents: copy.deepcopy(pair), shape, pixels, f"own-{fingerprint(*pair)}")
    if callable(what) and not isinstance(what, nn.Module):
        own = Net(what, shape, pixels, getattr(what, "__name__", type(what).__name__).strip("<>"))
        return Net(what, shape, pixels, f"own-{own.name}-{_sample(own)}")
    if not isinstance(what, str):
        raise UserError(f"net must be a name, a file, a function or a pair of modules, not {type(what).__name__}")
    if what == "auto":
        what = "conv" if len(shape) == 3 and min(shape[1:]) >= 16 else "mlp"
    name, options = catalog.parse("networks", what)
    make = catalog.load("networks", name)
    return Net(lambda shape, latents: make(shape, latents, **options), shape, pixels, what)


def _sample(net: Net) -> str:
    """Tells functions apart that look alike: by a pair that they make."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return fingerprint(*net.pair(3))


def written(kind: type) -> str:
    """The source of a user's own class, where there is one."""
    if kind.__module__.startswith(("torch.", "unbraid.")):
        return kind.__name__
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        return kind.__name__


def fingerprint(*modules: nn.Module) -> str:
    """Changes with the structure, the source or the weights of modules."""
    digest = hashlib.blake2b(digest_size=6)
    for module in modules:
        digest.update(repr(module).encode())
        for name in sorted({written(type(part)) for part in module.modules()}):
            digest.update(name.encode())
        for tensor in module.state_dict().values():
            digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def layers(sizes: list[int], activation: Callable[[], nn.Module]) -> list[nn.Module]:
    """Fully connected layers, an activation after each."""
    return [m for a, b in pairwise(sizes) for m in (nn.Linear(a, b), activation())]
