"""Several runs on one page: seeds of one configuration, or several configurations side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unbraid.distinctions import telling_options
from unbraid.report.advice import RANK, advise
from unbraid.report.bars import strip
from unbraid.report.curves import distance_figures, term_figures
from unbraid.report.folder import Run
from unbraid.report.glossary import in_words, inline, ordered, word
from unbraid.report.markup import Safe, join, table, tag
from unbraid.report.measures import bullet, flat, limit, settings_table
from unbraid.report.numbers import MISSING, plain, show, spread
from unbraid.report.one import sections as run_sections
from unbraid.report.one import title as run_title
from unbraid.report.over_option import over_option
from unbraid.report.page import Section, figure, figures, fold, render
from unbraid.spelling import in_short

MOST = 12  # whole run pages inside one page; more would be too heavy to mail

Group = Sequence[Run]


def values_of(group: Group, name: str) -> dict[str, float]:
    """Each seed's value of one score, where it has one."""
    found = {f"seed {run.seed}": run.scores[name].value for run in group if name in run.scores}
    return {seed: value for seed, value in found.items() if value is not None}


def score_names(runs: Sequence[Run]) -> list[str]:
    """The scores that at least one run has, headlines first."""
    return ordered(list(dict.fromkeys(name for run in runs for name in run.scores)))


def seeds_sentence(group: Group) -> str:
    """A group in one sentence."""
    said = [
        f"{inline(name)} is {spread(list(found.values()))}"
        for name in in_words(score_names(group))
        if (found := values_of(group, name))
    ]
    ending = ": " + ", ".join(said) + " (mean ± sd over seeds)" if said else ", not scored yet"
    return f"{len(group)} seeds of one configuration on {group[0].data}{ending}."


def seeds_sections(group: Group, prefix: str = "") -> list[Section]:
    """Summary, warnings, curves with spread, and every seed's own part to open."""
    names = score_names(group)
    found = [Section("warnings", "What to know first", shared_advice(group))]
    if names:
        found.append(Section("scores", "Scores over seeds", _seed_table(group, names)))
    curves = [*term_figures(group), *distance_figures(group)]
    if curves:
        found.append(Section("curves", "Training", figures(curves), "Mean over seeds; the band is one sd."))
    found.append(Section("runs", "Each seed", _each(group, prefix)))
    shared = replace(group[0], config=group[0].config | {"seed": ", ".join(run.seed for run in group)})
    found.append(Section("settings", "What was run", settings_table(shared, "One configuration, several seeds.")))
    return [Section(prefix + s.key, s.title, s.body, s.lead) for s in found]


def compare_sentence(groups: Sequence[Group]) -> str:
    """A set of configurations in one sentence."""
    data = list(dict.fromkeys(group[0].data for group in groups))
    where = f"on {data[0]}" if len(data) == 1 else f"on {len(data)} data sets"
    return f"{len(groups)} configurations {where}, {sum(map(len, groups))} runs in all."


def compare_sections(groups: Sequence[Group]) -> list[Section]:
    """A table and a strip of seeds per score, then each configuration's own part to open."""
    names, labels = score_names([run for group in groups for run in group]), labels_of(groups)
    found = []
    if names:
        found.append(Section("table", "Scores side by side", _comparison(groups, names, labels)))
        lead = "Each dot is one seed, the tick is their mean."
        found.append(Section("strips", "Spread over seeds", _strips(groups, names, labels), lead))
    over = over_option(groups)
    if over is not None:
        found.append(over)
    parts = []
    for at, (group, label) in enumerate(zip(groups, labels, strict=True)):
        many = len(group) > 1
        prefix = f"c{at}-"
        inner = seeds_sections(group, prefix) if many else run_sections(group[0], prefix, 3)
        parts.append(fold(join([label, f" ({len(group)} seeds)" if many else ""]), render(inner, 3), f"c{at}"))
    found.append(Section("configurations", "Each configuration", join(parts)))
    return found


def labels_of(groups: Sequence[Group]) -> list[str]:
    """What tells the configurations apart, in words."""
    configs = [group[0].config for group in groups]
    told = [c | {"options": options} for c, options in zip(configs, telling_options(configs), strict=True)]
    flats = [{k: plain(v) for k, v in flat(config) if k != "seed"} for config in told]
    keys = [key for key in dict.fromkeys(k for one in flats for k in one) if len({one.get(key) for one in flats}) > 1]
    labels = []
    for one in flats:
        parts = [one.get("method", "a model")] + [
            f"{key.removeprefix('options.')} {one[key]}" for key in keys if key != "method" and key in one
        ]
        labels.append(", ".join(parts))
    return labels


def shared_advice(group: Group) -> Safe:
    """The same warning of several seeds said once, with the seeds it is about."""
    about: dict[tuple[str, str], list[str]] = {}
    for run in group:
        for advice in advise(run):
            about.setdefault((advice.level, advice.words), []).append(run.seed)
    lines = []
    for (level, words), seeds in sorted(about.items(), key=lambda item: RANK.index(item[0][0])):
        whose = "" if len(seeds) == len(group) else f" (seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)})"
        lines.append((level, words + whose))
    return bullet(lines) if lines else tag("p", "Nothing stands out.")


def _seed_table(group: Group, names: Sequence[str]) -> Safe:
    rows = []
    for name in names:
        found = values_of(group, name)
        first = next(run for run in group if name in run.scores)
        low, high = _range([list(found.values())])
        dots = strip(list(found.values()), low, high, f"{word(name).name} of each seed", list(found))
        better = "lower" if first.scores[name].best == "low" else "higher"
        ends = f"{show(low)} to {show(high)}"
        drawn = join([dots, tag("span", ends, class_="note")]) if found else MISSING
        rows.append([word(name).name, spread(list(found.values())), drawn, limit(first, first.scores[name]), better])
    caption = f"Mean ± sd over {len(group)} seeds; each dot is one seed."
    return table(["Score", "Mean ± sd", "Seeds", "Limit", "Better"], rows, caption)


def _comparison(groups: Sequence[Group], names: Sequence[str], labels: Sequence[str]) -> Safe:
    rows = []
    for group, label in zip(groups, labels, strict=True):
        cells = [spread(list(values_of(group, name).values())) for name in names]
        rows.append([label, str(len(group)), *cells])
    heads = [
        f"{word(name).name} {'↓' if any(_low(run, name) for group in groups for run in group) else '↑'}"
        for name in names
    ]
    return table(
        ["Configuration", "Seeds", *heads],
        rows,
        "Mean ± sd over seeds; ↑ higher is better, ↓ lower is better.",
        "sides",
    )


def _low(run: Run, name: str) -> bool:
    return name in run.scores and run.scores[name].best == "low"


def _strips(groups: Sequence[Group], names: Sequence[str], labels: Sequence[str]) -> Safe:
    drawn = []
    for name in names:
        found = [values_of(group, name) for group in groups]
        low, high = _range([list(one.values()) for one in found])
        rows = []
        for one, label in zip(found, labels, strict=True):
            dots = strip(list(one.values()), low, high, f"{word(name).name} of {label}", list(one))
            rows.append(tag("p", tag("span", label, class_="whose"), dots, tag("span", spread(list(one.values())))))
        better = "lower is better" if any(_low(run, name) for group in groups for run in group) else "higher is better"
        note = f"{better}; from {show(low)} to {show(high)}"
        drawn.append(figure(word(name).name, tag("div", *rows, class_="strips"), note))
    return figures(drawn)


def _range(rows: Sequence[Sequence[float]]) -> tuple[float, float]:
    found = [value for row in rows for value in row] or [0.0, 1.0]
    low, high = min(found), max(found)
    room = 0.15 * (high - low) or 0.1 * abs(high) or 1.0
    if low >= 0:  # a score that is a share stays one at the ends of its strip
        return max(low - room, 0.0), min(high + room, 1.0) if high <= 1 else high + room
    return low - room, high + room


def _each(group: Group, prefix: str) -> Safe:
    level = 4 if prefix else 3
    parts = [
        fold(f"Seed {run.seed}", render(run_sections(run, f"{prefix}r{at}-", level, False), level))
        for at, run in enumerate(group[:MOST])
    ]
    if len(group) > MOST:
        parts.append(tag("p", f"The first {MOST} of {len(group)} seeds are shown in full."))
    return join(parts)


def heading(groups: Sequence[Group]) -> str:
    """The title of a page about several configurations."""
    titles = list(dict.fromkeys(run_title(group[0]) for group in groups))
    if len(titles) <= 2:
        return " and ".join(titles)
    data = list(dict.fromkeys(in_short(group[0].data) for group in groups))
    return f"{len(groups)} configurations on {data[0]}" if len(data) == 1 else f"{len(groups)} configurations"
