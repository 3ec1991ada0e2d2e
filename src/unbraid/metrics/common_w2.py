"""W2 of common codes: the squared Wasserstein distance between common codes of targets and of background, in batches.

Paper 001, Eq. 9 and Table 1: exact transport between 128 codes of each, mean of 20 pairs of batches. Two batches of one and
the same distribution are apart too, the farther the more latents: this floor is the best that can be reached, given as
`ceiling`; 4.43 for N(0, I) in 8 latents. Without the floor, the number of latents and of the batch it means nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unbraid import transport
from unbraid.contrast import are_targets, block, still
from unbraid.errors import UserError
from unbraid.metrics import Score, table

# Not rescaled_codes: the distance grows with the codes. Rows are drawn by number, and noise by latent.
HOLDS = {"permuted_codes", "flipped_codes", "rotation_keeps", "dead_latents_keep"}


def common_w2(
    codes: Any,
    group: Any,
    groups: Sequence[str],
    blocks: Mapping[str, slice],
    *,
    variance: Any = None,
    batch: int = 128,
    batches: int = 20,
    seed: int = 0,
) -> Score:
    """Mean W2² of the block `common`; the facet `over_floor` is its ratio to the floor.

    Codes are drawn from the posterior where its variance is given, as in training, and are the means otherwise.

    Arguments:
        codes: array (rows, latents) of posterior means.
        group: number of each row's group.
        groups: names of the groups; the one called background is the background.
        blocks: name to slice of the code.
        variance: array (rows, latents) of posterior variances.
        batch: codes of each side; fewer, and said, where a side has not two such batches for its floor.
        batches: pairs of batches.
        seed: draws rows and codes.
    """
    mean = table(codes, "codes")
    targets = are_targets(group, groups, len(mean))
    part = block(mean, blocks, "common")
    if batch < 1 or batches < 2:
        raise UserError(f"batch={batch}, batches={batches}: at least 1 code in each of at least 2 batches")
    warnings = still(part)
    drawn = part
    if variance is not None:
        spread = np.sqrt(block(table(variance, "variance"), blocks, "common"))
        # a stream of its own: a user's codes may well have been made from the same seed
        drawn = part + spread * np.random.default_rng((seed, 2)).standard_normal(part.shape)
    used = min(batch, targets.sum() // 2, (~targets).sum() // 2)
    if used < batch:
        warnings.append(f"batches of {used}, not {batch}: more have no second batch to be compared with for the floor")
    distances, floors = _apart(drawn, targets, used, batches, seed)
    value, least = float(distances.mean()), float(floors.mean())
    if value > 1.5 * least and least > 0:
        warnings.append(
            "common codes of targets and background differ: a larger lambda_z (w2_vae) brings them together"
        )
    parts: dict[str, Any] = {"floor": least, "per_batch": distances, "floors": floors}
    if variance is not None:
        of_means, floor_of_means = _apart(part, targets, used, batches, seed)
        parts |= {"of_means": float(of_means.mean()), "floor_of_means": float(floor_of_means.mean())}
    parts["floor_of_normal"] = float(transport.normal_floor(part.shape[1], int(used), batches, seed).mean())
    return Score(
        value=value,
        facets={"over_floor": value / least if least > 0 else 1.0},
        parts=parts,
        settings={
            "estimator": "exact transport plan",
            "samples": len(mean),
            "batch": int(used),
            "batches": batches,
            "latents": part.shape[1],
            "codes": "means" if variance is None else "drawn from the posterior",
            "seed": seed,
        },
        ceiling=least,
        warnings=tuple(warnings),
        best="low",
    )


def _apart(
    codes: np.ndarray, targets: np.ndarray, batch: int, batches: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Distances between the groups, and within each: half of the floors are of targets, half of background."""
    x, y = codes[targets], codes[~targets]
    draw = np.random.default_rng(seed)
    rows = [(draw.permutation(len(x))[:batch], draw.permutation(len(y))[:batch]) for _ in range(batches)]
    between = np.array([transport.squared_w2(x[i], y[j]) for i, j in rows])
    return between, np.concatenate([transport.floor(side, batch, batches, seed) for side in (x, y)])
