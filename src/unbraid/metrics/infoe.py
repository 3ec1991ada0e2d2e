"""InfoE: how much of the information of each factor a linear model can read from all latents together.

Explicitness of Hsu et al. 2023 (InfoMEC): mean over factors of (CE_0 - CE_j) / CE_0, CE_j the cross-entropy of an
unpenalised multinomial logistic regression with balanced classes on standardised codes, after at most 100 steps of
L-BFGS; CE_0 that of the same model without codes, the log of the number of classes. Continuous factors: R² of linear
regression. As in the reference the model is scored on the samples that it was fitted to, unless others are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.metrics import Score, check, kinds_of, label, split, usual_warnings
from unbraid.targets import are_classes, r_squared, targets, varying

HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "perfect_codes_reach_ceiling",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_keeps",
    "duplicates_keep",
    "dead_latents_keep",
    "noise_latents_keep",
    "relabelled_category_keeps",
}
SECONDS = 1  # of 10,000 samples, about


def infoe(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    test_codes: Any = None,
    test_factors: Any = None,
    steps: int = 100,
) -> Score:
    """InfoE, explicitness by information; 1 if a linear model knows every factor, 0 if it knows none.

    Where a linear model separates the classes (perfect codes) the loss has no minimum and the number of steps matters.

    Arguments:
        codes: array (samples, latents), usually posterior means; the model is fitted to all of them.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor; continuous ones are regressed and count with R², all others classified.
        test_codes: codes to score on; without them the fitted ones are, as in the reference.
        test_factors: their factors.
        steps: at most so many steps of L-BFGS; 100 in the reference.
    """
    codes, factors = check(codes, factors)
    if steps < 1:
        raise UserError(f"steps={steps}: fitting needs at least 1")
    kind = kinds_of(factors, kinds)
    given = test_codes is not None or test_factors is not None
    held, truth = split(codes, factors, test_codes, test_factors, 0)[2:] if given else (codes, factors)
    varies = varying(factors, truth, "InfoE")
    wanted, truths = targets(factors, kind), targets(truth, kind, like=factors)
    # Rounding in a constant column must not be blown up to unit variance.
    spread = np.where(np.ptp(codes, axis=0) > 4 * np.spacing(np.abs(codes).max(axis=0)), codes.std(axis=0), np.inf)
    fit, held = (codes - codes.mean(axis=0)) / spread, (held - codes.mean(axis=0)) / spread
    each, entropies = np.full(len(kind), np.nan), np.full(len(kind), np.nan)
    for j in np.flatnonzero(varies):
        if are_classes(wanted[j]):
            each[j], entropies[j] = _explained(fit, wanted[j], held, truths[j], steps)
        else:
            each[j] = _regressed(fit, wanted[j], held, truths[j])
    warnings = usual_warnings(codes, factors, kinds)
    if given:
        for j in np.flatnonzero(varies):
            if are_classes(wanted[j]) and (new := np.setdiff1d(truths[j], wanted[j])).size:
                warnings.append(f"factor {label(kinds, int(j))} has {len(new)} test values that were never fitted")
    elif len(codes) < 20 * codes.shape[1]:
        warnings.append(
            f"{len(codes)} samples for {codes.shape[1]} latents: the model is scored on what it was fitted to"
        )
    return Score(
        value=float(np.nanmean(each)),
        parts={"per_factor": each, "cross_entropy": entropies},
        settings={
            "estimator": ["logistic" if are_classes(t) else "linear regression, R²" for t in wanted],
            "steps": steps,
            "balanced": True,
            "fitted": len(codes),
            "scored": len(held),
            "scored_samples": "others" if given else "those that were fitted",
            "kinds": kind,
        },
        warnings=tuple(warnings),
    )


def _explained(
    fit: np.ndarray, wanted: np.ndarray, held: np.ndarray, truth: np.ndarray, steps: int
) -> tuple[float, float]:
    """Share of CE_0 that the codes explain, and CE_j."""
    from unbraid import softmax_regression

    model = softmax_regression.fit(fit, wanted, balanced=True, steps=steps)
    entropy = model.cross_entropy(held, truth)
    return 1 - entropy / float(np.log(len(model.classes))), entropy


def _regressed(fit: np.ndarray, wanted: np.ndarray, held: np.ndarray, truth: np.ndarray) -> float:
    inputs, known = (np.column_stack([part, np.ones(len(part))]) for part in (fit, held))
    return r_squared(known @ np.linalg.lstsq(inputs, wanted, rcond=None)[0], truth)
