"""The training loop: one for all methods, one seed or many, eager or compiled; killed anywhere, it goes on bit for bit."""

from __future__ import annotations

import contextlib
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import torch
from torch import Tensor
from tqdm import tqdm

from unbraid import block_distances, optimisers, storage
from unbraid.data import Data
from unbraid.devices import Devices
from unbraid.ensembles import Ensemble, See, Single, statistics
from unbraid.errors import Notice, UserError
from unbraid.methods import Batch, Method, Terms, Update
from unbraid.posteriors import Point
from unbraid.runs import read_history, tensor_file
from unbraid.steps import compiled, eager
from unbraid.streams import Streams
from unbraid.views import laid_out, view_of
from unbraid.workers import inside

PROBE_SAMPLES = 1000


class Sides(NamedTuple):
    """Samples of so many groups, equally many of each, one group after another."""

    groups: int
    x: Tensor


class Loop:
    """Trains the seeds of one configuration side by side.

    Arguments:
        methods: one per seed, freshly made.
        updates: of the first method, with the run's optimiser settings.
        folders: one run folder per seed.
        checkpoint: where the state of all of them is kept until they finish.
        config: the run's settings.
        save_seconds: how much work a kill may cost.
    """

    def __init__(
        self,
        methods: Sequence[Method],
        updates: Callable[[Method], list[Update]],
        data: Data,
        seeds: Sequence[int],
        folders: Sequence[Path],
        checkpoint: Path,
        config: dict[str, Any],
        devices: Devices,
        save_seconds: float = 20.0,
        progress: bool = True,
    ) -> None:
        self.devices, self.folders, self.checkpoint, self.config = devices, folders, checkpoint, config
        self.save_seconds, self.progress, self.seeds = save_seconds, progress, seeds
        images = any(p.ndim == 4 for p in methods[0].parameters())
        self.layout = torch.channels_last if images and len(methods) == 1 else torch.contiguous_format
        for method in methods:
            method.to(devices.device, memory_format=self.layout).train()  # type: ignore[call-overload]
        self.players = Ensemble(methods) if len(methods) > 1 else Single(methods)
        self.method, self.data = methods[0], data.to(devices.device)
        self.view = view_of(self.method, self.data, config["batch_size"], config["method"])
        self.method.samples = self.view.samples
        self.streams = Streams(
            seeds, self.view.pools(), config["batch_size"], self.method.noise, devices.device,
            uniforms=self.view.uniforms, rank=devices.rank, stacked=self.players.stacked,
        )  # fmt: skip
        self.updates = updates(self.method)
        self.names = [self.players.names(update) for update in self.updates]
        self.optimisers = [
            optimisers.optimiser(update, [self.players.tensors[n] for n in names])
            for update, names in zip(self.updates, self.names, strict=True)
        ]
        self.steps, self.step, self.elapsed = config["steps"], 0, 0.0
        self.log_every = max(1, min(500, self.steps // 400))
        self.stopped: dict[int, dict[str, Any]] = {}
        self.saved_at = 0
        self._totals: dict[str, Tensor] = {}

    def run(self) -> None:
        """From wherever the run stands to its end."""
        self.resume()
        act = compiled if self.config["compile"] else eager
        advance = [
            act(update, self.players, names, optimiser, self.devices, self.config["clip"])
            for update, names, optimiser in zip(self.updates, self.names, self.optimisers, strict=True)
        ]
        began, last_save = time.perf_counter() - self.elapsed, time.perf_counter()
        look, sides = self.probe_samples(), self.side_samples()
        logs: list[TextIO] = [(f / "history.jsonl").open("a") for f in self.folders] if self.main else []
        bar = tqdm(total=self.steps, initial=self.step, unit="step", dynamic_ncols=True, smoothing=0.05,
                   disable=None if self.progress and self.main else True)  # fmt: skip
        row_start, row_time = self.step, time.perf_counter()
        try:
            while self.step < self.steps and len(self.stopped) < len(self.seeds):
                batch = self.batch(self.step)
                for place, move in enumerate(advance):
                    self.note(move(batch, self.step), main=place == 0)
                self.step += 1
                bar.update()
                probing = self.step % self.config["probe_every"] == 0
                if not (probing or self.step % self.log_every == 0 or self.step == self.steps):
                    continue
                count, now = self.step - row_start, time.perf_counter()
                terms = {name: (total / count).double().cpu().reshape(-1) for name, total in self._totals.items()}
                self._totals = {}
                self.look_for_nan(terms)
                self.elapsed = now - began
                speed = count * self.config["batch_size"] * len(self.seeds) * self.devices.world / (now - row_time)
                self.write_row(logs, terms, speed, *((look, sides) if probing else (None, None)))
                bar.set_postfix_str(
                    " ".join(f"{k} {v.nanmean():.4g}" for k, v in terms.items()) + f" · {speed:.0f} images/s"
                )
                if inside():
                    print(self.step, flush=True)
                row_start, row_time = self.step, time.perf_counter()
                if now - last_save >= self.save_seconds and self.step < self.steps:
                    self.save()
                    last_save = time.perf_counter()
        finally:
            bar.close()
            for log in logs:
                with contextlib.suppress(OSError):  # rows are flushed one by one: only one that was refused is left
                    log.close()
        if self.main:
            self.finish()

    @property
    def main(self) -> bool:
        """Whether this process writes files."""
        return self.devices.rank == 0

    def batch(self, step: int) -> Batch:
        """What the view gives for a step, and noise."""
        drawn = self.streams.at(step)
        batch = self.view.batch(drawn)
        if self.layout is torch.channels_last:
            batch = laid_out(batch, self.layout)
        return {**batch, "noise": drawn.noise}

    def note(self, terms: Terms, *, main: bool) -> None:
        """Add terms up on the device; nothing waits for it here. The curve `loss` is the main update's."""
        for name, value in terms.items():
            if name == "loss" and not main:
                continue
            value = value.detach()
            self._totals[name] = self._totals[name] + value if name in self._totals else value

    def look_for_nan(self, terms: dict[str, Tensor]) -> None:
        """Stop the seeds whose loss is no longer a number; their last good state is kept."""
        for place in range(len(self.seeds)):
            bad = [name for name, value in terms.items() if not torch.isfinite(value[place])]
            if place in self.stopped or not bad:
                continue
            named = next((name for name in bad if name != "loss"), "loss")
            reason = f"term {named!r} became {terms[named][place].item()} by step {self.step}"
            self.stopped[place] = {"status": "stopped", "step": self.saved_at, "reason": reason}
            if self.main:
                good = torch.load(self.checkpoint, weights_only=True, map_location="cpu")["tensors"]
                tensor_file(self.folders[place] / "weights.safetensors", self.players.member(good, place))
                storage.write_json(self.folders[place] / "state.json", self.stopped[place])
            warnings.warn(stop_words(self.folders[place], self.stopped[place]), Notice, stacklevel=2)

    def probe_samples(self) -> Tensor | None:
        """The validation samples on which the posterior is watched; None for methods without one."""
        x = self.data.draw(self.data.rows("validation")[:PROBE_SAMPLES].to(self.devices.device))
        with self.watching():
            return None if isinstance(self.method.posterior(x[:2]), Point) else x

    def side_samples(self) -> Sides | None:
        """The validation samples of each group whose distance is watched; None where there are no blocks or no groups."""
        rows = block_distances.sides(self.data, self.method)
        return Sides(len(rows), self.data.draw(torch.cat(list(rows.values())))) if rows else None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look without a trace: no gradient, and no running statistics moved."""
        self.method.eval()
        try:
            with torch.no_grad():
                yield
        finally:
            self.method.train()

    def write_row(
        self, logs: Sequence[TextIO], terms: dict[str, Tensor], speed: float, look: Tensor | None, sides: Sides | None
    ) -> None:
        """One line of history per seed."""
        seen = {} if look is None else self.look(statistics, look)
        codes = {} if sides is None else self.look(block_distances.means_and_variances, sides.x)
        for place, log in enumerate(logs):
            if place in self.stopped:
                continue
            row: dict[str, Any] = {"step": self.step, "seconds": self.elapsed, "images_per_second": speed}
            row["terms"] = {name: value[place].item() for name, value in terms.items()}
            if seen:
                row["probe"] = {name: value[place].tolist() for name, value in seen.items()}
            if sides is not None:
                mean, variance = (codes[name][place].numpy() for name in ("mean", "variance"))
                row["distances"] = block_distances.distances(self.method.blocks, mean, variance, sides.groups)
            try:
                log.write(json.dumps(row) + "\n")
                log.flush()
            except OSError as error:
                raise UserError(
                    f"cannot write {log.name}: {error.strerror}; the same command goes on when that is mended"
                ) from error

    def look(self, see: See, x: Tensor) -> dict[str, Tensor]:
        """What is seen of samples, for every seed."""
        with self.watching(), self.devices.autocast():
            return {name: value.float().cpu() for name, value in self.players.look(see, x).items()}

    def save(self) -> None:
        """Keep everything that the next step depends on, unless it is not worth keeping."""
        whole = all(torch.isfinite(t).all() for t in self.players.state.values())
        if not self.main or not (whole or self.stopped):
            return
        state = {
            "step": self.step,
            "elapsed": self.elapsed,
            "stopped": self.stopped,
            "tensors": {name: t.detach() for name, t in self.players.state.items()},
            "optimisers": [o.state_dict() for o in self.optimisers],
        }
        storage.write(self.checkpoint, lambda part: _save(state, part))
        self.saved_at = self.step

    def resume(self) -> None:
        """Pick up the checkpoint if there is one, and forget what was logged after it."""
        if self.main:
            storage.sweep(self.checkpoint.parent, self.checkpoint.name)
            for folder in self.folders:
                storage.sweep(folder)
        if self.checkpoint.exists():
            state = torch.load(self.checkpoint, weights_only=True, map_location=self.devices.device)
            self.step, self.elapsed, self.stopped = state["step"], state["elapsed"], state["stopped"]
            self.players.load(state["tensors"])
            for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
                optimiser.load_state_dict(saved)
            self.saved_at = self.step
        elif self.main:
            self.save()
        for folder in self.folders if self.main else []:
            kept = [json.dumps(row) for row in read_history(folder) if row["step"] <= self.step]
            storage.write_text(folder / "history.jsonl", "".join(line + "\n" for line in kept))

    def finish(self) -> None:
        """Leave finished run folders behind, and no checkpoint."""
        x = self.data.draw(self.data.rows("validation")[:PROBE_SAMPLES].to(self.devices.device))
        for place, folder in enumerate(self.folders):
            if place not in self.stopped:
                weights = self.players.member(self.players.state, place)
                tensor_file(folder / "weights.safetensors", weights)
                self.method.load_state_dict(weights)
                with self.watching():
                    notes = self.method.notes(x)
                state = {"status": "finished", "step": self.step} | ({"notes": notes} if notes else {})
                storage.write_json(folder / "state.json", state)
        self.checkpoint.unlink(missing_ok=True)


def stop_words(folder: Path, state: dict[str, Any]) -> str:
    """What a user should know of a run that a bad number stopped."""
    return (
        f"{folder} stopped: {state['reason']}; its last good state, of step {state['step']}, is kept "
        "(if the loss had been growing, a lower lr or clip 1 may help)"
    )


def _save(state: dict[str, Any], part: Path) -> None:
    """Through a file of Python's, which unlike torch's own says why it cannot be written."""
    with part.open("wb") as file:
        torch.save(state, file)
