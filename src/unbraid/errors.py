"""Errors that are the user's to mend: one clear line, no traceback on the command line."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable
from typing import Any


class UserError(Exception):
    """A mistake in what was asked for; the message names the wrong value and what would be right."""


class Notice(UserWarning):
    """Something a user should know while work goes on; the command line prints these and no other warnings."""


def show_notices_only() -> None:
    """Print each notice once, as one line on standard error; libraries' own warnings are noise to a user."""
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, Notice) and str(message) not in said:
            said.add(str(message))
            print(f"unbraid: {message}", file=sys.stderr)

    warnings.showwarning = show  # type: ignore[assignment]
    warnings.simplefilter("always", Notice)


def unknown(what: str, name: Any, known: Iterable[str]) -> UserError:
    """The error for a name that nobody knows, answered by the nearest right one."""
    known = sorted(set(known))
    guess = f"{near} " if (near := nearest(name, known)) else ""
    return UserError(f"unknown {what} {name!r}: {guess}known: {', '.join(known) or 'none'}")


def nearest(name: Any, known: Iterable[str]) -> str:
    """A question with the nearest right name; nothing if none is near."""
    near = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.4)
    return f"did you mean {near[0]!r}?" if near else ""
