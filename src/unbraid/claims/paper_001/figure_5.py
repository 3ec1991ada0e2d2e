"""Figure 5: what the common and the salient code of digits over grass decode to, each alone, four methods"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.blocks import speaking
from unbraid.claims import Bench, Cell, Outcome, above, below
from unbraid.claims.paper_001._setting import METHODS, OURS, beneath, colours, correlation, reduced, row, shown
from unbraid.claims.paper_002._setting import budget
from unbraid.report.pictures import grid_png

TAKES_DATA = True
SETS = {"[z, s]": ("common", "salient"), "[z, 0]": ("common",), "[0, s]": ("salient",)}
JUDGED, SHOWN = 1000, 10
DIGIT, GRASS = "digit", "grass"


def run(bench: Bench) -> Outcome:
    """The runs of Table 1, L-MNIST. Digit and grass of every target are known, so that each can be looked for in what was decoded."""
    jobs = {method: row(bench, method, "L-MNIST") for method in METHODS}
    runs = bench.train(jobs)
    found = {method: [seen(member) for member in each.members] for method, each in runs.items()}
    figures = [drawn(bench, method, each.members[0]) for method, each in runs.items()]

    def of(method: str, sets: str, what: str) -> list[float]:
        return [one[sets][what] for one in found[method]]

    cells = [Cell(f"{m} {what} in {sets}", None, of(m, sets, what)) for m in METHODS for sets in SETS for what in (DIGIT, GRASS)]  # fmt: skip
    orderings: dict[str, bool | None] = {}
    for method in OURS:
        z, s = (of(method, sets, DIGIT) for sets in ("[z, 0]", "[0, s]"))
        orderings[f"{method}: the digit is in [0, s] rather than in [z, 0]"] = above(s, z)
        orderings[f"{method}: the grass is in [z, 0] rather than in [0, s]"] = above(*[of(method, sets, GRASS) for sets in ("[z, 0]", "[0, s]")])  # fmt: skip
        orderings[f"{method}: less of the digit is in [z, 0] than under cVAE and sRb-VAE"] = below(z, *[of(m, "[z, 0]", DIGIT) for m in METHODS if m not in OURS])  # fmt: skip
    return Outcome(cells, orderings, budget(jobs), figures, [
        *reduced(bench),
        "The paper prints pictures only. `digit`: correlation over pixels between what is decoded and the digit that was laid over the "
        "grass, mean over targets. `grass`: correlation over targets between their mean colours and those of the grass beneath. Rows of "
        "the pictures: targets, [z, s], [z, 0], [0, s].",
    ])  # fmt: skip


def decoded(member: Any, x: Tensor) -> dict[str, Tensor]:
    """Samples from each set of blocks."""
    with torch.no_grad():
        codes = member.method.encode(x)
        return {sets: member.method.decode(speaking(member.method, codes, blocks)) for sets, blocks in SETS.items()}


def seen(member: Any) -> dict[str, dict[str, float]]:
    """How much of the digit and of the grass each set of blocks shows."""
    data = member.data
    rows = shown(data, JUDGED)
    digit, grass = beneath(data, rows)
    found = {}
    for sets, made in decoded(member, data.draw(rows)).items():
        by_pixel, by_colour = correlation(made.mean(1), digit), correlation(colours(made), colours(grass))
        found[sets] = {DIGIT: float(by_pixel.mean()), GRASS: float(by_colour.mean())}
    return found


def drawn(bench: Bench, method: str, member: Any) -> str:
    """Rows as in the paper."""
    x = member.data.draw(shown(member.data, SHOWN))
    rows = np.stack([x.numpy(), *(made.numpy() for made in decoded(member, x).values())])
    return str(grid_png(rows, bench.figure(f"001-figure-5-{METHODS[method]}.png"), scale=2))
