"""UDR: how far models that differ by seed alone agree on their latents, up to order, sign and scale; needs no labels.

Duan et al. 2020 as disentanglement_lib computes it. R_ab is the absolute weight of latent a of one model in a Lasso
for latent b of another, on standardised codes; a pair of models scores
1/2 [mean_b (max_a R_ab)^2 / sum_a R_ab + mean_a (max_b R_ab)^2 / sum_b R_ab], a model the median over the others that
predict it. Latents that say nothing are left out. Agreement is not disentanglement: all seeds may agree on a mixture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.correlation import ranks, unit
from unbraid.errors import UserError, unknown
from unbraid.lasso import lasso
from unbraid.metrics import Score, table

HOLDS = {
    "perfect_codes_reach_ceiling",
    "constant_code_scores_chance",
    "rotation_keeps",
    "duplicates_lower",
    "relabelled_category_keeps",
}

CORRELATIONS = ("lasso", "spearman")
# KL = -1/2 log(1 - var mu) for the best Gaussian of a latent: KL 0.01 is var mu = 0.02, where active ones are near 1.
QUIET = 0.02


def udr(
    models: Sequence[Any],
    *,
    kl: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    correlation: str = "lasso",
    alpha: float = 0.1,
    threshold: float = 0.01,
) -> Score:
    """Unsupervised disentanglement ranking; the value is the median over models.

    The ceiling is what identical models with uncorrelated latents reach, the weight of a Lasso being 1 - alpha.

    Arguments:
        models: arrays (samples, latents) of codes of the same samples, usually posterior means, one per seed.
        kl: per model the mean KL of each latent; without it latents below 2 % of the largest variance are left out.
        names: what warnings call the models; their numbers if not given.
        correlation: lasso or spearman.
        alpha: penalty of the Lasso; 0.1 in disentanglement_lib.
        threshold: latents with at most this KL in nats are left out.
    """
    codes, called = _check(models, kl, names, correlation, alpha)
    kept = [_kept(c, None if kl is None else np.asarray(kl[i], dtype=float), threshold) for i, c in enumerate(codes)]
    latents = [unit(ranks(c) if correlation == "spearman" else c) * k for c, k in zip(codes, kept, strict=True)]
    # Columns of unit length: everything a Lasso or a rank correlation needs is in their products.
    ends = np.cumsum([0, *(c.shape[1] for c in codes)])
    products = np.hstack(latents).T @ np.hstack(latents)

    pairwise = np.full((len(codes), len(codes)), np.nan)
    relations = {}
    for i in range(len(codes)):
        mine = slice(ends[i], ends[i + 1])
        weights = products[mine] if correlation == "spearman" else lasso(products[mine, mine], products[mine], alpha)
        for j in range(len(codes)):
            if i != j:
                relations[i, j] = np.abs(weights[:, ends[j] : ends[j + 1]])
                pairwise[i, j] = agreement(relations[i, j][np.ix_(kept[i], kept[j])])
    per_model = np.array([np.median(np.delete(column, i)) for i, column in enumerate(pairwise.T)])
    return Score(
        value=float(np.median(per_model)),
        parts={
            "per_model": per_model,
            "pairwise": pairwise,
            "kept": [np.flatnonzero(k) for k in kept],
            "relations": relations,
            "names": called,
        },
        settings={
            "models": len(codes),
            "samples": len(codes[0]),
            "estimator": "weights of a Lasso" if correlation == "lasso" else "rank correlations",
            "correlation": correlation,
            "alpha": alpha if correlation == "lasso" else None,
            "threshold": threshold,
            "left_out": f"KL <= {threshold:g}" if kl is not None else f"variance <= {QUIET:g} of the largest",
        },
        ceiling=1 - alpha if correlation == "lasso" else None,
        warnings=tuple(_warnings(codes, kept, called, kl is None)),
    )


def agreement(relation: np.ndarray) -> float:
    """Score of a pair of models from the strengths R (latents of one, latents of the other); 0 without any."""
    if not relation.size:
        return 0.0
    scores = []
    for axis in (0, 1):
        total = relation.sum(axis=axis)
        largest = relation.max(axis=axis)
        # A latent that relates to none counts as 0 and stays in the mean.
        scores.append(np.divide(largest**2, total, out=np.zeros_like(total), where=total > 0).mean())
    return float(np.mean(scores))


def _kept(codes: np.ndarray, kl: np.ndarray | None, threshold: float) -> np.ndarray:
    """Mask of latents that say something."""
    moves = np.ptp(codes, axis=0) > 4 * np.spacing(np.abs(codes).max(axis=0))
    if kl is not None:
        return moves & (kl > threshold)
    variance = codes.var(axis=0)
    return moves & (variance > QUIET * variance.max())


def _check(
    models: Sequence[Any], kl: Sequence[Any] | None, names: Sequence[str] | None, correlation: str, alpha: float
) -> tuple[list[np.ndarray], list[str]]:
    if correlation not in CORRELATIONS:
        raise unknown("correlation of UDR", correlation, CORRELATIONS)
    if not 0 < alpha < 1:
        raise UserError(f"alpha={alpha}: standardised codes need a penalty between 0 and 1")
    if len(models) < 2:
        raise UserError(f"UDR compares models that differ by seed: at least 2 are needed, {len(models)} given")
    called = [str(name) for name in names] if names is not None else [str(i) for i in range(len(models))]
    if len(called) != len(models):
        raise UserError(f"{len(called)} names given for {len(models)} models")
    if kl is not None and len(kl) != len(models):
        raise UserError(f"kl given for {len(kl)} of {len(models)} models")
    codes = [table(one, f"codes of model {name}") for one, name in zip(models, called, strict=True)]
    for i, (one, name) in enumerate(zip(codes, called, strict=True)):
        if len(one) != len(codes[0]):
            raise UserError(
                f"model {name} has {len(one)} rows but model {called[0]} {len(codes[0])}: they must encode the same samples"
            )
        if kl is not None and np.shape(kl[i]) != (one.shape[1],):
            raise UserError(f"kl of model {name} has shape {np.shape(kl[i])}, not ({one.shape[1]},): one per latent")
    return codes, called


def _warnings(codes: list[np.ndarray], kept: list[np.ndarray], names: list[str], guessed: bool) -> list[str]:
    found = []
    for one, mask, name in zip(codes, kept, names, strict=True):
        still = np.ptp(one, axis=0) <= 4 * np.spacing(np.abs(one).max(axis=0))
        if still.any():
            found.append(f"constant code columns {np.flatnonzero(still).tolist()} of model {name} are left out")
        if guessed and (quiet := np.flatnonzero(~mask & ~still)).size:
            found.append(f"latents {quiet.tolist()} of model {name} hardly vary and are left out: kl would tell")
        if not mask.any():
            found.append(f"model {name} has no latent left and agrees with none")
    if len(codes) < 5:
        found.append(f"{len(codes)} models are few: the median over the others is noisy")
    if len(codes[0]) < 1000:
        found.append(f"{len(codes[0])} samples are few: weights are noisy")
    return found
