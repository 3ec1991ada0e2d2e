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
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from unbraid import catalog, storage
from unbraid.errors import Notice, UserError, unknown
from unbraid.seeds import seed_numbers
from unbraid.spelling import joined

if TYPE_CHECKING:
    from unbraid.runs import Run

Row = dict[str, Any]
SHARED = ("processes", "metrics", "runs", "out")
WHICH = ("seed", "seeds")  # a count or a list of their own, and no axis


def read_study(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The configurations of a study, keywords of `unbraid.train` each, and what is said of the study as a whole."""
    told = storage.read_yaml(path)
    if not isinstance(told, dict):
        raise UserError(f"{path} must hold keys and values (method, data, steps, seeds, …): see unbraid study --help")
    whole = {key: told.pop(key) for key in SHARED if key in told}
    grids = whole.pop("runs", [{}])
    if not isinstance(grids, list) or not grids or not all(isinstance(g, dict) for g in grids):
        raise UserError(f"{path}: 'runs' must be a list of mappings such as {{method: beta_vae, beta: [1, 4]}}")
    if "metrics" in whole:
        whole["metrics"] = _metrics(path, whole["metrics"])
    if not isinstance(whole.get("out", ""), str):
        raise UserError(f"{path}: out must be the name of a folder, not {whole['out']!r}")
    return [_job(path, one) for grid in grids for one in _grid(path, {**told, **grid})], whole


def _grid(path: Path, told: dict[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the values given as lists."""
    axes = {key: value for key, value in told.items() if isinstance(value, list) and key not in WHICH}
    for key, value in axes.items():
        if not value:
            raise UserError(f"{path}: {key} is an empty list: give at least one value")
    return [{**told, **dict(zip(axes, choice, strict=True))} for choice in itertools.product(*axes.values())]


def _job(path: Path, told: dict[str, Any]) -> dict[str, Any]:
    """Keywords of `unbraid.train`; what is wrong with them is named before anything is trained."""
    if isinstance(groups := told.get("data"), dict):
        told = {**told, "data": joined({str(name): str(data) for name, data in groups.items()})}
    for key in ("method", "data"):
        if not isinstance(told.get(key), str):
            raise UserError(f"{path}: every run needs a {key} given by name or path")
    own = [o.name for o in catalog.method_options(told["method"])]
    shared = {o.name: o for o in catalog.function_options("training", "train") if o.name != "options"}
    for key in told:
        if key not in own and key not in shared:
            catalog.refuse_others(key, told["method"])
            raise unknown(f"option of {told['method']} in the study", key, [*own, *shared, *SHARED])
    if "seed" in told and "seeds" in told:
        raise UserError(f"{path}: give seed or seeds, not both")
    one = told.get("seed", 0)
    seeds = seed_numbers(told.get("seeds", one if isinstance(one, list) else [one]))
    # YAML takes 1e-3 for a word; it is read as the command line reads it.
    job = {k: catalog.value_of(v) if isinstance(v, str) and k not in shared else v for k, v in told.items()}
    job |= {k: catalog.given(shared[k], told[k]) for k in told if k in shared and k not in WHICH}
    if not isinstance(job.get("net", ""), str):
        raise UserError(f"{path}: net must be given by name or path, not {job['net']!r}")
    return {**{k: v for k, v in job.items() if k not in WHICH}, "seeds": seeds}


def _metrics(path: Path, told: Any) -> list[str]:
    """Names of metrics and measures of geometry, as a list or joined by commas."""
    names = told.split(",") if isinstance(told, str) else told
    if not isinstance(names, list) or not names:
        raise UserError(f"{path}: metrics must be a list of names, not {told!r}")
    names = [name.strip() if isinstance(name, str) else name for name in names]
    known = [*catalog.names("metrics"), *catalog.names("geometry")]
    for name in names:
        if name not in known:
            raise unknown("metric", name, known)
    return list(dict.fromkeys(names))


class Study(NamedTuple):
    """What a study came to: a row per configuration, the report, and who leads in which score."""

    rows: list[Row]
    report: Path
    board: list[Row]
    agreement: list[Row]
    notes: tuple[str, ...]


def run_study(path: Path, out: Path | None, processes: int | None) -> Study:
    """Train what is missing, score it, compare the configurations and write the report."""
    import unbraid
    from unbraid.choosing import rank_runs, standings
    from unbraid.evaluation import score_missing
    from unbraid.loop import stop_words
    from unbraid.printing import status
    from unbraid.report import write_report
    from unbraid.workers import SCORED, apart, at_once, run_jobs

    jobs, whole = read_study(path)
    folder = out or Path(whole.get("out") or Path("runs") / path.stem)
    storage.check_folder(folder)
    storage.check_file(folder / "report.html")
    jobs = [{**job, "out": str(folder)} for job in jobs]
    together = at_once(whole.get("processes") if processes is None else processes)
    if together > 1:
        run_jobs([{**job, SCORED: whole.get("metrics")} for job in apart(jobs)], together)
    rows, runs = [], list[Path]()
    groups: list[Run] = []
    varied = [k for k in dict.fromkeys(k for j in jobs for k in j) if len({str(j.get(k)) for j in jobs}) > 1]
    for job in jobs:
        run = unbraid.train(**job)
        groups.append(run)
        score_missing(run, whole.get("metrics"))
        for member in run.members:
            if member.status == "stopped":
                warnings.warn(stop_words(member.path, member.state), Notice, stacklevel=2)
        runs += [member.path for member in run.members]
        scores = {
            name: f"{s['mean']:.3f} ± {s['sd']:.3f}" if s["mean"] is not None else "–"
            for name, s in run.results["scores"].items()
        }
        rows.append(
            {
                **{k: job.get(k) for k in dict.fromkeys(["method", *varied])},
                "seeds": len(run.members),
                "status": status(run),
                **scores,
            }
        )
    report = write_report(list(dict.fromkeys(runs)), folder / "report.html")
    if len(groups) == 1:
        return Study(rows, report, [], [], ())
    ranking = rank_runs(groups)
    return Study(rows, report, standings(groups), ranking.agreement, ranking.notes)
