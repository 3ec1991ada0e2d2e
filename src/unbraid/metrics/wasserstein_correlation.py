"""Gaussian Wasserstein correlation: how far the latents are from uncorrelated ones, as a squared distance.

The squared 2-Wasserstein distance between the Gaussian with the codes' covariance C and the product of its marginals
D = diag(C), 2 tr C - 2 tr (D C)^(1/2); Watters et al. 2019 as disentanglement_lib computes it. It is measured in
squared units of the codes; in shares of tr C it has no units (`normalised`). Small is good, and says nothing of the
factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unbraid.metrics import Score, table, usual_warnings

# Not rescaled_codes: the distance grows with the codes; the facet does not.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "sample_order",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_keeps",
    "dead_latents_keep",
    "noise_latents_keep",
}


def wasserstein_correlation(codes: Any) -> Score:
    """Squared Wasserstein distance of the codes' Gaussian from its own marginals.

    Arguments:
        codes: array (samples, latents), usually posterior means.
    """
    codes = table(codes, "codes")
    covariance = np.atleast_2d(np.cov(codes, rowvar=False))
    trace = float(covariance.trace())
    shares = covariance / (trace or 1.0)  # in units of their own, large codes do not overflow below
    scale = np.sqrt(shares.diagonal())
    # (D C)^(1/2) has the trace of the root of the symmetric D^(1/2) C D^(1/2).
    spectrum = np.linalg.eigvalsh(scale[:, None] * shares * scale)
    normalised = max(0.0, 2 - 2 * float(np.sqrt(np.maximum(spectrum, 0)).sum())) if trace > 0 else 0.0
    warnings = [w for w in usual_warnings(codes, codes[:, :0], None) if "second best" not in w]
    return Score(
        value=normalised * trace,
        facets={"normalised": normalised},
        parts={"covariance": covariance},
        settings={"estimator": "covariance of the codes", "samples": len(codes), "latents": codes.shape[1]},
        warnings=tuple(warnings),
        best="low",
    )
