"""MCC: mean correlation between every factor and the one latent that is matched to it.

Hyvärinen & Morioka 2016 as slow_disentanglement computes it: absolute correlations, the one-to-one assignment with
the largest sum, mean over factors. Here the assignment is rectangular, and a class or an angle is no number: a
category is correlated by eta, a cycle by R on its cosine and sine (see `unbraid.correlation`). Three facets:

- `spearman`: ranks of the latents, and of the factors that are numbers; forgives any monotone warp;
- `pearson`: values as they are;
- `weak`: identifiability up to a linear map. For each factor the linear read-out of all latents that correlates
  best, fitted on one part of the samples and correlated on another; nothing is matched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unbraid.correlation import MEASURES, Image, best_readouts, correlations, image, period_of, ranks
from unbraid.errors import UserError, unknown
from unbraid.factors import Factor
from unbraid.metrics import Score, check, kinds_of, label, split, usual_warnings
from unbraid.pitfalls import doubtful_orders

HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "sample_order",
    "perfect_codes_reach_ceiling",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_lowers",
    "duplicates_keep",
    "monotone_warp_keeps",
    "relabelled_category_keeps",
    "dead_latents_keep",
    "noise_latents_keep",
}

FACETS = ("spearman", "pearson", "weak")
SHUFFLES = 5  # of the rows of the codes, to see what chance alone gives


def mcc(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    correlation: str = "spearman",
    test_codes: Any = None,
    test_factors: Any = None,
    seed: int = 0,
    reference: bool = False,
) -> Score:
    """Mean correlation coefficient; the value is the Spearman facet, as published for SlowVAE, unless another is asked.

    A factor for which no latent is left counts as 0. Chance is the mean score of shuffled codes.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor; it says how the factor is correlated.
        correlation: spearman, pearson or weak: which facet is the value.
        test_codes: codes to score the linear read-outs on; a third of `codes` if not given.
        test_factors: their factors.
        seed: which third is held out, the shuffles, and the noise of the reference.
        reference: classes and angles as numbers, factors padded with noise to the number of latents.
    """
    codes, factors = check(codes, factors)
    if correlation not in FACETS:
        raise unknown("correlation of MCC", correlation, FACETS)
    kind = kinds_of(factors, kinds)
    if reference and codes.shape[1] < factors.shape[1]:
        raise UserError(
            f"reference=True needs as many latents as factors: {codes.shape[1]} latents for {factors.shape[1]} factors"
        )
    varies = np.ptp(factors, axis=0) > 0
    if not varies.any():
        raise UserError("no factor column varies; MCC needs at least one factor with two values")
    used = ["order"] * len(kind) if reference else kind
    period = [period_of(column, None if kinds is None else kinds[j]) for j, column in enumerate(factors.T)]

    def images(values: np.ndarray, ranked: bool) -> list[Image]:
        return [image(column, used[j], period[j], ranked) for j, column in enumerate(values.T)]

    def matched(ranked: bool) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]:
        targets = images(factors, ranked) + [image(column, "order", 1.0, ranked) for column in padding]
        return lambda seen: _match(correlations(seen, targets), len(used))

    # slow_disentanglement draws its samples first, and this noise after them from the same legacy generator.
    pads = codes.shape[1] - len(used) if reference else 0
    padding = np.random.RandomState(seed).normal(size=(pads, len(codes)))
    fit_codes, fit_factors, held_codes, held_factors = split(codes, factors, test_codes, test_factors, seed)
    fitted, held = images(fit_factors, False), images(held_factors, False)

    def weak(order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weights = best_readouts(fit_codes[order], fitted)
        return correlations(held_codes @ weights, held).diagonal(), weights

    ranked_codes = ranks(codes)
    by_rank, by_value = matched(True), matched(False)
    table, latents, per_factor = zip(by_rank(ranked_codes), by_value(codes), strict=True)
    linear, weights = weak(np.arange(len(fit_codes)))
    rows = {name: np.where(varies, found, np.nan) for name, found in zip(FACETS, (*per_factor, linear), strict=True)}
    facets = {name: float(np.nanmean(found)) for name, found in rows.items()}

    draw = np.random.default_rng(seed)
    shuffled = []
    for _ in range(SHUFFLES):
        if correlation == "weak":
            found = weak(draw.permutation(len(fit_codes)))[0]
        else:
            order = draw.permutation(len(codes))
            found = (by_rank(ranked_codes[order]) if correlation == "spearman" else by_value(codes[order]))[2]
        shuffled.append(found[varies].mean())
    return Score(
        value=facets[correlation],
        facets=facets,
        parts={
            "spearman_correlations": table[0],
            "pearson_correlations": table[1],
            "spearman_latents": latents[0],
            "pearson_latents": latents[1],
            "weights": weights,
            "per_factor": rows[correlation],
            "per_factor_of": rows,
        },
        settings={
            "correlation": correlation,
            "estimator": [MEASURES[k] for k in used],
            "kinds": kind,
            "samples": len(codes),
            "fitted": len(fit_codes),
            "scored": len(held_codes),
            "padding": pads,
            "seed": seed,
            "reference": reference,
        },
        chance=float(np.mean(shuffled)),
        warnings=tuple(_warnings(codes, factors, kind, kinds, reference)),
    )


def _match(table: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlations (latents, factors), the latent of each factor (-1: none is left), and its correlation.

    What is matched to columns beyond `count`, the padding of the reference, does not count.
    """
    from scipy.optimize import linear_sum_assignment

    latent = np.full(table.shape[1], -1)
    rows, columns = linear_sum_assignment(table, maximize=True)
    latent[columns] = rows
    found = np.where(latent >= 0, table[latent, np.arange(table.shape[1])], 0.0)
    return table[:, :count], latent[:count], found[:count]


def _warnings(
    codes: np.ndarray,
    factors: np.ndarray,
    kind: list[str],
    given: Sequence[Factor | str] | None,
    reference: bool,
) -> list[str]:
    found = [*usual_warnings(codes, factors, given), *doubtful_orders(codes, factors, kind, given)]
    count = int((np.ptp(factors, axis=0) > 0).sum())
    if codes.shape[1] < count:
        found.append(f"{codes.shape[1]} latents for {count} factors: {count - codes.shape[1]} of them count as 0")
    for j, k in enumerate(kind):
        if k in ("category", "cycle") and reference:
            found.append(f"the {k} {label(given, j)} is correlated as if it were a number")
        elif k == "cycle":
            found.append(
                f"for the cycle {label(given, j)} a latent equal to the angle reaches 0.78, one equal to its cosine 1"
            )
    return found
