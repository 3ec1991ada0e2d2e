"""Figure 3.6: nonlinear eigenfaces, latents of a beta-VAE as principal components ordered by noise"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import spearmanr

from unbraid.claims import Bench, Outcome
from unbraid.claims.paper_002._setting import budget
from unbraid.data import open_data
from unbraid.encoding import posterior
from unbraid.errors import UserError
from unbraid.evaluation import noise_ordered, traverse
from unbraid.report.pictures import grid_png
from unbraid.runs import slug

TAKES_DATA = True
ALPHA, COMPONENTS, AVERAGED = 2.5, 5, 300  # thesis Section 3.3.5


def run(bench: Bench) -> Outcome:
    """Any folder of faces by `--data`; Fashion-MNIST's garments where none is given."""
    name = bench.data or "fashion_mnist"
    if len(open_data(name).shape) != 3:
        raise UserError(f"--data {name} holds no images; this claim draws pictures")
    jobs = {"beta_vae": {
        "method": "beta_vae", "data": name, "net": bench.pick("mlp", "auto", "celeba"), "latents": bench.pick(6, 10, 32),
        "beta": 4.0, "lr": bench.pick(1e-3, 1e-3, 1e-4), "batch_size": 64, "steps": bench.pick(20, 4000, 100_000),
        "precision": bench.pick("float32", "bf16", "float32"), "seeds": list(range(bench.pick(1, 3, 3))), "probe_every": 500,
    }}  # fmt: skip
    runs = bench.train(jobs, metrics=("active_units",))
    ranks, figures = [], []
    for member in runs["beta_vae"].members:
        faces, rank = eigenfaces(member)
        ranks.append(rank)
        figures.append(str(grid_png(faces, bench.figure(f"figure-3.6-{slug(name)}-{member.path.name}.png"), scale=2)))
    classical = bench.figure(f"figure-3.6-{slug(name)}-pca.png")
    grid_png(linear_eigenfaces(runs["beta_vae"].members[0].data), classical, scale=2)
    orderings = {
        "less noise, more effect on the picture: rank correlation of sigma² and what a latent moves below -0.7": max(
            ranks
        )
        < -0.7
    }
    notes = [
        f"rank correlation per seed: {', '.join(f'{r:.2f}' for r in ranks)}. Rows of the picture are latents from the least noisy, "
        "columns z_mean - 2.5 e_i to z_mean + 2.5 e_i; the file ending in -pca shows linear eigenpictures beside it.",
        f"data: {Path(name).name}; the thesis uses CelebA.",
    ]
    return Outcome([], orderings, budget(jobs), figures=[*figures, str(classical)], notes=notes)


def eigenfaces(run: Any) -> tuple[np.ndarray, float]:
    """Pictures (components, steps, C, H, W) around the mean code, and how well noise ranks what latents move."""
    data = run.data
    rows = data.rows("test")
    mean, variance, _ = posterior(run, data, rows[:2000])
    assert variance is not None
    order = noise_ordered(mean, variance)
    centre = mean[:AVERAGED].mean(0)
    moved = traverse(run, centre, list(order), np.array([-ALPHA, ALPHA]))
    effect = np.square(moved[:, 1] - moved[:, 0]).reshape(len(order), -1).sum(1)
    rank = float(spearmanr(variance.mean(0)[order], effect).statistic)
    return traverse(run, centre, list(order[:COMPONENTS]), np.linspace(-ALPHA, ALPHA, 7)), rank


def linear_eigenfaces(data: Any) -> np.ndarray:
    """The same picture by PCA: mean ± 2.5 standard deviations along each of the first principal axes."""
    x = data.draw(data.rows("train")[:5000]).flatten(1)
    mean = x.mean(0)
    _, spread, axes = torch.pca_lowrank(x - mean, q=COMPONENTS, center=False)
    steps = torch.linspace(-ALPHA, ALPHA, 7)[None, :, None] * (spread / len(x) ** 0.5)[:, None, None] * axes.T[:, None]
    return (mean + steps).clamp(0, 1).unflatten(-1, data.shape).numpy()
