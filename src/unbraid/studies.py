"""A study: a grid of methods, options and seeds in one YAML file, as run folders, one table and one report.

Any list is an axis of the grid; `runs` is a list of such grids that share what stands above it:

    data: sprites:pixels=32
    steps: 5000
    seeds: 5
    processes: 2
    runs:
      - {method: beta_vae, beta: [1, 4, 8]}
      - {method: autoencoder}
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import yaml

from unbraid.errors import UserError, unknown

SHARED = ("processes", "metrics", "runs", "out")


def read_study(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The configurations of a study, keywords of `unbraid.train` each, and what is said of the study as a whole."""
    try:
        told = yaml.safe_load(path.read_text())
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not valid YAML: {str(error).splitlines()[0]}") from error
    if not isinstance(told, dict):
        raise UserError(f"{path} must hold keys and values (method, data, steps, seeds, …): see unbraid study --help")
    whole = {key: told.pop(key) for key in SHARED if key in told}
    grids = whole.pop("runs", [{}])
    if not isinstance(grids, list) or not all(isinstance(g, dict) for g in grids):
        raise UserError(f"{path}: 'runs' must be a list of mappings such as {{method: beta_vae, beta: [1, 4]}}")
    jobs = [job for grid in grids for job in _grid({**told, **grid})]
    for job in jobs:
        for key in ("method", "data"):
            if not isinstance(job.get(key), str):
                raise UserError(f"{path}: every run needs a {key} given by name or path")
        _check(job)
    return jobs, whole


def _grid(told: dict[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the values given as lists; `seeds` is a count or a list of its own and no axis."""
    axes = {key: value for key, value in told.items() if isinstance(value, list) and key != "seeds"}
    return [{**told, **dict(zip(axes, choice, strict=True))} for choice in itertools.product(*axes.values())]


def _check(job: dict[str, Any]) -> None:
    """Misspelt options are named before anything is trained."""
    from unbraid import catalog

    own = [o.name for o in catalog.entry("methods", job["method"]).options]
    shared = [o.name for o in catalog.function_options("training", "train") if o.name != "options"]
    for key in job:
        if key not in own + shared:
            raise unknown(f"option of {job['method']} in the study", key, [*own, *shared, *SHARED])


def run_study(path: Path, out: Path | None, processes: int | None) -> tuple[list[dict[str, Any]], Path]:
    """Train what is missing, score it, and give a row per configuration and the file of the report."""
    import os

    import unbraid
    from unbraid.evaluation import evaluate
    from unbraid.report import write_report
    from unbraid.workers import apart, run_jobs

    jobs, whole = read_study(path)
    folder = out or Path(whole.get("out") or Path("runs") / path.stem)
    jobs = [{"seeds": 1, **job, "out": str(folder)} for job in jobs]
    at_once = processes or whole.get("processes") or os.cpu_count() or 1
    if at_once > 1:
        run_jobs(apart(jobs), at_once)
    rows, runs = [], []
    varied = [k for k in dict.fromkeys(k for j in jobs for k in j) if len({str(j.get(k)) for j in jobs}) > 1]
    for job in jobs:
        run = unbraid.train(**job)
        for member in run.members:
            if not (member.path / "results.json").exists():
                evaluate(member, metrics=whole.get("metrics"))
        runs.append(run.path)
        scores = {
            name: f"{s['mean']:.3f} ± {s['sd']:.3f}" if s["mean"] is not None else "–"
            for name, s in run.results["scores"].items()
        }
        rows.append(
            {
                **{k: job.get(k) for k in dict.fromkeys(["method", *varied])},
                "seeds": len(run.members),
                **scores,
            }
        )
    return rows, write_report(runs, folder / "report.html")
