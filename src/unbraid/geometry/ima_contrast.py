"""IMA contrast: how far the columns of the decoder's Jacobian are from orthogonal (0), whatever their lengths.

c(z) = sum_j log|J_j| - 1/2 log det J^T J, the contrast of independent mechanism analysis; a VAE whose decoder
noise vanishes loses its mean, and nothing else, of likelihood. Unlike DtO it is well defined for equal
singular values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unbraid.geometry import active_mask, gram_matrices, passive_warning, spread_points
from unbraid.metrics import Score


def ima_contrast(
    decode: Callable[..., Any], codes: Any, *, active: Any = None, points: int = 500, seed: int = 0
) -> Score:
    """Mean over codes of 1/2 (log det diag(J^T J) - log det J^T J).

    Arguments:
        decode: differentiable function from codes (n, latents) to outputs (n, ...), taken as it is.
        codes: array or tensor (samples, latents) at which to look, usually posterior means.
        active: mask of active latents; the contrast of these columns alone is added to `parts`.
        points: at most this many codes are used.
        seed: which codes are used.
    """
    chosen = spread_points(codes, points, seed)
    grams = gram_matrices(decode, chosen)
    mask = active_mask(active, grams.shape[-1])
    per_point = contrast(grams)
    parts: dict[str, Any] = {"per_point": per_point}
    warnings = passive_warning(grams) if mask is None else []
    if mask is not None:
        parts["active"] = float(contrast(grams[:, mask][:, :, mask]).mean())
    if not np.isfinite(per_point).all():
        warnings.append("columns of the Jacobian are linearly dependent at some points: the contrast is infinite there")
    return Score(
        value=float(per_point.mean()),
        parts=parts,
        settings={"points": len(chosen), "seed": seed, "jacobian_of": "decoder output as given by `decode`"},
        warnings=tuple(warnings),
        best="low",
    )


def contrast(grams: np.ndarray) -> np.ndarray:
    """c_IMA of each J^T J; a column of zeros is orthogonal to everything and adds nothing."""
    norms = np.sqrt(np.diagonal(grams, axis1=-2, axis2=-1))
    safe = np.where(norms > 0, norms, 1.0)
    # Columns of unit length make the first term vanish and spare the second the scale of each column.
    cosines = grams / (safe[:, :, None] * safe[:, None, :])
    eye = np.arange(grams.shape[-1])
    cosines[:, eye, eye] = 1.0
    squares = np.linalg.eigvalsh(cosines)
    squares[squares < 4 * np.finfo(float).eps * grams.shape[-1]] = 0.0
    with np.errstate(divide="ignore"):
        return np.maximum(-0.5 * np.log(squares).sum(axis=-1), 0.0)
