"""Single samples: x, rows of the training part, groups or no groups."""

from __future__ import annotations

from unbraid.methods import Batch
from unbraid.streams import Drawn
from unbraid.views import View


class Single(View):
    """Samples, each by itself."""

    gives = ("x",)

    def batch(self, drawn: Drawn) -> Batch:
        """Look the rows up."""
        return {"x": self.data.draw(drawn.picks[0], drawn.uniforms)}
