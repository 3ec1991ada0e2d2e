"""Encode once, then every metric on the stored codes and every measure of geometry on the decoder and the posterior."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from unbraid import catalog, storage
from unbraid.data import Data, open_data
from unbraid.errors import Notice, UserError, unknown
from unbraid.metrics import Score
from unbraid.posteriors import Point
from unbraid.runs import Run, read_history

SAMPLES = 10_000
FEWEST = 100  # a test part smaller than this is not worth a score
SHOWN = 8  # reconstructions, latents and steps of a traversal
REACH = 2.5  # how far a traversal goes: near the tails of N(0, 1), thesis Section 3.3.5


def evaluate(
    run: Run | Path | str, data: Any = None, *, metrics: Sequence[str] | None = None, samples: int = SAMPLES
) -> dict[str, Any]:
    """Score a run on its test part and store codes, results and pictures in its folder.

    Arguments:
        run: a run or its folder, or the run of several seeds.
        data: the data, if they cannot be opened by the run's own name for them.
        metrics: names of metrics and measures of geometry; all by default.
        samples: at most so many test samples.
    """
    known = [*catalog.names("metrics"), *catalog.names("geometry")]
    asked = [metrics] if isinstance(metrics, str) else list(metrics or [])
    for name in asked:
        if name not in known:
            raise unknown("metric", name, known)
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 2:
        raise UserError(f"samples must be a whole number of at least 2, not {samples!r}")
    run = run if isinstance(run, Run) else Run(run)
    opened = open_data(data) if data is not None else None
    for member in tqdm(run.members, unit="run", disable=None if run.several else True):
        given = opened or member.data
        if given.fingerprint != member.config.get("samples", given.fingerprint):
            warnings.warn(f"{member.path} is scored on other data than it was trained on", Notice, stacklevel=2)
        _evaluate(member, given, asked, samples)
    return run.results


def _evaluate(run: Run, data: Data, wanted: list[str], samples: int) -> None:
    if list(data.shape) != run.config["shape"]:
        raise UserError(
            f"{data.name} has samples of shape {data.shape}, {run.path} was trained on {run.config['shape']}"
        )
    rows, part = data.rows("test")[:samples], "test"
    if len(rows) < FEWEST:
        rows, part = torch.arange(min(len(data), samples)), "all"
    mean, variance, kl = posterior(run, data, rows)
    given: dict[str, Any] = {
        "codes": mean,
        "mean": mean,
        "variance": variance,
        "kl": kl,
        "decode": run.method.decode,
    }
    if data.values is not None:
        given |= {"factors": data.factor_values(rows).numpy(), "kinds": data.factors}
    if variance is not None:
        given["active"] = np.sqrt(mean.var(0)) > 0.5
    probes = [{"step": row["step"], **row["probe"]} for row in read_history(run.path) if "probe" in row]
    if probes:
        given["history"] = probes
    scores, skipped = score_all(given, wanted)
    for name, reason in skipped.items():
        if name in wanted:
            raise UserError(f"{name} of {run.path}: {reason}")
    kept = _kept(run, len(rows), part, data.fingerprint) if wanted else {}
    storage.write(run.path / "codes.npz", lambda part: _save_codes(part, rows, mean, variance, given.get("factors")))
    if len(data.shape) == 3:
        storage.write(run.path / "pictures.npz", lambda part: _save_pictures(part, run, data, rows, mean, variance))
    factors = [asdict(factor) for factor in data.factors]
    storage.write_json(
        run.path / "results.json",
        {"part": part, "samples": len(rows), "data": data.fingerprint, "notes": [*data.notes, *_notes(len(rows), part)],
         "factors": factors, "skipped": skipped,
         "scores": kept | {name: asdict(score) for name, score in scores.items()}},
    )  # fmt: skip


def _kept(run: Run, samples: int, part: str, fingerprint: str) -> dict[str, Any]:
    """Scores of an earlier evaluation on the very same samples: asking for one more does not lose the others."""
    path = run.path / "results.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    same = (before.get("samples"), before.get("part"), before.get("data")) == (samples, part, fingerprint)
    return before["scores"] if same else {}


def _notes(samples: int, part: str) -> list[str]:
    if part == "test":
        return []
    return [f"scored on all {samples} samples, those of the training included: the test part has fewer than {FEWEST}"]


def score_all(given: dict[str, Any], wanted: Sequence[str]) -> tuple[dict[str, Score], dict[str, str]]:
    """Every measure whose required arguments are at hand, called with them; and why others were skipped.

    Arguments:
        given: what is at hand: codes, factors, kinds, decode, mean, variance, history, …
        wanted: names; if empty, all that are not slow.
    """
    scores: dict[str, Score] = {}
    skipped: dict[str, str] = {}
    for name in wanted or all_measures():
        function = catalog.load(_room(name), name)
        parameters = inspect.signature(function).parameters.values()
        missing = [p.name for p in parameters if p.default is p.empty and given.get(p.name) is None]
        if missing:
            skipped[name] = f"it needs {' and '.join(missing)}, which this run and its data do not have"
            continue
        try:
            score = function(**{p.name: given[p.name] for p in parameters if given.get(p.name) is not None})
        except UserError as error:
            skipped[name] = str(error)
            continue
        scores |= score.apart(name)
    return scores, skipped


def unscored(run: Run, wanted: Sequence[str] | None) -> list[str]:
    """Of the wanted measures, or of all, those that the run's results neither have nor say why not."""
    path = run.path / "results.json"
    found = json.loads(path.read_text()) if path.exists() else {"scores": {}}
    return [n for n in wanted or all_measures() if n not in found["scores"] and n not in found.get("skipped", {})]


def all_measures() -> list[str]:
    """What is computed if nothing is asked for: every metric but the slow ones, and every measure of geometry."""
    return [n for n in catalog.names("metrics") if not catalog.constant("metrics", n, "SLOW", False)] + catalog.names(
        "geometry"
    )


def _room(name: str) -> str:
    return "metrics" if name in catalog.names("metrics") else "geometry"


def posterior(run: Run, data: Data, rows: Tensor) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Mean, variance and KL of each latent for rows of the data; no variance for a method that gives points."""
    means, variances = [], []
    with torch.no_grad():
        for part in rows.split(1000):
            q = run.method.posterior(data.draw(part))
            means.append(q.mean)
            variances.append(q.variance)
        point = isinstance(q, Point)
    mean, variance = torch.cat(means).double(), torch.cat(variances).double()
    if point:
        return mean.numpy(), None, None
    kl = 0.5 * (mean.square() + variance - variance.log() - 1).mean(0)
    return mean.numpy(), variance.numpy(), kl.numpy()


def traverse(run: Run, start: np.ndarray, latents: Sequence[int], values: np.ndarray) -> np.ndarray:
    """Samples (latents, values, *shape) decoded from a start code with one latent moved through values."""
    codes = np.tile(start, (len(latents), len(values), 1))
    for place, latent in enumerate(latents):
        codes[place, :, latent] = values
    decoded = run.decode(codes.reshape(-1, len(start)).astype(np.float32))
    return decoded.reshape(len(latents), len(values), *decoded.shape[1:])


def noise_ordered(mean: np.ndarray, variance: np.ndarray | None) -> np.ndarray:
    """Latents from the most to the least precise (thesis Section 3.3.5); without noise, by spread."""
    return np.argsort(-mean.var(0)) if variance is None else np.argsort(variance.mean(0))


def _save_codes(part: Any, rows: Tensor, mean: np.ndarray, variance: np.ndarray | None, factors: Any) -> None:
    arrays: dict[str, Any] = {"rows": rows.numpy(), "mean": mean.astype(np.float32)}
    if variance is not None:
        arrays["variance"] = variance.astype(np.float32)
    if factors is not None:
        arrays["factors"] = factors
    with part.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _save_pictures(
    part: Any, run: Run, data: Data, rows: Tensor, mean: np.ndarray, variance: np.ndarray | None
) -> None:
    """Reconstructions of a few samples, and traversals from one of them, most precise latent first."""
    originals = data.draw(rows[:SHOWN])
    order = noise_ordered(mean, variance)[:SHOWN]
    # latents of a method without noise have any scale; those with noise aim at unit variance
    reach = REACH if variance is not None else REACH * float(np.sqrt(mean.var(0)).mean())
    values = np.linspace(-reach, reach, SHOWN + 1)
    start = _typical(mean)
    with part.open("wb") as file:
        np.savez_compressed(
            file,
            originals=originals.numpy(),
            reconstructions=run.decode(mean[:SHOWN].astype(np.float32)),
            traversals=traverse(run, start, list(order), values),
            traversal_latents=order,
            traversal_values=values,
        )


def _typical(mean: np.ndarray) -> np.ndarray:
    """The code of the sample nearest to the middle: the mean code itself may decode to a blur of all samples."""
    middle = mean.mean(0)
    scaled = (mean - middle) / (mean.std(0) + 1e-9)
    return mean[np.square(scaled).sum(1).argmin()]
