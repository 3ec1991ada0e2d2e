"""Figure 6: W2 of common codes over training, four methods; and clusters over lambda_z"""

from __future__ import annotations

from typing import Any

import numpy as np

from unbraid.claims import Bench, Cell, Outcome, above, below, values
from unbraid.claims.paper_001._setting import METHODS, reduced, row
from unbraid.claims.paper_002._setting import budget
from unbraid.report.charts import Mark, Series, line_chart, standalone

TAKES_DATA = True
LAMBDAS = (0.1, 1.0, 10.0)
BEST = 1.0  # the paper's
LAST = 10  # looks, whose mean stands for the end of training
CLUSTERS = {"salient": "clustering_accuracy", "common": "common_clustering"}


def run(bench: Bench) -> Outcome:
    """The runs of Table 1, L-MNIST, and Eq. 8 with other lambda_z; Eq. 7 is Eq. 8 with none."""
    jobs = {method: row(bench, method, "L-MNIST") for method in METHODS}
    fewer = {"seeds": list(range(bench.pick(1, 2, 3)))}
    swept = {w: row(bench, "Eq. 8", "L-MNIST", lambda_z=w, **(fewer if w != BEST else {})) for w in LAMBDAS} | {
        0.0: jobs["Eq. 7"]
    }
    runs = bench.train(jobs)
    over = bench.train({str(weight): told for weight, told in swept.items()}, metrics=(*CLUSTERS.values(), "common_w2"))
    curves = {method: [distances(member) for member in runs[method].members] for method in METHODS}
    ends = {method: [float(w2[-LAST:].mean()) for _, w2, _ in found] for method, found in curves.items()}
    floor = float(np.mean([least[-LAST:].mean() for _, _, least in curves["Eq. 8"]]))
    accuracy = {
        name: {w: [100 * v for v in values(over[str(w)], score)] for w in swept} for name, score in CLUSTERS.items()
    }
    cells = [Cell(f"{method} W2 at the end of training", None, found) for method, found in ends.items()]
    for weight in sorted(swept):
        said = f"lambda_z {weight:g}"
        cells += [Cell(f"{said} accuracy of {name} %", None, found[weight]) for name, found in accuracy.items()]
        cells.append(Cell(f"{said} W2 over its floor", None, values(over[str(weight)], "common_w2.over_floor")))
    salient = accuracy["salient"]
    orderings = {
        "W2 ends lower under Eq. 8 than under all others": below(
            ends["Eq. 8"], *[ends[m] for m in METHODS if m != "Eq. 8"]
        )
    } | {
        f"lambda_z {BEST:g} tells digits better than {weight:g}": above(salient[BEST], salient[weight])
        for weight in sorted(swept)
        if weight != BEST
    }
    return Outcome(cells, orderings, budget(jobs), [over_training(bench, curves, floor), over_weight(bench, accuracy)], [
        *reduced(bench),
        "The paper prints curves only. W2 over training is of validation samples, 128 of each group, with codes drawn from the posterior; "
        f"the line marks what two batches of one group have under Eq. 8, {floor:.2f}. lambda_z 0 is Eq. 7.",
    ])  # fmt: skip


def distances(member: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Steps, W2² of common codes, and its floor, as the training saw them."""
    found = [(row["step"], row["distances"]["common"], row["distances"]["common floor"]) for row in member.history if "distances" in row]  # fmt: skip
    steps, w2, floor = np.array(found).T
    return steps, w2, floor


def over_training(bench: Bench, curves: dict[str, Any], floor: float) -> str:
    """Mean and range over seeds."""
    series = []
    for method, found in curves.items():
        w2 = np.stack([each for _, each, _ in found])
        series.append(Series(method, found[0][0].tolist(), w2.mean(0).tolist(), w2.min(0).tolist(), w2.max(0).tolist()))
    chart = line_chart(series, title="W2 of common codes over training", x_label="step", y_label="W2²", log_y=True,
                       y_marks=[Mark(floor, "floor")], width=480, height=280)  # fmt: skip
    path = bench.figure("001-figure-6-training.svg")
    path.write_text(standalone(chart))
    return str(path)


def over_weight(bench: Bench, accuracy: dict[str, dict[float, list[float]]]) -> str:
    """Mean and range over seeds; an axis of powers of ten has no place for 0."""
    series = []
    for name, found in accuracy.items():
        each = [found[weight] for weight in LAMBDAS]
        series.append(
            Series(name, LAMBDAS, [float(np.mean(v)) for v in each], [min(v) for v in each], [max(v) for v in each])
        )
    chart = line_chart(series, title="clusters over lambda_z", x_label="lambda_z", y_label="accuracy %", log_x=True, dots=True,
                       width=480, height=280)  # fmt: skip
    path = bench.figure("001-figure-6-lambda.svg")
    path.write_text(standalone(chart))
    return str(path)
