"""What the exact squared Wasserstein distance of common codes costs in a training step, and beside POT's exact solver.

128 targets and 128 backgrounds of 28x28x3, the network for grassy digits, z in R^8, s in R^4, Adam at 1e-3. The solvers get
the same batches of codes, costs included, in CPU seconds: pairs of N(0, I), every other one apart by 0.3 in each latent.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import timing
from timing import Row, Variant

BATCH, COMMON, SALIENT, SHAPE = 128, 8, 4, (3, 28, 28)


def codes(given: argparse.Namespace) -> np.ndarray:
    """Pairs (pairs, 2, batch, latents)."""
    pairs = np.random.default_rng(0).standard_normal((10 if given.quick else 1_000, 2, BATCH, COMMON))
    pairs[::2, 1] += 0.3
    return pairs


def seconds(
    act: Callable[[Any], Any], over: Any, warm_up: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Mean time of one call; the first are not counted."""
    for number, each in enumerate(over):
        if number == warm_up:
            began = clock()
        act(each)
    return (clock() - began) / (len(over) - warm_up)


def step(given: argparse.Namespace, name: str) -> float:
    """One step of a method: loss, gradient, Adam; pictures of noise, for their content costs nothing."""
    import torch

    from unbraid import catalog
    from unbraid.devices import keep_memory
    from unbraid.networks import open_net

    keep_memory()
    method = catalog.load("methods", name)(open_net("grassy", SHAPE, "unit"), COMMON, SALIENT, beta=2.0)
    method.to(memory_format=torch.channels_last)
    optimiser = torch.optim.Adam(method.parameters(), lr=1e-3)
    pictures = torch.randint(256, (4_096, *SHAPE), dtype=torch.uint8)

    def draw() -> Any:
        picked = pictures[torch.randint(len(pictures), (BATCH,))].float() / 255
        return picked.contiguous(memory_format=torch.channels_last)

    def act(number: int) -> None:
        optimiser.zero_grad()
        batch = {"x": draw(), "background": draw(), "noise": torch.randn(BATCH, method.noise)}
        method.loss(batch, number)["loss"].backward()
        optimiser.step()

    return seconds(act, range(4 if given.quick else 120), 2 if given.quick else 20)


def without(given: argparse.Namespace) -> float:
    return step(given, "zero_salient_vae")


def with_term(given: argparse.Namespace) -> float:
    return step(given, "w2_vae")


def term(given: argparse.Namespace) -> float:
    """The term by itself: plan, value and gradient."""
    import torch

    from unbraid.losses.wasserstein import squared_w2

    pairs = [[side.clone().requires_grad_() for side in pair] for pair in torch.from_numpy(codes(given)).float()]
    return seconds(lambda pair: squared_w2(*pair).backward(), pairs, 5)


def ours(given: argparse.Namespace) -> float:
    from unbraid import transport

    return seconds(lambda pair: transport.matching(*pair), codes(given), 5, time.process_time)


def pot(given: argparse.Namespace) -> float:
    import ot

    from unbraid import transport

    uniform = np.full(BATCH, 1 / BATCH)
    return seconds(lambda pair: ot.emd2(uniform, uniform, transport.costs(*pair)), codes(given), 5, time.process_time)


def largest_difference(given: argparse.Namespace) -> float:
    """Of the two solvers' values, relative."""
    import ot

    from unbraid import transport

    uniform, found = np.full(BATCH, 1 / BATCH), []
    for a, b in codes(given)[:100]:
        theirs = ot.emd2(uniform, uniform, transport.costs(a, b))
        found.append(abs(transport.squared_w2(a, b) / theirs - 1))
    return float(max(found))


STEP, WITH, TERM, OURS, POT = "step without W2", "step with W2", "W2 by itself", "assignment", "POT emd2"
VARIANTS = [Variant(STEP, without), Variant(WITH, with_term), Variant(TERM, term), Variant(OURS, ours), Variant(POT, pot, optional=True)]  # fmt: skip


def main() -> None:
    given = timing.options(__doc__)
    if given.variant:
        timing.answer(VARIANTS, given)
        return
    try:
        peer = version("pot")
    except PackageNotFoundError:
        peer = ""
    timing.print_setting(given, pot=peer or "not installed, so not compared (pip install 'unbraid[transport]')")
    variants = VARIANTS if peer else VARIANTS[:-1]
    found = timing.rounds(variants, given)
    timing.print_table(
        f"exact W2 of {BATCH} codes in R^{COMMON}",
        "of a step",
        [
            Row("the term by itself, of a step without it", timing.ratios(found, TERM, STEP), 0.15),
            Row("a step with it, of a step without it", timing.ratios(found, WITH, STEP), 1.15),
        ],
    )
    timing.print_table("the plan, costs included", "of POT's", [Row(OURS, timing.ratios(found, OURS, POT), 1.0)])
    if peer:
        print(f"\nlargest relative difference of the two values: {largest_difference(given):.1e}")


if __name__ == "__main__":
    main()
