"""Shallow classifiers as probes: what can be told of a class from a block of the code, on samples that they were not fitted to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from unbraid import softmax_regression
from unbraid.contrast import block, still
from unbraid.errors import UserError
from unbraid.information import constant_columns
from unbraid.metrics import Score

STEPS = 1000
MOST = 10_000  # rows; more tell nothing new of a few dozen weights


@dataclass(frozen=True)
class Probe:
    """How often a probe is right on held-out rows.

    Arguments:
        accuracy: over all rows.
        per_class: of each class, by its number.
        frequent: share of the most frequent class: the accuracy of knowing nothing.
        scored: rows it is judged on.
    """

    accuracy: float
    per_class: dict[float, float]
    frequent: float
    scored: int

    @property
    def balanced(self) -> float:
        """Mean over classes; knowing nothing gives one over their number."""
        return float(np.mean(list(self.per_class.values())))


def probe(codes: np.ndarray, wanted: np.ndarray, *, balanced: bool = False, hidden: int = 0, seed: int = 0) -> Probe:
    """Fit two thirds of the rows that have a class, and judge on the rest.

    Arguments:
        codes: array (rows, latents).
        wanted: class of each row, NaN for none.
        balanced: every class weighs the same in the fit.
        hidden: units of a hidden layer; 0 for logistic regression.
        seed: draws the two thirds, class by class.
    """
    draw = np.random.default_rng(seed)
    rows = draw.permutation(np.flatnonzero(~np.isnan(wanted)))[:MOST]
    held = np.zeros(len(rows), dtype=bool)
    for kind in np.unique(wanted[rows]):
        own = np.flatnonzero(wanted[rows] == kind)
        held[own[: round(len(own) / 3)]] = True
    fitted, judged = rows[~held], rows[held]
    kinds = np.unique(wanted[judged])
    if len(kinds) < 2:
        raise UserError("a probe needs two classes of at least 2 rows each")
    mean, scale = codes[fitted].mean(axis=0), codes[fitted].std(axis=0)
    scale[constant_columns(codes[fitted], 2)] = np.inf
    known, asked = (codes[fitted] - mean) / scale, (codes[judged] - mean) / scale
    if hidden:
        said = _network(known, wanted[fitted], asked, hidden, seed)
    else:
        model = softmax_regression.fit(known, wanted[fitted], c=1.0, balanced=balanced, steps=STEPS)
        said = model.predict(asked)
    right = said == wanted[judged]
    per_class = {float(kind): float(right[wanted[judged] == kind].mean()) for kind in kinds}
    frequent = max(float((wanted[judged] == kind).mean()) for kind in kinds)
    return Probe(float(right.mean()), per_class, frequent, len(judged))


def probes(codes: np.ndarray, wanted: Mapping[str, np.ndarray], seed: int) -> dict[str, Probe]:
    """One for each label."""
    return {name: probe(codes, column, seed=seed) for name, column in wanted.items()}


def leak(
    codes: np.ndarray, blocks: Mapping[str, slice], wanted: Mapping[str, np.ndarray], *, of: str, beside: str, seed: int
) -> Score:
    """What one block knows and should not: accuracy, mean over labels; what another block gives is in `parts`.

    Arguments:
        codes: array (rows, latents).
        blocks: name to slice of the code.
        wanted: columns of classes.
        of: the block that is judged.
        beside: the block that may know, if there is one.
        seed: draws the rows of each fit.
    """
    part = block(codes, blocks, of)
    found = probes(part, wanted, seed)
    parts = {"per_label": {name: each.accuracy for name, each in found.items()}}
    if beside in blocks:
        other = probes(block(codes, blocks, beside), wanted, seed)
        parts[f"from_{beside}"] = {name: each.accuracy for name, each in other.items()}
    return Score(
        value=float(np.mean([each.accuracy for each in found.values()])),
        parts=parts,
        settings={
            "estimator": "logistic regression",
            "samples": len(codes),
            "scored": [each.scored for each in found.values()],
            "seed": seed,
        },
        chance=float(np.mean([each.frequent for each in found.values()])),
        warnings=tuple(still(part)),
        best="low",
    )


def _network(known: np.ndarray, wanted: np.ndarray, asked: np.ndarray, hidden: int, seed: int) -> np.ndarray:
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        said: np.ndarray = (
            MLPClassifier((hidden,), learning_rate_init=1e-2, random_state=seed).fit(known, wanted).predict(asked)
        )
    return said
