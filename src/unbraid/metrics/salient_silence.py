"""Salient silence: how loud the salient code of background is beside that of targets; it should be silent.

Mean |mu_s|² of background over that of targets; paper 001 makes it 0, and other losses leave it free (Section 3.1). 1 means
as loud. The same ratio of the posterior's sigma² is a facet: Eq. 7 silences both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.contrast import are_targets, block, still
from unbraid.metrics import Score, table

HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "sample_order",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_keeps",
    "duplicates_keep",
}


def salient_silence(
    codes: Any, group: Any, groups: Sequence[str], blocks: Mapping[str, slice], *, variance: Any = None
) -> Score:
    """Of the block `salient`.

    Arguments:
        codes: array (rows, latents) of posterior means.
        group: number of each row's group.
        groups: names of the groups; the one called background is the background.
        blocks: name to slice of the code.
        variance: array (rows, latents) of posterior variances.
    """
    mean = table(codes, "codes")
    targets = are_targets(group, groups, len(mean))
    part = block(mean, blocks, "salient")
    loud, quiet = (float(np.square(part[rows]).sum(axis=1).mean()) for rows in (targets, ~targets))
    ratio = quiet / loud if loud > 0 else 1.0
    warnings = still(part)
    if ratio > 0.1 and loud > 0 and len(np.unique(part)) > 1:
        warnings.append(
            "the salient code of background is not silent: zero_salient_vae and w2_vae have lambda_s for it"
        )
    parts: dict[str, Any] = {
        "background_mean_square": quiet,
        "target_mean_square": loud,
        "background_per_latent": np.square(part[~targets]).mean(axis=0),
        "target_per_latent": np.square(part[targets]).mean(axis=0),
    }
    facets = {}
    if variance is not None:
        noise = block(table(variance, "variance"), blocks, "salient")
        target, background = (float(noise[rows].sum(axis=1).mean()) for rows in (targets, ~targets))
        parts |= {"background_variance": background, "target_variance": target}
        facets["variance"] = background / target if target > 0 else 1.0
    return Score(
        value=ratio,
        facets=facets,
        parts=parts,
        settings={
            "estimator": "mean squares",
            "samples": len(mean),
            "targets": int(targets.sum()),
            "background": int((~targets).sum()),
            "latents": part.shape[1],
        },
        ceiling=0.0,
        chance=1.0,
        warnings=tuple(warnings),
        best="low",
    )
