"""The run folder: one run is one folder named by its content, and the folder holds the whole truth.

runs/beta_vae-sprites-1f2e3d4c5b/     the method, the data and a digest of every setting but the seed
    seed-0/                           one run
        config.yaml  environment.json  state.json  history.jsonl  weights.safetensors
        results.json  codes.npz  pictures.npz  report.html        made by evaluation and report
    seed-1/ …
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from unbraid import storage
from unbraid.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

    from unbraid.methods import Method

IDENTITY: tuple[str, ...] = (
    "method",
    "data",
    "net",
    "options",
    "steps",
    "batch_size",
    "lr",
    "optimiser",
    "precision",
    "compile",
    "clip",
    "probe_every",
    "source",
)


def group_folder(out: Path, config: dict[str, Any]) -> Path:
    """The folder that all seeds of a configuration share."""
    told = json.dumps([[key, storage.plain(config.get(key))] for key in IDENTITY], sort_keys=True)
    digest = hashlib.blake2b(told.encode(), digest_size=5).hexdigest()
    return out / f"{slug(config['method'])}-{slug(config['data'])}-{digest}"


def slug(name: str) -> str:
    """A name with its options and suffix cut off, fit for a file."""
    stem = Path(name.split(":")[0]).stem or "data"
    return re.sub(r"[^A-Za-z0-9_]+", "_", stem)


class Run:
    """A run folder, or the folder of several seeds of one configuration.

    With several seeds, codes and samples get a leading axis over seeds and `results` gives mean, spread and each value.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        method: Any = None,
        net: Any = None,
        data: Any = None,
        seeds: Sequence[int] | None = None,
    ) -> None:
        self.path = Path(path)
        self._given_method, self._given_net, self._given_data = method, net, data
        if not (self.path / "config.yaml").exists():
            found = sorted(self.path.glob("seed-*/config.yaml"), key=lambda p: int(p.parent.name[5:]))
            wanted = [p.parent for p in found if seeds is None or int(p.parent.name[5:]) in seeds]
            if not wanted:
                raise UserError(f"no run at {path}: there is no config.yaml in it, nor in a folder seed-0")
            self.members = [Run(folder, method=method, net=net, data=data) for folder in wanted]
        else:
            self.members = [self]

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}, {self.status})"

    @property
    def several(self) -> bool:
        """Whether this is the folder of several seeds."""
        return self.members != [self]

    @cached_property
    def config(self) -> dict[str, Any]:
        """Every setting; of the first seed where there are several."""
        return yaml.safe_load((self.members[0].path / "config.yaml").read_text())

    @property
    def state(self) -> dict[str, Any]:
        """Status, step, and why it stopped if it did."""
        try:
            return json.loads((self.members[0].path / "state.json").read_text())
        except FileNotFoundError:
            return {"status": "new", "step": 0}

    @property
    def status(self) -> str:
        """new, running (or killed), stopped, or finished; of several seeds, the least finished."""
        order = ["new", "running", "stopped", "finished"]
        return min((m.state["status"] for m in self.members), key=order.index)

    @property
    def history(self) -> list[dict[str, Any]]:
        """One row per logged step; a torn last line is left out."""
        return read_history(self.members[0].path)

    @property
    def results(self) -> dict[str, Any]:
        """What the evaluation found; the runs are evaluated first if nobody has yet."""
        if not self.several:
            path = self.path / "results.json"
            if not path.exists():
                from unbraid.evaluation import evaluate

                evaluate(self)
            return json.loads(path.read_text())
        each = [member.results for member in self.members]
        scores = {}
        for name in each[0]["scores"]:
            values = [r["scores"][name]["value"] for r in each if name in r["scores"]]
            known = [v for v in values if v is not None]
            mean, sd = (float(np.mean(known)), float(np.std(known))) if known else (None, None)
            same = {key: each[0]["scores"][name].get(key) for key in ("ceiling", "chance", "best")}
            scores[name] = {"mean": mean, "sd": sd, "values": values, **same}
        return {
            "seeds": [m.config["seed"] for m in self.members],
            "notes": each[0]["notes"],
            "scores": scores,
        }

    @cached_property
    def method(self) -> Method:
        """The trained method, on the CPU, ready to encode and decode."""
        from safetensors.torch import load_file

        from unbraid.configuration import build

        if self.several:
            raise UserError(f"{self.path} holds {len(self.members)} seeds: ask one of run.members for its method")
        weights = self.path / "weights.safetensors"
        if not weights.exists():
            raise UserError(f"{self.path} has no weights yet: it is {self.status} (train it again to resume)")
        method = build(self.config, self.path, method=self._given_method, net=self._given_net)
        method.load_state_dict(load_file(weights))
        return method.eval()

    @property
    def data(self) -> Any:
        """The data the run was trained on: as given, or opened again by name."""
        from unbraid.data import open_data

        if self._given_data is not None:
            return open_data(self._given_data)
        if self.config["source"].startswith("object"):
            raise UserError(f"{self.path} was trained on data given as an object: load_run(path, data=…)")
        return open_data(self.config["data"])

    def encode(self, x: Any, batch: int = 1000) -> Any:
        """Codes (samples, latents) of samples: the kind of array that came in comes out."""
        return self._map(lambda method, part: method.encode(part), x, self._samples, batch)

    def decode(self, codes: Any, batch: int = 1000) -> Any:
        """Samples from codes (samples, latents); differentiable where a tensor comes in."""
        return self._map(lambda method, part: method.decode(part), codes, self._codes, batch)

    def _map(self, function: Any, given: Any, read: Any, batch: int) -> Any:
        import torch

        if self.several:
            each = [member._map(function, given, read, batch) for member in self.members]
            return torch.stack(each) if isinstance(given, torch.Tensor) else np.stack(each)
        if isinstance(given, torch.Tensor) and given.is_floating_point():
            return torch.cat([function(self.method, part) for part in given.split(batch)])
        with torch.no_grad():
            parts = torch.from_numpy(read(np.asarray(given))).split(batch)
            found = torch.cat([function(self.method, part) for part in parts])
        return found if isinstance(given, torch.Tensor) else found.numpy()

    def _samples(self, array: np.ndarray) -> np.ndarray:
        """Numbers as the method was trained on them: channels first, bytes as 0..1."""
        from unbraid.datafiles import channels_first

        shape, pixels = list(self.config["shape"]), self.config["pixels"]
        if list(array.shape[1:]) != shape and array.ndim in (2, 3, 4) and array.size:
            array = channels_first("samples", array)
        if list(array.shape[1:]) != shape:
            raise UserError(f"samples of shape {array.shape} given, this run takes (n, {', '.join(map(str, shape))})")
        scale = array.dtype.kind in "ui" and pixels != "real" and not (pixels == "binary" and array.max() <= 1)
        return array.astype(np.float32) / np.float32(255 if scale else 1)

    def _codes(self, array: np.ndarray) -> np.ndarray:
        latents = self.members[0].method.latents
        if array.shape[1:] != (latents,):
            raise UserError(f"codes of shape {array.shape} given, this run takes (n, {latents})")
        return array.astype(np.float32)


def load_run(path: Path | str, *, method: Any = None, net: Any = None, data: Any = None) -> Run:
    """Open a run folder, or a folder of seeds.

    Arguments:
        path: the folder.
        method: the method, for a run trained with one given as an object.
        net: the networks, for a run trained with networks given as objects.
        data: the data, for a run trained on data given as an object, or if they have moved.
    """
    return Run(path, method=method, net=net, data=data)


def read_history(folder: Path) -> list[dict[str, Any]]:
    """The rows of a history file."""
    path = folder / "history.jsonl"
    rows = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return rows


def tensor_file(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write weights as safetensors."""
    from safetensors.torch import save_file

    storage.write(path, lambda part: save_file(tensors, part))
