"""The causes behind the data: their names, sizes and kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["category", "order", "continuous", "cycle"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True)
class Factor:
    """One cause of the data.

    Arguments:
        name: what it is called.
        size: how many values it takes; 0: any real number.
        kind: of what kind they are.
        labels: what its values are called, where that is not 0, 1, …
    """

    name: str
    size: int
    kind: Kind
    labels: tuple[str, ...] = ()

    def label(self, value: int) -> str:
        """What a value is called."""
        return self.labels[value] if self.labels else str(value)
