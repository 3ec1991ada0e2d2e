"""Disentanglement score: how much better the best latent predicts a factor than the second best does.

DS of Zietlow's thesis, a gap like MIG's, in predictability.

Eqs. 3.32-3.37. A_ij is how well a 5-nearest-neighbour predictor tells factor i from latent j alone, M_i what
the best constant reaches: sqrt(var w_i) - rmse against sqrt(var w_i) where it regresses, accuracy against the
share of the most frequent value where it classifies. DS = mean_i (A_i,best - A_i,second) / M_i.

As printed the terms do not stay within (0, 1): 5-NN regression from pure noise has A < 0, its rmse being
sqrt(1 + 1/5) std, and classification reaches (1 - a) / a, which is 2 for three balanced classes. Three forms:

- `clipped`: A at least 0, which the published values imply;
- `raw`: as printed;
- `normalised`: for classification A = (accuracy - a) / (1 - a) and M = 1; A at least 0; within [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError, unknown
from unbraid.factors import Factor
from unbraid.information import distinct
from unbraid.metrics import Score, check, kinds_of, label, usual_warnings
from unbraid.pitfalls import doubtful_orders

# Not sample_order: which rows fit and which are scored is drawn by row number.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "perfect_codes_reach_ceiling",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_lowers",
    "duplicates_lower",
    "dead_latents_keep",
    "noise_latents_keep",
    "relabelled_category_keeps",
    "monotone_warp_keeps",
}

FORMS = ("clipped", "raw", "normalised")


def disentanglement_score(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    form: str = "clipped",
    neighbours: int = 5,
    seed: int = 0,
) -> Score:
    """Predictability gap between the two best latents of each factor.

    The thesis does not say which dSprites factors it regressed. Here a category is classified and everything
    else regressed; a cycle by its cosine and sine together, for 359 degrees are close to 0. The ceiling is
    the score of the factors themselves, taken as codes.

    Arguments:
        codes: array (samples, latents), usually posterior means of the test set.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor; category is classified, order, continuous and cycle are regressed.
        form: clipped, raw or normalised; the other two are in `parts`.
        neighbours: neighbours of the predictor; 5 in the thesis.
        seed: which 80 % of the samples fit and which 20 % are scored.
    """
    codes, factors = check(codes, factors)
    if form not in FORMS:
        raise unknown("form of the disentanglement score", form, FORMS)
    fit, held = _split(len(codes), seed)
    if not 1 <= neighbours <= len(fit):
        raise UserError(f"neighbours={neighbours}: must be from 1 to the {len(fit)} samples used to fit")
    kind = kinds_of(factors, kinds)
    targets = [_target(factors[:, i], k, None if kinds is None else kinds[i]) for i, k in enumerate(kind)]
    constant = np.array([_constant(target[held], k) for target, k in zip(targets, kind, strict=True)])
    varies = np.array([len(np.unique(column[held])) > 1 for column in factors.T])
    if not varies.any():
        raise UserError("no factor column varies among the scored samples; DS needs at least one that does")

    accuracies = _accuracies(codes, targets, kind, constant, fit, held, neighbours)
    gaps = {name: _gaps(accuracies, constant, kind, varies, name) for name in FORMS}
    perfect = _accuracies(_perfect(factors, kind), targets, kind, constant, fit, held, neighbours)
    return Score(
        value=float(np.nanmean(gaps[form])),
        parts={
            "accuracies": accuracies,
            "M": constant,
            "per_factor": gaps[form],
            **{name: float(np.nanmean(values)) for name, values in gaps.items()},
        },
        settings={
            "form": form,
            "neighbours": neighbours,
            "seed": seed,
            "fitted": len(fit),
            "scored": len(held),
            "kinds": kind,
            "estimator": ["classifier" if k == "category" else "regressor" for k in kind],
        },
        ceiling=float(np.nanmean(_gaps(perfect, constant, kind, varies, form))),
        warnings=tuple(_warnings(codes, factors, constant, kind, kinds, varies, form)),
    )


def _split(samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(samples)
    cut = max(1, min(samples - 1, round(0.8 * samples)))
    return order[:cut], order[cut:]


def _target(column: np.ndarray, kind: str, given: Factor | str | None) -> np.ndarray:
    """What is predicted: class numbers (samples,), or real numbers (samples, 1 or 2)."""
    if kind == "category":
        return distinct(column)
    if kind != "cycle":
        return column[:, None]
    whole = bool((column == np.round(column)).all())
    size = given.size if isinstance(given, Factor) else 0
    period = float(size or column.max() - column.min() + 1) if whole else 2 * np.pi
    angle = 2 * np.pi * column / period
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _constant(target: np.ndarray, kind: str) -> float:
    """M_i: accuracy, or root mean squared error, of the best constant on the scored samples."""
    if kind == "category":
        return float(np.bincount(target).max() / len(target))
    return float(np.sqrt(target.var(axis=0).sum()))


def nearest(column: np.ndarray, queries: np.ndarray, neighbours: int) -> np.ndarray:
    """Row numbers of the nearest values to each query, (queries, neighbours).

    Exact: in one dimension they are among as many values on either side of where the query sorts in.
    """
    order = np.argsort(column, kind="stable")
    values = column[order]
    place = np.searchsorted(values, queries)
    first = np.clip(place - neighbours, 0, max(len(values) - 2 * neighbours, 0))
    window = first[:, None] + np.arange(min(2 * neighbours, len(values)))
    distance = np.abs(values[window] - queries[:, None])
    chosen = np.argsort(distance, axis=1, kind="stable")[:, :neighbours]
    return order[np.take_along_axis(window, chosen, axis=1)]


def _accuracies(
    codes: np.ndarray,
    targets: list[np.ndarray],
    kinds: list[str],
    constant: np.ndarray,
    fit: np.ndarray,
    held: np.ndarray,
    neighbours: int,
) -> np.ndarray:
    """A of Eq. 3.37, (latents, factors)."""
    accuracies = np.empty((codes.shape[1], len(targets)))
    for j, column in enumerate(codes.T):
        rows = fit[nearest(column[fit], column[held], neighbours)]
        for i, (target, kind) in enumerate(zip(targets, kinds, strict=True)):
            if kind == "category":
                accuracies[j, i] = (_vote(target[rows]) == target[held]).mean()
            else:
                error = target[rows].mean(axis=1) - target[held]
                accuracies[j, i] = constant[i] - np.sqrt((error**2).sum(axis=1).mean())
    return accuracies


def _vote(classes: np.ndarray) -> np.ndarray:
    """The most frequent class of each row, the smallest one where two are equally frequent."""
    size = int(classes.max()) + 1
    rows = np.arange(len(classes))[:, None] * size
    return np.bincount((rows + classes).ravel(), minlength=len(classes) * size).reshape(-1, size).argmax(axis=1)


def _gaps(accuracies: np.ndarray, constant: np.ndarray, kinds: list[str], varies: np.ndarray, form: str) -> np.ndarray:
    """The summands of Eq. 3.32; nan for a factor that never varies."""
    scale = np.where(varies, constant, np.nan)
    terms = accuracies / scale
    if form == "normalised":
        category = np.array([k == "category" for k in kinds])
        room = np.where(varies & category, 1 - constant, np.nan)
        terms = np.where(category, (accuracies - constant) / room, terms)
    if form != "raw":
        terms = np.maximum(terms, 0.0)
    if len(terms) == 1:
        return terms[0]
    ordered = np.sort(terms, axis=0)
    return ordered[-1] - ordered[-2]


def _perfect(factors: np.ndarray, kinds: list[str]) -> np.ndarray:
    """The factors as codes; a category by its class numbers."""
    columns = [distinct(c).astype(float) if k == "category" else c for c, k in zip(factors.T, kinds, strict=True)]
    return np.stack(columns, axis=1)


def _warnings(
    codes: np.ndarray,
    factors: np.ndarray,
    constant: np.ndarray,
    kinds: list[str],
    given: Sequence[Factor | str] | None,
    varies: np.ndarray,
    form: str,
) -> list[str]:
    found = [*usual_warnings(codes, factors, given), *doubtful_orders(codes, factors, kinds, given)]
    for i in np.flatnonzero(varies):
        if kinds[i] == "category" and form != "normalised":
            most = (1 - constant[i]) / constant[i]
            found.append(
                f"the term of the category {label(given, int(i))} can reach {most:.2f}, not 1; the normalised form "
                "(from Python: form='normalised') can reach 1"
            )
    return found
