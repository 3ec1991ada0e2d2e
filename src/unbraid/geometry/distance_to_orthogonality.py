"""Distance to orthogonality: how far the decoder's own principal axes are from the latent axes; 0 is aligned.

Zietlow's thesis, Eqs. 3.25-3.29. At each code J = U S V^T is the decoder's Jacobian and P(V) the signed
permutation matrix closest to V entry by entry: DtO = mean |V - P(V)|_F.

The thesis finds P by an integer programme. All |V_ij| <= 1, so that with sign(V_ij) in the chosen place the
distance is sum |V| + sum_i (1 - 2 |V_i,p(i)|): minimising it means maximising sum_i |V_i,p(i)|, a linear
assignment. The same P minimises the Frobenius distance, since |V - P|_F^2 = 2 d - 2 sum_i |V_i,p(i)| for
orthogonal V.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from unbraid.geometry import active_mask, gram_matrices, passive_warning, principal_axes, spread_points
from unbraid.metrics import Score


def distance_to_orthogonality(
    decode: Callable[..., Any], codes: Any, *, active: Any = None, points: int = 500, seed: int = 0
) -> Score:
    """Mean distance of the decoder's right singular vectors to a signed permutation.

    A random rotation scores the Haar value in `parts`, not 1; compare with that. Where singular values are
    nearly equal V is arbitrary even if the columns are orthogonal: `ima_contrast` does not suffer from that.

    Arguments:
        decode: differentiable function from codes (n, latents) to outputs (n, ...), taken as it is.
        codes: array or tensor (samples, latents) at which to look, usually posterior means.
        active: mask of active latents; the same measure of these columns alone is added to `parts`.
        points: at most this many codes are used.
        seed: which codes are used.
    """
    chosen = spread_points(codes, points, seed)
    grams = gram_matrices(decode, chosen)
    mask = active_mask(active, grams.shape[-1])
    parts = _measure(grams)
    warnings = passive_warning(grams) if mask is None else []
    judged = parts
    if mask is not None and mask.any():
        parts["active"] = judged = _measure(grams[:, mask][:, :, mask])
    elif mask is not None:
        parts["active"] = {}
        warnings.append("no latent is active: there are no axes to compare")
    values = judged["singular_values"]
    close = (values[:, 1:] > 0.99 * values[:, :-1]).any(axis=1).mean()
    if close > 0.5:
        warnings.append(
            f"at {100 * close:.0f} % of the points two singular values differ by less than 1 %: "
            "their axes are arbitrary there, so compare with ima_contrast"
        )
    return Score(
        value=parts["value"],
        parts={name: part for name, part in parts.items() if name != "value"},
        settings={"points": len(chosen), "seed": seed, "jacobian_of": "decoder output as given by `decode`"},
        chance=parts["haar"]["mean"],
        warnings=tuple(warnings),
        best="low",
    )


def _measure(grams: np.ndarray) -> dict[str, Any]:
    singular_values, axes = principal_axes(grams)
    per_point = np.array([distance_to_signed_permutation(V) for V in axes])
    return {
        "value": float(per_point.mean()),
        "per_point": per_point,
        "haar": dict(zip(("mean", "sd"), haar_baseline(grams.shape[-1]), strict=True)),
        "singular_values": singular_values,
    }


def distance_to_signed_permutation(V: np.ndarray) -> float:
    """|V - P(V)|_F of an orthogonal matrix."""
    size = np.abs(V)
    matched = size[linear_sum_assignment(size, maximize=True)].sum()
    return float(np.sqrt(max(0.0, 2 * len(V) - 2 * matched)))


def closest_signed_permutation(V: np.ndarray) -> np.ndarray:
    """P(V): entries -1, 0 or 1, one per row and column, least sum |V - P|; exact for any square matrix."""
    V = np.asarray(V, dtype=np.float64)
    size = np.abs(V)
    # Where |V_ij| <= 1 this cost is 1 - 2 |V_ij|.
    rows, columns = linear_sum_assignment(np.abs(size - 1) - size)
    P = np.zeros_like(V)
    P[rows, columns] = np.where(V[rows, columns] < 0, -1.0, 1.0)
    return P


@cache
def haar_baseline(d: int, draws: int = 4000) -> tuple[float, float]:
    """Mean and standard deviation of DtO over random rotations of d axes (fixed seed)."""
    # The sign that QR gives each column does not matter here, so Q needs no correction to be Haar.
    rotations = np.linalg.qr(np.random.default_rng(0).standard_normal((draws, d, d)))[0]
    distances = np.array([distance_to_signed_permutation(V) for V in rotations])
    return float(distances.mean()), float(distances.std())
