"""Theorem 2: a linear beta-VAE performs PCA; axes, variances and the collapse point follow a closed form"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from unbraid.claims import Bench, Cell, Outcome
from unbraid.linear_theory import linear_closed_form
from unbraid.methods.beta_vae import BetaVAE
from unbraid.networks import open_net

EXACT = 1e-3


def run(bench: Bench) -> Outcome:
    """Data with known eigenvalues, trained to the optimum of the exact expected loss; the theory has no free number."""
    seeds = bench.pick(1, 10, 10)
    beta, latents = 0.1, 4
    axes, noise, norms, collapse, aligned = [], [], [], [], []
    for seed in range(seeds):
        x = rotated_gaussian(seed)
        optimum = linear_closed_form(covariance(x), beta, latents)
        trained = train_exactly(x, beta, latents, seed)
        order = np.argsort(trained["noise"])
        columns = trained["columns"][:, order]
        cosines = np.abs((columns / np.linalg.norm(columns, axis=0)).T @ optimum.axes)
        axes.append(float(np.abs(cosines - np.eye(latents)).max()))
        noise.append(float(np.abs(trained["noise"][order] - optimum.noise).max()))
        norms.append(float(np.abs((columns**2).sum(0) - optimum.column_norms).max()))
        collapse.append(abs(collapse_point(x, seed) - optimum.collapse[latents - 1]))
        aligned.append(float(np.abs(trained["mean_variance"][order] + optimum.noise - 1).max()))
    cells = [
        Cell("axes: largest error of |cos| to the principal axes", (0.0, 0.0), axes, EXACT),
        Cell("noise: largest error of sigma² = beta / 2 lambda", (0.0, 0.0), noise, EXACT),
        Cell("decoder: largest error of |W|² = lambda - beta / 2", (0.0, 0.0), norms, EXACT),
        Cell("means: largest error of var mu = 1 - sigma²", (0.0, 0.0), aligned, EXACT),
        Cell("collapse: error of beta = 2 lambda", (0.0, 0.0), collapse, EXACT),
    ]
    orderings = {"every quantity agrees with the closed form within 1e-3, for every seed": all(
        max(cell.values) < EXACT for cell in cells)}  # fmt: skip
    words = f"{seeds} seeds, 8 dimensions, {latents} latents, beta {beta}, L-BFGS on the exact expected loss"
    return Outcome(cells, orderings, words, notes=[
        "The thesis proves this and prints no number; 'paper' is the theory's own value of each error, 0.",
    ])  # fmt: skip


def rotated_gaussian(seed: int) -> Tensor:
    """Centred samples in 8 dimensions with eigenvalues 1, 0.7, 0.45, 0.25 and less, in directions of no axis."""
    draw = np.random.default_rng(seed)
    rotation = np.linalg.qr(draw.normal(size=(8, 8)))[0]
    x = draw.normal(size=(64, 8))
    x -= x.mean(0)
    white = x @ np.linalg.inv(np.linalg.cholesky(x.T @ x / len(x))).T
    return torch.from_numpy(white * np.sqrt([1.0, 0.7, 0.45, 0.25, 0.04, 0.03, 0.02, 0.01]) @ rotation.T)


def covariance(x: Tensor) -> np.ndarray:
    """Of these very samples, which is what the loss sees."""
    return (x.T @ x / len(x)).numpy()


def train_exactly(x: Tensor, beta: float, latents: int, seed: int) -> dict[str, np.ndarray]:
    """Train the library's own linear beta-VAE; noise ±√d e_i has the moments of N(0, I), so no draw blurs the optimum."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        method = BetaVAE(open_net("linear", (x.shape[1],), "real"), latents, beta=beta).double()
    corners = torch.cat([torch.eye(latents), -torch.eye(latents)]).double() * latents**0.5
    batch = {"x": x.repeat(2 * latents, 1), "noise": corners.repeat_interleave(len(x), 0)}
    search = torch.optim.LBFGS(
        method.parameters(),
        max_iter=4000,
        history_size=50,
        tolerance_grad=1e-10,
        tolerance_change=1e-15,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        search.zero_grad()
        loss = method.loss(batch, 0)["loss"]
        loss.backward()
        return loss

    search.step(closure)
    with torch.no_grad():
        q = method.posterior(x)
        columns = torch.stack(
            [method.decode(e[None])[0] - method.decode(0 * e[None])[0] for e in torch.eye(latents).double()],
            1,
        )
    return {
        "noise": q.variance.mean(0).numpy(),
        "mean_variance": q.mean.var(0, correction=0).numpy(),
        "columns": columns.numpy(),
    }


def collapse_point(x: Tensor, seed: int) -> float:
    """Where the weakest axis's |W|² reaches zero, from two trainings below: |W|² falls linearly in beta."""
    smallest = []
    betas = (0.40, 0.45)
    for beta in betas:
        columns = train_exactly(x, beta, 4, seed)["columns"]
        smallest.append(float((columns**2).sum(0).min()))
    slope = (smallest[1] - smallest[0]) / (betas[1] - betas[0])
    return betas[0] - smallest[0] / slope
