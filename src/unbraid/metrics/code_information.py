"""Information between latents: how many nats two latents share on average.

Mean mutual information over all pairs of different code columns, each cut into equal-width bins; Locatello et al. 2019,
Section 5.2 (`mutual_info_score` of disentanglement_lib). Unlike correlations it sees any dependence. Small is good, and
says nothing of the factors. Independent columns share about (bins - 1)² / 2N nats by accident: that is `chance`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unbraid.errors import UserError, unknown
from unbraid.information import CORRECTIONS, constant_columns, equal_width, mutual_information
from unbraid.metrics import Score, table, usual_warnings
from unbraid.pitfalls import crowded_bins

HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "sample_order",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "dead_latents_keep",
}


def code_information(
    codes: Any, *, bins: int = 20, correction: str = "none", seed: int = 0, reference: bool = False
) -> Score:
    """Mean mutual information between latents that vary, in nats.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        bins: equal-width bins per code; 20 in disentanglement_lib.
        correction: none, miller_madow or shuffled, against the bias of few samples.
        seed: of the shuffles.
        reference: the number of disentanglement_lib: constant latents count as pairs that share nothing.
    """
    codes = table(codes, "codes")
    if reference:
        bins, correction = 20, "none"
    if bins < 2:
        raise UserError(f"bins={bins}: needs at least 2 bins")
    if correction not in CORRECTIONS:
        raise unknown("correction", correction, CORRECTIONS)
    warnings = [w for w in usual_warnings(codes, codes[:, :0], None) if "second best" not in w]
    kept = np.flatnonzero(~constant_columns(codes, bins) | reference)
    if len(kept) > 1:
        binned = equal_width(codes[:, kept], bins)
        information = mutual_information(binned, binned, correction, seed)
        # Each column shuffled by itself: what remains is accident.
        draw = np.random.default_rng(seed)
        apart = np.stack([draw.permutation(column) for column in binned.T]).T
        chance = _between(mutual_information(apart, apart, correction, seed))
        warnings += crowded_bins(binned)
    else:
        information, chance = np.zeros((len(kept), len(kept))), 0.0
    return Score(
        value=_between(information),
        parts={"information": information, "latents": kept},
        settings={
            "estimator": "plug-in mutual information",
            "bins": bins,
            "correction": correction,
            "seed": seed,
            "reference": reference,
            "samples": len(codes),
        },
        chance=chance,
        warnings=tuple(warnings),
        best="low",
    )


def _between(information: np.ndarray) -> float:
    """Mean outside the diagonal; 0 where there are no pairs."""
    d = len(information)
    return float((information.sum() - information.trace()) / (d * d - d)) if d > 1 else 0.0
