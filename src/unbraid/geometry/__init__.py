"""What a measure of geometry is. Every other file in this folder is one: a function, named as its file, giving a `Score`.

Unlike a metric it needs no factors: it looks at the decoder (`decode`, a differentiable function from codes
(samples, latents) to samples) or at the posterior (`mean` and `variance`, both (samples, latents)).
"""

from __future__ import annotations

from collections.abc import Callable

from unbraid import catalog
from unbraid.metrics import Score


def __getattr__(name: str) -> Callable[..., Score]:
    if name.startswith("_") or name not in catalog.names("geometry"):
        raise AttributeError(f"module 'unbraid.geometry' has no attribute {name!r}")
    return catalog.load("geometry", name)
