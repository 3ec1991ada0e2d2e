"""Randomness of a run: rows, noise and chance of every batch are a function of (seed, step, rank) and of nothing else.

Drawn a block of steps at a time, because one draw of many numbers is far cheaper than many draws of few. A seed
sees the same stream alone, in an ensemble and after a resume.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

BLOCK = 32  # steps; part of what a seed means, so it never changes


@dataclass(frozen=True)
class Pool:
    """Rows to pick from, each as likely as any other, and how many a batch has of them."""

    rows: Tensor
    count: int


class Drawn(NamedTuple):
    """What is random in a batch; each with a leading axis over seeds if they are stacked."""

    picks: tuple[Tensor, ...]  # (count,) row numbers, of each pool
    noise: Tensor  # (batch, noise) standard normal
    uniforms: Tensor  # (batch, uniforms) in 0..1


class Streams:
    """The batches of one seed, or of several side by side.

    Arguments:
        seeds: one stream each.
        pools: what rows are picked from.
        batch_size: samples per step and rank.
        noise: standard normal numbers per sample.
        device: where batches are wanted.
        uniforms: numbers in 0..1 per sample.
        rank: which of several processes asks.
        stacked: give a leading axis over seeds.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        pools: Sequence[Pool],
        batch_size: int,
        noise: int,
        device: torch.device,
        *,
        uniforms: int = 0,
        rank: int = 0,
        stacked: bool = False,
    ) -> None:
        self.seeds, self.batch_size, self.noise, self.uniforms = seeds, batch_size, noise, uniforms
        self.pools = [Pool(pool.rows.to(device), pool.count) for pool in pools]
        self.device, self.rank, self.stacked = device, rank, stacked
        self._block = -1
        self._drawn: list[Tensor] = []

    def at(self, step: int) -> Drawn:
        """What is random in a step."""
        block, place = divmod(step, BLOCK)
        if block != self._block:
            seeds = [self._draw(seed, block) for seed in self.seeds]
            drawn = [torch.stack(each, 1).to(self.device) for each in zip(*seeds, strict=True)]
            rows = [pool.rows[picks] for pool, picks in zip(self.pools, drawn, strict=False)]
            self._drawn, self._block = rows + drawn[len(rows) :], block
        *picks, noise, uniforms = (each[place] if self.stacked else each[place, 0] for each in self._drawn)
        return Drawn(tuple(picks), noise, uniforms)

    def _draw(self, seed: int, block: int) -> list[Tensor]:
        """In an order that never changes: what a view adds comes after what single samples need."""
        generator = torch.Generator().manual_seed((seed * 1_000_003 + block) * 1_009 + self.rank)
        picks = [torch.randint(len(p.rows), (BLOCK, p.count), generator=generator) for p in self.pools]
        noise = torch.randn(BLOCK, self.batch_size, self.noise, generator=generator)
        return [*picks, noise, torch.rand(BLOCK, self.batch_size, self.uniforms, generator=generator)]
