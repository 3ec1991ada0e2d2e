"""Randomness of a run: rows and noise of every batch are a function of (seed, step, rank) and of nothing else.

Drawn a block of steps at a time, because one draw of many numbers is far cheaper than many draws of few. A seed
sees the same stream alone, in an ensemble and after a resume.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

BLOCK = 32  # steps; part of what a seed means, so it never changes


class Streams:
    """The batches of one seed, or of several side by side.

    Arguments:
        seeds: one stream each.
        rows: row numbers of the training part.
        batch_size: rows per step and rank.
        noise: standard normal numbers per row.
        device: where batches are wanted.
        rank: which of several processes asks.
        stacked: give a leading axis over seeds.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        rows: Tensor,
        batch_size: int,
        noise: int,
        device: torch.device,
        *,
        rank: int = 0,
        stacked: bool = False,
    ) -> None:
        self.seeds, self.rows, self.batch_size, self.noise = seeds, rows.to(device), batch_size, noise
        self.device, self.rank, self.stacked = device, rank, stacked
        self._block = -1
        self._picks = self._noise = torch.empty(0)

    def at(self, step: int) -> tuple[Tensor, Tensor]:
        """Row numbers (seeds?, batch) and noise (seeds?, batch, noise) of a step."""
        block, place = divmod(step, BLOCK)
        if block != self._block:
            drawn = [self._draw(seed, block) for seed in self.seeds]
            picks, noise = (torch.stack(each, 1).to(self.device) for each in zip(*drawn, strict=True))
            self._picks, self._noise, self._block = self.rows[picks], noise, block
        if self.stacked:
            return self._picks[place], self._noise[place]
        return self._picks[place, 0], self._noise[place, 0]

    def _draw(self, seed: int, block: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed((seed * 1_000_003 + block) * 1_009 + self.rank)
        picks = torch.randint(len(self.rows), (BLOCK, self.batch_size), generator=generator)
        return picks, torch.randn(BLOCK, self.batch_size, self.noise, generator=generator)
