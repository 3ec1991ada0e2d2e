"""The page part of one run."""

from __future__ import annotations

from unbraid.report.advice import ANECDOTE, advise
from unbraid.report.bars import bar_chart, heat_table
from unbraid.report.blocks import block_parts
from unbraid.report.change import change_section
from unbraid.report.charts import Mark, line_chart
from unbraid.report.curves import distance_figures, latent_series, regime_figure, term_figures
from unbraid.report.folder import Run
from unbraid.report.glossary import GEOMETRY, in_words, inline, word
from unbraid.report.latents import latents_of
from unbraid.report.markup import Safe, join, tag
from unbraid.report.measures import bullet, cards, limit, score_table, settings_table, value_text
from unbraid.report.numbers import number, show
from unbraid.report.page import Section, figure, figures, fold
from unbraid.report.scenes import plane, reconstructions, traversals
from unbraid.spelling import in_short


def title(run: Run) -> str:
    """What the run is, in a heading."""
    return f"{run.method} on {in_short(run.data)}"


def sentence(run: Run) -> str:
    """The run in one sentence."""
    latents = latents_of(run)
    done = number(run.state.get("step")) or number(run.config.get("steps"))
    steps = f" for {show(done)} steps" if done else ""
    found = []
    if latents.active and not run.blocks:
        found.append(f"{sum(latents.active)} of {latents.count} latents are active")
    for name in in_words(run.scores):
        score = run.scores[name]
        if score.value is not None:
            beside = limit(run, score)
            found.append(f"{inline(name)} is {show(score.value)}" + (f" ({beside})" if beside != "–" else ""))
    ending = ": " + ", ".join(found) if found else ", not scored yet"
    return f"Trained{steps} on {run.data} with seed {run.seed}{ending}."


def sections(run: Run, prefix: str = "", level: int = 2, alone: bool = True) -> list[Section]:
    """Everything there is to show of a run; parts without anything to show are left out."""
    advice = advise(run) + ([ANECDOTE] if alone else [])
    found: list[Section | None] = [
        Section("warnings", "What to know first", bullet(advice) if advice else tag("p", "Nothing stands out.")),
        Section("scores", "Scores", cards(run, level + 1)) if run.scores else None,
        _part(
            "curves",
            "Training",
            [*term_figures([run]), *distance_figures([run])],
            "Every term in nats per sample, unweighted, as it was logged.",
        ),
        change_section(run),
        _latents(run),
        *(_scene(*part) for part in block_parts(run)),
        _scene(
            "reconstructions",
            "Reconstructions",
            reconstructions(run),
            "Originals above, reconstructions below.",
        ),
        _scene("traversals", "Traversals", traversals(run), _walk(run)),
        _scene(
            "plane",
            "The code",
            None if run.maps else plane(run),
            "The two least noisy latents, at the mean of each sample's code.",
        ),
        _information(run),
        _geometry(run),
        Section("table", "All scores and their settings", score_table(run)) if run.scores else None,
        Section("settings", "What was run", _settings(run)),
    ]
    return [Section(prefix + s.key, s.title, s.body, s.lead) for s in found if s is not None]


def _part(key: str, heading: str, parts: list[Safe], lead: str = "") -> Section | None:
    return Section(key, heading, figures(parts), lead) if parts else None


def _scene(key: str, heading: str, body: Safe | None, lead: str) -> Section | None:
    return None if body is None else Section(key, heading, body, lead)


def _walk(run: Run) -> str:
    values = run.pictures.get("traversal_values")
    ends = ""
    if values is not None and values.ndim == 1 and len(values) > 1:
        ends = f" from {show(values[0])} to {show(values[-1])}"
    return f"One latent moves{ends} while the others rest. Least noisy, so most important, first."


def _latents(run: Run) -> Section | None:
    latents, parts = latents_of(run), []
    names = [str(at) for at in latents.order]
    strong = [latents.active[at] for at in latents.order] if latents.active else None
    for label, values, unit, marks in (
        ("KL of each latent", latents.kl, "nats", []),
        ("Noise of each latent, mean σ²", latents.noise, "", [Mark(1.0, "prior")]),
    ):
        if values and any(v == v for v in values):
            chart = bar_chart(
                [values[at] for at in latents.order],
                names,
                title=f"{label}, ordered by noise",
                y_label=unit,
                x_label="latent",
                strong=strong,
                y_marks=marks,
                height=220,
            )
            parts.append(figure(label, chart, "ordered by noise; unused latents in grey"))
    for label, key, log in (
        ("KL of each latent over training", "kl", False),
        ("σ² over training", "sigma2", True),
    ):
        series = latent_series(run, key)
        if series and len(series[0].x) > 1:
            log = log and all(v > 0 for s in series for v in s.y)
            drawn = line_chart(series, title=label, x_label="step", log_y=log)
            parts.append(figure(label, drawn))
    regime = regime_figure(run)
    parts += [regime] if regime else []
    ends = [f"{where.start}–{where.stop - 1} {name}" for name, where in run.blocks.items() if where.stop > where.start]
    which = f" Latents {', '.join(ends)}; seen over all groups together." if ends else ""
    return _part("latents", "Latents", parts, f"Which latents carry information, and since when.{which}")


def _information(run: Run) -> Section | None:
    latents, factors = latents_of(run), run.factors
    if latents.information is None:
        return None
    columns = [factors[at] if at < len(factors) else f"factor {at}" for at in range(latents.information.shape[1])]
    order = [at for at in latents.order if at < len(latents.information)]
    body = heat_table(
        latents.information[order],
        [f"latent {at}" for at in order],
        columns,
        caption="Mutual information in nats, latents ordered by noise.",
        corner="",
    )
    lead = "A disentangled code has one deep cell per column, and no second one."
    return Section("information", "Which latent knows which factor", body, lead)


def _geometry(run: Run) -> Section | None:
    rows = []
    for name in GEOMETRY:
        if name not in run.scores:
            continue
        score = run.scores[name]
        beside = limit(run, score)
        words = value_text(score) + (f", {beside}" if beside != "–" else "")
        inner = [f"{part.replace('_', ' ')}: {_said(value)}" for part, value in score.parts.items() if _small(value)]
        rows.append(tag("dt", word(name).name))
        rows.append(tag("dd", tag("b", words), *(join([tag("br"), line]) for line in inner)))
    if not rows:
        return None
    lead = "How the decoder bends the code: whether its axes are also the axes along which the data change."
    return Section("geometry", "Geometry", tag("dl", *rows), lead)


def _small(value: object) -> bool:
    if isinstance(value, dict):
        return any(number(v) is not None for v in value.values())
    return number(value) is not None


def _said(value: object) -> str:
    if not isinstance(value, dict):
        return show(value)
    return ", ".join(f"{key} {show(v)}" for key, v in value.items() if number(v) is not None)


def _settings(run: Run) -> Safe:
    said = [f"Method {run.method}, data {run.data}, seed {run.seed}."]
    if run.environment.get("unbraid"):
        said.append(f"Unbraid {run.environment['unbraid']}.")
    table = settings_table(run, "The whole configuration and the machine it ran on.")
    return join([tag("p", " ".join(said)), fold("All settings", table)])
