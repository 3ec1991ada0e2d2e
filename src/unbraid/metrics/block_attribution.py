"""Block attribution: whether each factor can be read from the block that it belongs to, and from no other block.

Paper 000, Fig. 4, as numbers: R² of a linear probe of each factor from each block, on held-out rows. A factor that one domain
alone has belongs in that domain's private block, one that all have in the shared block; the score is R² there less the best R² elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid.contrast import still
from unbraid.correlation import period_of
from unbraid.domain_blocks import PRIVATE, SHARED, numbers_of, owners
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.metrics import Score, table

FEWEST = 20  # rows that have a factor, fewer than which say nothing

# Not sample_order: which rows are fitted is drawn by row number.
HOLDS = {
    "permuted_codes",
    "flipped_codes",
    "rescaled_codes",
    "noise_scores_chance",
    "constant_code_scores_chance",
    "rotation_keeps",
    "duplicates_keep",
    "dead_latents_keep",
    "noise_latents_keep",
}


def block_attribution(
    codes: Any, labels: Any, group: Any, groups: Sequence[str], blocks: Mapping[str, slice], *, seed: int = 0
) -> Score:
    """Mean over factors of R² from the block that a factor belongs to, less the best from another.

    A factor that several groups have, but not all, belongs nowhere: its R² are in `parts` and do not count.

    Arguments:
        codes: array (rows, latents) of posterior means.
        labels: factor, or name of a real number, to its values (rows,), NaN where a row does not have it.
        group: number of each row's group.
        groups: names of the groups.
        blocks: name to slice of the code.
        seed: which two thirds are fitted.
    """
    mean = table(codes, "codes")
    number, own = numbers_of(group, groups, len(mean)), owners(blocks, groups, mean.shape[1])
    parts = {name: mean[:, where] for name, where in blocks.items() if mean[:, where].shape[1]}
    explained: dict[str, dict[str, float]] = {}
    home: dict[str, str] = {}
    for factor, given in labels.items():
        name = factor.name if isinstance(factor, Factor) else str(factor)
        column = np.asarray(given, dtype=np.float64)
        rows = np.flatnonzero(~np.isnan(column))
        if len(rows) < FEWEST or np.ptp(column[rows]) == 0:
            continue
        having = np.unique(number[rows])
        wanted = _readable(column[rows], factor)
        explained[name] = {block: _r_squared(part[rows], wanted, seed) for block, part in parts.items()}
        place = SHARED if len(having) == len(groups) else f"{PRIVATE}{groups[having[0]]}" if len(having) == 1 else ""
        if place == SHARED or place in own:
            home[name] = place
    home = {name: place for name, place in home.items() if place in parts}
    if not home:
        raise UserError("no factor belongs to a block: of one group alone, or of all groups, and varying")
    margins = {
        name: explained[name][place] - max([r for block, r in explained[name].items() if block != place] or [0.0])
        for name, place in home.items()
    }
    return Score(
        value=float(np.mean(list(margins.values()))),
        parts={"explained": explained, "home": home, "margin": margins},
        settings={"estimator": "least squares, held-out R²", "samples": len(mean), "seed": seed},
        warnings=tuple(still(mean)),
    )


def _readable(column: np.ndarray, factor: Any) -> np.ndarray:
    """What a probe predicts: indicators of a category, cosine and sine of a cycle, a number as it is."""
    kind = factor.kind if isinstance(factor, Factor) else "continuous"
    if kind == "category":
        return np.asarray(column[:, None] == np.unique(column), dtype=np.float64)
    if kind == "cycle":
        angle = 2 * np.pi * column / period_of(column, factor)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return column[:, None]


def _r_squared(part: np.ndarray, wanted: np.ndarray, seed: int) -> float:
    """Share of the variance of all columns together that is predicted, at least 0."""
    order = np.random.default_rng(seed).permutation(len(part))
    held, fitted = np.split(order, [len(part) // 3])
    centre, aim = part[fitted].mean(axis=0), wanted[fitted].mean(axis=0)
    weights = np.linalg.lstsq(part[fitted] - centre, wanted[fitted] - aim, rcond=1e-10)[0]
    missed = wanted[held] - aim - (part[held] - centre) @ weights
    return max(0.0, 1 - float(np.square(missed).sum() / np.square(wanted[held] - aim).sum()))
