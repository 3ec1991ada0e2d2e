"""FactorVAE score: how often the latent that varies least in a batch with one factor fixed tells which factor it was.

Kim & Mnih 2018 as disentanglement_lib computes it: 64 samples that share factor j vote for the latent with the
smallest variance relative to its overall variance; 10,000 votes make a table from latents to factors by majority,
and the score is its accuracy on 5,000 others. Several latents per factor cost nothing: read it with MIG.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.fixed_factor import FixedFactor, portions
from unbraid.metrics import Score, check, kinds_of, label, usual_warnings

# Not sample_order: batches are drawn by row number. Not perfect_codes_reach_ceiling: entangled codes come close to it.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_lowers",
    "duplicates_keep",
    "monotone_warp_keeps",
    "relabelled_category_keeps",
    "dead_latents_keep",
    "noise_latents_keep",
}

VOTERS = 0.05  # share of the votes for a factor that a latent has not by accident


def factor_vae_score(
    codes: Any,
    factors: Any,
    *,
    kinds: Sequence[Factor | str] | None = None,
    votes: int = 10_000,
    scored: int = 5_000,
    batch: int = 64,
    threshold: float = 0.05,
    bins: int = 20,
    seed: int = 0,
    reference: bool = False,
) -> Score:
    """Accuracy of the majority vote of the least varying latent.

    Batches are drawn from the given rows (see `unbraid.fixed_factor`), not from newly encoded samples: the same
    distribution as in disentanglement_lib where factors are independent, other draws. Latents that hardly vary are
    left out, by their spread relative to the largest one, for a code has no unit. If none varies the score is
    that of guessing.

    Arguments:
        codes: array (samples, latents), usually posterior means.
        factors: array (samples, factors) of the true causes.
        kinds: kind of each factor; continuous ones are held fixed within a bin.
        votes: batches that make the table of majorities.
        scored: batches that it is scored on.
        batch: samples per batch.
        threshold: least standard deviation of a latent that may be voted for, in shares of the largest.
        bins: equal-width bins of a continuous factor.
        seed: draws the batches.
        reference: threshold absolute and draws one after another as in disentanglement_lib; 0 if no latent varies.
    """
    codes, factors = check(codes, factors)
    kind = kinds_of(factors, kinds)
    if min(votes, scored) < 1 or batch < 2:
        raise UserError(f"votes={votes}, scored={scored}, batch={batch}: at least 1, 1 and 2 are needed")
    if bins < 2:
        raise UserError(f"bins={bins}: a continuous factor needs at least 2 bins")
    fixed = FixedFactor(factors, kind, bins)
    if not len(fixed.usable):
        raise UserError("no factor column has two values of which one is shared by two rows")
    spread = codes.std(axis=0, ddof=1)
    spread[np.ptp(codes, axis=0) <= 4 * np.spacing(np.abs(codes).max(axis=0))] = 0.0
    kept = spread >= (threshold if reference else threshold * spread.max())
    kept &= spread > 0
    chance = 1 / len(fixed.usable)
    found = [*usual_warnings(codes, factors, kinds), *fixed.warnings(kinds, bins)]
    parts: dict[str, Any] = {"spread": spread, "kept": kept}
    value, trained = (0.0, 0.0) if reference else (chance, chance)
    if kept.any():
        # Legacy generator: the one that disentanglement_lib uses.
        draw = np.random.RandomState(seed) if reference else np.random.default_rng(seed)
        scaled = codes[:, kept] / spread[kept]
        tables = [
            np.sum([_table(scaled, fixed, *_draw(fixed, draw, n, batch)) for n in portions(count)], axis=0)
            for count in (votes, scored)
        ]
        choice = tables[0].argmax(axis=0)
        trained, value = (float(t[choice, np.arange(t.shape[1])].sum() / t.sum()) for t in tables)
        found += _shared(tables[0], np.flatnonzero(kept), kinds)
        parts |= {"votes": tables[0], "scored_votes": tables[1], "majority": choice}
    else:
        found.append("no latent varies enough to be voted for")
    if kept.any() and (quiet := np.flatnonzero(~kept & (spread > 0))).size:
        least = f"{threshold:g}" + ("" if reference else " of the largest")
        found.append(f"latents {quiet.tolist()} have a standard deviation under {least} and are left out")
    return Score(
        value=value,
        parts={**parts, "train_accuracy": trained},
        settings={
            "estimator": "majority vote of the latent of least variance",
            "votes": votes,
            "scored": scored,
            "batch": batch,
            "threshold": f"std >= {threshold:g}" + ("" if reference else " of the largest"),
            "bins": bins,
            "seed": seed,
            "samples": len(codes),
            "kinds": kind,
            "binned_factors": fixed.binned,
            "batches": "rows at hand that share a value" + (", drawn one by one" if reference else ""),
            "reference": reference,
        },
        chance=chance,
        warnings=tuple(found),
    )


def _shared(votes: np.ndarray, latents: np.ndarray, kinds: Sequence[Factor | str] | None) -> list[str]:
    """Factors that several latents vote for, which this score forgives."""
    found = []
    for j, row in enumerate(votes):
        voters = latents[(votes.argmax(axis=0) == j) & (row > VOTERS * row.sum())]
        if len(voters) > 1:
            found.append(f"latents {voters.tolist()} all stand for factor {label(kinds, j)}, which costs nothing here")
    return found


def _draw(fixed: FixedFactor, draw: Any, votes: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(draw, np.random.Generator):
        return fixed.batches(draw, votes, batch)
    return fixed.batches_one_by_one(draw, votes, batch)


def _table(scaled: np.ndarray, fixed: FixedFactor, held: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Votes (factors, kept latents); `scaled` has unit variance, so the smallest variance wins."""
    table = np.zeros((fixed.levels.shape[1], scaled.shape[1]), dtype=np.int64)
    for j in fixed.usable:
        winner = local_variances(scaled, fixed.levels[:, j], rows[held == j]).argmin(axis=1)
        table[j] = np.bincount(winner, minlength=scaled.shape[1])
    return table


def local_variances(codes: np.ndarray, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Variance (ddof 1) of each latent within each batch, (batches, latents), of rows that share one of the values.

    From sums and sums of squares, as one sparse product; around the mean of the value, so that nothing cancels.
    """
    from scipy.sparse import csr_array

    batches, batch = rows.shape
    means = np.stack([np.bincount(values, column) for column in codes.T], axis=1) / np.bincount(values)[:, None]
    around = codes - means[values]
    pick = csr_array(
        (np.ones(rows.size), rows.ravel(), np.arange(0, rows.size + 1, batch)), shape=(batches, len(codes))
    )
    sums = pick @ np.hstack([around, around**2])
    total, squares = np.split(sums, 2, axis=1)
    return np.maximum(squares - total**2 / batch, 0.0) / (batch - 1)
