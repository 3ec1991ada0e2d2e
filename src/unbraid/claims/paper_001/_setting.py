"""Grassy digits and the four methods of paper 001's Table 1, as keywords of `unbraid.train`, with each scale's budget."""

from __future__ import annotations

from typing import Any

from unbraid.claims import Bench

METHODS = {"cVAE": "cvae", "sRb-VAE": "srb_vae", "Eq. 7": "zero_salient_vae", "Eq. 8": "w2_vae"}
KINDS = {"L-MNIST": "linear", "NL-MNIST": "nonlinear"}
COMMON, SALIENT, BATCH = (
    8,
    4,
    128,
)  # A.3: z in R^8, s in R^4; the 16 and 8 of its text would have a W2 floor of 14, not 4.4
PAPER_STEPS = round(200 * 0.8 * 49_860 / BATCH)  # 200 epochs (Fig. 6) of the targets' training part
CPU_STEPS = 1_800  # of 24 trainings, at most 0.83 core-seconds for one of each method: 75 minutes on two cores


def digits(bench: Bench, kind: str, textures: str | None) -> str:
    """The data, over the user's textures where there are any."""
    told = {"kind": kind} if kind != "linear" else {}
    told |= {"textures": textures} if textures else {}
    told |= bench.pick({"per_digit": "12", "patches": "120"}, {}, {})
    return f"grassy_mnist:{','.join(f'{k}={v}' for k, v in told.items())}" if told else "grassy_mnist"


def job(bench: Bench, label: str, kind: str, textures: str | None = None) -> dict[str, Any]:
    """One cell row of Table 1: Adam 1e-3, beta 2 (A.3); sRb-VAE has no beta."""
    found: dict[str, Any] = {
        "method": METHODS[label], "data": digits(bench, KINDS[kind], textures), "net": bench.pick("mlp", "grassy", "grassy"),
        "common": COMMON, "salient": SALIENT, "batch_size": BATCH, "lr": 1e-3, "reconstruction": "squared",
        "steps": bench.pick(5, CPU_STEPS, PAPER_STEPS), "precision": bench.pick("float32", "bf16", "float32"),
        "seeds": list(range(bench.pick(1, 3, 3))), "probe_every": bench.pick(5, 500, 5000),
    }  # fmt: skip
    return found if label == "sRb-VAE" else {**found, "beta": 2.0}
