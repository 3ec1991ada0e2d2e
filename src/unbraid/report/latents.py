"""What is known of each latent: its order by noise, whether it is used, what it knows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbraid.report.folder import Run
from unbraid.report.numbers import floats, matrix, number

USED = 0.05  # share of a latent's variance that is not noise


@dataclass(frozen=True)
class Latents:
    """Everything per latent of one run; lists are empty where nothing is known."""

    count: int
    order: list[int]
    active: list[bool]
    noise: list[float]
    kl: list[float]
    information: np.ndarray | None

    def known_factor(self, latent: int, factors: list[str]) -> str | None:
        """The factor with which a latent shares most information, and how much."""
        if self.information is None or latent >= len(self.information):
            return None
        row = self.information[latent]
        if not np.isfinite(row).any() or np.nanmax(row) < 0.01:
            return None
        best = int(np.nanargmax(row))
        name = factors[best] if best < len(factors) else f"factor {best}"
        return f"{name} ({row[best]:.2f} nats)"


def latents_of(run: Run) -> Latents:
    """Gather from scores, probes and codes what there is to know."""
    units = run.scores["active_units"].parts if "active_units" in run.scores else {}
    variance = run.codes.get("variance")
    noise = run.last("sigma2")
    if not noise and variance is not None and variance.ndim == 2:
        noise = floats(variance.mean(axis=0))
    kl = run.last("kl") or floats(units.get("kl"))
    noise = noise or floats(units.get("noise"))
    information = matrix(run.scores["mig"].parts.get("information")) if "mig" in run.scores else None
    shown = run.pictures.get("traversal_latents")
    order = _indices(units.get("noise_order", units.get("order")))
    flags = _flags(units)
    option = run.config.get("options")
    asked = number(option.get("latents")) if isinstance(option, dict) else None
    sizes = [len(order), len(noise), len(kl), len(flags), 0 if information is None else len(information)]
    count = max([*sizes, 0]) or int(asked or 0) or (0 if shown is None else int(np.max(shown, initial=-1)) + 1)
    if not order and noise:
        order = sorted(range(len(noise)), key=lambda at: (math.isnan(noise[at]), noise[at]))
    order = [at for at in order if at < count]
    order += [at for at in range(count) if at not in set(order)]
    active = used_in_blocks(run) or flags or [value < 0.8 for value in noise]
    return Latents(count, order, _to(active, count, True), _to(noise, count), _to(kl, count), information)


def used_in_blocks(run: Run) -> list[bool]:
    """Which latents of a code in blocks say more than noise of targets (of all, where there is no background); else nothing.

    The share of variance that is not noise has no scale: losses that draw groups together make some blocks small.
    """
    mean, variance = run.codes.get("mean"), run.codes.get("variance")
    group, groups = run.codes.get("group"), run.codes.get("groups")
    if not run.blocks or mean is None or mean.ndim != 2:
        return []
    rows = np.ones(len(mean), dtype=bool)
    if group is not None and groups is not None and "background" in groups and group.shape == rows.shape:
        rows = group != list(groups).index("background")
    if not rows.any():
        return []
    signal = mean[rows].var(axis=0)
    noise = variance[rows].mean(axis=0) if variance is not None and variance.shape == mean.shape else 0 * signal
    return [bool(used) for used in signal > np.maximum(USED * (signal + noise), 1e-12)]


def polarisation(run: Run) -> tuple[list[float], list[float]]:
    """Steps and |KL − KL of a polarized code| / KL, measured or else computed from the probes.

    Nothing of a code in blocks: what background says of a block that it does not have is held to no prior.
    """
    if run.blocks:
        return [], []
    if "polarized_regime" in run.scores:
        parts = run.scores["polarized_regime"].parts
        steps, delta = floats(parts.get("steps")), floats(parts.get("delta"))
        if steps and len(steps) == len(delta):
            return steps, delta
    names = ("mu2", "var_mu", "log_sigma2", "kl")
    found = {name: run.probes(name) for name in names}
    if any(found[name][0] != found["kl"][0] or not found[name][0] for name in names):
        return [], []
    mu2, var_mu, log_sigma2, kl = (np.asarray(found[name][1]) for name in names)
    if not mu2.shape == var_mu.shape == log_sigma2.shape == kl.shape:
        return [], []
    polar = 0.5 * ((mu2 - log_sigma2 - 1) * (np.sqrt(np.maximum(var_mu, 0)) > 0.5)).sum(axis=1)
    total = kl.sum(axis=1)
    delta = np.abs(total - polar) / np.where(total > 0, total, np.nan)
    return found["kl"][0], floats(delta)


def haar(run: Run) -> tuple[float, float | None] | None:
    """Mean and spread of the distance to orthogonality of a random decoder."""
    score = run.scores.get("distance_to_orthogonality")
    return _baseline(score.parts) if score else None


def among_active(run: Run) -> tuple[float, tuple[float, float | None]] | None:
    """The distance to orthogonality of the active latents alone, and a random decoder's."""
    score = run.scores.get("distance_to_orthogonality")
    held = score.parts.get("active") if score else None
    if not isinstance(held, dict):
        return None
    value, base = number(held.get("value")), _baseline(held)
    return (value, base) if value is not None and base is not None else None


def _baseline(parts: dict[str, Any]) -> tuple[float, float | None] | None:
    held = parts.get("haar")
    mean = number(held.get("mean")) if isinstance(held, dict) else None
    return None if mean is None else (mean, number(held["sd"]) if held and "sd" in held else None)


def _flags(units: dict[str, Any]) -> list[bool]:
    for name in ("active", "by_mean", "active_by_noise", "by_noise"):
        if isinstance(units.get(name), list):
            return [bool(flag) for flag in units[name]]
    return []


def _indices(values: Any) -> list[int]:
    found = [int(value) for value in floats(values) if math.isfinite(value) and value >= 0]
    return list(dict.fromkeys(found))


def _to(values: list[Any], count: int, fill: Any = math.nan) -> list[Any]:
    return [*values[:count], *[fill] * (count - len(values))] if values else []
