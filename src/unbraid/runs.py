"""The run folder: one run is one folder named by its content, and the folder holds the whole truth.

runs/beta_vae-sprites-1f2e3d4c5b/     the method, the data and a digest of every setting but the seed
    seed-0/                           one run
        config.yaml  environment.json  state.json  history.jsonl  weights.safetensors
        results.json  codes.npz  pictures.npz  maps.npz  salient_change.npz  report.html   made by evaluation and report
    seed-1/ …
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from unbraid import storage
from unbraid.errors import UserError, unknown
from unbraid.spelling import slug as slug

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
    """The folder that all seeds of a configuration share; what only some runs have tells only those apart."""
    keys = [*IDENTITY, *(key for key in ("groups",) if key in config)]
    told = json.dumps([[key, storage.plain(config.get(key))] for key in keys], sort_keys=True)
    digest = hashlib.blake2b(told.encode(), digest_size=5).hexdigest()
    return out / f"{slug(config['method'])}-{slug(config['data'])}-{digest}"


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
        if not isinstance(path, str | Path):
            raise UserError(f"a run is given by its folder, not by {path!r}")
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
        found = _reading(self.members[0].path / "config.yaml", yaml.safe_load)
        if not isinstance(found, dict) or not set(IDENTITY) <= set(found):
            raise UserError(f"{self.members[0].path / 'config.yaml'} is damaged: it lacks settings of the run")
        return found

    @property
    def state(self) -> dict[str, Any]:
        """Status, step, and why it stopped if it did."""
        path = self.members[0].path / "state.json"
        return _reading(path, json.loads) if path.exists() else {"status": "new", "step": 0}

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
            return _reading(path, json.loads)
        each = [member.results for member in self.members]
        scores = {}
        for name in dict.fromkeys(name for r in each for name in r["scores"]):
            found = [r["scores"].get(name) for r in each]
            values = [score and score["value"] for score in found]
            known = [v for v in values if v is not None]
            mean, sd = (float(np.mean(known)), float(np.std(known))) if known else (None, None)
            first = next(score for score in found if score)
            same = {key: first.get(key) for key in ("ceiling", "chance", "best")}
            scores[name] = {"mean": mean, "sd": sd, "values": values, **same}
        return {
            "seeds": [m.config["seed"] for m in self.members],
            "notes": each[0]["notes"],
            "scores": scores,
        }

    @cached_property
    def method(self) -> Method:
        """The trained method, on the CPU, ready to encode and decode."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        from unbraid.configuration import build

        if self.several:
            raise UserError(f"{self.path} holds {len(self.members)} seeds: ask one of run.members for its method")
        weights = self.path / "weights.safetensors"
        if not weights.exists():
            raise UserError(f"{self.path} has no weights yet: it is {self.status} (train it again to resume)")
        method = build(self.config, self.path, method=self._given_method, net=self._given_net)
        try:
            method.load_state_dict(load_file(weights))
        except (OSError, SafetensorError) as error:
            raise UserError(f"{weights} is damaged: {str(error).splitlines()[0]}") from error
        except RuntimeError as error:
            raise UserError(f"{weights} does not fit this method and these networks: {_reason(error)}") from error
        return method.eval()

    @property
    def data(self) -> Any:
        """The data the run was trained on: as given, or opened again by name."""
        from unbraid.data import open_data

        if self._given_data is not None:
            return open_data(self._given_data)
        if self.config["source"].startswith("object"):
            raise UserError(f"{self.path} was trained on data given as an object: load_run(path, data=…)")
        name, kept = self.config["data"], self.config.get("samples")
        try:
            data = open_data(name)
        except UserError as error:
            raise UserError(
                f"{error} (data of {self.path}; if they have moved, say where: --data, or data=…)"
            ) from error
        if kept is not None and data.fingerprint != kept:
            raise UserError(
                f"{name} is not what {self.path} was trained on any more: to use it all the same, say --data {name}"
            )
        return data

    def encode(self, x: Any, batch: int = 1000, *, block: str | None = None) -> Any:
        """Codes (samples, latents) of samples, or one block of them: the kind of array that came in comes out."""
        blocks = self.members[0].method.blocks if block is not None else {}
        if block is not None and block not in blocks:
            raise unknown(f"block of {self.config['method']}", block, blocks)
        codes = self._map("encode", x, Run._samples, batch)
        return codes if block is None else codes[..., blocks[block]]

    def decode(
        self, codes: Any, batch: int = 1000, *, blocks: Sequence[str] | None = None, group: str | None = None
    ) -> Any:
        """Samples from codes (samples, latents); differentiable where a tensor comes in.

        Arguments:
            codes: one per sample, or for several seeds (seeds, samples, latents).
            batch: samples at a time.
            blocks: those to decode from, all others silent; by default all.
            group: decode from the blocks that this group uses, whatever group the codes are of.
        """
        if blocks is None and group is None:
            return self._map("decode", codes, Run._codes, batch)
        if blocks is not None and group is not None:
            raise UserError("give blocks or group, not both")
        from unbraid.block_operations import check
        from unbraid.blocks import speaking

        groups = self.config.get("groups", [])
        if group is not None and group not in groups:
            raise unknown(f"group of {self.config['data']}", group, groups)
        first = self.members[0].method
        names = first.heard(group) if group is not None else list(blocks or ())
        check(first, names)
        return self._map("decode", codes, lambda run, given: speaking(run.method, run._codes(given), names), batch)

    def _map(self, name: str, given: Any, read: Callable[[Run, Tensor], Tensor], batch: int) -> Any:
        import torch

        if self.several:
            axis = name == "decode" and getattr(given, "ndim", 0) == 3 and len(given) == len(self.members)
            each = [m._map(name, given[i] if axis else given, read, batch) for i, m in enumerate(self.members)]
            return torch.stack(each) if isinstance(given, torch.Tensor) else np.stack(each)
        tensor = isinstance(given, torch.Tensor)
        function = getattr(self.method, name)
        with torch.set_grad_enabled(tensor and torch.is_grad_enabled()):
            numbers = read(self, given if tensor else torch.from_numpy(np.array(given, order="C")))
            found = torch.cat([function(part) for part in numbers.split(batch)])
        return found if tensor else found.numpy()

    def _samples(self, x: Tensor) -> Tensor:
        """Numbers as the method was trained on them: channels first, bytes as 0..1."""
        shape, pixels = list(self.config["shape"]), self.config["pixels"]
        found = x
        if list(x.shape[1:]) != shape and len(shape) == 3:
            if x.ndim == 3 and shape[0] == 1:
                found = x.unsqueeze(1)
            elif x.ndim == 4 and list(x.shape[1:]) == [*shape[1:], shape[0]]:
                found = x.movedim(3, 1)
        if list(found.shape[1:]) != shape or not len(found):
            raise UserError(
                f"samples of shape {tuple(x.shape)} given, this run takes (n, {', '.join(map(str, shape))})"
            )
        scale = not x.is_floating_point() and pixels != "real" and not (pixels == "binary" and x.max() <= 1)
        found = found.float() / (255 if scale else 1)
        low, high = float(found.detach().min()), float(found.detach().max())
        if pixels != "real" and (low < -1 or high > 2):
            raise UserError(f"samples lie in {low:.3g}..{high:.3g}, this run was trained on 0..1: divide by 255?")
        return found

    def _codes(self, codes: Tensor) -> Tensor:
        latents = self.members[0].method.latents
        if tuple(codes.shape[1:]) != (latents,):
            raise UserError(f"codes of shape {tuple(codes.shape)} given, this run takes (n, {latents})")
        return codes.float()


def load_run(path: Path | str, *, method: Any = None, net: Any = None, data: Any = None) -> Run:
    """Open a run folder, or a folder of seeds.

    Arguments:
        path: the folder.
        method: the method, for a run trained with one given as an object.
        net: the networks, for a run trained with networks given as objects.
        data: the data, for a run trained on data given as an object, or if they have moved.
    """
    return Run(path, method=method, net=net, data=data)


def _reading(path: Path, read: Callable[[str], Any]) -> Any:
    """What a file of a run folder holds, or one line saying which file is damaged."""
    try:
        return read(path.read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"{path} cannot be read: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[min(1, len(lines) - 1)] if lines else type(error).__name__


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
