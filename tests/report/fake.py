"""Run folders as training and evaluation leave them, made of nothing but numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import yaml

FACTORS = ["shape", "scale", "orientation", "x", "y"]
LATENTS = 10
ACTIVE = [3, 7, 0, 5, 8]


def fake_run(
    folder: Path,
    seed: int = 0,
    *,
    images: bool = True,
    beta: float = 4.0,
    method: str = "beta_vae",
    data: str = "sprites:pixels=32",
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    config = {
        "method": method,
        "data": data,
        "net": "conv",
        "options": {"beta": beta, "latents": LATENTS},
        "seed": seed,
        "steps": 20000,
        "batch_size": 64,
        "precision": "float32",
        "compile": False,
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    environment = {
        "unbraid": "0.1.0",
        "python": "3.11.7",
        "torch": "2.6",
        "device": "cpu",
        "started": "2025-03-01 10:00",
    }
    (folder / "environment.json").write_text(json.dumps(environment))
    (folder / "state.json").write_text(json.dumps({"status": "finished", "step": 20000}))
    (folder / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in history(rng)))
    (folder / "results.json").write_text(json.dumps(results(rng, beta)))
    if images:
        np.savez(folder / "pictures.npz", **pictures(rng))
    else:
        np.savez(folder / "codes.npz", **codes(rng))
    return folder


def history(rng: np.random.Generator) -> list[dict]:
    lines = []
    for step in range(100, 20001, 100):
        t = step / 20000
        kl = 14 * (1 - math.exp(-9 * t)) + rng.normal(0, 0.15)
        reconstruction = 30 + 500 * math.exp(-14 * t) + rng.normal(0, 2)
        terms = {"loss": reconstruction + 4 * kl, "reconstruction": reconstruction, "kl": kl}
        line: dict = {"step": step, "seconds": step / 80, "images_per_second": 5000, "terms": terms}
        if step % 500 == 0:
            on = 1 - math.exp(-9 * t)
            sigma2 = np.full(LATENTS, 0.995)
            for place, at in enumerate(ACTIVE):
                sigma2[at] = math.exp(-(5.5 - place * 0.6) * on)
            mu2 = np.where(np.arange(LATENTS)[:, None] == np.array(ACTIVE), 1, 0).sum(1) * 0.95 * on + 0.002
            log_sigma2 = np.log(sigma2) - 0.4 * math.exp(-12 * t)
            kl_each = 0.5 * (mu2 + sigma2 - log_sigma2 - 1)
            probe = {"mu2": mu2, "var_mu": mu2, "sigma2": sigma2, "log_sigma2": log_sigma2, "kl": kl_each}
            line["probe"] = {name: np.round(values, 6).tolist() for name, values in probe.items()}
        lines.append(line)
    return lines


def results(rng: np.random.Generator, beta: float = 4.0) -> dict:
    information = rng.uniform(0, 0.06, (LATENTS, len(FACTORS)))
    for at, factor in zip(ACTIVE, (3, 4, 1, 2, 0), strict=True):
        information[at, factor] = rng.uniform(0.5, 1.9)
    order = ACTIVE + [at for at in range(LATENTS) if at not in ACTIVE]
    mean = [at in ACTIVE for at in range(LATENTS)]
    noise = float(rng.normal(0, 0.02))
    return {
        "part": "test",
        "samples": 7000,
        "notes": ["sprites are drawn here; they are not the official dSprites file."],
        "scores": {
            "mig": {
                "value": 0.31 + noise + 0.01 * beta,
                "ceiling": 0.94,
                "best": "high",
                "parts": {"information": information.tolist()},
                "settings": {"bins": 20},
                "warnings": [],
            },
            "disentanglement_score": {
                "value": 0.42 + noise,
                "ceiling": None,
                "best": "high",
                "parts": {"clipped": 0.42, "raw": 0.47, "normalised": 0.39},
                "settings": {"neighbours": 5},
            },
            "distance_to_orthogonality": {
                "value": 0.78 + noise,
                "best": "low",
                "parts": {"haar": {"mean": 2.844, "sd": 0.125}, "active": {"value": 0.61, "latents": 5}},
                "settings": {"points": 200},
            },
            "ima_contrast": {"value": 0.21 + noise, "best": "low", "parts": {}, "settings": {"points": 200}},
            "active_units": {
                "value": 5,
                "best": "high",
                "parts": {"by_mean": mean, "by_noise": mean, "order": order},
            },
            "polarized_regime": {
                "value": 0.978,
                "best": "high",
                "parts": {"steps": [], "delta": [], "since": 3500},
            },
            "novel_score": {
                "value": 0.5 + noise,
                "best": "high",
                "parts": {},
                "settings": {"something": [1, 2]},
            },
        },
        "factors": [{"name": name, "size": 3 + at, "kind": "order"} for at, name in enumerate(FACTORS)],
    }


def blob(x: float, y: float, size: float, pixels: int = 32) -> np.ndarray:
    across, down = np.meshgrid(np.linspace(-1, 1, pixels), np.linspace(-1, 1, pixels))
    return 1 / (1 + np.exp(25 * (np.maximum(abs(across - x), abs(down - y)) - size)))[None]


def pictures(rng: np.random.Generator) -> dict[str, np.ndarray]:
    values = np.linspace(-2.5, 2.5, 11)
    originals = np.stack([blob(*rng.uniform(-0.6, 0.6, 2), rng.uniform(0.15, 0.4)) for _ in range(12)])
    made = np.clip(originals * 0.85 + 0.05 + rng.normal(0, 0.03, originals.shape), 0, 1)
    moves = {3: lambda v: (v / 4, 0, 0.3), 7: lambda v: (0, v / 4, 0.3), 0: lambda v: (0, 0, 0.3 + v / 14)}
    order = ACTIVE + [at for at in range(LATENTS) if at not in ACTIVE]
    rows = np.stack([np.stack([blob(*moves.get(at, lambda v: (0, 0, 0.3))(v)) for v in values]) for at in order])
    return {
        "originals": originals.astype("float32"),
        "reconstructions": made.astype("float32"),
        "traversals": rows.astype("float32"),
        "traversal_latents": np.array(order),
        "traversal_values": values,
    }


def codes(rng: np.random.Generator, count: int = 3000) -> dict[str, np.ndarray]:
    factors = rng.uniform(0, 1, (count, len(FACTORS)))
    mean = rng.normal(0, 0.05, (count, LATENTS))
    for at, factor in zip(ACTIVE, (3, 4, 1, 2, 0), strict=True):
        mean[:, at] += 3 * (factors[:, factor] - 0.5)
    variance = np.full((count, LATENTS), 0.99)
    variance[:, ACTIVE] = np.linspace(0.01, 0.2, len(ACTIVE))
    return {"mean": mean, "variance": variance, "factors": factors, "rows": np.arange(count)}
