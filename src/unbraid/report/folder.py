"""Reading run folders: whatever is there, and nothing that is not."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unbraid import storage
from unbraid.errors import UserError
from unbraid.report.numbers import floats, number


@dataclass(frozen=True)
class Score:
    """One entry of `results.json`."""

    name: str
    value: float | None
    ceiling: float | None
    chance: float | None
    best: str
    parts: dict[str, Any]
    settings: dict[str, Any]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """One run folder, read."""

    folder: Path
    config: dict[str, Any]
    environment: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    history: tuple[dict[str, Any], ...] = ()
    results: dict[str, Any] = field(default_factory=dict)
    scores: dict[str, Score] = field(default_factory=dict)
    pictures: dict[str, np.ndarray] = field(default_factory=dict)
    codes: dict[str, np.ndarray] = field(default_factory=dict)
    maps: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The method's name."""
        return str(self.config.get("method") or "a model")

    @property
    def data(self) -> str:
        """What it was trained on."""
        return str(self.config.get("data") or "unknown data")

    @property
    def seed(self) -> str:
        """The seed as written."""
        return str(self.config.get("seed", "–"))

    @property
    def notes(self) -> list[str]:
        """What the data and the method had to say about themselves."""
        found = [self.results.get("notes"), self.state.get("notes")]
        return [str(note) for notes in found if isinstance(notes, list) for note in notes]

    @property
    def factors(self) -> list[str]:
        """The names of the factors, as far as an evaluation named them."""
        found = self.results.get("factors")
        if not isinstance(found, list):
            return []
        return [str(f.get("name", at)) if isinstance(f, dict) else str(f) for at, f in enumerate(found)]

    @property
    def options(self) -> dict[str, Any]:
        """The method's options, those left at their default among them."""
        return _dict(self.config.get("options"))

    @property
    def blocks(self) -> dict[str, slice]:
        """The named parts of the code, as far as an evaluation named them; none where the code is in one piece."""
        found = {str(name): floats(ends) for name, ends in _dict(self.results.get("blocks")).items()}
        if list(found) == ["code"] or not all(len(ends) == 2 and np.isfinite(ends).all() for ends in found.values()):
            return {}
        return {name: slice(int(start), int(stop)) for name, (start, stop) in found.items()}

    def block_of(self, latent: int) -> str | None:
        """The name of the block that a latent is in."""
        return next((name for name, where in self.blocks.items() if where.start <= latent < where.stop), None)

    def terms(self) -> list[str]:
        """The names of all curves, loss first."""
        names = dict.fromkeys(name for record in self.history for name in _dict(record.get("terms")))
        first = [name for name in ("loss", "reconstruction", "kl") if name in names]
        return first + [name for name in names if name not in first]

    def curve(self, name: str, group: str = "terms") -> tuple[list[float], list[float]]:
        """Steps and values of one curve; NaN where a value is not a number."""
        found = [(r["step"], _dict(r.get(group))) for r in self.history]
        steps = [float(step) for step, values in found if name in values]
        return steps, floats([values[name] for _, values in found if name in values])

    def probes(self, name: str) -> tuple[list[float], list[list[float]]]:
        """Steps and per-latent lists of one probed quantity."""
        found = [(float(r["step"]), floats(_dict(r.get("probe")).get(name))) for r in self.history]
        found = [(step, values) for step, values in found if values]
        length = len(found[-1][1]) if found else 0
        found = [(step, values) for step, values in found if len(values) == length]
        return [step for step, _ in found], [values for _, values in found]

    def last(self, name: str) -> list[float]:
        """The last probe of one quantity, per latent."""
        values = self.probes(name)[1]
        return values[-1] if values else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _json(path: Path) -> dict[str, Any]:
    try:
        return _dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _history(path: Path) -> tuple[dict[str, Any], ...]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return ()
    records: dict[float, dict[str, Any]] = {}
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue  # the last line of a run that is still writing may be torn
        step = number(_dict(record).get("step"))
        if step is not None:
            records[step] = record | {"step": step}  # a resumed run may repeat steps: the later line holds
    return tuple(records[step] for step in sorted(records))


def _arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as held:
            return {name: np.asarray(held[name]) for name in held.files}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, KeyError):
        return {}


def _score(name: str, entry: Any) -> Score:
    entry = entry if isinstance(entry, dict) else {"value": entry}
    warnings = entry.get("warnings")
    return Score(
        name,
        number(entry.get("value")),
        number(entry.get("ceiling")),
        number(entry.get("chance")),
        "low" if entry.get("best") == "low" else "high",
        _dict(entry.get("parts")),
        _dict(entry.get("settings")),
        tuple(map(str, warnings)) if isinstance(warnings, list) else (),
    )


def read_run(folder: Path) -> Run:
    """Read one run folder; only its config must be there."""
    if not (folder / "config.yaml").is_file():
        raise UserError(f"{folder} is not a run folder: it has no readable config.yaml")
    config = storage.read_yaml(folder / "config.yaml")
    results = _json(folder / "results.json")
    return Run(
        folder,
        _dict(config),
        _json(folder / "environment.json"),
        _json(folder / "state.json"),
        _history(folder / "history.jsonl"),
        results,
        {str(name): _score(str(name), entry) for name, entry in _dict(results.get("scores")).items()},
        _arrays(folder / "pictures.npz"),
        _arrays(folder / "codes.npz"),
        _arrays(folder / "maps.npz"),
    )


def collect(folders: Sequence[Path]) -> list[list[Run]]:
    """Runs that differ only in their seed, side by side; groups in the order they were named."""
    runs: list[Run] = []
    for folder in map(Path, folders):
        if not folder.is_dir():
            raise UserError(f"no such run folder: {folder}")
        seeds = sorted(folder.glob("seed-*/config.yaml"), key=lambda path: _natural(path.parent.name))
        inside = [] if (folder / "config.yaml").exists() else [path.parent for path in seeds]
        runs += [read_run(path) for path in inside or [folder]]
    if not runs:
        raise UserError("a report needs at least one run folder")
    groups: dict[str, list[Run]] = {}
    for run in runs:
        key = json.dumps({k: v for k, v in run.config.items() if k != "seed"}, sort_keys=True, default=str)
        groups.setdefault(key, []).append(run)
    return list(groups.values())


def _natural(name: str) -> tuple[int, str]:
    digits = name.rpartition("-")[2]
    return (int(digits) if digits.isdecimal() else 0, name)
