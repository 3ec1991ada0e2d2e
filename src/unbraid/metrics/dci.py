"""DCI: whether each latent matters to one factor, each factor to one latent, and how well latents predict factors.

Eastwood & Williams 2018 as disentanglement_lib computes it: gradient boosted trees predict each factor from all
latents; the gain that a latent brought is its importance. D and C are weighted by the shares of latents and of
factors in all importance (see unbraid.importance), I is the mean accuracy on other samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from unbraid.classes import every_value_a_class
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.importance import completeness, disentanglement, spread
from unbraid.metrics import Score, check, kinds_of, label, split, usual_warnings
from unbraid.targets import accuracy, are_classes, r_squared, targets, varying

# Not sample_order: which rows fit and which are scored is drawn by row number.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "perfect_codes_reach_ceiling",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_lowers",
    "duplicates_keep",
    "monotone_warp_keeps",
    "dead_latents_keep",
    "relabelled_category_keeps",
}
SECONDS = 3  # of 10,000 samples, about


def dci(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    test_codes: Any = None,
    test_factors: Any = None,
    reference: bool = False,
    stages: int = 100,
    depth: int = 3,
    rate: float = 0.1,
    seed: int = 0,
) -> Score:
    """Disentanglement (also the value), completeness and informativeness from gradient boosted trees.

    The trees are those of scikit-learn's GradientBoostingClassifier: 100 stages of depth 3, exact splits. Splits of
    equal gain, many where few samples are left, are drawn at random as there: scores of two seeds differ by 0.001.
    Continuous factors are regressed with squared error and their informativeness is R².

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor; continuous ones are regressed, and orders of over 400 values; others classified.
        test_codes: codes that informativeness is measured on; without them a third of the samples is held out.
        test_factors: their factors.
        reference: disentanglement_lib's very trees (see unbraid.boosting_reference): every value of every factor is a
            class, and the seed is that of NumPy, which draws the order in which scikit-learn tries the latents.
        stages: boosting stages.
        depth: depth of the trees.
        rate: learning rate.
        seed: draws the held-out samples and decides between splits of equal gain.
    """
    from unbraid.boosting import Boosted, boost_classes, boost_values, canonical, ranked
    from unbraid.boosting_reference import boost_classes_reference

    codes, factors = check(codes, factors)
    if reference:
        stages, depth, rate = 100, 3, 0.1
    for name, number in (("stages", stages), ("depth", depth)):
        if number < 1:
            raise UserError(f"{name}={number}: DCI needs at least 1")
    kind = kinds_of(factors, kinds)
    fit, wanted, held, truth = split(codes, factors, test_codes, test_factors, seed)
    varies = varying(wanted, wanted if reference else truth, "DCI")
    asked = ["category"] * len(kind) if reference else kind
    wanted_of, truth_of = targets(wanted, asked, like=factors), targets(truth, asked, like=factors)
    fit, held, back = (fit, held, np.arange(fit.shape[1])) if reference else canonical(fit, held)
    trees: dict[str, Any] = {"stages": stages, "depth": depth, "rate": rate, "seed": seed}
    columns = ranked(fit)
    classify: Callable[..., Boosted] = partial(boost_classes, columns, **trees)
    if reference:
        every_value_a_class(wanted)
        if max(np.abs(fit).max(), np.abs(held).max()) > np.finfo(np.float32).max:
            raise UserError("reference=True rounds codes to 32 bits, for which these are too large: rescale them")
        classify = partial(boost_classes_reference, fit, draw=np.random.RandomState(seed))

    importances = np.zeros((fit.shape[1], len(kind)))
    scores = {part: np.full(len(kind), np.nan) for part in ("fitted", "held")}
    for j in np.flatnonzero(varies):
        if are_classes(wanted_of[j]):
            model = classify(wanted_of[j], held)
            importances[:, j] = model.importances
            scores["fitted"][j] = accuracy(model.fitted, wanted_of[j])
            scores["held"][j] = accuracy(model.predicted, truth_of[j])
        else:
            models = [boost_values(columns, column, held, **trees) for column in wanted_of[j].T]
            importances[:, j] = np.mean([model.importances for model in models], axis=0)
            scores["fitted"][j] = r_squared(np.stack([m.fitted for m in models], axis=1), wanted_of[j])
            scores["held"][j] = r_squared(np.stack([m.predicted for m in models], axis=1), truth_of[j])
    importances = importances[back][:, varies]
    d, per_latent = disentanglement(importances)
    c, per_factor = completeness(importances)
    return Score(
        value=d,
        facets={"disentanglement": d, "completeness": c, "informativeness": float(np.nanmean(scores["held"]))},
        parts={
            "importances": spread(importances, varies),
            "per_latent": per_latent,
            "per_factor": spread(per_factor[None], varies)[0],
            "informativeness_per_factor": scores["held"],
            "informativeness_fitted": float(np.nanmean(scores["fitted"])),
        },
        settings={
            "estimator": ["boosted classes" if are_classes(t) else "boosted regression, R²" for t in wanted_of],
            **trees,
            "reference": reference,
            "fitted": len(fit),
            "scored": len(held),
            "kinds": kind,
        },
        warnings=tuple(_warnings(codes, factors, importances, varies, kinds)),
    )


def _warnings(
    codes: np.ndarray,
    factors: np.ndarray,
    importances: np.ndarray,
    varies: np.ndarray,
    kinds: Sequence[Factor | str] | None,
) -> list[str]:
    found = usual_warnings(codes, factors, kinds)
    for j in np.flatnonzero(~varies & (np.ptp(factors, axis=0) > 0)):
        found.append(f"factor {label(kinds, int(j))} never varies in one part of the split and is left out of the mean")
    if varies.sum() == 1:
        found.append("a single factor: every latent is disentangled by definition")
    if len(importances) == 1:
        found.append("a single latent: every factor is complete by definition")
    if not importances.any():
        found.append("no latent helps to predict any factor: disentanglement and completeness are 0 by convention")
    return found
