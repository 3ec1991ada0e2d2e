"""Figure 3: which latents vary in which domain, digits and clothes; masked against vanilla"""

from __future__ import annotations

from typing import Any

import numpy as np

from unbraid.claims import Bench, Cell, Outcome, below, values
from unbraid.claims.paper_000._setting import MODELS, job, reduced
from unbraid.claims.paper_002._setting import budget
from unbraid.report.charts import Series, line_chart, standalone

QUIET = 0.15  # largest deviation of a latent that the mask hides
SCORE = "block_deviation"


def run(bench: Bench) -> Outcome:
    """Both models; deviations are of test samples."""
    jobs = {model: job(bench, model) for model in MODELS}
    runs = bench.train(jobs, metrics=(SCORE, "block_attribution"))
    leaks = {model: values(each, SCORE) for model, each in runs.items()}
    unused = {model: values(each, SCORE, "unused") for model, each in runs.items()}
    cells = [Cell(f"{model}: largest deviation in a block of the other domain", None, found) for model, found in leaks.items()]  # fmt: skip
    cells += [Cell(f"{model}: share of latents that vary in neither domain", None, found) for model, found in unused.items()]  # fmt: skip
    for model, each in runs.items():
        active = used(each)
        for domain, blocks in active[0].items():
            for block in blocks:
                counts = [float(found[domain][block]) for found in active]
                cells.append(Cell(f"{model}: latents of {block} that vary in {domain}", None, counts))
    orderings: dict[str, bool | None] = {
        f"a masked domain keeps its latents still: deviation at most {QUIET}, every seed": max(leaks["masked"])
        <= QUIET,
        "the vanilla beta-VAE does not: its deviation there is larger": below(leaks["masked"], leaks["vanilla"]),
        "some latents are used in each private block and in the shared one, every seed": all(
            found[domain][block] > 0
            for found in used(runs["masked"])
            for domain in found
            for block in (f"private/{domain}", "shared")
        ),
    }
    figures = [figure(bench, model, each.members[0]) for model, each in runs.items()]
    return Outcome(cells, orderings, budget(jobs), figures, [*reduced(bench), "The paper prints a picture only."])


def used(run: Any) -> list[dict[str, dict[str, int]]]:
    """How many latents of each block vary in each domain, for every seed."""
    return [member.results["scores"][SCORE]["parts"]["active"] for member in run.members]


def figure(bench: Bench, model: str, member: Any) -> str:
    """Deviation of every latent, a line for each domain; blocks side by side."""
    deviation = np.array(member.results["scores"][SCORE]["parts"]["deviation"])
    groups, latents = member.config["groups"], list(range(deviation.shape[1]))
    series = [Series(name, latents, deviation[place].tolist()) for place, name in enumerate(groups)]
    title = f"{model}: " + ", ".join(
        f"{name} {where.start} to {where.stop - 1}" for name, where in member.method.blocks.items()
    )
    chart = line_chart(series, title=title, x_label="latent", y_label="deviation", dots=True, width=560)
    path = bench.figure(f"000-figure-3-{model}.svg")
    path.write_text(standalone(chart))
    return str(path)
