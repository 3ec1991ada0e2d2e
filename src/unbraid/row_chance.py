"""Chance that belongs to a row: numbers that depend on its number, a seed and nothing else, on every device.

A sample made with them is the same in every epoch, on every device and in every batch.
"""

from __future__ import annotations

import torch
from torch import Tensor


def uniform(rows: Tensor, count: int, seed: int) -> Tensor:
    """Numbers in [0, 1) (rows..., count) as float32, in steps of 2⁻²⁴."""
    return (_words(rows, count, seed) >> 8 & 0xFFFFFF).to(torch.float32).mul_(2.0**-24)


def random_bytes(rows: Tensor, count: int, seed: int) -> Tensor:
    """Bytes (rows..., count), four of a word: enough for pixels, and four times cheaper."""
    words = _words(rows, -(-count // 4), seed)
    return words.view(torch.uint8)[..., :count]


def _words(rows: Tensor, count: int, seed: int) -> Tensor:
    """32-bit words (rows..., count): place, row and seed mixed by xor, shift and odd factors until none shows."""
    start = _mix(rows.to(torch.int64).bitwise_and(0xFFFFFFFF).to(torch.int32) ^ _mix_number(seed))
    words = start[..., None] + torch.arange(count, dtype=torch.int32, device=rows.device) * -1640531527  # golden ratio
    return _mix(words)


def _mix(words: Tensor) -> Tensor:
    # Wellons's best two-round mixer of 32 bits ("lowbias32"); int32 wraps round, and >> needs its sign cut off.
    words = (words >> 16 & 0xFFFF).bitwise_xor_(words).mul_(0x7FEB352D)
    words = (words >> 15 & 0x1FFFF).bitwise_xor_(words).mul_(0x846CA68B - 2**32)
    return (words >> 16 & 0xFFFF).bitwise_xor_(words)


def _mix_number(seed: int) -> int:
    return int(_mix(torch.tensor([(seed * 2 + 1) & 0x7FFFFFFF], dtype=torch.int32)))
