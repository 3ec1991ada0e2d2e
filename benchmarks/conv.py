"""One training step of the 64x64 convolutional beta-VAE of disentanglement_lib: bare PyTorch, Unbraid, pythae.

The same networks, 8,192 sprites, batches of 64 and Adam at 1e-3 for all.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import timing
from numpy.typing import NDArray
from timing import KEPT, Row, Variant

BATCH, LATENTS, SHAPE = 64, 10, (1, 64, 64)


def counts(given: argparse.Namespace) -> tuple[int, int]:
    """Warm-up steps, and steps that are counted."""
    return (2, 4) if given.quick else (28, 100)


def draw(given: argparse.Namespace) -> None:
    """Keep as many sprites in a file as one pass over all steps needs."""
    import torch

    from unbraid.data.sprites import sprites

    data = sprites()
    rows = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))[: BATCH * sum(counts(given))]
    np.save(Path(given.folder) / "sprites.npy", data.draw(rows).mul_(255).to(torch.uint8).numpy())


def pictures(given: argparse.Namespace) -> NDArray[np.uint8]:
    return np.load(Path(given.folder) / "sprites.npy")


def networks() -> tuple[Any, Any]:
    """Encoder and decoder, which the bare loop and the peers take from us so that they are the same."""
    from torch import nn

    from unbraid.networks.conv import conv

    trunk, decoder = conv(SHAPE, LATENTS)
    return nn.Sequential(trunk, nn.Linear(256, 2 * LATENTS)), decoder


def bare(given: argparse.Namespace) -> float:
    import torch
    from bare import BetaVAE, bernoulli, seconds_per_step

    model, data = BetaVAE(*networks(), 4.0, bernoulli), torch.from_numpy(pictures(given))
    warm_up, steps = counts(given)
    seconds = seconds_per_step(model, data, BATCH, warm_up, steps)
    assert "unbraid.devices" not in sys.modules  # which would have changed the allocator
    return seconds


def unbraid(given: argparse.Namespace, precision: str = "float32") -> float:
    from ours import seconds_per_step

    warm_up, steps = counts(given)
    return seconds_per_step(
        "beta_vae", pictures(given), net="conv", latents=LATENTS, batch_size=BATCH, precision=precision,
        warm_up=warm_up, steps=steps,
    )  # fmt: skip


def unbraid_bf16(given: argparse.Namespace) -> float:
    return unbraid(given, "bf16")


def pythae(given: argparse.Namespace) -> float:
    import peers

    return peers.pythae(*networks(), LATENTS, pictures(given), BATCH, counts(given)[0])


BARE = "bare loop"
VARIANTS = [
    Variant(BARE, bare),
    Variant("bare loop, memory kept by the environment", bare, KEPT),
    Variant("unbraid", unbraid),
    Variant("unbraid, bf16", unbraid_bf16),
    Variant("pythae", pythae, optional=True),
]
MARKS = {"unbraid": 0.8, "unbraid, bf16": 0.55}


def main() -> None:
    given = timing.options(__doc__)
    if given.variant:
        timing.answer(VARIANTS, given)
        return
    try:
        peer = version("pythae")
    except PackageNotFoundError:
        peer = ""
    variants = VARIANTS if peer else VARIANTS[:-1]
    timing.print_setting(
        given,
        memory="freed memory is kept by unbraid, and given back by bare and pythae unless said otherwise",
        pythae=peer or "not installed, so not compared (pip install pythae)",
    )
    with tempfile.TemporaryDirectory() as given.folder:
        draw(given)
        found = timing.rounds(variants, given)
    rows = [Row(v.name, timing.ratios(found, v.name, BARE), MARKS.get(v.name)) for v in variants]
    timing.print_table("conv beta-VAE, one step", "of bare", rows)
    peers = [Row(f"{name} / pythae", timing.ratios(found, name, "pythae")) for name in MARKS]
    if any(row.values for row in peers):
        timing.print_table("against the peer", "of pythae", peers)


if __name__ == "__main__":
    main()
