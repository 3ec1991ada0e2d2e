"""DCI-ES: disentanglement and completeness by forests, how simple a probe suffices, and how large the code is.

Eastwood et al. 2023. D and C are those of DCI with the importances of a random forest instead of boosted trees:
another score, not to be compared with DCI. Explicitness of a factor is E = 1 - 2 A, where A is the area between the
loss of probes of growing capacity and its smallest value, over that of a loss of 1 all along; the loss is the held-out
squared error in shares of the variance and never rises with capacity. Size is factors over latents.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.importance import completeness, disentanglement, spread
from unbraid.metrics import Score, check, kinds_of, split, usual_warnings
from unbraid.pitfalls import doubtful_orders
from unbraid.targets import varying

# Not permuted_codes: forests and random features are drawn by column number. Not perfect_codes_reach_ceiling: trees of
# a classifying forest may use only some latents at each node, so useless ones are used too, and D stays under 1.
HOLDS = {
    "rescaled_codes",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_lowers",
    "duplicates_keep",
    "monotone_warp_keeps",
    "dead_latents_keep",
}
SECONDS = 4  # of 10,000 samples, about

CAPACITIES = (16, 32, 64, 128, 256, 512, 1024)
GAIN = 0.08  # standard deviation of the frequencies of the random features
RIDGE = 1e-9  # share of the mean squared feature: only against rounding


def dci_es(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    test_codes: Any = None,
    test_factors: Any = None,
    capacities: Sequence[int] = CAPACITIES,
    gain: float = GAIN,
    trees: int = 30,
    leaves: int = 200,
    seed: int = 0,
) -> Score:
    """Disentanglement (also the value) and completeness by forests, explicitness, informativeness and size.

    A probe of capacity k is a linear readout of k random Fourier features of the standardised codes, fitted by least
    squares; the axis is log k. Only scores of the same capacities and gain may be compared. A code that tells nothing
    has no loss to shed and E = 1: read E with informativeness. Categories are predicted as shares of their classes,
    cycles by cosine and sine, orders and continuous factors as numbers.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor (category, order, continuous, cycle).
        test_codes: codes that the loss is measured on; without them a third of the samples is held out.
        test_factors: their factors.
        capacities: numbers of random features, growing.
        gain: standard deviation of the frequencies of the features; 0.08 in the reference.
        trees: trees of each forest; 100 in the reference.
        leaves: most leaves of a tree; 200 in the reference.
        seed: draws the held-out samples, the features and the forests.
    """
    codes, factors = check(codes, factors)
    grid = [int(k) for k in capacities]
    if len(grid) < 2 or grid[0] < 1 or any(b <= a for a, b in pairwise(grid)):
        raise UserError(f"capacities={tuple(grid)}: at least two positive numbers, each larger than the one before")
    for name, number, least in (("trees", trees, 1), ("leaves", leaves, 2)):
        if number < least:
            raise UserError(f"{name}={number}: must be at least {least}")
    kind = kinds_of(factors, kinds)
    fit, wanted, held, truth = split(codes, factors, test_codes, test_factors, seed)
    varies = varying(wanted, truth, "DCI-ES")
    alive = np.ptp(fit, axis=0) > 4 * np.spacing(np.abs(fit).max(axis=0))
    mean, scale = fit[:, alive].mean(axis=0), fit[:, alive].std(axis=0)
    fit, held = (fit[:, alive] - mean) / scale, (held[:, alive] - mean) / scale
    columns = np.flatnonzero(varies)
    readable = [_readable(factors[:, j], kind[j]) for j in columns]
    losses = _losses(
        fit, [read(wanted[:, j]) for read, j in zip(readable, columns, strict=True)],
        held, [read(truth[:, j]) for read, j in zip(readable, columns, strict=True)],
        grid, gain, seed,
    )  # fmt: skip
    importances = np.zeros((codes.shape[1], len(columns)))
    if alive.any():
        for at, (read, j) in enumerate(zip(readable, columns, strict=True)):
            importances[alive, at] = _forest(fit, wanted[:, j], read(wanted[:, j]), kind[j], trees, leaves, seed)
    d, per_latent = disentanglement(importances)
    c, per_factor = completeness(importances)
    explicit = explicitness(np.log(grid), losses)
    warnings = [*usual_warnings(codes, factors, kinds), *doubtful_orders(codes, factors, kind, kinds)]
    if (losses[-1] > 0.9).any():
        warnings.append(
            "some factors cannot be predicted by any probe: their explicitness is 1 for want of a loss to shed"
        )
    return Score(
        value=d,
        facets={
            "disentanglement": d,
            "completeness": c,
            "informativeness": float((1 - losses[-1]).mean()),
            "explicitness": float(explicit.mean()),
            "size": float(varies.sum() / codes.shape[1]),
        },
        parts={
            "importances": spread(importances, varies),
            "per_latent": per_latent,
            "per_factor": spread(per_factor[None], varies)[0],
            "explicitness_per_factor": spread(explicit[None], varies)[0],
            "losses": spread(losses, varies),
            "capacities": grid,
        },
        settings={
            "estimator": "random Fourier features and least squares; random forests",
            "capacities": grid,
            "axis": "log",
            "gain": gain,
            "importances": "impurity",
            "trees": trees,
            "leaves": leaves,
            "seed": seed,
            "fitted": len(fit),
            "scored": len(held),
            "kinds": kind,
        },
        warnings=tuple(warnings),
    )


def explicitness(axis: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """E of every column of losses (capacities, factors) that never rise; a loss of 1 is the baseline."""
    above = losses - losses.min(axis=0)
    area = (0.5 * (above[1:] + above[:-1]) * np.diff(axis)[:, None]).sum(axis=0)
    return 1 - 2 * area / (axis[-1] - axis[0])


def _readable(column: np.ndarray, kind: str) -> Any:
    """The function that turns values of a factor into the columns that probes predict."""
    if kind == "category":
        names = np.unique(column)
        return lambda values: (values[:, None] == names).astype(float)
    if kind == "cycle":
        whole = bool((column == np.round(column)).all())
        period = float(np.ptp(column) + 1) if whole else 2 * np.pi
        return lambda values: np.stack([np.cos(a := 2 * np.pi * values / period), np.sin(a)], axis=1)
    return lambda values: values[:, None]


def _losses(
    fit: np.ndarray,
    wanted: list[np.ndarray],
    held: np.ndarray,
    truth: list[np.ndarray],
    grid: list[int],
    gain: float,
    seed: int,
) -> np.ndarray:
    """Running smallest held-out squared error in shares of the variance, (capacities, factors)."""
    draw = np.random.default_rng(seed)
    frequencies = gain * draw.standard_normal((fit.shape[1], grid[-1]))
    phases = draw.uniform(0, 2 * np.pi, grid[-1])
    inputs, known = np.cos(fit @ frequencies + phases), np.cos(held @ frequencies + phases)
    middle, means = inputs.mean(axis=0), [part.mean(axis=0) for part in wanted]
    inputs, known = inputs - middle, known - middle
    everything = np.hstack([part - mean for part, mean in zip(wanted, means, strict=True)])
    ends = np.cumsum([part.shape[1] for part in wanted])[:-1]
    square, product = inputs.T @ inputs, inputs.T @ everything
    losses = np.ones((len(grid), len(wanted)))
    for at, k in enumerate(grid):
        ridge = RIDGE * max(np.trace(square[:k, :k]) / k, np.finfo(float).tiny)
        weights = np.linalg.solve(square[:k, :k] + ridge * np.eye(k), product[:k])
        for j, predicted in enumerate(np.split(known[:, :k] @ weights, ends, axis=1)):
            error = ((predicted + means[j] - truth[j]) ** 2).sum()
            losses[at, j] = error / ((truth[j] - truth[j].mean(axis=0)) ** 2).sum()
    return np.minimum.accumulate(np.minimum(losses, 1.0), axis=0)


def _forest(
    fit: np.ndarray, column: np.ndarray, numbers: np.ndarray, kind: str, trees: int, leaves: int, seed: int
) -> np.ndarray:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    size = {"n_estimators": trees, "max_leaf_nodes": leaves, "max_depth": 20, "random_state": seed}
    if kind == "category":
        model = RandomForestClassifier(**size).fit(fit, column)
    else:
        model = RandomForestRegressor(**size).fit(fit, numbers[:, 0] if numbers.shape[1] == 1 else numbers)
    return np.abs(model.feature_importances_)
