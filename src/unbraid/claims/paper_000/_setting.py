"""Digits and clothes that are moved, turned and coloured, and the two models of paper 000, as keywords of `unbraid.train`."""

from __future__ import annotations

from typing import Any

from unbraid.claims import Bench

MODELS = {"masked": True, "vanilla": False}
BATCH, PRIVATE, SHARED = 32, 10, 10
BETA = 6.0  # the paper's 3 beside half of the squared error
SIDE, GARMENT = 32, 20 / 28  # digits fill 20 of 28 pixels, clothes all: so both keep inside the canvas
SHIFT, TURN = 6, 45
PAPER_STEPS = round(100 * 0.8 * 140_000 / BATCH)  # 100 epochs of the training part
CPU_STEPS = 6_000


def domains(bench: Bench) -> str:
    """Shifts of both, turns of digits, hues of clothes (Fig. 3, right); the paper gives neither sizes nor ranges."""
    half = bench.pick(0.5, 0.5, 1.0)
    size, shift = round(SIDE * half), round(SHIFT * half)
    digits = f"size={size}" + (f",scale={half:g}" if half != 1 else "")
    clothes = f"size={size},scale={round(GARMENT * half, 3):g}"
    return (
        f"mnist=mnist:{digits},colour=true,shift={shift},turn={TURN} & "
        f"fashion_mnist=fashion_mnist:{clothes},shift={shift},hue=true"
    )


def job(bench: Bench, model: str, **options: Any) -> dict[str, Any]:
    """One model of section 4: 30 latents, Adam 2e-4; smaller, shorter and faster below the paper's scale."""
    blocks = bench.pick(2, 4, None)
    found: dict[str, Any] = {
        "method": "masked_vae", "data": domains(bench), "masked": MODELS[model],
        "net": bench.pick("spatial_broadcast:channels=4", "spatial_broadcast", "spatial_broadcast:channels=64"),
        "private": blocks or PRIVATE, "shared": blocks or SHARED, "beta": bench.pick(BETA / 4, BETA / 4, BETA),
        "batch_size": BATCH, "lr": bench.pick(1e-3, 1e-3, 2e-4), "steps": bench.pick(5, CPU_STEPS, PAPER_STEPS),
        "seeds": list(range(bench.pick(1, 3, 3))), "probe_every": bench.pick(5, 500, 5000),
    }  # fmt: skip
    return {**found, **options}


def reduced(bench: Bench) -> list[str]:
    """What was changed at this scale, and why."""
    if bench.scale != "cpu":
        return []
    return [
        f"At cpu scale a canvas of {SIDE // 2}x{SIDE // 2} for {SIDE}x{SIDE}, hence a quarter of the pixels and of beta; 12 "
        f"latents for 30; {CPU_STEPS:,} steps of {BATCH} for {PAPER_STEPS:,}, at five times the learning rate."
    ]
