"""Target against background: x, rows of the targets, and as many of the background, whatever the sizes of the two."""

from __future__ import annotations

from unbraid.data import Data
from unbraid.methods import Batch, Method
from unbraid.spelling import BACKGROUND
from unbraid.streams import Drawn, Pool
from unbraid.views import View, needs_background


class Contrast(View):
    """The group called background, and all others as targets, rows of larger targets more often."""

    gives = ("x", "background")

    def __init__(self, data: Data, method: Method, batch_size: int, name: str) -> None:
        super().__init__(data, method, batch_size, name)
        if BACKGROUND not in data.groups:
            raise needs_background(name, data.groups)
        self.targets = self.rows_of([group for group in data.groups if group != BACKGROUND])

    @property
    def uniforms(self) -> int:
        """For both."""
        return 2 * self.data.chance

    @property
    def samples(self) -> int:
        """Targets in the training part."""
        return len(self.targets)

    def pools(self) -> list[Pool]:
        """Targets, then background."""
        return [Pool(self.targets, self.batch_size), Pool(self.rows_of([BACKGROUND]), self.batch_size)]

    def batch(self, drawn: Drawn) -> Batch:
        """Look both up."""
        x, background = map(self.data.draw, drawn.picks, drawn.uniforms.tensor_split(2, -1))
        return {"x": x, "background": background}
