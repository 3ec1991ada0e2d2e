"""Where a run computes: the device, the processes that share it, the allocator and the number format."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager

import torch
from torch import Tensor

from unbraid.errors import UserError, unknown

PRECISIONS = {"float32": None, "bf16": torch.bfloat16}


class Devices:
    """One process's view of where the run computes; several processes under `accelerate launch` or `torchrun`."""

    def __init__(self, device: str = "auto", precision: str = "float32") -> None:
        if precision not in PRECISIONS:
            raise unknown("precision", precision, PRECISIONS)
        self.rank, self.world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
        if self.world > 1 or device == "auto":
            from accelerate import PartialState

            self.device = PartialState().device
        else:
            self.device = _available(device)
        self.dtype = PRECISIONS[precision]
        if self.device.type == "cpu":
            keep_memory()

    def autocast(self) -> AbstractContextManager[object]:
        """Run the forward pass in the run's precision."""
        if self.dtype is None:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=self.dtype)

    def wait(self) -> None:
        """Until every process is here."""
        if self.world > 1:
            torch.distributed.barrier()

    def average(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        """The mean over processes, sent as one flat vector."""
        flat = torch.cat([g.reshape(-1) for g in gradients])
        torch.distributed.all_reduce(flat)
        parts = (flat / self.world).split([g.numel() for g in gradients])
        return [part.view_as(g) for part, g in zip(parts, gradients, strict=True)]


def _available(name: str) -> torch.device:
    """The device of this name, if it can hold numbers."""
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, ImportError, TypeError) as error:
        raise UserError(f"device {name!r} is not available here: {str(error).splitlines()[0]}") from error
    if device.type == "meta" or (device.type == "cpu" and device.index):
        known = "meta computes nothing" if device.type == "meta" else "there is one cpu"
        raise UserError(f"device {name!r} is not available here: {known}; use cpu")
    return device


def keep_memory() -> None:
    """Tell glibc not to hand freed memory back: a quarter of a CPU step is page faults of fresh activations."""
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL("libc.so.6").mallopt
        mallopt(-4, 0)  # M_MMAP_MAX: no mmap for large blocks
        mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD: never trim
