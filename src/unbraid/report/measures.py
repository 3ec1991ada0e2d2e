"""Scores as cards and tables."""

from __future__ import annotations

from collections.abc import Sequence

from unbraid.report.bars import meter
from unbraid.report.folder import Run, Score
from unbraid.report.glossary import headlines, ordered, word
from unbraid.report.latents import among_active, haar, latents_of
from unbraid.report.markup import Safe, join, table, tag
from unbraid.report.numbers import MISSING, number, plain, show
from unbraid.report.page import fold


def cards(run: Run, level: int) -> Safe:
    """The headline scores, each beside what it could at best, or by chance, have been."""
    names = headlines(run.scores) or list(run.scores)[:6]
    return tag("div", *(_card(run, run.scores[name], level) for name in names), class_="cards")


def score_table(run: Run) -> Safe:
    """Every score with its settings."""
    rows = [
        [
            word(name).name,
            value_text(score),
            limit(run, score),
            "lower" if score.best == "low" else "higher",
            tag("span", _numbers(score) or MISSING),
            tag("span", plain(score.settings) or MISSING, class_="code"),
        ]
        for name, score in ((name, run.scores[name]) for name in ordered(run.scores))
    ]
    part, samples = run.results.get("part"), run.results.get("samples")
    where = f"Measured on {show(samples)} samples" if samples else "All scores"
    where += f" of the part “{part}”." if part and samples else "."
    return table(["Score", "Value", "Limit", "Better", "Made of", "Settings"], rows, where, "long")


def value_text(score: Score) -> str:
    """The score itself, a share of time as a percentage."""
    if score.name == "polarized_regime" and score.value is not None:
        return f"{show(100 * score.value)} %"
    return show(score.value)


def limit(run: Run, score: Score) -> str:
    """What a score is to be compared with."""
    base = haar(run) if score.name == "distance_to_orthogonality" else None
    if base is not None:
        mean, sd = base
        return f"random decoder {show(mean)}" + (f" ± {show(sd, 2)}" if sd else "")
    if score.name == "active_units" and latents_of(run).count:
        return f"of {latents_of(run).count}"
    best = (
        ("floor", score.ceiling or None) if score.best == "low" else ("ceiling", score.ceiling)
    )  # a floor of 0 is none
    said = [f"{name} {show(value)}" for name, value in (best, ("chance", score.chance)) if value is not None]
    return ", ".join(said) or MISSING


def _card(run: Run, score: Score, level: int) -> Safe:
    named = word(score.name, score.best)
    value = value_text(score)
    parts: list[Safe | None] = [tag(f"h{level}", named.name), tag("p", value, class_="value")]
    beside = limit(run, score)
    if score.name == "active_units":
        parts.append(_units(run))
    elif score.value is not None:
        base = haar(run) if score.name == "distance_to_orthogonality" else None
        if base is not None:
            end = max(base[0] + 2 * (base[1] or 0), score.value)
            parts.append(meter(score.value, end, f"{value}; {beside}", base[0]))
        elif score.best == "high" and 0 <= score.value <= 1:
            parts.append(meter(score.value, 1.0, f"{value}; {beside}", score.ceiling or score.chance))
    words = [beside] if beside != MISSING else []
    alone = among_active(run) if score.name == "distance_to_orthogonality" else None
    if alone is not None:
        words.append(f"active latents alone {show(alone[0])} (random {show(alone[1][0])})")
    words += [_numbers(score)] if score.name == "disentanglement_score" and _numbers(score) else []
    parts.append(tag("p", "; ".join(words), class_="of") if words else None)
    parts.append(tag("p", named.meaning, class_="how"))
    return tag("div", *parts, class_="card")


def _units(run: Run) -> Safe | None:
    latents = latents_of(run)
    if not 0 < len(latents.active) <= 128:
        return None
    boxes = [tag("i", class_="on" if latents.active[at] else None, title=f"latent {at}") for at in latents.order]
    label = f"{sum(latents.active)} of {latents.count} latents are active, ordered by noise"
    return tag("div", *boxes, class_="units", role="img", aria_label=label)


def _numbers(score: Score) -> str:
    found = [(name, number(value)) for name, value in score.parts.items()]
    return ", ".join(f"{name.replace('_', ' ')} {show(value)}" for name, value in found if value is not None)


def settings_table(run: Run, caption: str) -> Safe:
    """The configuration and the machine, line by line."""
    rows = [[name, tag("span", plain(value), class_="code")] for name, value in flat(run.config)]
    rows += [[name, tag("span", plain(value), class_="code")] for name, value in flat(run.environment)]
    return table(["Setting", "Value"], rows, caption)


def flat(values: dict[str, object], before: str = "") -> list[tuple[str, object]]:
    """Nested settings as dotted names."""
    found: list[tuple[str, object]] = []
    for name, value in values.items():
        if isinstance(value, dict) and value:
            found += flat(value, f"{before}{name}.")
        else:
            found.append((f"{before}{name}", value))
    return found


def _sentence(words: str) -> str:
    words = words[:1].upper() + words[1:]
    return words if words.endswith((".", "!", "?", ")")) else words + "."


def bullet(sentences: Sequence[tuple[str, str]]) -> Safe:
    """Warnings as a list, how much each matters said in a word; what is about single scores is there to open."""
    names = {"alarm": "Problem.", "warn": "Check.", "note": "Note."}
    items = [
        tag("li", tag("b", names[level]), " ", _sentence(words), class_=level)
        for level, words in sentences
        if level in names
    ]
    read = [tag("li", _sentence(words), class_="note") for level, words in sentences if level not in names]
    title = f"{len(read)} remark{'s' * (len(read) > 1)} on how to read single scores"
    return join(
        [tag("ul", join(items), class_="advice"), fold(title, tag("ul", join(read), class_="advice")) if read else ""]
    )
