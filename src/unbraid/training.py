"""From what was asked for to run folders: names become objects, options are checked, finished seeds are skipped."""

from __future__ import annotations

import math
import os
import platform
import shutil
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import torch
import yaml
from filelock import FileLock, Timeout
from tqdm import tqdm

import unbraid
from unbraid import networks, storage
from unbraid.checks import check
from unbraid.configuration import build, of_data, own_files, resolve, source
from unbraid.data import Data, is_named, open_data
from unbraid.devices import Devices
from unbraid.ensembles import pays
from unbraid.errors import Notice, UserError
from unbraid.loop import Loop
from unbraid.methods import Method, Update
from unbraid.runs import Run, group_folder
from unbraid.workers import inside, train_in_processes

MOST_SEEDS = 1000


def train(
    method: str | Method,
    data: Any,
    *,
    net: Any = "auto",
    steps: int = 20_000,
    seed: int = 0,
    seeds: int | Sequence[int] | None = None,
    out: str | Path = "runs",
    batch_size: int = 64,
    lr: float | None = None,
    optimiser: str | None = None,
    precision: str = "float32",
    compile: bool = False,
    clip: float | None = None,
    device: str = "auto",
    probe_every: int = 500,
    save_seconds: float = 20.0,
    progress: bool = True,
    processes: int | None = None,
    **options: Any,
) -> Run:
    """Train a method on data, or return the run if it was trained before, or resume it if it was cut off.

    Arguments:
        method: a name, a path to a `.py` file, or a method object.
        data: a name with options, a path, a NumPy array, a torch Dataset, `Data`, or a mapping from groups to these.
        net: a name with options, a `.py` file, a function (shape, latents) to a pair, or a pair of modules.
        steps: batches to train on.
        seed: decides weights, batches and noise.
        seeds: how many seeds (0, 1, …), or which; trained side by side.
        out: the folder that run folders are made in.
        batch_size: samples per step.
        lr: learning rate of the method's main update; by default what the method says (1e-3).
        optimiser: adam or adagrad, for the method's main update.
        precision: float32 or bf16.
        compile: compile whole steps; pays for long runs of small networks.
        clip: largest norm of an update's gradient.
        device: auto, cpu, cuda, mps, …
        probe_every: steps between looks at the posterior (the polarized regime).
        save_seconds: how much work a kill may cost.
        progress: show a bar where a person is watching.
        processes: processes for seeds that cannot be stacked; by default one per core on a CPU.
        options: of the method.
    """
    wanted = _seeds(seed, seeds)
    steps, batch_size, probe_every = (
        _whole(name, value)
        for name, value in (("steps", steps), ("batch_size", batch_size), ("probe_every", probe_every))
    )
    lr, clip = (None if n is None else _positive(name, n) for name, n in (("lr", lr), ("clip", clip)))
    if not isinstance(method, str | Method):
        raise UserError(f"method must be a name, a file or a method object such as VAE(net), not {method!r}")
    if isinstance(method, Method) and options:
        raise UserError(f"options {sorted(options)} belong to a method's name; a method object has its own already")
    opened = open_data(data)
    config = {
        "method": method if isinstance(method, str) else type(method).__name__,
        "data": opened.name,
        "net": net if isinstance(net, str) else networks.open_net(net, opened.shape, opened.pixels).name,
        "options": {} if isinstance(method, Method) else resolve(method, options),
        "steps": steps,
        "batch_size": batch_size,
        "lr": lr,
        "optimiser": optimiser,
        "precision": precision,
        "compile": compile,
        "clip": clip,
        "probe_every": probe_every,
        **of_data(opened),
        "notes": list(opened.notes),
        "source": source(method, data, net, opened),
        "samples": opened.fingerprint,
    }
    group = group_folder(Path(out), config)
    work = _Work(config, group, opened, Devices(device, precision), method, net, save_seconds, progress)
    todo = work.missing(wanted)
    if todo:
        first = work.method_of(todo[0])
        check(first, config, opened)
        by_name = isinstance(method, str) and is_named(data) and isinstance(net, str)
        if len(todo) == 1 or pays(first, work.devices.device):
            work.train(todo)
        elif by_name and work.devices.device.type == "cpu" and not inside():
            job = {"data": opened.name, "out": str(out), "device": "cpu", "save_seconds": save_seconds}
            train_in_processes(config, todo, job, processes or os.cpu_count() or 1, progress=progress)
        else:
            for one in todo:
                work.train([one])
    given = {"method": method if isinstance(method, Method) else None, "net": net, "data": opened}
    if seeds is None:
        return Run(group / f"seed-{seed}", **given)
    return Run(group, seeds=wanted, **given)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise UserError(f"{name} must be a whole number of at least 1, not {value!r}")
    return int(value)


def _positive(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise UserError(f"{name} must be a finite number above 0, not {value!r}")
    return float(value)


def _seeds(seed: int, seeds: Any) -> list[int]:
    if isinstance(seeds, Integral) and not 0 <= int(seeds) <= MOST_SEEDS:
        raise UserError(f"seeds must be from 1 to {MOST_SEEDS} at a time, not {seeds}")
    found: list[Any]
    try:
        found = [seed] if seeds is None else list(range(int(seeds))) if isinstance(seeds, Integral) else list(seeds)
    except TypeError as error:
        raise UserError(f"seeds must be a number of seeds or a list of them, not {seeds!r}") from error
    if not found:
        raise UserError("seeds is empty: give a number of seeds or a list of them")
    for one in found:
        if isinstance(one, bool) or not isinstance(one, Integral) or not 0 <= int(one) < 2**32:
            raise UserError(f"a seed must be a whole number from 0 to {2**32 - 1}, not {one!r}")
    if len(set(found)) != len(found):
        raise UserError(f"seeds {found} name a seed twice")
    return [int(one) for one in found]


@dataclass(frozen=True)
class _Work:
    """One configuration on its way to run folders, a folder per seed inside `group`."""

    config: dict[str, Any]
    group: Path
    data: Data
    devices: Devices
    method: Any
    net: Any
    save_seconds: float
    progress: bool

    def missing(self, seeds: Sequence[int]) -> list[int]:
        """The seeds that are neither finished nor stopped by a bad number."""
        folders = {seed: self.group / f"seed-{seed}" for seed in seeds}
        ended = ("finished", "stopped")
        return [s for s, f in folders.items() if not (f / "config.yaml").exists() or Run(f).status not in ended]

    def method_of(self, seed: int, *, fresh: bool = False) -> Method:
        """The method of one seed, not yet trained."""
        return build({**self.config, "seed": seed}, method=self.method, net=self.net, fresh=fresh)

    def updates(self) -> Callable[[Method], list[Update]]:
        """The method's updates, the main one with the run's learning rate and optimiser."""
        changes = {k: self.config[k] for k in ("lr", "optimiser") if self.config[k] is not None}

        def updates(method: Method) -> list[Update]:
            first, *others = method.updates()
            return [replace(first, **changes), *others]

        return updates

    def train(self, seeds: list[int]) -> None:
        """Train seeds as one, after taking the lock of each; cut-off company of an earlier call is resumed first."""
        self.group.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            seeds = self.with_company(seeds)
            for seed in seeds if self.devices.rank == 0 else []:
                stack.enter_context(_lock(self.group / f".seed-{seed}.lock"))
            self.devices.wait()
            for company in self.companies(self.missing(seeds)):
                folders = [self.group / f"seed-{seed}" for seed in company]
                methods = [self.method_of(seed, fresh=len(seeds) > 1) for seed in company]
                for seed, folder in zip(company, folders, strict=True):
                    if self.devices.rank == 0:
                        folder.mkdir(exist_ok=True)
                        self.describe(folder, seed)
                checkpoint = self.group / f"checkpoint-{'-'.join(str(s) for s in company)}.pt"
                loop = Loop(methods, self.updates(), self.data, company, folders, checkpoint, self.config, self.devices,
                            self.save_seconds, self.progress)  # fmt: skip
                loop.run()
                self.devices.wait()

    def with_company(self, seeds: list[int]) -> list[int]:
        """These seeds and those that share a checkpoint with one of them: they were cut off together and go on so."""
        found = set(seeds)
        for path in self.group.glob("checkpoint-*.pt"):
            company = {int(s) for s in path.stem.split("-")[1:]}
            if company & found and len(company) > 1:
                others = sorted(company - found)
                if others:
                    warnings.warn(
                        f"seeds {sorted(company)} were cut off together and go on together", Notice, stacklevel=2
                    )
                found |= company
        return sorted(found)

    def companies(self, seeds: list[int]) -> list[list[int]]:
        """Seeds grouped by the checkpoints they were cut off with; the rest go together."""
        found = []
        for path in sorted(self.group.glob("checkpoint-*.pt")):
            company = [int(s) for s in path.stem.split("-")[1:]]
            if set(company) <= set(seeds):
                found.append(company)
                seeds = [s for s in seeds if s not in company]
        return found + ([seeds] if seeds else [])

    def describe(self, folder: Path, seed: int) -> None:
        """Write down what this run is and where it runs, before it starts."""
        for part, own in (("method", self.config["method"]), ("net", self.net)):
            for file in own_files(own):
                (folder / part).mkdir(exist_ok=True)
                shutil.copy(file, folder / part / file.name)
        config = yaml.safe_dump({**self.config, "seed": seed}, sort_keys=False, allow_unicode=True)
        storage.write_text(folder / "config.yaml", config)
        storage.write_json(folder / "state.json", {"status": "running", "step": 0})
        environment = {
            "unbraid": unbraid.__version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
            "machine": platform.platform(),
            "device": str(self.devices.device),
            "processes": self.devices.world,
            "threads": torch.get_num_threads(),
            "started": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        }
        storage.write_json(folder / "environment.json", environment)


def _lock(path: Path) -> FileLock:
    """A lock that says so when it has to wait for another process."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
        lock.release()
    except Timeout:
        tqdm.write(f"another process is training {path.parent.name}/{path.name[1:-5]}: waiting for it")
    return lock
