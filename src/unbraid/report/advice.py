"""What went wrong or might have, in words, with the option to turn."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from unbraid.report.block_advice import block_advice
from unbraid.report.folder import Run
from unbraid.report.glossary import inline
from unbraid.report.latents import haar, latents_of, polarisation
from unbraid.report.numbers import floats, number, show

RANK = ("alarm", "warn", "note", "score")
LIMIT = 0.03  # share of the KL below which a code counts as polarized


class Advice(NamedTuple):
    """One sentence or two, and how much it matters: `alarm`, `warn` or `note`; `score` is about how to read a score."""

    level: str
    words: str


def advise(run: Run) -> list[Advice]:
    """Everything to say about one run, what matters most first."""
    found = [*_ending(run), *_latents(run), *_regime(run), *_curves(run), *_geometry(run)]
    blocks = list(block_advice(run))
    found += [Advice(level, words) for level, words, _ in blocks]
    said = tuple(words for _, _, words in blocks if words)
    about: dict[str, list[str]] = {}
    for name, score in run.scores.items():
        for pitfall in score.warnings:
            if pitfall.startswith(said):
                continue
            about.setdefault(pitfall, []).append(inline(name))
    found += [Advice("score", f"{', '.join(names)}: {pitfall}") for pitfall, names in about.items()]
    found += [Advice("note", sentence) for sentence in run.notes]
    if not run.scores:
        found.append(Advice("note", "This run has no scores yet: evaluate it to see how disentangled it is."))
    return sorted(dict.fromkeys(found), key=lambda advice: RANK.index(advice.level))


ANECDOTE = Advice("note", "One seed is an anecdote: train several seeds before you believe a difference.")


def _ending(run: Run) -> Iterator[Advice]:
    status, reason = run.state.get("status"), str(run.state.get("reason") or "")
    broken = next((name for name in run.terms() if any(math.isnan(v) for v in run.curve(name)[1])), None)
    named = re.search(r"['\"](\w+)['\"]", reason)
    bad = re.search(r"\b(nan|inf)\b", reason.lower())
    if bad or broken:
        term = named.group(1) if named else broken or "loss"
        when = f" ({reason})" if reason else ""
        what = "infinite" if bad and bad[1] == "inf" else "NaN"
        yield Advice("alarm", f"The term {term} became {what}{when}: lower lr, or clip the gradient.")
    elif status == "stopped":
        yield Advice("alarm", f"This run was stopped early{': ' + reason if reason else ''}. Start it again to go on.")
    if status == "running":
        step, steps = show(run.state.get("step")), show(run.config.get("steps"))
        yield Advice(
            "note",
            f"This run is unfinished (running, or cut off): step {step} of {steps}. The same train command goes on.",
        )


def _latents(run: Run) -> Iterator[Advice]:
    latents, factors = latents_of(run), len(run.factors)
    if not latents.active or run.blocks:  # of blocks, one by one, in block_advice.py
        return
    active = sum(latents.active)
    if active == 0:
        yield Advice("alarm", "Posterior collapse: no latent carries information. Lower beta, or warm it up slowly.")
    elif active < factors:
        yield Advice(
            "warn",
            f"Over-pruned: {active} active latents cannot hold {factors} factors. Lower beta, or allow more latents.",
        )


def _regime(run: Run) -> Iterator[Advice]:
    steps, delta = polarisation(run)
    if not delta or run.state.get("status") == "running":
        return
    if not delta[-1] < LIMIT:
        yield Advice(
            "warn",
            f"Not polarized yet: at the end {show(100 * delta[-1])} % of the KL lies outside the polarized "
            "form (the line is 3 %). Train longer, or raise beta.",
        )
        return
    late = next((after for before, after in pairwise(reversed(range(len(delta)))) if not delta[after] < LIMIT), None)
    if late is not None and steps[late] > 0.5 * steps[-1]:
        yield Advice("warn", f"Polarized only late, after step {show(steps[late])}: more steps would settle it.")


def _curves(run: Run) -> Iterator[Advice]:
    if run.state.get("status") in ("running", "stopped"):
        return
    for name in ("loss", *(name for name in run.terms() if name == "kl" or name.endswith("_kl"))):
        if _falling(run.curve(name)[1]):
            label = name.replace("_", " ").replace("kl", "KL")
            yield Advice("warn", f"The {label} is still falling at the end: train longer (steps).")
    values = [v for v in run.curve("reconstruction")[1] if math.isfinite(v)]
    if len(values) >= 8:
        start, end = (
            float(np.mean(values[: max(1, len(values) // 20)])),
            float(np.mean(values[-len(values) // 10 :])),
        )
        if start - end < 0.03 * abs(start):
            high = "beta may be too high, or " if "beta" in run.options else ""
            yield Advice("warn", f"Reconstruction has not moved since the start: {high}lr too low.")


def _falling(values: list[float]) -> bool:
    values = [v for v in values if math.isfinite(v)]
    if len(values) < 20:
        return False
    tenth = len(values) // 10
    before, after = np.asarray(values[-2 * tenth : -tenth]), np.asarray(values[-tenth:])
    drop = float(before.mean() - after.mean())
    noise = float(np.std(np.concatenate([before - before.mean(), after - after.mean()]))) * math.sqrt(2 / tenth)
    return drop > 0.02 * (max(values) - min(values)) and drop > 2 * noise


def _geometry(run: Run) -> Iterator[Advice]:
    score, base = run.scores.get("distance_to_orthogonality"), haar(run)
    if score is None or run.blocks:  # which promise nothing of single axes
        return
    if score.value is not None and base is not None and score.value > base[0] - (base[1] or 0.0):
        yield Advice(
            "warn",
            f"The distance to orthogonality ({show(score.value)}) is no better than a random decoder's "
            f"({show(base[0])}): the axes are not aligned. Raise beta, or use a diagonal posterior.",
        )
    ambiguous = number(score.parts.get("ambiguous"))
    singular = [v for v in floats(score.parts.get("singular_values")) if v > 0]
    close = any(abs(a - b) < 0.1 * max(a, b) for a, b in pairwise(singular) if max(a, b) > 0.05 * max(singular))
    if close or (ambiguous is not None and ambiguous > 0.1) or score.parts.get("ambiguous") is True:
        yield Advice(
            "note",
            "Some singular values of the decoder are nearly equal: their axes may turn freely, so read the "
            "IMA contrast beside the distance.",
        )
