"""Whether a difference over few paired values is more than noise: exact signed ranks, and many tests at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unbraid.correlation import ranks


def signed_rank_p(differences: Sequence[float] | np.ndarray) -> float:
    """Exact two-sided p of Wilcoxon's signed-rank test; zeros are dropped, equal sizes share their mean rank."""
    moved = np.asarray(differences, dtype=float)
    # Rounding must not decide which of two equal differences is larger.
    moved = np.round(moved / (np.abs(moved).max(initial=0.0) or 1.0), 12)
    moved = moved[moved != 0]
    if not len(moved):
        return 1.0
    # Twice the ranks are whole numbers, ties or not; each is positive or negative with equal chance.
    twice = np.round(2 * (ranks(np.abs(moved)[:, None])[:, 0] + 1)).astype(int)
    chance = np.zeros(twice.sum() + 1)
    chance[0] = 1.0
    for rank in twice:
        shifted = np.zeros_like(chance)
        shifted[rank:] = chance[:-rank]
        chance = (chance + shifted) / 2
    seen = twice[moved > 0].sum()
    return float(min(1.0, 2 * min(chance[: seen + 1].sum(), chance[seen:].sum())))


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down correction of several p."""
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate([(len(p) - place) * p[at] for place, at in enumerate(order)])
    found = np.empty(len(p))
    found[order] = np.minimum(raised, 1.0)
    return [float(value) for value in found]
