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
from torch import Tensor
from tqdm import tqdm

from unbraid import catalog, storage
from unbraid.block_maps import block_maps
from unbraid.block_operations import latents_in
from unbraid.block_pictures import block_pictures
from unbraid.data import Data, open_data
from unbraid.encoding import FEWEST, arrays, at_hand, scored_rows, with_factors
from unbraid.errors import Notice, UserError, unknown
from unbraid.metrics import Score
from unbraid.runs import Run
from unbraid.salient_change import keep_change
from unbraid.spelling import BACKGROUND

SAMPLES = 10_000
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
        if list(given.shape) != (trained := member.config["shape"]):
            raise UserError(
                f"{given.name} has samples of shape {given.shape}, {member.path} was trained on {tuple(trained)}"
            )
        if given.fingerprint != member.config.get("samples", given.fingerprint):
            warnings.warn(f"{member.path} is scored on other data than it was trained on", Notice, stacklevel=2)
        _evaluate(member, given, asked, samples)
    return run.results


def _evaluate(run: Run, data: Data, wanted: list[str], samples: int) -> None:
    rows, part = scored_rows(data, samples)
    given = at_hand(run, data, rows)
    known, said = with_factors(given, data)
    scores, skipped = score_all(given, wanted, known)
    for name, reason in skipped.items():
        if name in wanted:
            raise UserError(f"{name} of {run.path}: {reason}")
    kept = _kept(run, len(rows), part, data.fingerprint) if wanted else {}
    kinds = known.get("kinds", ())
    stored = arrays(given, rows, kinds)
    storage.write_arrays(run.path / "codes.npz", stored)
    keep_change(run.path, run.method, data, rows, given["mean"])
    if len(data.shape) == 3:
        stored_pictures = _pictures(run, data, rows, given)
        storage.write_arrays(run.path / "pictures.npz", stored_pictures)
    if "group" in given and not wanted:  # seconds for each map: not for whoever asks for a single score
        maps = block_maps(given)
        storage.write_arrays(run.path / "maps.npz", maps)
    elif not kept:
        (run.path / "maps.npz").unlink(missing_ok=True)
    notes = [*data.notes, *_notes(len(rows), part), *said]
    factors = [{k: v for k, v in asdict(factor).items() if k != "labels" or v} for factor in kinds]
    count = {name: int((given["group"] == place).sum()) for place, name in enumerate(data.groups)}
    blocks = {name: [where.start, where.stop] for name, where in given["blocks"].items()}
    storage.write_json(
        run.path / "results.json",
        {"part": part, "samples": len(rows), **({"groups": count} if count else {}), "data": data.fingerprint, "notes": notes,
         "blocks": blocks, "factors": factors, "skipped": skipped,
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


def score_all(
    given: dict[str, Any], wanted: Sequence[str], known: dict[str, Any] | None = None
) -> tuple[dict[str, Score], dict[str, str]]:
    """Every measure whose required arguments are at hand, called with them; and why others were skipped.

    Arguments:
        given: what is at hand: codes, factors, kinds, decode, mean, variance, history, … (encoding.py).
        wanted: names; if empty, all that are not slow.
        known: the same of samples that have factors, for measures that ask for them; by default all have.
    """
    scores: dict[str, Score] = {}
    skipped: dict[str, str] = {}
    for name in wanted or all_measures():
        function = catalog.load(_room(name), name)
        parameters = inspect.signature(function).parameters.values()
        hand = known if known and "factors" in {p.name for p in parameters} else given
        missing = [p.name for p in parameters if p.default is p.empty and hand.get(p.name) is None]
        if missing:
            skipped[name] = f"it needs {' and '.join(missing)}, which this run and its data do not have"
            continue
        try:
            score = function(**{p.name: hand[p.name] for p in parameters if hand.get(p.name) is not None})
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


def score_missing(run: Run, wanted: Sequence[str] | None) -> None:
    """Score every member on those of the wanted measures, or of all, that it was not scored on."""
    for member in run.members:
        if missing := unscored(member, wanted):
            evaluate(member, metrics=missing if wanted else None)


def all_measures() -> list[str]:
    """What is computed if nothing is asked for: every metric but the slow ones, and every measure of geometry."""
    return [n for n in catalog.names("metrics") if not catalog.constant("metrics", n, "SLOW", False)] + catalog.names(
        "geometry"
    )


def _room(name: str) -> str:
    return "metrics" if name in catalog.names("metrics") else "geometry"


def traverse(
    run: Run, start: np.ndarray, latents: Sequence[int], values: np.ndarray, blocks: Sequence[str] | None = None
) -> np.ndarray:
    """Samples (latents, values, *shape) decoded from (some blocks of) a start code with one latent moved through values."""
    codes = np.tile(start, (len(latents), len(values), 1))
    for place, latent in enumerate(latents):
        codes[place, :, latent] = values
    decoded = run.decode(codes.reshape(-1, len(start)).astype(np.float32), blocks=blocks)
    return decoded.reshape(len(latents), len(values), *decoded.shape[1:])


def noise_ordered(mean: np.ndarray, variance: np.ndarray | None) -> np.ndarray:
    """Latents from the most to the least precise (thesis Section 3.3.5); without noise, by spread."""
    return np.argsort(-mean.var(0)) if variance is None else np.argsort(variance.mean(0))


def _pictures(run: Run, data: Data, rows: Tensor, given: dict[str, Any]) -> dict[str, np.ndarray]:
    """Reconstructions of a few samples, and traversals from one of them, most precise latent first; of groups, each block."""
    mean, variance = given["mean"], given["variance"]
    if "group" in given:
        reconstructed = block_pictures(run, data, rows, given)
    else:
        originals, made = data.draw(rows[:SHOWN]).numpy(), run.decode(mean[:SHOWN].astype(np.float32))
        reconstructed = {"originals": originals, "reconstructions": made}
    typical, blocks = _typical(mean), None
    order = noise_ordered(mean, variance)
    if "group" in given and BACKGROUND not in given["groups"]:  # a domain has latents that it does not use
        blocks = run.method.heard(given["groups"][given["group"][typical]])
        order = order[np.isin(order, latents_in(run.method, blocks))]
    order = order[:SHOWN]
    # latents of a method without noise have any scale; those with noise aim at unit variance
    reach = REACH if variance is not None else REACH * float(np.sqrt(mean.var(0)).mean())
    values = np.linspace(-reach, reach, SHOWN + 1)
    return {
        **reconstructed,
        "traversals": traverse(run, mean[typical], list(order), values, blocks),
        "traversal_latents": order,
        "traversal_values": values,
    }


def _typical(mean: np.ndarray) -> int:
    """The row of the sample nearest to the middle: the mean code itself may decode to a blur of all samples."""
    middle = mean.mean(0)
    scaled = (mean - middle) / (mean.std(0) + 1e-9)
    return int(np.square(scaled).sum(1).argmin())
