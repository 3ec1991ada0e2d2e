"""Which seeds: one, the first so many, or a list."""

from __future__ import annotations

from typing import Any

from unbraid.errors import UserError

MOST = 400  # at once: every seed in training keeps two files open, and a process is usually allowed 1024


def seed_numbers(seeds: Any) -> list[int]:
    """The seeds meant by a count (0, 1, …) or by a list."""
    counted = isinstance(seeds, int) and not isinstance(seeds, bool)
    if (counted and seeds < 1) or (not counted and not isinstance(seeds, list | tuple | range)):
        raise UserError(f"seeds must be a whole number of at least 1 or a list of seeds, not {seeds!r}")
    asked = seeds if counted else len(seeds)
    if asked > MOST:
        raise UserError(f"{asked} seeds are too many at once: at most {MOST}; list others in a call of their own")
    found = list(range(seeds)) if counted else list(seeds)
    if not found:
        raise UserError("seeds is empty: give a number of seeds or a list of them")
    for one in found:
        if isinstance(one, bool) or not isinstance(one, int) or one < 0:
            raise UserError(f"a seed must be a whole number of at least 0, not {one!r}")
    if len(set(found)) != len(found):
        raise UserError(f"seeds {found} name a seed twice")
    return found
