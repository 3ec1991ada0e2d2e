"""Figure 8: from one salient code to another at one common code, by Eq. 8"""

from __future__ import annotations

from typing import Any

import torch

from unbraid.block_pictures import block_pictures
from unbraid.claims import Bench, Cell, Outcome, above
from unbraid.claims.paper_001._setting import beneath, colours, correlation, reduced, row, shown
from unbraid.claims.paper_002._setting import budget
from unbraid.encoding import at_hand
from unbraid.report.pictures import grid_png

TAKES_DATA = True
PAIRS = 500
WAY = (0.0, 0.5, 1.0)
PICTURES = 3  # planes that are drawn, each between another pair of targets
FIRST, SECOND, GRASS = "the first digit", "the second digit", "the first one's grass"


def run(bench: Bench) -> Outcome:
    """The runs of Table 1, L-MNIST; the picture is a plane of salient codes, the numbers are of its diagonal."""
    jobs = {"Eq. 8": row(bench, "Eq. 8", "L-MNIST")}
    members = bench.train(jobs)["Eq. 8"].members
    found = [diagonal(member) for member in members]
    on_way = {(what, way): [one[what, way] for one in found] for way in WAY for what in (FIRST, SECOND, GRASS)}
    cells = [Cell(f"{what}, {way:.0%} of the way", None, values) for (what, way), values in on_way.items()]
    orderings = {
        "at the end the second digit is seen rather than the first": above(on_way[SECOND, 1.0], on_way[FIRST, 1.0]),
        "at the start the first digit is seen rather than the second": above(on_way[FIRST, 0.0], on_way[SECOND, 0.0]),
        "the grass stays: its correlation never falls by more than 0.1": min(
            a - b for way in WAY for a, b in zip(on_way[GRASS, way], on_way[GRASS, 0.0], strict=True)
        ) >= -0.1,
    }  # fmt: skip
    return Outcome(cells, orderings, budget(jobs), [drawn(bench, members[0], at) for at in range(PICTURES)], [
        *reduced(bench),
        "The paper prints pictures only. Decoded is [z1, s] with s on the way from s1 to s2: correlation over pixels with either digit, "
        "mean over pairs of targets, and over pairs between the mean colours decoded and those of the first target's grass. In the "
        "pictures top left is [z1, s1], bottom right [z1, s2]; down moves two of the salient latents, across the other two.",
    ])  # fmt: skip


def diagonal(member: Any) -> dict[tuple[str, float], float]:
    """What is seen at each step of the way between two targets, mean over pairs."""
    data, where = member.data, member.method.blocks["salient"]
    rows = shown(data, PAIRS)
    digit, grass = beneath(data, rows)
    found = {}
    with torch.no_grad():
        codes = member.method.encode(data.draw(rows))
        for way in WAY:
            moved = codes.clone()
            moved[:, where] += way * (codes.roll(1, 0) - codes)[:, where]
            made = member.method.decode(moved)
            found[FIRST, way] = float(correlation(made.mean(1), digit).mean())
            found[SECOND, way] = float(correlation(made.mean(1), digit.roll(1, 0)).mean())
            found[GRASS, way] = float(correlation(colours(made), colours(grass)).mean())
    return found


def drawn(bench: Bench, member: Any, at: int) -> str:
    """The plane between two targets."""
    data = member.data
    rows = torch.cat([shown(data, 10 * (at + 1))[10 * at :], shown(data, 10, "background")])
    found = block_pictures(member, data, rows, at_hand(member, data, rows))
    return str(grid_png(found["between/salient"], bench.figure(f"001-figure-8-{at}.png"), scale=2))
