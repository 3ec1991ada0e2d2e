"""What a claim is: a number or an ordering that a paper prints, as a recipe. A file in `paper_002/` is one claim of paper 002.

`table_3_3.py` is the claim `002/table-3.3`. Such a file has a docstring whose first line is the title, and a function
`run(bench: Bench) -> Outcome` that trains at the bench's scale, fills in cells (a published value beside ours) and
states orderings (what the paper's text concludes from the cells). `TAKES_DATA = True` says that it works on a user's
own data (`bench.data`) too.
"""

from __future__ import annotations

import ast
import importlib
import json
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from unbraid import catalog
from unbraid.errors import Notice, UserError, unknown

SCALES = ("smoke", "cpu", "paper")
REPRODUCED, ORDERING, FAILED, UNJUDGED = "reproduced", "ordering only", "not reproduced", "not judged"
UNDECIDED = "undecided"  # no ordering fails, but one lies within the noise over seeds
MARKS = {True: "✓", False: "✗", None: "?"}


@dataclass
class Cell:
    """One published number and ours.

    Arguments:
        name: row and column of the paper's table.
        published: mean and standard deviation as printed; None where the paper prints nothing.
        values: ours, one per seed.
        tolerance: how far off still counts; by default the published spread, at least `floor`.
        note: why they differ, in a sentence.
    """

    name: str
    published: tuple[float, float] | None
    values: list[float]
    tolerance: float | None = None
    note: str = ""

    @property
    def mean(self) -> float:
        """Over seeds."""
        return sum(self.values) / len(self.values)

    @property
    def sd(self) -> float:
        """Over seeds."""
        return (sum((v - self.mean) ** 2 for v in self.values) / len(self.values)) ** 0.5

    def agrees(self, floor: float = 0.05) -> bool | None:
        """Whether ours lies within the tolerance of the published mean; None if nothing was published."""
        if self.published is None:
            return None
        allowed = self.tolerance if self.tolerance is not None else max(self.published[1], floor)
        return abs(self.mean - self.published[0]) <= allowed


@dataclass
class Outcome:
    """What a claim came to.

    Arguments:
        cells: numbers beside the published ones.
        orderings: sentence → whether it held; None where the difference is within noise.
        budget: what was trained, in words: epochs, batch, seeds.
        figures: files that show it, made beside the result.
        notes: what a reader must know: stand-in data, reduced epochs, deviations.
    """

    cells: list[Cell]
    orderings: Mapping[str, bool | None]
    budget: str
    figures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def verdict(self, scale: str) -> str:
        """reproduced: orderings and numbers; ordering only: the numbers are off; undecided: noise; else not reproduced."""
        if scale == "smoke":
            return UNJUDGED
        if False in self.orderings.values():
            return FAILED
        if None in self.orderings.values():
            return UNDECIDED
        return REPRODUCED if all(cell.agrees() is not False for cell in self.cells) else ORDERING


@dataclass(frozen=True)
class Bench:
    """Where a claim works.

    Arguments:
        scale: "smoke" (seconds), "cpu" (minutes, stated reductions) or "paper" (full).
        out: folder of run folders and figures.
        processes: how many trainings at a time.
        data: a user's own data for the claims that take any.
        name: the claim's id, for file names.
    """

    scale: str
    out: Path
    processes: int
    data: str | None = None
    name: str = ""

    def pick(self, smoke: Any, cpu: Any, paper: Any) -> Any:
        """The value for this scale."""
        return {"smoke": smoke, "cpu": cpu, "paper": paper}[self.scale]

    def train(self, jobs: dict[str, dict[str, Any]], *, metrics: Sequence[str] = ()) -> dict[str, Any]:
        """Train and score labelled jobs; what was done before is not done again.

        Arguments:
            jobs: label → keywords of `unbraid.train`, with `seeds` as a list.
            metrics: what to score; nothing if empty.
        """
        import unbraid
        from unbraid.evaluation import score_missing
        from unbraid.workers import SCORED, apart, run_jobs

        full = {label: {"out": str(self.out), "device": "cpu", "progress": True, **job} for label, job in jobs.items()}
        if self.processes > 1 and self.scale != "smoke":
            scored = {SCORED: list(metrics)} if metrics else {}
            parts = sorted(apart(list(full.values())), key=lambda job: job["seeds"][0])  # one seed of each tells much
            run_jobs([{**job, **scored} for job in parts], self.processes)
        runs = {label: unbraid.train(**job) for label, job in full.items()}
        for run in runs.values() if metrics else []:
            score_missing(run, metrics)
        return runs

    def figure(self, name: str) -> Path:
        """Where a picture of this claim goes."""
        folder = self.out / "figures"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / name


def values(run: Any, score: str, part: str | None = None) -> list[float]:
    """One value per seed of a score, or of one of its parts; a seed that a bad number stopped says nothing."""
    finished = [member for member in run.members if member.status == "finished"]
    if not finished:
        raise UserError(f"no seed of {run.path} finished: {run.members[0].state.get('reason', 'cut off')}")
    found = [member.results["scores"][score] for member in finished]
    return [f["value"] if part is None else f["parts"][part] for f in found]


def above(high: Sequence[float], *others: Sequence[float]) -> bool | None:
    """Whether the mean of the first is above all others'; None if one of them is within a standard error of it."""
    found = []
    for low in others:
        gap = sum(high) / len(high) - sum(low) / len(low)
        error = sum(_variance(each) / len(each) for each in (high, low)) ** 0.5
        found.append(gap > 0 if abs(gap) > error else None)
    return False if False in found else None if None in found else True


def below(low: Sequence[float], *others: Sequence[float]) -> bool | None:
    """The same the other way round."""
    return above([-v for v in low], *[[-v for v in other] for other in others])


def _variance(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1)


def claim_ids() -> list[str]:
    """All claims, in the order of the papers."""
    return sorted(_id(path) for path in Path(__file__).parent.glob("paper_*/*.py") if not path.stem.startswith("_"))


def matching(asked: Sequence[str]) -> list[str]:
    """The claims that are meant: by id, all of a paper by its number, or all."""
    known = claim_ids()
    found = []
    for one in asked:
        here = [c for c in known if one in ("all", c, c.partition("/")[0])]
        if not here:
            raise unknown("claim", one, known)
        found += here
    if not found:
        raise UserError(f"which claim? one of {', '.join(known)}, a paper such as {known[0][:3]}, or all")
    return list(dict.fromkeys(found))


def _id(path: Path) -> str:
    kind, _, number = path.stem.partition("_")
    parts = number.split("_")
    digits = [p for p in parts if p.isdigit()]
    words = [p for p in parts if not p.isdigit()]
    return "/".join([path.parent.name.removeprefix("paper_"), "-".join(filter(None, [kind, ".".join(digits), *words]))])


def _path(identity: str) -> Path:
    for path in Path(__file__).parent.glob("paper_*/*.py"):
        if _id(path) == identity:
            return path
    raise unknown("claim", identity, claim_ids())


def title(identity: str) -> str:
    """The first line of a claim's docstring, without importing it."""
    return (ast.get_docstring(ast.parse(_path(identity).read_text())) or "").split("\n")[0]


def run_claim(identity: str, scale: str, out: Path, *, processes: int, data: str | None = None) -> dict[str, Any]:
    """Run one claim and keep its result as `out/results/<claim>[-<data>].<scale>.json`."""
    from unbraid import storage
    from unbraid.runs import slug

    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    path = _path(identity)
    module = importlib.import_module(f"unbraid.claims.{path.parent.name}.{path.stem}")
    if data is not None and not getattr(module, "TAKES_DATA", False):
        warnings.warn(f"claim {identity} is about data of its own: {data} is ignored", Notice, stacklevel=2)
        data = None
    began = time.perf_counter()
    outcome: Outcome = module.run(Bench(scale, out / scale, processes, data, identity.replace("/", "-")))
    if not outcome.cells and not outcome.orderings:
        raise UserError(f"claim {identity} gave no result")
    given = slug(data) if data else ""
    kept = out / "results" / f"{'-'.join(filter(None, [identity.replace('/', '-'), given]))}.{scale}.json"
    # A second run finds its trainings finished: the time that counts is the first one's.
    before = json.loads(kept.read_text())["seconds"] if kept.exists() else 0.0
    result = {
        "claim": identity,
        "data": given,
        "own": data is not None and data.partition(":")[0] not in catalog.names("data"),
        "title": title(identity),
        "scale": scale,
        "verdict": outcome.verdict(scale),
        "seconds": max(before, round(time.perf_counter() - began, 1)),
        **{k: v for k, v in asdict(outcome).items() if k not in ("cells", "orderings")},
        "orderings": {k: None if held is None else bool(held) for k, held in outcome.orderings.items()},
        "cells": [
            {
                **asdict(cell),
                "mean": cell.mean,
                "sd": cell.sd,
                "seeds": len(cell.values),
                "agrees": cell.agrees(),
            }
            for cell in outcome.cells
        ],
    }
    kept.parent.mkdir(parents=True, exist_ok=True)
    storage.write_json(kept, result)
    return result
