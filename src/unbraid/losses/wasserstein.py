"""Squared 2-Wasserstein distance between two batches of codes, by the exact transport plan (paper 001, Eqs. 8 and 9).

The plan is found outside of torch, as operators of their own: stacked seeds and a compiled step call them like any
other. By Danskin's theorem the gradient of the minimum is that of the cost at the plan found, so none passes the plan.
Where codes are on an accelerator, they are waited for: the solver runs on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid import transport


def squared_w2(a: Tensor, b: Tensor) -> Tensor:
    """W2² between the uniform measures on the rows of a and of b: the mean squared distance of matched rows."""
    if len(a) == len(b):
        partner = torch.ops.unbraid.matching(a.detach(), b.detach())
        return (a - b.index_select(0, partner)).square().sum(-1).mean()
    weights = torch.ops.unbraid.plan(a.detach(), b.detach())
    return (weights * (a.unsqueeze(1) - b.unsqueeze(0)).square().sum(-1)).sum()


@torch.library.custom_op("unbraid::matching", mutates_args=())
def _matching(a: Tensor, b: Tensor) -> Tensor:
    return _on(a, transport.matching, a, b).to(torch.int64)


@torch.library.custom_op("unbraid::plan", mutates_args=())
def _plan(a: Tensor, b: Tensor) -> Tensor:
    return _on(a, transport.plan, a, b).to(a.dtype)


@_matching.register_fake
def _(a: Tensor, b: Tensor) -> Tensor:
    return a.new_empty(len(a), dtype=torch.int64)


@_plan.register_fake
def _(a: Tensor, b: Tensor) -> Tensor:
    return a.new_empty(len(a), len(b))


def _on(like: Tensor, solve: Callable[..., np.ndarray], *codes: Tensor) -> Tensor:
    arrays = [code.cpu().double().numpy() for code in codes]
    return torch.from_numpy(solve(*arrays)).to(like.device)


def _one_by_one(operator: Any) -> Callable[..., Any]:
    """Seeds stacked by vmap, each solved by itself."""

    def mapped(info: Any, places: tuple[int | None, ...], *codes: Tensor) -> tuple[Tensor, int]:
        own = [
            [code if place is None else code.select(place, i) for code, place in zip(codes, places, strict=True)]
            for i in range(info.batch_size)
        ]
        return torch.stack([operator(*each) for each in own]), 0

    return mapped


_matching.register_vmap(_one_by_one(_matching))
_plan.register_vmap(_one_by_one(_plan))
