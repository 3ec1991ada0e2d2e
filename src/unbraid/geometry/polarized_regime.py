"""Polarized regime: the share of training during which latents carried little noise or nothing at all.

Zietlow's thesis, section 3.3.2. With active latents a (sqrt(var mu_j) > 0.5), the KL term is compared with
L~KL = 1/2 sum_a (mu_j^2 - log sigma_j^2 - 1) (Eq. 3.5): Delta = |KL - L~KL| / KL (Eq. 3.38).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.geometry.active_units import SPREAD
from unbraid.metrics import Score

PROBED = ("mu2", "var_mu", "sigma2", "log_sigma2", "kl")


def polarized_regime(history: Sequence[Mapping[str, Any]], *, threshold: float = 0.03) -> Score:
    """Share of training time, up to its end, during which Delta stayed below the threshold without a break.

    Arguments:
        history: one dict per probe: step, and per latent mu2, var_mu, sigma2, log_sigma2, kl.
        threshold: largest relative error of the KL term that counts as polarized; 0.03 in the thesis.
    """
    if not history:
        raise UserError("history is empty: probe the posterior at least once during training")
    steps, delta = np.empty(len(history)), np.empty(len(history))
    for i, probe in enumerate(history):
        missing = [name for name in ("step", *PROBED) if name not in probe]
        if missing:
            raise UserError(f"probe {i} of the history lacks {', '.join(missing)}")
        steps[i], delta[i] = float(probe["step"]), relative_error(probe)
    if steps[0] < 0 or (np.diff(steps) <= 0).any():
        raise UserError("the steps of the history must not be negative and must grow from probe to probe")
    if steps[-1] == 0:
        raise UserError("the history ends at step 0: nothing was trained yet")

    above = np.flatnonzero(~(delta < threshold))
    first = above[-1] + 1 if len(above) else 0
    since = float(steps[first]) if first < len(steps) else None
    active = np.sqrt(np.asarray(history[-1]["var_mu"], dtype=np.float64)) > SPREAD
    return Score(
        value=0.0 if since is None else float((steps[-1] - since) / steps[-1]),
        parts={"delta": delta, "steps": steps, "since": since, "active": active},
        settings={"threshold": threshold, "probes": len(history)},
        warnings=() if active.any() else ("no latent is active at the end of training",),
    )


def relative_error(probe: Mapping[str, Any]) -> float:
    """Delta of Eq. 3.38 at one probe."""
    mu2, var_mu, log_sigma2, kl = (
        np.asarray(probe[name], dtype=np.float64) for name in ("mu2", "var_mu", "log_sigma2", "kl")
    )
    active = np.sqrt(var_mu) > SPREAD
    approximate = 0.5 * (mu2 - log_sigma2 - 1)[active].sum()
    total = kl.sum()
    # Without any KL no latent is active and Delta is 1 for every KL that is merely small.
    return float(abs(total - approximate) / total) if total > 0 else 1.0
