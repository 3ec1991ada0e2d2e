"""Linear toy data of the baselines: contrastive PCA over alpha, PCA, and CLVM, against four known groups"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.cluster import KMeans

from unbraid.claims import Bench, Cell, Outcome, above
from unbraid.claims.paper_002._setting import budget
from unbraid.clustering import matched_accuracy
from unbraid.contrastive_axes import contrastive_axes, covariance
from unbraid.data import open_data
from unbraid.data.linear_contrast import TENTH
from unbraid.report.charts import Series, line_chart, standalone

ALPHAS = (0.0, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
GOOD = (2.0, 10.0)
SAMPLES = (400, 4000)  # 400 are the paper's; its 320 for training leave a plane in 30 coordinates uncertain
AXES, GROUPS = 2, 4


def run(bench: Bench) -> Outcome:
    """Every alpha on every draw of the data; PCA is alpha 0. CLVM is trained on the same data."""
    draws = range(bench.pick(1, 3, 10))
    jobs = {f"{seed} {samples}": clvm(bench, seed, samples) for seed in draws for samples in SAMPLES}
    runs = bench.train(jobs)
    accuracy: dict[float, list[float]] = {alpha: [] for alpha in ALPHAS}
    cosines: dict[int, list[float]] = {samples: [] for samples in SAMPLES}
    by_pca, told = [], []
    for seed in draws:
        x, y, group = toy(seed)
        for alpha in ALPHAS:
            axes = contrastive_axes(covariance(x), covariance(y), alpha, AXES)
            accuracy[alpha].append(clusters(x @ axes, group))
        by_pca.append(smallest_cosine(contrastive_axes(covariance(x), covariance(y), 0.0, AXES)))
        for samples in SAMPLES:
            trained = runs[f"{seed} {samples}"].members[0].method
            cosines[samples].append(smallest_cosine(trained.target.weight.detach().numpy()))
        method = runs[f"{seed} {SAMPLES[0]}"].members[0].method
        codes = method.encode(open_data(names(seed)[0]).draw(torch.arange(len(x)))).detach().numpy()
        told.append(clusters(codes[:, method.blocks["salient"]], group))
    cells = [
        *[Cell(f"{'PCA' if not alpha else f'cPCA alpha {alpha:g}'} accuracy %", None, [100 * v for v in found]) for alpha, found in accuracy.items()],
        Cell("CLVM accuracy of salient codes %", None, [100 * v for v in told]),
        *[Cell(f"CLVM smallest cosine between its plane and the true one, {n} samples", None, found) for n, found in cosines.items()],
        Cell("PCA smallest cosine between its plane and the true one", None, by_pca),
    ]  # fmt: skip
    within = [value for alpha, found in accuracy.items() if GOOD[0] <= alpha <= GOOD[1] for value in found]
    orderings: dict[str, bool | None] = {
        "cPCA tells the four groups apart (at least 99 %) for every alpha from 2 to 10 and every draw": min(within)
        >= 0.99,
        "PCA does not (under 40 %)": max(accuracy[0.0]) < 0.4,
        f"CLVM's target plane is nearer to the true one than PCA's, from {SAMPLES[0]} samples": above(
            cosines[SAMPLES[0]], by_pca
        ),
        f"CLVM's target plane is the true one (cosine above 0.95) from {SAMPLES[1]:,} samples": min(cosines[SAMPLES[1]])
        > 0.95,
        "CLVM's salient codes tell the groups apart (at least 99 %)": min(told) >= 0.99,
    }
    return Outcome(cells, orderings, f"{len(draws)} draws of the data; CLVM: {budget(jobs)}", [figure(bench, accuracy)], [
        "Abid et al.'s construction; neither paper prints these numbers. Axes of cPCA are the closed form, which training "
        "finds too; accuracy is of 4-means, matched to groups after the fact.",
        f"From {SAMPLES[0]} samples the smallest cosine of CLVM's plane over draws is "
        f"{min(cosines[SAMPLES[0]]):.2f}, from ten times as many {min(cosines[SAMPLES[1]]):.2f}: what is missing is samples.",
    ])  # fmt: skip


def names(seed: int, samples: int = SAMPLES[0]) -> tuple[str, str]:
    """Target and background of one draw."""
    told = (f",samples={samples}" if samples != SAMPLES[0] else "") + (f",seed={seed}" if seed else "")
    return f"linear_contrast:part=target{told}", f"linear_contrast:part=background{told}"


def clvm(bench: Bench, seed: int, samples: int) -> dict[str, Any]:
    """Batches as large as the data: the likelihood is exact, and so is almost its gradient."""
    target, background = names(seed, samples)
    return {
        "method": "clvm", "data": f"target={target} & background={background}", "lr": 0.05, "batch_size": 400,
        "steps": bench.pick(5, 1500, 3000), "seeds": [seed], "probe_every": bench.pick(5, 500, 500),
    }  # fmt: skip


def toy(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Targets, background, and the targets' groups."""
    target, background = map(open_data, names(seed))
    assert target.values is not None
    x, y = (data.draw(torch.arange(len(data))).numpy() for data in (target, background))
    return x, y, target.values[:, 0].long().numpy()


def clusters(codes: np.ndarray, group: np.ndarray) -> float:
    """Accuracy of 4-means."""
    found = KMeans(GROUPS, n_init=10, random_state=0).fit(codes).labels_
    return float(matched_accuracy(found, group, GROUPS))


def smallest_cosine(columns: np.ndarray) -> float:
    """Of the principal angles between the plane of two columns and that in which groups lie."""
    true = np.zeros((3 * TENTH, AXES))
    true[TENTH : 2 * TENTH, 0] = true[2 * TENTH :, 1] = TENTH**-0.5
    return float(np.linalg.svd(true.T @ np.linalg.qr(columns)[0], compute_uv=False).min())


def figure(bench: Bench, accuracy: dict[float, list[float]]) -> str:
    """Accuracy over alpha, with its range over draws."""
    found = {alpha: [100 * v for v in each] for alpha, each in accuracy.items() if alpha}
    mean = [sum(each) / len(each) for each in found.values()]
    series = Series("cPCA", list(found), mean, [min(each) for each in found.values()], [max(each) for each in found.values()])  # fmt: skip
    chart = line_chart([series], title="four groups by cPCA", x_label="alpha", y_label="accuracy %", log_x=True, dots=True, width=440)  # fmt: skip
    path = bench.figure("linear-toy-alpha.svg")
    path.write_text(standalone(chart))
    return str(path)
