"""Numbers that change while training goes on, as functions of the step: of a whole number, or of the 0-d tensor that a compiled step has."""

from __future__ import annotations

from torch import Tensor

from unbraid.methods import Step


def linear(step: Step, start: float, end: float, steps: int) -> float | Tensor:
    """From `start` at step 0 to `end` at step `steps`, and constant from there; `end` at once if `steps` is 0."""
    done = step / steps if steps else 1.0
    return start + (end - start) * (done.clamp(max=1.0) if isinstance(done, Tensor) else min(done, 1.0))
