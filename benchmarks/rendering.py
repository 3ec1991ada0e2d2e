"""Drawing a batch of 64 sprites of 64x64, beside looking one up in memory and beside one training step.

All of them with freed memory kept, as it is while Unbraid trains.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from typing import Any

import conv
import timing
from timing import Row, Variant


def seconds_per_batch(given: argparse.Namespace, fetch: Callable[[Any], Any], samples: int) -> float:
    """Fetch batches of random rows; the first are not counted."""
    import torch

    from unbraid.devices import keep_memory

    keep_memory()
    warm_up, batches = (2, 10) if given.quick else (200, 2_000)
    rows = torch.randint(samples, (warm_up + batches, conv.BATCH), generator=torch.Generator().manual_seed(0))
    for number, some in enumerate(rows):
        if number == warm_up:
            began = time.perf_counter()
        fetch(some)
    return (time.perf_counter() - began) / batches


def drawn(given: argparse.Namespace) -> float:
    from unbraid.data.sprites import sprites

    data = sprites()
    return seconds_per_batch(given, data.draw, len(data))


def stored(given: argparse.Namespace) -> Any:
    """Far more pictures than a processor's caches hold: 256 MiB of bytes."""
    import torch

    from unbraid.data.sprites import sprites

    data = sprites()
    rows = torch.randperm(len(data))[: 2_048 if given.quick else 65_536]
    return torch.cat([data.draw(part).to(torch.uint8) for part in rows.split(4_096)])


def looked_up(given: argparse.Namespace) -> float:
    pictures = stored(given)
    return seconds_per_batch(given, lambda rows: pictures.index_select(0, rows), len(pictures))


def looked_up_as_float(given: argparse.Namespace) -> float:
    pictures = stored(given)
    return seconds_per_batch(given, lambda rows: pictures.index_select(0, rows).float().div_(255), len(pictures))


DRAWN, STEP, BYTES, FLOATS = "drawn", "training step", "looked up", "looked up, as float32"
VARIANTS = [
    Variant(DRAWN, drawn),
    Variant(STEP, conv.unbraid),
    Variant(BYTES, looked_up),
    Variant(FLOATS, looked_up_as_float),
]


def main() -> None:
    given = timing.options(__doc__)
    if given.variant:
        timing.answer(VARIANTS, given)
        return
    timing.print_setting(given)
    with tempfile.TemporaryDirectory() as given.folder:
        conv.draw(given)
        found = timing.rounds(VARIANTS, given)
    rows = [
        Row("of a training step of the conv beta-VAE, float32", timing.ratios(found, DRAWN, STEP), 0.1),
        Row("of index_select of stored uint8", timing.ratios(found, DRAWN, BYTES)),
        Row("of the same, turned into float32 as training needs", timing.ratios(found, DRAWN, FLOATS)),
    ]
    timing.print_table("drawing a batch of 64 sprites takes, in parts", "ratio", rows)


if __name__ == "__main__":
    main()
