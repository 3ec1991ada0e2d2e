"""Figure 7: reconstructions of background and of targets by Eq. 8"""

from __future__ import annotations

from typing import Any

import torch

from unbraid.block_pictures import block_pictures
from unbraid.blocks import speaking
from unbraid.claims import Bench, Cell, Outcome
from unbraid.claims.paper_001._setting import KINDS, reduced, row, shown
from unbraid.claims.paper_002._setting import budget
from unbraid.encoding import at_hand
from unbraid.report.pictures import grid_png

TAKES_DATA = True
JUDGED, SHOWN = 1000, 10
GROUPS = ("background", "target")


def run(bench: Bench) -> Outcome:
    """The runs of Table 1, on both kinds of digits."""
    jobs = {kind: row(bench, "Eq. 8", kind) for kind in KINDS}
    runs = bench.train(jobs)
    share = {
        (kind, group): [explained(member, group) for member in runs[kind].members] for kind in KINDS for group in GROUPS
    }
    cells = [
        Cell(f"{kind}: share of the variance of {group}s that is reconstructed", None, found)
        for (kind, group), found in share.items()
    ]
    orderings: dict[str, bool | None] = {
        f"{kind}: at least half of the variance of {group}s is reconstructed": min(found) >= 0.5
        for (kind, group), found in share.items()
    }
    figures = [drawn(bench, kind, found.members[0]) for kind, found in runs.items()]
    return Outcome(cells, orderings, budget(jobs), figures, [
        *reduced(bench),
        "The paper prints pictures only. Rows: background, its reconstruction from [z, 0], targets, theirs from [z, s].",
    ])  # fmt: skip


def explained(member: Any, group: str) -> float:
    """1 - squared error over variance, over pixels of test samples decoded as the training does."""
    x = member.data.draw(shown(member.data, JUDGED, group))
    with torch.no_grad():
        made = member.method.decode(speaking(member.method, member.method.encode(x), member.method.heard(group)))
    return 1 - float((x - made).square().sum() / (x - x.mean(0)).square().sum())


def drawn(bench: Bench, kind: str, member: Any) -> str:
    """Rows as in the paper."""
    rows = torch.cat([shown(member.data, SHOWN, group) for group in GROUPS])
    found = block_pictures(member, member.data, rows, at_hand(member, member.data, rows))
    order = [list(found["group_names"]).index(group) for group in GROUPS]
    return str(
        grid_png(
            found["groups"][order].reshape(4, -1, *member.data.shape), bench.figure(f"001-figure-7-{kind}.png"), scale=2
        )
    )
