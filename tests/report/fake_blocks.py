"""Run folders of a code in blocks over two groups, made of nothing but numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from report.fake import LATENTS, blob, fake_run

BLOCKS = {"common": slice(0, 6), "salient": slice(6, LATENTS)}
OPTIONS = {"common": 6, "salient": 4, "lambda_z": 1.0, "lambda_s": 10.0, "beta": 2.0}
SILENT = "the salient code of background is not silent: so says the score itself"
SORTS = [*"0123456789", "background"]


def fake_blocks(folder: Path, seed: int = 0, *, images: bool = True, options: dict[str, Any] | None = None) -> Path:
    """A good run: nothing to be warned of."""
    fake_run(folder, seed, images=images, method="w2_vae", data="grassy_mnist")
    rng = np.random.default_rng(seed)
    config = yaml.safe_load((folder / "config.yaml").read_text()) | {"options": options or OPTIONS}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    results = json.loads((folder / "results.json").read_text())
    results["blocks"] = {name: [where.start, where.stop] for name, where in BLOCKS.items()}
    results["groups"] = {"target": 200, "background": 200}
    results["scores"] |= {
        "clustering_accuracy": {"value": 0.9 + rng.normal(0, 0.01), "chance": 0.12, "best": "high"},
        "common_clustering": {"value": 0.13, "chance": 0.12, "best": "low"},
        "common_w2": {"value": 4.6 + rng.normal(0, 0.01), "ceiling": 4.4, "best": "low"},
        "salient_silence": {"value": 0.01, "ceiling": 0.0, "chance": 1.0, "best": "low"},
        "group_leakage": {"value": 0.52, "chance": 0.5, "best": "low"},
        "label_leakage": {"value": 0.12, "chance": 0.11, "best": "low", "parts": {"from_salient": {"digit": 0.9}}},
        "background_leakage": {"value": 0.55, "chance": 0.54, "best": "low"},
    }
    (folder / "results.json").write_text(json.dumps(results))
    lines = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    for line in lines:
        if "probe" in line:
            at = line["step"] / 20000
            line["distances"] = {"common": 9 - 4 * at, "common floor": 4.4, "salient": 9 * at, "salient floor": 0.5}
    (folder / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    if images:
        np.savez(folder / "pictures.npz", **pictures(rng))
    np.savez(folder / "codes.npz", **codes(rng))
    np.savez(folder / "maps.npz", **maps(rng))
    return folder


def pictures(rng: np.random.Generator) -> dict[str, np.ndarray]:
    def some(*shape: int) -> np.ndarray:
        places = rng.uniform(-0.6, 0.6, (int(np.prod(shape)), 2))
        return np.stack([blob(*place, 0.3, 16) for place in places]).reshape(*shape, 1, 16, 16)

    return {
        "block_sets": np.array(["original", "all of the code", "common alone", "salient alone"]),
        "blocks": some(4, 10),
        "group_names": np.array(["target", "background"]),
        "groups": some(2, 2, 10),
        "between/salient": some(6, 6),
    }


def codes(rng: np.random.Generator, rows: int = 400) -> dict[str, np.ndarray]:
    return {
        "mean": rng.normal(size=(rows, LATENTS)),
        "variance": np.full((rows, LATENTS), 0.1),
        "group": np.arange(rows) % 2,
        "groups": np.array(["target", "background"]),
    }


def maps(rng: np.random.Generator, rows: int = 400) -> dict[str, np.ndarray]:
    return {
        **{f"map/{name}": rng.normal(size=(rows, 2)) for name in BLOCKS},
        "sort": np.arange(rows) % len(SORTS),
        "sorts": np.array(SORTS),
        "sorted_by": np.array("digit"),
    }
