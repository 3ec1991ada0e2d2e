"""How far a decoded sample is from the original: summed over pixels and channels, one value per sample.

A decoder returns raw outputs. Each kind of loss knows what turns them into a picture.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from unbraid.errors import UserError, unknown

KINDS = ("bernoulli", "squared")


def reconstruction_error(kind: str, x: Tensor, raw: Tensor) -> Tensor:
    """Negative log-likelihood in nats for "bernoulli", |x - g|² (thesis Eq. 3.6, no factor ½) for "squared"."""
    raw = raw.to(x.dtype)  # half precision ends here
    error = (x - raw).square() if kind == "squared" else binary_cross_entropy_with_logits(raw, x, reduction="none")
    return error.flatten(1).sum(-1)


def picture(kind: str, raw: Tensor) -> Tensor:
    """What the raw outputs mean in the units of the data."""
    return raw if kind == "squared" else raw.sigmoid()


def kind_for(pixels: str, wanted: str) -> str:
    """Resolve "auto": images in 0..1 are Bernoulli probabilities, anything else is squared."""
    if wanted == "auto":
        return "squared" if pixels == "real" else "bernoulli"
    if wanted not in KINDS:
        raise unknown("reconstruction", wanted, KINDS)
    if wanted == "bernoulli" and pixels == "real":
        raise UserError("reconstruction bernoulli needs data in 0..1; these lie outside: use squared")
    return wanted
