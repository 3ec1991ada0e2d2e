"""What a matrix of importances (latents, factors) says: disentanglement and completeness of Eastwood & Williams 2018.

Of the share that latent i has in all importances, and factor j, with H in base of the number of choices:

- disentanglement = sum_i share_i (1 - H(row i)): does a latent matter to one factor only;
- completeness = sum_j share_j (1 - H(column j)): does a factor depend on one latent only.
"""

from __future__ import annotations

import numpy as np

NOTHING = 1e-11  # added to every importance, so that a row of zeros is uniform


def disentanglement(importances: np.ndarray) -> tuple[float, np.ndarray]:
    """The weighted mean over latents, and the value of each latent."""
    each = concentration(importances)
    return _mean(each, importances.sum(axis=1)), each


def completeness(importances: np.ndarray) -> tuple[float, np.ndarray]:
    """The weighted mean over factors, and the value of each factor."""
    each = concentration(importances.T)
    return _mean(each, importances.sum(axis=0)), each


def concentration(rows: np.ndarray) -> np.ndarray:
    """1 - H per row; 1 where there is only one choice."""
    if rows.shape[1] == 1:
        return np.ones(len(rows))
    p = rows + NOTHING
    p = p / p.sum(axis=1, keepdims=True)
    return 1 + (p * np.log(p)).sum(axis=1) / np.log(rows.shape[1])


def _mean(each: np.ndarray, weight: np.ndarray) -> float:
    return float((each * weight).sum() / weight.sum()) if weight.sum() > 0 else float(each.mean())


def spread(importances: np.ndarray, varies: np.ndarray) -> np.ndarray:
    """Columns of the factors that vary, put among columns of nan for those that do not."""
    whole = np.full((len(importances), len(varies)), np.nan)
    whole[:, varies] = importances
    return whole
