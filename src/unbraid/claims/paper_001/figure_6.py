"""Figure 6: W2 of common codes over training, four methods; and clusters over lambda_z"""

from __future__ import annotations

from typing import Any

import numpy as np

from unbraid.claims import Bench, Cell, Outcome, above, below, values
from unbraid.claims.paper_001._setting import METHODS, OURS, job, reduced
from unbraid.claims.paper_002._setting import budget
from unbraid.report.charts import Mark, Series, line_chart, standalone

TAKES_DATA = True
LAMBDAS = (0.01, 0.1, 1.0, 10.0, 100.0)
BEST = 1.0  # the paper's
LAST = 10  # looks, whose mean stands for the end of training
CLUSTERS = {"salient": "clustering_accuracy", "common": "common_clustering"}


def run(bench: Bench) -> Outcome:
    """The runs of Table 1, L-MNIST, and Eq. 8 with other lambda_z."""
    jobs = {method: job(bench, method, "L-MNIST") for method in METHODS}
    swept = {
        weight: job(bench, "Eq. 8", "L-MNIST", **({} if weight == BEST else {"lambda_z": weight})) for weight in LAMBDAS
    }
    runs = bench.train(jobs)
    over = bench.train({str(weight): told for weight, told in swept.items()}, metrics=(*CLUSTERS.values(), "common_w2"))
    curves = {method: [distances(member) for member in runs[method].members] for method in METHODS}
    ends = {method: [float(w2[-LAST:].mean()) for _, w2, _ in found] for method, found in curves.items()}
    floor = float(np.mean([least[-LAST:].mean() for _, _, least in curves["Eq. 8"]]))
    accuracy = {
        name: [[100 * v for v in values(over[str(w)], score)] for w in LAMBDAS] for name, score in CLUSTERS.items()
    }
    best = LAMBDAS.index(BEST)
    cells = [Cell(f"{method} W2 at the end of training", None, found) for method, found in ends.items()] + [
        cell
        for at, weight in enumerate(LAMBDAS)
        for cell in (
            *(Cell(f"lambda_z {weight:g} accuracy of {name} %", None, found[at]) for name, found in accuracy.items()),
            Cell(f"lambda_z {weight:g} W2 over its floor", None, values(over[str(weight)], "common_w2.over_floor")),
        )
    ]
    orderings = {
        "W2 ends lower under Eq. 8 than under all others": below(ends["Eq. 8"], *[ends[m] for m in METHODS if m != OURS[1]]),
        **{f"lambda_z {BEST:g} tells digits better than {weight:g}": above(accuracy["salient"][best], accuracy["salient"][at]) for at, weight in enumerate(LAMBDAS) if at != best},
    }  # fmt: skip
    figures = [over_training(bench, curves, floor), over_weight(bench, accuracy)]
    return Outcome(cells, orderings, budget(jobs), figures, [
        *reduced(bench),
        "The paper prints curves only. W2 over training is of validation samples, 128 of each group, with codes drawn from the posterior; "
        f"the line marks what two batches of one group have under Eq. 8, {floor:.2f}.",
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


def over_weight(bench: Bench, accuracy: dict[str, list[list[float]]]) -> str:
    """Mean and range over seeds."""
    series = [
        Series(name, LAMBDAS, [float(np.mean(v)) for v in found], [min(v) for v in found], [max(v) for v in found])
        for name, found in accuracy.items()
    ]
    chart = line_chart(series, title="clusters over lambda_z", x_label="lambda_z", y_label="accuracy %", log_x=True, dots=True,
                       width=480, height=280)  # fmt: skip
    path = bench.figure("001-figure-6-lambda.svg")
    path.write_text(standalone(chart))
    return str(path)
