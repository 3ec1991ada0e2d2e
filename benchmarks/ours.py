"""`unbraid.train` as a user calls it, timed by the run's own history, so that set-up and compiling are not counted."""

from __future__ import annotations

import tempfile
from typing import Any

import unbraid

NEVER = 10**9


def seconds_per_step(method: str, data: Any, *, warm_up: int, steps: int, **options: Any) -> float:
    """Train; the first steps are not counted."""
    with tempfile.TemporaryDirectory() as out:
        run = unbraid.train(
            method, data, steps=warm_up + steps, out=out, device="cpu", progress=False,
            probe_every=NEVER, save_seconds=NEVER, **options,
        )  # fmt: skip
        rows = [row for row in run.members[0].history if row["step"] >= warm_up]
    first, last = rows[0], rows[-1]
    return (last["seconds"] - first["seconds"]) / (last["step"] - first["step"])
