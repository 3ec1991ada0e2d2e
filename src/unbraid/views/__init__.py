"""What a view is: data as a method needs them. Every other file in this folder is one: a class, named as its file.

A view says which entries of a batch it gives, which rows are picked at random, and makes the entries from the picks, on
the device. A method names the entries that its losses read in `needs`; the view that gives them and least besides is
taken. `noise` belongs to every batch and to no view.

    class Pairs(View):
        gives = ("x", "x2")
        def pools(self): ...            # here: rows of the training part, batch_size of them
        def batch(self, drawn): ...     # entries of a batch; picks and uniforms may have a leading axis over seeds

What the data leave to chance (`Data.chance` numbers in 0..1 per sample) is drawn with a batch too: a view that draws more
samples than x says so in `uniforms`. Randomness comes from `Streams` alone: a batch is a function of seed, step and rank.
A view that the data cannot give refuses them when it is made, in one line that says what to type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from unbraid import catalog
from unbraid.data import Data
from unbraid.errors import UserError, unknown
from unbraid.methods import Batch, Method
from unbraid.streams import Drawn, Pool


class View:
    """Data as a method needs them.

    Arguments:
        data: where rows are drawn from, on the device.
        method: what asks for them.
        batch_size: samples x per step.
        name: of the method, for errors.
    """

    gives: tuple[str, ...]

    def __init__(self, data: Data, method: Method, batch_size: int, name: str) -> None:
        self.data, self.method, self.batch_size, self.name = data, method, batch_size, name

    def pools(self) -> list[Pool]:
        """What rows are picked from, and how many of each per step."""
        return [Pool(self.data.rows("train"), self.batch_size)]

    @property
    def uniforms(self) -> int:
        """Numbers in 0..1 per sample of x, for what the data leave to chance."""
        return self.data.chance

    @property
    def samples(self) -> int:
        """How many training samples there are for x."""
        return len(self.data.rows("train"))

    def batch(self, drawn: Drawn) -> Batch:
        """The entries of a batch."""
        raise NotImplementedError

    def rows_of(self, groups: Sequence[str]) -> Tensor:
        """Rows of the training part that belong to some groups."""
        assert self.data.group is not None
        rows = self.data.rows("train")
        wanted = torch.tensor([self.data.groups.index(group) for group in groups])
        return rows[torch.isin(self.data.group.cpu()[rows], wanted)]


def view_of(method: Method, data: Data, batch_size: int, name: str) -> View:
    """The view that gives what a method needs."""
    wanted = set(method.needs) - {"noise"}
    kinds: list[type[View]] = [catalog.load("views", view) for view in catalog.names("views")]
    entries = {entry for kind in kinds for entry in kind.gives}
    for entry in method.needs:
        if entry not in {*entries, "noise"}:
            raise unknown(f"entry of a batch that {name} needs", entry, [*entries, "noise"])
    fitting = sorted((len(kind.gives), place) for place, kind in enumerate(kinds) if wanted <= set(kind.gives))
    if not fitting:
        raise UserError(f"{name} needs {' and '.join(sorted(wanted))}, which no one view of data gives together")
    return kinds[fitting[0][1]](data, method, batch_size, name)


def needs_background(name: str, groups: Sequence[str] = ()) -> UserError:
    """What to type where a background is missing."""
    there = f" (the groups here are {', '.join(groups)})" if groups else ""
    return UserError(
        f"{name} needs a background: give it as --target A --background B, in Python {{'target': a, 'background': b}}, "
        f"or name a column: data:group=COLUMN,background=VALUE{there}"
    )


def needs_domains(name: str) -> UserError:
    """What to type where domains are missing."""
    return UserError(f"{name} needs domains: give them as --domain A --domain B, or name a column: data:group=COLUMN")


def laid_out(batch: Mapping[str, Tensor], memory: torch.memory_format) -> Batch:
    """The same entries, pictures in the memory format of the networks."""
    return {name: entry.contiguous(memory_format=memory) if entry.ndim == 4 else entry for name, entry in batch.items()}
