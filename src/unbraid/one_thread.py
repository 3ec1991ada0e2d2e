"""Loops of many small matrix products, on one thread.

The threads of a linear algebra library wait for each other in every product. Where each takes a millisecond that gains
little on an idle machine, and on one whose cores are busy it takes ten to seventy times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose matrix products keep to the thread that calls it."""

    @wraps(function)
    def alone(*arguments: P.args, **options: P.kwargs) -> R:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # scikit-learn depends on it

        with threadpool_limits(1, "blas"):
            return function(*arguments, **options)

    return alone
