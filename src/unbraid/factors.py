"""The causes behind the data: their names, sizes and kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["category", "order", "continuous", "cycle"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True)
class Factor:
    """One cause of the data: its name, how many values it takes (0: any real number) and of what kind they are."""

    name: str
    size: int
    kind: Kind
