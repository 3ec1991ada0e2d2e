"""Loops of many small steps, on one thread.

The threads of a linear algebra library, or of OpenMP, wait for each other in every step. Where each takes a millisecond
that gains little on an idle machine, and on one whose cores are busy it takes ten to seventy times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose numerical libraries keep to the thread that calls it."""

    @wraps(function)
    def alone(*arguments: P.args, **options: P.kwargs) -> R:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        with threadpool_limits(1):
            return function(*arguments, **options)

    return alone
