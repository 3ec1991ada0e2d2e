"""What measures of private and shared codes go by: a block `private/GROUP` belongs to one group, `shared` to all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError

PRIVATE, SHARED = "private/", "shared"


def owners(blocks: Mapping[str, slice], groups: Sequence[str], latents: int) -> dict[str, str]:
    """The group that each private block belongs to; blocks without latents are left out."""
    found = {f"{PRIVATE}{name}": name for name in groups}
    own = {block: found[block] for block, where in blocks.items() if block in found and range(latents)[where]}
    if not own:
        raise UserError(f"the code has no block {PRIVATE}{groups[0]}, or of another group: it has {', '.join(blocks)}")
    return own


def numbers_of(group: Any, groups: Sequence[str], rows: int) -> np.ndarray:
    """The number of each row's group."""
    found = np.asarray(group)
    if found.shape != (rows,):
        raise UserError(f"group has shape {found.shape} but there are {rows} codes: it has one number per row")
    for place, name in enumerate(groups):
        if (count := int((found == place).sum())) < 2:
            raise UserError(f"{count} rows of {name} are too few: at least 2 are needed")
    return found
