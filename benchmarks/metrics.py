"""Scores beside the way disentanglement_lib computes them, on the same codes: how many times faster, how far apart.

10,000 codes of 10 latents with the factor sizes of dSprites; for DCI 3,000, because the reference takes minutes there.
MIG, modularity, SAP and "dci reference" are compared with the very same number, DCI by default with one within 0.01 of
it. Seconds are those of the processor, so that a busy machine adds noise and no bias.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import timing
from timing import Row, Variant

SIZES = (3, 6, 40, 32, 32)
MARKS = {
    "mig": 20, "modularity": 20, "sap": 8, "factor_vae_score": 3.5, "beta_vae_score": 3.5,
    "dci reference": 15, "dci": 35,
}  # fmt: skip


def samples(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes as a trained VAE has them: places well apart, the rest mixed, some latents of noise."""
    draw = np.random.default_rng(seed)
    factors = np.stack([draw.integers(size, size=rows) for size in SIZES], axis=1)
    scaled = factors / (np.array(SIZES) - 1) - 0.5
    turn = 2 * np.pi * scaled[:, 2]
    mixed = np.stack([
        scaled[:, 3] + 0.2 * scaled[:, 4], scaled[:, 4], scaled[:, 1] + 0.1 * np.cos(turn), np.cos(turn) * (1 + factors[:, 0]),
        np.sin(turn) + 0.3 * scaled[:, 0], scaled[:, 0] + 0.5 * scaled[:, 1] ** 2, np.sin(3 * turn),
    ], axis=1)  # fmt: skip
    codes = np.concatenate([2.5 * mixed, np.zeros((rows, 10 - mixed.shape[1]))], axis=1)
    return codes + 0.3 * draw.standard_normal(codes.shape), factors


def ours(name: str) -> Callable[..., float]:
    def score(codes: Any, factors: Any, test_codes: Any, test_factors: Any) -> float:
        import unbraid.metrics

        metric, _, reference = name.partition(" ")
        given: dict[str, Any] = {"reference": True} if reference or metric in ("mig", "modularity", "sap") else {}
        if metric in ("sap", "dci"):
            given |= {"test_codes": test_codes, "test_factors": test_factors}
        return getattr(unbraid.metrics, metric)(codes, factors, **given).value

    return score


def theirs(name: str) -> Callable[..., float]:
    def score(codes: Any, factors: Any, test_codes: Any, test_factors: Any) -> float:
        import reference_metrics

        metric = name.partition(" ")[0]
        given = (codes, factors, test_codes, test_factors) if metric in ("sap", "dci") else (codes, factors)
        return getattr(reference_metrics, metric)(*given)

    return score


def timed(name: str, score: Callable[..., float]) -> Callable[[argparse.Namespace], float]:
    """CPU seconds of one call, after one on few samples that imports and compiles; the value goes to standard error."""

    def measure(given: argparse.Namespace) -> float:
        rows = 200 if given.quick else 3_000 if name.startswith("dci") else 10_000
        small = (*samples(200, 2), *samples(100, 3))
        score(*small)
        arrays = (*samples(rows, 0), *samples(rows // 2, 1))
        began = time.process_time()
        value = score(*arrays)
        seconds = time.process_time() - began
        print(f"value {value}", file=sys.stderr)
        return seconds

    return measure


VARIANTS = [Variant(f"{side} {name}", timed(name, make(name))) for name in MARKS for side, make in (("ours", ours), ("theirs", theirs))
            if not (side == "theirs" and name == "dci reference")]  # fmt: skip


def main() -> None:
    given = timing.options(__doc__, threads=1)
    if given.variant:
        timing.answer(VARIANTS, given)
        return
    timing.print_setting(given)
    found = timing.rounds(VARIANTS, given)
    rows = [
        Row(name, timing.ratios(found, f"theirs {name.partition(' ')[0]}", f"ours {name}"), mark, "x")
        for name, mark in MARKS.items()
    ]
    timing.print_table("times faster than disentanglement_lib's procedure", "ratio", rows, least=True)
    print("\nvalue (theirs; FactorVAE and beta-VAE scores draw their own batches)")
    for name in MARKS:
        values = [
            value(f"{side} {each}", given.quick) for side, each in (("ours", name), ("theirs", name.partition(" ")[0]))
        ]
        print(f"{name:<18} {values[0]:.4f}  {values[1]:.4f}")


@cache
def value(variant: str, quick: bool) -> float:
    """The score itself, from one more run."""
    command = [sys.executable, sys.argv[0], "--variant", variant, "--threads", "1"] + ["--quick"] * quick
    done = subprocess.run(command, env=timing.clean(1), text=True, capture_output=True, check=True)
    json.loads(done.stdout.strip().splitlines()[-1])
    return float(next(line for line in done.stderr.splitlines() if line.startswith("value ")).split()[1])


if __name__ == "__main__":
    main()
