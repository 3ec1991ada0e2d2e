"""Gaussian total correlation: how many nats the latents share with each other, judged by their correlations.

The divergence of the Gaussian with the codes' covariance C from the product of its marginals,
(sum_i log C_ii - log det C) / 2; Locatello et al. 2019, Section 5.2. Small is good, and says nothing of the factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unbraid.information import constant_columns
from unbraid.metrics import Score, table, usual_warnings

# A rotation of uncorrelated latents of equal variance stays uncorrelated: the score cannot see it.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "sample_order",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_keeps",
    "dead_latents_keep",
    "noise_latents_keep",
}


def gaussian_total_correlation(codes: Any) -> Score:
    """Total correlation of the Gaussian with the covariance of the codes, in nats.

    Arguments:
        codes: array (samples, latents), usually posterior means.
    """
    codes = table(codes, "codes")
    moving = codes[:, ~constant_columns(codes, 2)]
    # C with unit diagonal has the same total correlation, and no scale to lose digits by.
    correlation = np.atleast_2d(np.corrcoef(moving, rowvar=False)) if moving.shape[1] else np.empty((0, 0))
    spectrum = np.linalg.eigvalsh(correlation)
    resolved = len(spectrum) * np.finfo(float).eps
    warnings = [w for w in usual_warnings(codes, codes[:, :0], None) if "second best" not in w]
    if (spectrum <= resolved).any():
        warnings.append(
            "a latent is a linear function of others: the true value is infinite, this one is a lower bound"
        )
    return Score(
        value=float(max(0.0, -0.5 * np.log(np.maximum(spectrum, resolved)).sum())),
        parts={"correlation": correlation, "spectrum": spectrum},
        settings={"estimator": "covariance of the codes", "samples": len(codes), "latents": moving.shape[1]},
        warnings=tuple(warnings),
        best="low",
    )
