"""What a code in blocks got wrong, in words: a block that says what it should not, or nothing, and the option to turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from unbraid import catalog
from unbraid.report.folder import Run, Score
from unbraid.report.latents import used_in_blocks
from unbraid.report.numbers import number, show

LOUD = 0.1  # salient mean square of background, as a share of that of targets
APART = 1.5  # W2² of common codes over that of two batches of one group
TOLD = 0.6  # accuracy of a probe that tells two groups apart
READ = 0.25  # of the way from chance to certainty, at which a label can be read


class Found(NamedTuple):
    """How much it matters, what to say, and how a score's own warning that says the same begins."""

    level: str
    words: str
    instead_of: str = ""


class Turn(NamedTuple):
    """Options that help; a method that has none of the first kind but sizes of blocks is told which methods have the first."""

    up: tuple[str, ...]
    down: tuple[str, ...] = ()


SILENCE = Turn(("lambda_s", "salient_weight", "alpha"))
MATCH = Turn(("lambda_z", "common_weight"))
KEEP = Turn(("lambda_z", "common_weight", "gamma", "salient"), ("common",))  # labels out of the common code
CLEAN = Turn(("lambda_s", "salient_weight", "gamma", "beta"), ("salient",))  # background out of the salient code
REVIVE = {  # collapsed blocks
    "salient": Turn((), ("beta", "lambda_s", "salient_weight")),
    "common": Turn((), ("beta", "lambda_z", "common_weight", "salient")),
}


def block_advice(run: Run) -> Iterator[Found]:
    """Everything to say about the blocks of one run."""
    if not run.blocks or run.state.get("status") == "running":
        return
    collapsed = _collapsed(run)
    for block in collapsed:
        words = f"The {block} code has collapsed: over targets its latents are almost nothing but noise."
        turn = REVIVE.get(block, Turn((), ("beta",)))
        yield Found("alarm", f"{words}{_said(run, turn)}", "the block is constant")
    if "salient" not in collapsed:
        yield from _silence(run)
        yield from _leak(
            run, "background_leakage", "What stands behind a target can be read from its salient code", CLEAN
        )
    if "common" not in collapsed:
        yield from _match(run)
        yield from _leak(run, "label_leakage", "Labels of targets can be read from the common code", KEEP)


def _collapsed(run: Run) -> list[str]:
    """Blocks of which no latent is used."""
    used = used_in_blocks(run)
    return [name for name, where in run.blocks.items() if where.stop > where.start and used and not any(used[where])]


def _silence(run: Run) -> Iterator[Found]:
    ratio = _value(run, "salient_silence")
    if ratio is not None and ratio > LOUD:
        words = (
            f"The salient code of background is not silent: its mean square is {_percent(ratio)} of that of targets."
        )
        yield Found("warn", f"{words}{_said(run, SILENCE)}", "the salient code of background is not silent")


def _match(run: Run) -> Iterator[Found]:
    score, told = run.scores.get("common_w2"), _value(run, "group_leakage")
    times = score.value / score.ceiling if score and score.value is not None and score.ceiling else None
    how = []
    if times is not None and times > APART:
        how.append(f"their W2² is {show(times)} times that of two batches of one group")
    if told is not None and told > TOLD:
        how.append(f"a linear probe tells them apart in {_percent(told)} of cases (chance 50 %)")
    if not how:
        return
    words = f"Common codes of targets and background differ: {', and '.join(how)}."
    yield Found("warn", f"{words}{_said(run, MATCH)}", "common codes of targets and background differ")


def _leak(run: Run, name: str, words: str, turn: Turn) -> Iterator[Found]:
    score = run.scores.get(name)
    if score is None or score.value is None or score.chance is None:
        return
    if score.value > score.chance + READ * (1 - score.chance):
        other = "salient" if name == "label_leakage" else "common"
        beside = _mean(score, f"from_{other}")
        also = f"; the {other} code gives it {_percent(beside)}" if beside is not None else ""
        yield Found(
            "warn",
            f"{words}: a linear probe is right in {_percent(score.value)} of cases (chance {_percent(score.chance)}{also})."
            f"{_said(run, turn)}",
        )


def _said(run: Run, turn: Turn) -> str:
    """Which options of this run to turn, and what they are now; or which methods have one."""
    ways = []
    for verb, names in (("raise", turn.up), ("lower", turn.down)):
        held = {name: value for name in names if (value := number(run.options.get(name))) is not None}
        if held:
            ways.append(f"{verb} " + " or ".join(f"{_flag(name)} (now {show(value)})" for name, value in held.items()))
    if turn.up and not any(name in run.options for name in turn.up if name not in run.blocks):
        ways.append(_taken(turn.up[0]))
    said = ", or ".join(ways) or "train longer, or take another method"
    return f" {said[:1].upper()}{said[1:]}."


def _taken(option: str) -> str:
    having = [name for name in catalog.names("methods") if option in {o.name for o in catalog.method_options(name)}]
    return f"take a method that has {_flag(option)}: {' or '.join(having)}"


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")


def _value(run: Run, name: str) -> float | None:
    return run.scores[name].value if name in run.scores else None


def _mean(score: Score, part: str) -> float | None:
    held = score.parts.get(part)
    found = [v for v in map(number, held.values()) if v is not None] if isinstance(held, dict) else []
    return float(np.mean(found)) if found else None


def _percent(share: float) -> str:
    return f"{show(100 * share, 2)} %"
