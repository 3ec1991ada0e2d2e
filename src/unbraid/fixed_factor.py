"""Batches in which one factor is held fixed, drawn from samples that are already encoded.

disentanglement_lib draws new factors, fixes one and renders and encodes every batch. Here a batch with a factor
fixed is drawn from the rows that share a value of it, which also works where the grid of factors has holes. On
independent factors it is the same distribution; a batch repeats rows where a value has few.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from unbraid.factors import Factor
from unbraid.information import is_binned, levels
from unbraid.metrics import label

LEAST = 16  # rows per value below which batches visibly repeat themselves
AT_ONCE = 10_000  # votes whose rows are held in memory together


def portions(votes: int) -> list[int]:
    """A number of votes, cut into what memory holds at once."""
    return [min(AT_ONCE, votes - begin) for begin in range(0, votes, AT_ONCE)]


class FixedFactor:
    """The rows of every value of every factor, and draws from them.

    A value that a single row has cannot be held fixed: such rows are never drawn as the first of a batch.

    Arguments:
        factors: array (samples, factors).
        kinds: kind of each factor.
        bins: equal-width bins of a continuous factor, which count as its values.
    """

    def __init__(self, factors: np.ndarray, kinds: list[str], bins: int) -> None:
        self.levels = levels(factors, kinds, bins)
        self.order = np.argsort(self.levels, axis=0, kind="stable").T.copy()
        count = [np.bincount(column) for column in self.levels.T]
        # By place in the sorted order: where the rows of the same value begin, and how many they are.
        self.start = np.stack([np.repeat(np.cumsum(n) - n, n) for n in count])
        self.size = np.stack([np.repeat(n, n) for n in count])
        self.binned = [j for j, kind in enumerate(kinds) if is_binned(factors[:, j], kind)]
        varies = self.levels.max(axis=0) > 0
        self.usable = np.flatnonzero(varies & (self.size > 1).any(axis=1))

    @cached_property
    def places(self) -> list[np.ndarray]:
        """Per factor the places in its sorted order from which a batch may start."""
        return [np.flatnonzero(size > 1) for size in self.size]

    def draw_factors(self, draw: np.random.Generator, votes: int) -> np.ndarray:
        """Which factor each vote holds fixed, in rising order: the order of votes means nothing."""
        return np.sort(self.usable[draw.integers(len(self.usable), size=votes)])

    def batches(self, draw: np.random.Generator, votes: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
        """Factors (votes,) and rows (votes, batch) that share one value of it, that of a row drawn at random."""
        fixed = self.draw_factors(draw, votes)
        rows = np.empty((votes, batch), dtype=np.int64)
        for j in self.usable:
            mine = slice(*np.searchsorted(fixed, [j, j + 1]))
            first = self.places[j][draw.integers(len(self.places[j]), size=mine.stop - mine.start)][:, None]
            within = (draw.random((len(first), batch)) * self.size[j][first]).astype(np.int64)
            rows[mine] = self.order[j][self.start[j][first] + within]
        return fixed, rows

    def pairs(self, draw: np.random.Generator, votes: int, batch: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Factors (votes,), and rows (votes, batch) twice: another row that shares a value for every row of any."""
        fixed = self.draw_factors(draw, votes)
        left, right = np.empty((2, votes, batch), dtype=np.int64)
        for j in self.usable:
            mine = slice(*np.searchsorted(fixed, [j, j + 1]))
            first = draw.integers(len(self.places[j]), size=(mine.stop - mine.start, batch))
            if len(self.places[j]) < len(self.order[j]):
                first = self.places[j][first]
            start, size = self.start[j][first], self.size[j][first]
            other = start + (draw.random(first.shape) * (size - 1)).astype(np.int64)
            other += other >= first  # not the row itself
            left[mine], right[mine] = self.order[j][first], self.order[j][other]
        return fixed, left, right

    def batches_one_by_one(self, draw: np.random.RandomState, votes: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
        """As `batches`, in the order of disentanglement_lib: the factor, then the rows, then the next vote."""
        fixed = np.empty(votes, dtype=np.int64)
        rows = np.empty((votes, batch), dtype=np.int64)
        for vote in range(votes):
            j = fixed[vote] = self.usable[draw.randint(len(self.usable))]
            first = draw.randint(len(self.levels))
            rows[vote] = self.order[j][self.start[j][first] + draw.randint(self.size[j][first], size=batch)]
        return fixed, rows

    def pairs_one_by_one(
        self, draw: np.random.RandomState, votes: int, batch: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `pairs`, in the order of disentanglement_lib.

        A row meets itself only where no other has its value. In a grid that is drawn from anew that hardly happens; among
        few rows it would make all latents of a pair closer where a factor has many values, and so betray the factor.
        """
        fixed = np.empty(votes, dtype=np.int64)
        left, right = np.empty((2, votes, batch), dtype=np.int64)
        for vote in range(votes):
            j = fixed[vote] = self.usable[draw.randint(len(self.usable))]
            first = draw.randint(len(self.levels), size=batch)
            left[vote] = self.order[j][first]
            start, others = self.start[j][first], self.size[j][first] - 1
            other = start + draw.randint(np.maximum(others, 1))
            right[vote] = self.order[j][other + ((other >= first) & (others > 0))]
        return fixed, left, right

    def warnings(self, given: Sequence[Factor | str] | None, bins: int) -> list[str]:
        """What holding a factor fixed cannot do on these samples."""
        found = [f"factor {label(given, j)} is held fixed within {bins} equal-width bins" for j in self.binned]
        for j, size in enumerate(self.size):
            if size[0] == len(size):
                continue
            if j not in self.usable:
                found.append(f"factor {label(given, j)} has no value that two rows share and is left out")
            elif (median := np.median(size)) < LEAST:
                found.append(f"factor {label(given, j)} has only {median:g} rows per value: batches repeat them")
        return found
