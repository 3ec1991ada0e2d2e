"""Scores of run folders seed by seed, read from `results.json` and `codes.npz`; nothing is evaluated."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid import catalog
from unbraid.distinctions import telling_options
from unbraid.errors import UserError
from unbraid.runs import IDENTITY, Run


def scores_by_seed(run: Run, score: str) -> dict[int, float]:
    """The value of a score for every seed that has it."""
    if score == "udr":
        return _udr(run)
    values = {m.config["seed"]: _results(m).get("scores", {}).get(score, {}).get("value") for m in run.members}
    return {seed: float(value) for seed, value in values.items() if value is not None}


def is_supervised(score: str) -> bool:
    """Whether a score needs factors; not known, hence no, for one that is not in the register."""
    if score not in catalog.names("metrics"):
        return False
    return any(option.name == "factors" for option in catalog.entry("metrics", score).options)


def direction(runs: Sequence[Run], score: str) -> str:
    """Whether large or small is better, as the results say."""
    said = (_results(member).get("scores", {}).get(score, {}).get("best") for run in runs for member in run.members)
    return next((best for best in said if best), "high")


def titles(groups: Sequence[Run]) -> list[str]:
    """A name for each group: its method, and whatever else the groups do not share."""
    if not groups:
        raise UserError("no runs given: at least one run folder is needed")
    configs = [run.config for run in groups]
    shared = [key for key in IDENTITY if key not in ("method", "options", "source")]
    varied = [key for key in shared if len({str(config.get(key)) for config in configs}) > 1]
    names = []
    for config, options in zip(configs, telling_options(configs), strict=True):
        told = {key: config.get(key) for key in varied} | options
        names.append(" ".join([str(config["method"]), *(f"{k}={v}" for k, v in told.items() if v is not None)]))
    count = Counter(names)
    names = [f"{n} ({run.path.name})" if count[n] > 1 else n for n, run in zip(names, groups, strict=True)]
    if len(set(names)) < len(names):
        raise UserError(f"the same run is given twice: {Counter(names).most_common(1)[0][0]}")
    return names


def _udr(run: Run) -> dict[int, float]:
    """UDR of each seed among the seeds of its group; empty where fewer than two have stored codes."""
    from unbraid.metrics.udr import udr

    stored = {m.config["seed"]: m.path / "codes.npz" for m in run.members if (m.path / "codes.npz").exists()}
    if len(stored) < 2:
        return {}
    codes: dict[int, np.ndarray] = {}
    kl: list[np.ndarray] = []
    first: np.ndarray | None = None
    for seed, path in stored.items():
        with np.load(path) as arrays:
            rows, mean = arrays["rows"], arrays["mean"].astype(float)
            variance = arrays["variance"].astype(float) if "variance" in arrays else None
        first = rows if first is None else first
        if not np.array_equal(rows, first):
            raise UserError(
                f"{path.parent} was encoded on other samples than seed {next(iter(stored))}: evaluate all seeds alike"
            )
        codes[seed] = mean
        if variance is not None:
            kl.append(0.5 * (mean**2 + variance - np.log(variance) - 1).mean(axis=0))
    score = udr(list(codes.values()), kl=kl if len(kl) == len(codes) else None, names=[str(seed) for seed in codes])
    return dict(zip(codes, score.per_model.tolist(), strict=True))


def _results(member: Run) -> dict[str, Any]:
    """What was found in a run; nothing if it was not scored, for scoring is not reading."""
    path = member.path / "results.json"
    return json.loads(path.read_text()) if path.exists() else {}


def scores_of(run: Run) -> list[str]:
    """Names of the scores that some seed has, UDR aside."""
    return list(dict.fromkeys(name for member in run.members for name in _results(member).get("scores", {})))


def seeds_of(run: Run) -> list[int]:
    """Seeds in the folder."""
    return [member.config["seed"] for member in run.members]
