"""From what was asked for to run folders: names become objects, options are checked, finished seeds are skipped."""

from __future__ import annotations

import copy
import inspect
import os
import platform
import shutil
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import yaml
from filelock import FileLock, Timeout
from tqdm import tqdm

import unbraid
from unbraid import catalog, networks, storage
from unbraid.data import Data, open_data
from unbraid.devices import Devices
from unbraid.ensembles import can_be_stacked, pays
from unbraid.errors import UserError, unknown
from unbraid.loop import Loop
from unbraid.methods import Method, Update
from unbraid.runs import Run, group_folder
from unbraid.workers import inside, train_in_processes


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
        data: a name with options, a path, a NumPy array, a torch Dataset or `Data`.
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
    wanted = [seed] if seeds is None else list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    if not wanted:
        raise UserError("seeds is empty: give a number of seeds or a list of them")
    for name, value in (("steps", steps), ("batch_size", batch_size), ("probe_every", probe_every)):
        if not isinstance(value, int) or value < 1:
            raise UserError(f"{name} must be a whole number of at least 1, not {value!r}")
    opened = open_data(data)
    config = {
        "method": method if isinstance(method, str) else type(method).__name__,
        "data": opened.name,
        "net": net if isinstance(net, str) else networks.open_net(net, opened.shape, opened.pixels).name,
        "options": {} if not isinstance(method, str) else resolve(method, options),
        "steps": steps,
        "batch_size": batch_size,
        "lr": lr,
        "optimiser": optimiser,
        "precision": precision,
        "compile": compile,
        "clip": clip,
        "probe_every": probe_every,
        "shape": list(opened.shape),
        "pixels": opened.pixels,
        "notes": list(opened.notes),
        "source": _source(method, data, opened),
    }
    if not isinstance(method, str) and options:
        raise UserError(f"options {sorted(options)} belong to a method's name; a method object has its own already")
    group = group_folder(Path(out), config)
    devices = Devices(device, precision)
    job = {"seeds": wanted, "group": group, "save_seconds": save_seconds, "progress": progress}
    todo = [s for s in wanted if not _done(group / f"seed-{s}")]
    if todo:
        first = build({**config, "seed": todo[0]}, None, method=method, net=net)
        _check(first, config)
        if len(todo) == 1 or pays(first, devices.device):
            _train_together(todo, config, opened, devices, method, net, job)
        elif not inside() and config["source"] == "name" and devices.device.type == "cpu":
            train_in_processes(config, todo, Path(out), processes or os.cpu_count() or 1, job)
        else:
            for one in todo:
                _train_together([one], config, opened, devices, method, net, job)
    if seeds is None:
        return Run(group / f"seed-{seed}", method=method if isinstance(method, Method) else None, net=net)
    return Run(group, method=method if isinstance(method, Method) else None, net=net, seeds=wanted)


def resolve(method: str, options: dict[str, Any]) -> dict[str, Any]:
    """Every option of a method: as given, or its default; unknown names are answered by the nearest."""
    signature = inspect.signature(catalog.load("methods", method).__init__)
    known = {n: p.default for n, p in signature.parameters.items() if n not in ("self", "net")}
    for name in options:
        if name not in known:
            raise unknown(f"option of {method}", name, [*known, *TRAINING_OPTIONS])
    for name, value in options.items():
        default = known[name]
        number = isinstance(default, int | float) and not isinstance(default, bool)
        if number and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise UserError(f"{name} must be a number, not {value!r}")
        if isinstance(default, int) and not isinstance(default, bool) and value != int(value):
            raise UserError(f"{name} must be a whole number, not {value!r}")
    resolved = {**{n: d for n, d in known.items() if d is not inspect.Parameter.empty}, **options}
    return {n: float(v) if isinstance(known[n], float) else v for n, v in resolved.items()}


TRAINING_OPTIONS = [p for p in inspect.signature(train).parameters if p not in ("method", "data", "options")]


def build(config: dict[str, Any], folder: Path | None, *, method: Any = None, net: Any = None) -> Method:
    """The method of a run, freshly initialised from its seed; `folder` is where a user's own file was copied to."""
    if isinstance(method, Method):
        made = copy.deepcopy(method)
        return reset(made, config["seed"]) if config.get("several") else made
    name, net = config["method"], net if net not in (None, "auto") else config["net"]
    if folder is not None:
        name, net = _copied(folder, name), _copied(folder, net)
        if isinstance(net, str) and net.startswith("own-"):
            raise UserError(
                f"{folder} was trained with networks given as objects: load_run(path, net=(encoder, decoder))"
            )
    if not name.endswith(".py") and name not in catalog.names("methods") and folder is not None:
        raise UserError(f"{folder} was trained with a method given as an object: load_run(path, method=…)")
    opened = networks.open_net(net, tuple(config["shape"]), config["pixels"])
    kind = catalog.load("methods", name)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config["seed"])
        made = kind(opened, **config["options"])
        return reset(made, config["seed"]) if config.get("several") and isinstance(net, tuple | list) else made


def reset(method: Method, seed: int) -> Method:
    """Fresh weights for a method that was given as an object."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for module in method.modules():
            if callable(again := getattr(module, "reset_parameters", None)):
                again()
    return method


def _source(method: Any, data: Any, opened: Data) -> str:
    """What tells apart runs that look the same by name: the samples and a user's own files and objects."""
    if not isinstance(data, str | Path) or isinstance(method, Method):
        told = opened.fingerprint + (networks.fingerprint(method) if isinstance(method, Method) else "")
        return f"object-{told}" if told else "object"
    files = [Path(x).read_text() for x in (method,) if isinstance(x, str) and x.endswith(".py") and Path(x).is_file()]
    if not opened.fingerprint and not files:
        return "name"
    import hashlib

    return hashlib.blake2b("".join([opened.fingerprint, *files]).encode(), digest_size=6).hexdigest()


def _copied(folder: Path, name: Any) -> Any:
    """A user's `.py` file is kept inside the run folder."""
    if isinstance(name, str) and name.endswith(".py"):
        return str(folder / Path(name).name)
    return name


def _done(folder: Path) -> bool:
    return Run(folder).status in ("finished", "stopped") if (folder / "config.yaml").exists() else False


def _check(method: Method, config: dict[str, Any]) -> None:
    missing = [need for need in method.needs if need not in ("x", "noise")]
    if missing:
        raise UserError(f"{config['method']} needs {missing} in a batch, which single samples do not have")


def _updates(config: dict[str, Any]) -> Any:
    """The method's updates, the main one with the run's learning rate and optimiser."""
    changes = {k: config[k] for k in ("lr", "optimiser") if config[k] is not None}

    def updates(method: Method) -> list[Update]:
        first, *others = method.updates()
        return [replace(first, **changes), *others]

    return updates


def _train_together(
    seeds: list[int],
    config: dict[str, Any],
    data: Data,
    devices: Devices,
    method: Any,
    net: Any,
    job: dict[str, Any],
) -> None:
    """Train seeds as one, after taking the lock of each; cut-off company of an earlier call is resumed first."""
    group: Path = job["group"]
    group.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for seed in seeds if devices.rank == 0 else []:
            stack.enter_context(_lock(group / f".seed-{seed}.lock"))
        devices.wait()
        for company in _companies(group, [s for s in seeds if not _done(group / f"seed-{s}")]):
            several = len(seeds) > 1
            methods = []
            for seed in company:
                folder = group / f"seed-{seed}"
                own = {**config, "seed": seed}
                methods.append(build({**own, "several": several}, None, method=method, net=net))
                if devices.rank == 0:
                    folder.mkdir(exist_ok=True)
                    _describe(folder, own, devices, net)
            folders = [group / f"seed-{s}" for s in company]
            checkpoint = _checkpoint(group, company)
            loop = Loop(methods, _updates(config), data, company, folders, checkpoint, config, devices,
                        job["save_seconds"], job["progress"])  # fmt: skip
            loop.run()
            devices.wait()


def _checkpoint(group: Path, company: Sequence[int]) -> Path:
    return group / f"checkpoint-{'-'.join(str(s) for s in company)}.pt"


def _companies(group: Path, seeds: list[int]) -> list[list[int]]:
    """Seeds grouped by the checkpoints they were cut off with; the rest go together."""
    found = []
    for path in sorted(group.glob("checkpoint-*.pt")):
        company = [int(s) for s in path.stem.split("-")[1:]]
        if set(company) <= set(seeds):
            found.append(company)
            seeds = [s for s in seeds if s not in company]
    return found + ([seeds] if seeds else [])


def _lock(path: Path) -> FileLock:
    """A lock that says so when it has to wait for another process."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
        lock.release()
    except Timeout:
        tqdm.write(f"another process is training {path.parent.name}/{path.name[1:-5]}: waiting for it")
    return lock


def _describe(folder: Path, config: dict[str, Any], devices: Devices, net: Any) -> None:
    """Write down what this run is and where it ran, before it starts."""
    for file in (config["method"], net):
        if isinstance(file, str) and file.endswith(".py"):
            shutil.copy(file, folder / Path(file).name)
    storage.write_text(folder / "config.yaml", yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    storage.write_json(folder / "state.json", {"status": "running", "step": 0})
    environment = {
        "unbraid": unbraid.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": platform.platform(),
        "device": str(devices.device),
        "processes": devices.world,
        "threads": torch.get_num_threads(),
        "started": time.strftime("%Y-%m-%d %H:%M:%S %z"),
    }
    storage.write_json(folder / "environment.json", environment)


__all__ = ["build", "can_be_stacked", "train"]
