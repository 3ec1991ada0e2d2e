"""One training step of the 3-2-3 linear VAE, and of ten seeds of it: bare PyTorch and Unbraid, eager and compiled.

Batches of 128 of the linear square, beta 1e-4, summed squared error, Adam at 1e-3, one thread for all. Only the second
half of a training is counted, so that compiling is over.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import timing
from timing import Row, Variant

BATCH, LATENTS, SEEDS, BETA = 128, 2, 10, 1e-4


def half(given: argparse.Namespace) -> int:
    """Steps of warm-up, and as many that are counted."""
    return 100 if given.quick else 10_000


def data() -> Any:
    from unbraid.data.linear_square import linear_square

    return linear_square()


def bare(given: argparse.Namespace) -> float:
    import torch
    from bare import BetaVAE, seconds_per_step, squared
    from torch import nn

    points = data().draw(torch.arange(len(data())))
    model = BetaVAE(nn.Linear(3, 2 * LATENTS), nn.Linear(LATENTS, 3), BETA, squared)
    seconds = seconds_per_step(model, points, BATCH, half(given), half(given))
    assert "unbraid.devices" not in sys.modules  # which would have changed the allocator
    return seconds


def unbraid(given: argparse.Namespace, **options: Any) -> float:
    import warnings

    from ours import seconds_per_step

    warnings.filterwarnings("error", message="no working compiler")
    return seconds_per_step(
        "beta_vae", data(), net="linear", latents=LATENTS, beta=BETA, batch_size=BATCH,
        warm_up=half(given), steps=half(given), **options,
    )  # fmt: skip


def compiled(given: argparse.Namespace) -> float:
    return unbraid(given, compile=True)


def seeds(given: argparse.Namespace) -> float:
    return unbraid(given, seeds=SEEDS)


def seeds_compiled(given: argparse.Namespace) -> float:
    return unbraid(given, seeds=SEEDS, compile=True)


BARE = "bare loop"
MANY, MANY_COMPILED = f"unbraid, {SEEDS} seeds", f"unbraid, {SEEDS} seeds, compiled"
VARIANTS = [
    Variant(BARE, bare),
    Variant("unbraid", unbraid),
    Variant("unbraid, compiled", compiled, optional=True),
    Variant(MANY, seeds),
    Variant(MANY_COMPILED, seeds_compiled, optional=True),
]


def main() -> None:
    given = timing.options(__doc__, threads=1)
    if given.variant:
        timing.answer(VARIANTS, given)
        return
    timing.print_setting(given)
    found = timing.rounds(VARIANTS, given)
    timing.print_table(
        "3-2-3 linear VAE, one step",
        "of bare",
        [
            Row(BARE, timing.ratios(found, BARE, BARE)),
            Row("unbraid", timing.ratios(found, "unbraid", BARE), 1.15),
            Row("unbraid, compiled", timing.ratios(found, "unbraid, compiled", BARE), 0.4),
        ],
    )
    timing.print_table(
        f"{SEEDS} seeds of it, one step of all",
        f"of {SEEDS} bare",
        [
            Row(MANY, timing.ratios(found, MANY, BARE, SEEDS), 0.25),
            Row(MANY_COMPILED, timing.ratios(found, MANY_COMPILED, BARE, SEEDS), 0.1),
        ],
    )


if __name__ == "__main__":
    main()
