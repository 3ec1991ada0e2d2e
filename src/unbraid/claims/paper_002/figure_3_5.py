"""Figure 3.5: on a square with equal sides the linear beta-VAE turns its axes at random"""

from __future__ import annotations

from typing import Any

import numpy as np

from unbraid.claims import Bench, Outcome
from unbraid.claims.paper_002._setting import budget, square
from unbraid.report.charts import Series, scatter_chart, standalone

RATIOS = (1.0, 1.5)
SHOWN = 4  # restarts in the figure, as in the thesis


def run(bench: Bench) -> Outcome:
    """The trainings of Table 3.4, looked at through the angle of the first latent to the square's own axes."""
    jobs = {str(ratio): square(bench, "linear", data=f"linear_square:ratio={ratio}") for ratio in RATIOS}
    runs = bench.train(jobs, metrics=("distance_to_orthogonality", "disentanglement_score"))
    angles = {ratio: [angle(member) for member in runs[str(ratio)].members] for ratio in RATIOS}
    figures = []
    for place, member in enumerate(runs["1.0"].members[:SHOWN]):
        path = bench.figure(f"figure-3.5-restart-{place}.svg")
        path.write_text(standalone(picture(member, f"restart {place}: turned by {angles[1.0][place]:.0f}°")))
        figures.append(str(path))
    off = {ratio: np.minimum(found, 90 - np.array(found)) for ratio, found in angles.items()}
    notes = [
        f"angles to the square's axes, degrees in 0..90, ratio {r}: {', '.join(f'{a:.0f}' for a in angles[r])}"
        for r in RATIOS
    ]
    orderings = {
        "at ratio 1 the angles over restarts range over more than 30 degrees": float(np.ptp(angles[1.0])) > 30,
        "at ratio 1.5 the axes are found: the median restart is within 10 degrees": float(np.median(off[1.5])) < 10,
    }
    return Outcome([], orderings, budget(jobs), figures=figures, notes=notes)


def angle(run: Any) -> float:
    """Degrees between the first latent's direction in the square and the square's axes, modulo a right angle."""
    stored = np.load(run.path / "codes.npz")
    centred = stored["factors"] - stored["factors"].mean(0)
    direction = np.linalg.lstsq(centred, stored["mean"] - stored["mean"].mean(0), rcond=None)[0][:, 0]
    return float(np.degrees(np.arctan2(direction[1], direction[0])) % 90)


def picture(run: Any, title: str) -> str:
    """Codes of the test samples, coloured by w1."""
    stored = np.load(run.path / "codes.npz")
    codes, w1 = stored["mean"][:1500], stored["factors"][:1500, 0]
    series = []
    for level in range(10):
        inside = (w1 >= level / 10) & (w1 < (level + 1) / 10)
        series.append(
            Series(
                f"w1 {level / 10:.1f}",
                codes[inside, 0].tolist(),
                codes[inside, 1].tolist(),
                colour=f"q{level}",
            )
        )
    return scatter_chart(series, title=title, x_label="z0", y_label="z1", legend=False, width=280, height=280)
