"""Figure 4: maps of the salient codes of digits and grass, four methods"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from unbraid.block_maps import block_maps
from unbraid.claims import Bench, Cell, Outcome, above
from unbraid.claims.paper_001._setting import METHODS, OURS, reduced, row
from unbraid.claims.paper_002._setting import budget
from unbraid.encoding import at_hand, scored_rows
from unbraid.report.blocks import dots
from unbraid.report.charts import scatter_chart, standalone

TAKES_DATA = True
NEIGHBOURS = 10
DIGITS, GRASS = "digits", "grass"


def run(bench: Bench) -> Outcome:
    """The runs of Table 1, L-MNIST; a picture of the first seed's map, and in numbers of all seeds what is to be seen in it."""
    jobs = {method: row(bench, method, "L-MNIST") for method in METHODS}
    runs = bench.train(jobs)
    maps = {method: [mapped(member) for member in found.members] for method, found in runs.items()}
    alike = {method: [neighbours(each) for each in found] for method, found in maps.items()}
    shares = {
        (method, what): [one[what] for one in found] for method, found in alike.items() for what in (DIGITS, GRASS)
    }
    figures = [drawn(bench, method, found[0]) for method, found in maps.items()]
    orderings = {
        f"near to a digit under {method} are more digits of its kind than under {other}": above(
            shares[method, DIGITS], shares[other, DIGITS]
        )
        for method in OURS
        for other in METHODS
        if other not in OURS
    } | {
        f"grass is one cluster under {method}: near to it is nothing else (99 %)": min(shares[method, GRASS]) >= 0.99
        for method in OURS
    }
    cells = [
        Cell(f"{method}: of the {NEIGHBOURS} nearest to {what}, of its kind", None, found)
        for (method, what), found in shares.items()
    ]
    return Outcome(cells, orderings, budget(jobs), figures, [
        *reduced(bench),
        "The paper prints pictures only. A map is t-SNE of the salient means of equally many targets and background; grass in grey.",
    ])  # fmt: skip


def mapped(member: Any) -> dict[str, np.ndarray]:
    """The map of one run's test samples."""
    rows, _ = scored_rows(member.data, 10_000)
    given = at_hand(member, member.data, rows)
    where = {"salient": given["blocks"]["salient"]}
    return block_maps({**given, "blocks": where})


def neighbours(found: dict[str, np.ndarray]) -> dict[str, float]:
    """In the map, how many of the nearest to a digit are of the same digit, and how many of the nearest to grass are grass."""
    places, sort = found["map/salient"], found["sort"]
    near = NearestNeighbors(n_neighbors=NEIGHBOURS + 1).fit(places).kneighbors(return_distance=False)
    same = (sort[near] == sort[:, None]).mean(1)
    grass = sort == list(found["sorts"]).index("background")
    return {DIGITS: float(same[~grass].mean()), GRASS: float(same[grass].mean())}


def drawn(bench: Bench, method: str, found: dict[str, np.ndarray]) -> str:
    """One dot a sample, its colour the digit."""
    series = dots(found["map/salient"], found["sort"], [str(name) for name in found["sorts"]])
    path = bench.figure(f"001-figure-4-{METHODS[method]}.svg")
    path.write_text(standalone(scatter_chart(series, title=f"{method}: salient codes of digits and grass", height=380)))
    return str(path)
