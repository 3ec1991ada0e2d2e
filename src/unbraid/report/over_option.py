"""Scores over an option: where configurations differ in one number alone, e.g. W2 over lambda_z, paper 001, Fig. 6b."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unbraid.report.charts import Series, line_chart
from unbraid.report.folder import Run
from unbraid.report.glossary import headlines, word
from unbraid.report.markup import Safe
from unbraid.report.measures import flat
from unbraid.report.numbers import number, show
from unbraid.report.page import Section, figure, figures

FEWEST = 3  # values, below which a table says all

Group = Sequence[Run]


def over_option(groups: Sequence[Group]) -> Section | None:
    """A line for each of the main scores, mean and band over seeds; None if more than one number differs."""
    found = varied(groups)
    if found is None:
        return None
    option, values = found
    order = np.argsort(values)
    x = [values[at] for at in order]
    names = headlines(dict.fromkeys(name for group in groups for run in group for name in run.scores))
    charts = [one for name in names if (one := _chart(name, option, x, [groups[at] for at in order])) is not None]
    if not charts:
        return None
    seeds = "mean over seeds, the band is one sd" if any(len(group) > 1 for group in groups) else "one seed each"
    lead = f"All that differs is {option}, from {show(x[0])} to {show(x[-1])}; {seeds}."
    return Section("over", f"Scores over {option}", figures(charts), lead)


def varied(groups: Sequence[Group]) -> tuple[str, list[float]] | None:
    """The one setting in which configurations differ, and its value in each, if these are numbers."""
    flats = [{key: value for key, value in flat(group[0].config) if key != "seed"} for group in groups]
    keys = {key for one in flats for key in one}
    differ = [key for key in keys if len({repr(one.get(key)) for one in flats}) > 1]
    if len(differ) != 1:
        return None
    values = [value for one in flats if (value := number(one.get(differ[0]))) is not None]
    return (differ[0].removeprefix("options."), values) if len(values) == len(groups) >= FEWEST else None


def _chart(name: str, option: str, x: list[float], groups: Sequence[Group]) -> Safe | None:
    held = [[run.scores[name] for run in group if name in run.scores] for group in groups]
    rows = [np.array([s.value for s in scores if s.value is not None]) for scores in held]
    if sum(map(bool, map(len, rows))) < 2:
        return None
    mean = [float(row.mean()) if len(row) else np.nan for row in rows]
    sd = [float(row.std(ddof=1)) if len(row) > 1 else 0.0 for row in rows]
    band = any(len(row) > 1 for row in rows)
    low, high = ([m + sign * s for m, s in zip(mean, sd, strict=True)] for sign in (-1, 1))
    first = next(scores for scores in held if scores)[0]
    beside = "chance" if first.ceiling is None else "floor" if first.best == "low" else "ceiling"
    limits = [
        [v for s in scores if (v := s.chance if beside == "chance" else s.ceiling) is not None] for scores in held
    ]
    drawn = [Series(word(name).name, x, mean, low if band else None, high if band else None)]
    if any(limits):  # each configuration's own: the floor of W2 depends on its codes
        drawn.append(Series(beside, x, [float(np.mean(own)) if own else np.nan for own in limits], colour="ground"))
    chart = line_chart(
        drawn,
        title=f"{word(name).name} over {option}",
        x_label=option,
        log_x=min(x) > 0 and max(x) >= 10 * min(x),
        dots=True,
    )
    return figure(word(name).name, chart, "lower is better" if first.best == "low" else "higher is better")
