"""What can be done with codes in blocks, for every method: silence, swap, decode as another group, move, find what is sensitive.

All of it works on codes (samples, latents) and ends in a decoder, a function from codes to samples.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import torch
from torch import Tensor

from unbraid.blocks import speaking
from unbraid.errors import UserError, unknown
from unbraid.methods import Method

EPSILON = 0.1
Decoder = Callable[[Tensor], Tensor]


def decoder(method: Method, blocks: Collection[str]) -> Decoder:
    """Decodes from some blocks, all others silent; `method.heard(group)` are those of a group."""
    check(method, blocks)
    return lambda codes: method.decode(speaking(method, codes, blocks))


def check(method: Method, blocks: Collection[str]) -> None:
    """Refuse blocks that the code does not have."""
    for name in blocks:
        if name not in method.blocks:
            raise unknown("block", name, method.blocks)


def without(method: Method, blocks: Collection[str]) -> list[str]:
    """All other blocks: what speaks when these are silenced."""
    check(method, blocks)
    return [name for name in method.blocks if name not in blocks]


def private(method: Method, group: str, groups: Sequence[str]) -> list[str]:
    """Blocks that are decoded in one of several groups and in no other."""
    others = {name for other in groups if other != group for name in method.heard(other)}
    return [name for name in method.heard(group) if name not in others]


def swapped(method: Method, codes: Tensor, others: Tensor, blocks: Collection[str]) -> Tensor:
    """Codes with some blocks from others; both of shape (samples, latents)."""
    check(method, blocks)
    if codes.shape != others.shape:
        raise UserError(f"codes of shape {tuple(codes.shape)} and {tuple(others.shape)}: blocks are swapped row by row")
    found = codes.clone()
    for name in blocks:
        found[:, method.blocks[name]] = others[:, method.blocks[name]]
    return found


def latents_in(method: Method, blocks: Collection[str]) -> list[int]:
    """The latents of some blocks."""
    check(method, blocks)
    return [at for name in blocks for at in range(method.latents)[method.blocks[name]]]


def moved(codes: Tensor, latents: Sequence[int], values: Tensor) -> Tensor:
    """Codes (latents, values, latents of the code) of one code, in each row another latent set to each value."""
    found = codes.repeat(len(latents), len(values), 1)
    for place, latent in enumerate(latents):
        found[place, :, latent] = values
    return found


def plane(codes: Tensor, latents: tuple[int, int], values: Tensor) -> Tensor:
    """Codes (values, values, latents) of one code: the first latent moves down, the second across."""
    found = codes.repeat(len(values), len(values), 1)
    found[..., latents[0]], found[..., latents[1]] = values[:, None], values
    return found


@torch.no_grad()
def sensitivity(decode: Decoder, codes: Tensor, epsilon: float = EPSILON) -> Tensor:
    """Mean over codes of |g(z + epsilon e_j) - g(z)| / epsilon for each latent: the size of a column of the Jacobian."""
    made = decode(codes).flatten(1)
    steps = epsilon * torch.eye(codes.shape[1], dtype=codes.dtype, device=codes.device)
    return torch.stack([(decode(codes + step).flatten(1) - made).norm(dim=1).mean() / epsilon for step in steps])


def most_sensitive(decode: Decoder, codes: Tensor) -> tuple[int, int]:
    """The two latents that change the samples most, as paper 000 picks the axes of its Fig. 5."""
    if codes.shape[1] < 2:
        raise UserError("a plane needs two latents, the code has one")
    first, second = sensitivity(decode, codes).topk(2).indices.tolist()
    return first, second
