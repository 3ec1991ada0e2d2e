"""Active latents: how many carry information; the others are noise to the decoder.

By both rules of Zietlow's thesis, and in the order of their noise.

Chapter 3 (Eq. 3.38): latent j is active if sqrt(var mu_j) > 0.5. Chapter 4: if E sigma_j^2 < 0.8. For a
linear VAE var mu_j = 1 - sigma_j^2, so the two cut at sigma_j^2 = 0.75 and 0.8.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.metrics import Score, table

SPREAD = 0.5
NOISE = 0.8


def active_units(mean: Any, variance: Any, *, kl: Any = None) -> Score:
    """Count of latents with sqrt(var mu_j) > 0.5; the other rule and the noise order are in `parts`.

    Arguments:
        mean: array (samples, latents) of posterior means.
        variance: array (samples, latents) of posterior variances.
        kl: KL to the prior per latent, (samples, latents) or (latents,); only reported.
    """
    mean, variance = table(mean, "mean"), table(variance, "variance")
    if mean.shape != variance.shape:
        raise UserError(f"mean has shape {mean.shape} but variance {variance.shape}; they must be equal")
    if (variance < 0).any():
        raise UserError(f"variance has a negative value ({variance.min():g}); give variances, not their logarithms")
    spread, noise = mean.std(axis=0), variance.mean(axis=0)
    by_spread, by_noise = spread > SPREAD, noise < NOISE
    parts: dict[str, Any] = {
        "active": by_spread,
        "active_by_noise": by_noise,
        "noise_order": noise_order(variance),
        "spread": spread,
        "noise": noise,
    }
    if kl is not None:
        parts["kl"] = _per_latent(kl, mean.shape[1])
    differ = np.flatnonzero(by_spread != by_noise).tolist()
    return Score(
        value=float(by_spread.sum()),
        parts=parts,
        settings={"samples": len(mean), "spread_over": SPREAD, "noise_under": NOISE},
        warnings=(f"the rules of chapters 3 and 4 disagree on latents {differ}",) if differ else (),
    )


def noise_order(variance: Any) -> np.ndarray:
    """Latents by ascending mean sigma_j^2: the most important first, as by eigenvalue in a linear VAE."""
    return np.argsort(table(variance, "variance").mean(axis=0), kind="stable")


def _per_latent(kl: Any, latents: int) -> np.ndarray:
    values = np.asarray(kl.detach().cpu() if hasattr(kl, "detach") else kl, dtype=np.float64)
    values = values.mean(axis=0) if values.ndim == 2 else values
    if values.shape != (latents,):
        raise UserError(f"kl must have shape (samples, {latents}) or ({latents},), not {np.shape(kl)}")
    return values
