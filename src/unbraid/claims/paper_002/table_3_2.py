"""Table 3.2, squares: share of training time in the polarized regime"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from unbraid.claims import Bench, Cell, Outcome, values
from unbraid.claims.paper_002._setting import budget, square
from unbraid.data import open_data
from unbraid.linear_theory import linear_closed_form

PUBLISHED = {"linear": {2: 99.8, 10: 96.7}, "nonlinear": {2: 99.9, 10: 98.5}}
NETWORKS = 3  # the thesis draws one random network and does not publish it
LINE = 0.03


def run(bench: Bench) -> Outcome:
    """beta-VAE with as many latents as factors, and with ten; the nonlinear square through the first three networks."""
    jobs = {}
    for d in PUBLISHED["linear"]:
        jobs[f"linear d={d}"] = square(bench, "linear", latents=d)
        for network in range(bench.pick(1, NETWORKS, NETWORKS)):
            job = square(
                bench, "nonlinear", latents=d, data=f"nonlinear_square:seed={network}", seeds=10 if network == 0 else 2
            )
            jobs[f"nonlinear d={d} network {network}"] = job
    if bench.scale == "smoke":
        jobs = {label: {**job, "probe_every": 20, "steps": 60} for label, job in jobs.items()}
    runs = bench.train(jobs, metrics=("polarized_regime",))
    shares = {label: [100 * v for v in values(run, "polarized_regime")] for label, run in runs.items()}
    cells, notes = [], []
    for kind, row in PUBLISHED.items():
        for d, percent in row.items():
            found = [
                shares[label][:2] if kind == "nonlinear" else shares[label]
                for label in shares
                if label.startswith(f"{kind} d={d}")
            ]
            cells.append(Cell(f"{kind} d={d} %", (percent, 0.0), [v for one in found for v in one], tolerance=5.0))
    orderings = {f"linear d={d}: polarized for most of the time (over 90 %)": cell.mean > 90
                 for d, cell in zip(PUBLISHED["linear"], cells, strict=False)}  # fmt: skip
    met, expected = [], []
    for label in (label for label in runs if label.startswith("nonlinear")):
        predicted = predicted_error(jobs[label]["data"], jobs[label]["beta"])
        ended = [run.results["scores"]["polarized_regime"]["parts"]["delta"][-1] for run in runs[label].members]
        mean = sum(ended) / len(ended)
        notes.append(f"{label}: closed form puts Delta at {100 * predicted:.1f} %, training ends at {100 * mean:.1f} %, "
                     f"polarized for {sum(shares[label]) / len(shares[label]):.1f} % of the time.")  # fmt: skip
        if abs(predicted - LINE) > 0.25 * LINE:
            met.append(sum(shares[label]) / len(shares[label]) > 90)
            expected.append(predicted < LINE)
    orderings[
        "nonlinear: polarized for most of the time on every network where the closed form puts Delta clearly below 3 %"
    ] = met == expected
    return Outcome(cells, orderings, budget(jobs), notes=[
        "The thesis prints no spread; within 5 points counts as reproduced.",
        "Once polarized, Delta is half the sum of sigma² of the active latents over the KL, and sigma² is beta / 2 lambda: "
        "whether 3 % is met is decided by the spread lambda of the data. The thesis does not publish its random network; of the "
        "first three drawn here some are too flat for beta 1e-3 to come below the line, at the same regime.",
        *notes,
    ])  # fmt: skip


def predicted_error(data: str, beta: float) -> float:
    """Delta at the optimum of the linear theory: 1/2 sum sigma² over the KL 1/2 sum -log sigma²."""
    x = open_data(data).draw(torch.arange(20_000)).numpy()
    noise = linear_closed_form(np.cov(x.T), beta, 2).noise
    return float(noise.sum() / -np.log(noise).sum())


def judged(runs: dict[str, Any], published: dict[str, float], words: str, floor: float = 5.0) -> Outcome:
    """Cells in percent, and the conclusion: the regime holds for most of the training."""
    cells = [
        Cell(
            f"{label} %",
            (percent, 0.0),
            [100 * v for v in values(runs[label], "polarized_regime")],
            tolerance=floor,
        )
        for label, percent in published.items()
    ]
    orderings = {f"{cell.name[:-2]}: polarized for most of the time (over 90 %)": cell.mean > 90 for cell in cells}
    seen = [f"{label} {' → '.join(f'{100 * d:.1f}' for d in course(run))}" for label, run in runs.items()]
    return Outcome(cells, orderings, words, notes=[
        "The thesis prints no spread; within 5 points counts as reproduced.",
        f"Delta in % after a tenth, half and all of the training, mean over seeds: {'; '.join(seen)}.",
    ])  # fmt: skip


def course(run: Any) -> list[float]:
    """Delta after a tenth, half and all of the training, mean over seeds."""
    found = [member.results["scores"]["polarized_regime"]["parts"]["delta"] for member in run.members]
    return [sum(delta[at] for delta in found) / len(found) for at in (len(found[0]) // 10, len(found[0]) // 2, -1)]
