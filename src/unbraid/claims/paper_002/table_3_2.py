"""Table 3.2, squares: share of training time in the polarized regime"""

from __future__ import annotations

from unbraid.claims import Bench, Cell, Outcome, values
from unbraid.claims.paper_002._setting import budget, square

PUBLISHED = {"linear": {2: 99.8, 10: 96.7}, "nonlinear": {2: 99.9, 10: 98.5}}


def run(bench: Bench) -> Outcome:
    """beta-VAE with as many latents as factors, and with ten."""
    jobs = {f"{kind} d={d}": square(bench, kind, latents=d) for kind, row in PUBLISHED.items() for d in row}
    if bench.scale == "smoke":
        jobs = {label: {**job, "probe_every": 20, "steps": 60} for label, job in jobs.items()}
    runs = bench.train(jobs, metrics=("polarized_regime",))
    return judged(runs, {f"{k} d={d}": p for k, row in PUBLISHED.items() for d, p in row.items()}, budget(jobs))


def judged(runs: dict, published: dict[str, float], words: str, floor: float = 5.0) -> Outcome:
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
    return Outcome(
        cells, orderings, words, notes=["The thesis prints no spread; within 5 points counts as reproduced."]
    )
