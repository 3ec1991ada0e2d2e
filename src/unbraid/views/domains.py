"""Domains: x, rows of every group, and `domain`, the number of each one's group.

A batch has equally many rows of each domain, what is left over of the first ones; the rows of a domain stand together.
For a method that says `mixed`, rows come from all domains together, so the larger a domain the more often.
"""

from __future__ import annotations

import torch

from unbraid.data import Data
from unbraid.errors import UserError
from unbraid.methods import Batch, Method
from unbraid.streams import Drawn, Pool
from unbraid.views import View, needs_domains


class Domains(View):
    """Samples that know their domain."""

    gives = ("x", "domain")

    def __init__(self, data: Data, method: Method, batch_size: int, name: str) -> None:
        super().__init__(data, method, batch_size, name)
        if not data.groups:
            raise needs_domains(name)
        made_for = tuple(getattr(method, "domains", data.groups))
        if len(made_for) != len(data.groups):
            groups = f"{len(data.groups)} ({', '.join(data.groups)})"
            raise UserError(
                f"{name} was made for {len(made_for)} domains ({', '.join(made_for)}), the data have {groups}"
            )
        if batch_size < len(data.groups) and not method.mixed:
            raise UserError(
                f"batch_size={batch_size}: at least one sample of each of {len(data.groups)} domains is needed"
            )

    def pools(self) -> list[Pool]:
        """One pool for each domain, or one for all."""
        if self.method.mixed:
            return super().pools()
        each, rest = divmod(self.batch_size, len(self.data.groups))
        return [Pool(self.rows_of([group]), each + (place < rest)) for place, group in enumerate(self.data.groups)]

    def batch(self, drawn: Drawn) -> Batch:
        """Look the rows up, and their groups."""
        assert self.data.group is not None
        rows = torch.cat(drawn.picks, -1)
        return {"x": self.data.draw(rows, drawn.uniforms), "domain": self.data.group[rows]}
