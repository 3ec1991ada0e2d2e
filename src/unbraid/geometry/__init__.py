"""What a measure of geometry is. Every other file here is one: a function, named as its file, with a `Score`.

Unlike a metric it needs no factors: it looks at the decoder (`decode`, a differentiable function from codes
(samples, latents) to samples) or at the posterior (`mean` and `variance`, both (samples, latents)).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from unbraid import catalog
from unbraid.errors import UserError, nearest
from unbraid.metrics import Room, Score

if TYPE_CHECKING:
    from torch import Tensor

sys.modules[__name__].__class__ = Room


def jacobians(decode: Callable[[Tensor], Tensor], codes: Any, *, chunk: int = 8) -> Tensor:
    """Derivative of the flattened decoder output by the codes: (samples, outputs, latents)."""
    import torch

    return torch.cat(list(_jacobians(decode, codes, chunk)))


def gram_matrices(decode: Callable[[Tensor], Tensor], codes: Any, *, chunk: int = 8) -> np.ndarray:
    """J^T J in float64 at each code, (samples, latents, latents), without holding all Jacobians at once."""
    return np.concatenate([gram(J) for J in _jacobians(decode, codes, chunk)])


def gram(J: Any) -> np.ndarray:
    """J^T J of a batch of Jacobians; in float64, because the product squares the condition number."""
    if hasattr(J, "detach"):
        J = J.detach().double().cpu().numpy()
    J = np.asarray(J, dtype=np.float64)
    return J.swapaxes(-1, -2) @ J


def right_singular_vectors(J: Any) -> np.ndarray:
    """V of J = U S V^T for a batch (..., outputs, latents), columns by descending singular value."""
    return principal_axes(gram(J))[1]


def principal_axes(grams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Singular values (..., d) and right singular vectors (..., d, d) of J from J^T J, descending."""
    squares, axes = np.linalg.eigh(grams)
    return np.sqrt(np.maximum(squares[..., ::-1], 0.0)), axes[..., ::-1]


def spread_points(codes: Any, points: int, seed: int) -> Any:
    """At most `points` rows of the codes, drawn without replacement."""
    if points < 1:
        raise UserError(f"points={points}: at least 1 is needed")
    if getattr(codes, "ndim", 0) != 2 or 0 in codes.shape:
        raise UserError(f"codes must be an array (samples, latents), not {tuple(getattr(codes, 'shape', ()))}")
    if len(codes) <= points:
        return codes
    return codes[np.random.default_rng(seed).choice(len(codes), points, replace=False)]


def active_mask(active: Any, latents: int) -> np.ndarray | None:
    """A mask of latents as given by the user, or None."""
    if active is None:
        return None
    mask = np.asarray(active)
    if mask.shape != (latents,) or mask.dtype != bool:
        raise UserError(f"active must be a mask of {latents} booleans, not {mask.dtype} of shape {mask.shape}")
    return mask


def passive_warning(grams: np.ndarray) -> list[str]:
    """One sentence if some columns of the Jacobian are next to nothing beside the largest."""
    norms = np.sqrt(np.diagonal(grams, axis1=-2, axis2=-1)).mean(axis=0)
    if not norms.any():
        return ["the decoder ignores its code: there are no axes, and the value means nothing"]
    passive = np.flatnonzero(norms < 0.01 * norms.max())
    if not len(passive):
        return []
    return [f"the decoder hardly reacts to latents {passive.tolist()}: read the value of the active ones"]


def _jacobians(decode: Callable[[Tensor], Tensor], codes: Any, chunk: int) -> Iterator[Tensor]:
    import torch
    from torch.func import jacfwd, vmap

    if chunk < 1:
        raise UserError(f"chunk={chunk}: at least 1 is needed")
    codes = _like_parameters(decode, codes)
    if not torch.isfinite(codes).all():
        raise UserError("codes have values that are not finite")
    with torch.no_grad():
        try:
            decoded = decode(codes[:2])
            if not isinstance(decoded, torch.Tensor):
                raise UserError(f"the decoder must give tensors, to be differentiated, not {type(decoded).__name__}")
            if not torch.isfinite(decoded).all():
                raise UserError("the decoder gives values that are not finite")
            shape = decoded.shape
        except RuntimeError as error:
            reason = str(error).split("\n")[0]
            raise UserError(f"the decoder does not take codes of shape {tuple(codes[:2].shape)}: {reason}") from error
    if not shape or shape[0] != len(codes[:2]):
        raise UserError(
            f"the decoder must give one row per code; for {len(codes[:2])} codes it gave shape {tuple(shape)}"
        )

    def single(code: Tensor) -> Tensor:
        return decode(code[None])[0].flatten()

    for batch in codes.split(chunk):
        try:
            with torch.no_grad():
                yield vmap(jacfwd(single))(batch).detach()
        except (RuntimeError, NotImplementedError) as error:
            # Custom autograd functions and some layers have no forward-mode rule, or none under vmap.
            yield _reverse(single, batch, error)


def _reverse(single: Callable[[Tensor], Tensor], batch: Tensor, cause: Exception) -> Tensor:
    import torch

    try:
        return torch.stack([torch.autograd.functional.jacobian(single, code, strict=True) for code in batch])
    except RuntimeError as error:
        reason = str(cause).split("\n")[0]
        raise UserError(f"the decoder has no derivative with respect to its codes: {reason}") from error


def _like_parameters(decode: Callable[[Tensor], Tensor], codes: Any) -> Tensor:
    import torch

    if isinstance(decode, torch.nn.Module) and (parameter := next(decode.parameters(), None)) is not None:
        return torch.as_tensor(codes).detach().to(parameter)
    if isinstance(codes, torch.Tensor):
        return codes.detach()
    return torch.as_tensor(np.asarray(codes), dtype=torch.get_default_dtype())


def __getattr__(name: str) -> Callable[..., Score]:
    known = catalog.names("geometry")
    if name.startswith("_") or name not in known:
        near = "" if name.startswith("_") else nearest(name, known)
        raise AttributeError(f"module 'unbraid.geometry' has no attribute {name!r}{': ' if near else ''}{near}")
    return catalog.load("geometry", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *catalog.names("geometry")})
