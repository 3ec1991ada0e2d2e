"""Errors that are the user's to mend: one clear line, no traceback on the command line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """A mistake in what was asked for; the message names the wrong value and what would be right."""


def unknown(what: str, name: str, known: Iterable[str]) -> UserError:
    """The error for a name that nobody knows, answered by the nearest right one."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    guess = f"did you mean {near[0]!r}? " if near else ""
    return UserError(f"unknown {what} {name!r}: {guess}known: {', '.join(known) or 'none'}")
