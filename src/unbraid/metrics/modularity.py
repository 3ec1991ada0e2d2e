"""Modularity: whether each latent knows of one factor only.

Ridgeway and Mozer 2018, Section 3: with I the binned mutual information and j* the factor that latent i knows most of,
delta_i = sum over j != j* of I_ij² / (I_ij*² (K - 1)), and modularity is the mean over latents of 1 - delta_i.

disentanglement_lib takes the mean over all latents, 0 for a constant one. A latent of pure noise shares a little with
every factor by accident, and 1 - delta is 0.67 or more; so both kinds of unused latents move the mean, in opposite
directions. Here only latents count that tell of some factor more than chance would; the mean over all is a facet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.information import (
    dependence_in,
    equal_width,
    information_in,
    is_binned,
    joint_counts,
    levels,
    mutual_information,
    perfect,
)
from unbraid.metrics import Score, check, kinds_of, usual_warnings
from unbraid.pitfalls import coarse_bins, crowded_bins

# Two latents may share a factor, so that duplicates do not matter.
# Not perfect_codes_reach_ceiling, which asks for 0.1 more than a mediocre code has: squares make 0.97 of that one.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "sample_order",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_lowers",
    "duplicates_keep",
    "dead_latents_keep",
    "noise_latents_keep",
    "relabelled_category_keeps",
}

SURE = 6.0  # standard deviations above independence


def modularity(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    active: Any = None,
    bins: int = 20,
    reference: bool = False,
) -> Score:
    """Modularity of the latents that are in use.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor (category, order, continuous, cycle); continuous ones are binned too.
        active: mask of the latents that may count; all by default. Those that tell nothing are left out anyway.
        bins: equal-width bins per code; 20 in disentanglement_lib.
        reference: the number of disentanglement_lib: mean over all latents, every value of a factor for itself.
    """
    # Column after column in memory: everything below goes through columns.
    codes, factors = map(np.asfortranarray, check(codes, factors))
    if reference:
        bins = 20
    if bins < 2:
        raise UserError(f"bins={bins}: modularity needs at least 2 bins")
    kind = kinds_of(factors, kinds)
    if reference:
        kind = ["order"] * len(kind)
    allowed = np.ones(codes.shape[1], dtype=bool) if active is None else np.asarray(active, dtype=bool).reshape(-1)
    if len(allowed) != codes.shape[1]:
        raise UserError(f"active has {len(allowed)} entries for {codes.shape[1]} latents")
    truth = levels(factors, kind, bins)
    varies = truth.max(axis=0) > 0
    if not varies.any():
        raise UserError("no factor column varies; modularity needs at least one factor with two values")
    binned = equal_width(codes, bins)
    tables = list(joint_counts(binned, truth))
    information = np.maximum(information_in(tables), 0.0)
    told = (dependence_in(tables) > SURE).any(axis=1)
    used = allowed & told
    known = varies | reference
    per_latent = _modular(information[:, known])
    every = float(per_latent.mean())
    among_used = float(per_latent[used].mean()) if used.any() else 0.0
    best = _modular(mutual_information(perfect(factors, truth, bins)[:, varies], truth[:, known]))
    warnings = usual_warnings(codes, factors, kinds)
    warnings = [warning for warning in warnings if "second best" not in warning]
    warnings += [*crowded_bins(binned), *coarse_bins(truth, bins, kinds)]
    if not used.any():
        warnings.append("no latent tells of any factor more than chance would, which counts as 0")
    elif abs(every - among_used) > 0.005:
        warnings.append(
            f"{used.sum()} of {len(used)} latents are in use: "
            f"{among_used:.3f} is their modularity, {every:.3f} the mean over all latents"
        )
    if known.sum() == 1:
        warnings.append("with a single factor every latent in use is modular")
    return Score(
        value=every if reference else among_used,
        facets={"in_use": among_used, "all_latents": every},
        parts={"information": information, "per_latent": per_latent, "used": used},
        settings={
            "estimator": "plug-in mutual information",
            "bins": bins,
            "samples": len(codes),
            "mean": "over all latents" if reference else "over latents in use",
            "active_given": active is not None,
            "reference": reference,
            "kinds": kind,
            "binned_factors": [j for j, k in enumerate(kind) if is_binned(factors[:, j], k)],
        },
        ceiling=float(best.mean()),
        warnings=tuple(warnings),
    )


def _modular(information: np.ndarray) -> np.ndarray:
    """1 - delta of each latent; 0 for one that shares nothing."""
    squared = information**2
    most = squared.max(axis=1)
    others = squared.sum(axis=1) - most
    room = most * max(information.shape[1] - 1, 1)
    return np.where(most > 0, 1 - np.divide(others, room, out=np.zeros_like(room), where=room > 0), 0.0)
