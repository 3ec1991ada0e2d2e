"""The test samples of a run as codes, and all that is known of these samples: what measures ask for by argument name.

- `codes`, `mean`, `variance`, `kl`, `decode`, `active`, `blocks` (name → slice of the code)
- `factors` (samples, factors) and `kinds`; a measure that takes them gets the codes of those samples that have them
- `group` (samples,) and `groups`, their names, where data come in groups
- `labels`: each `Factor` of any group → (samples,), NaN where a sample does not have it; of several targets, which one it is
- `history`: what was seen in training
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid.data import Data
from unbraid.groups import labels_of
from unbraid.posteriors import Point
from unbraid.runs import Run, read_history

FEWEST = 100  # a test part smaller than this is not worth a score


def scored_rows(data: Data, samples: int) -> tuple[Tensor, str]:
    """Rows to score on, and what part they are: all there are, if the test part is too small."""
    rows = data.rows("test")[:samples]
    if len(rows) >= FEWEST:
        return rows, "test"
    order = torch.arange(len(data))
    if data.groups:  # in mixed order, so that fewer than all are still of every group
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))
    return order[:samples], "all"


def at_hand(run: Run, data: Data, rows: Tensor) -> dict[str, Any]:
    """Everything that a measure may ask for; what there is none of is left out."""
    mean, variance, kl = posterior(run, data, rows)
    given: dict[str, Any] = {"codes": mean, "mean": mean, "variance": variance, "kl": kl}
    given |= {"decode": run.method.decode, "blocks": run.method.blocks}
    if variance is not None:
        given["active"] = np.sqrt(mean.var(0)) > 0.5
    if data.group is not None:
        given |= {"group": data.group[rows].numpy(), "groups": data.groups}
    if labels := labels_of(data, rows):
        given["labels"] = {factor: column.numpy() for factor, column in labels.items()}
    if data.values is not None:
        given |= {"factors": data.factor_values(rows).numpy(), "kinds": data.factors}
    probes = [{"step": row["step"], **row["probe"]} for row in read_history(run.path) if "probe" in row]
    return given | ({"history": probes} if probes else {})


def with_factors(given: dict[str, Any], data: Data) -> tuple[dict[str, Any], list[str]]:
    """The same of only those samples that have factors, and what to say of the others.

    Where groups have different factors, those of the first group that has any count, and all groups that have the same.
    """
    own = {name: member.factors for name, member in data.members.items() if member.values is not None}
    if "factors" in given or not own:
        return given, []
    factors = next(iter(own.values()))
    names = [name for name in data.groups if own.get(name) == factors]
    keep = np.isin(given["group"], [data.groups.index(name) for name in names])
    if not keep.any():
        return given, []
    each = {k: given[k][keep] for k in ("codes", "mean", "variance", "group") if given.get(k) is not None}
    labels = {factor: column[keep] for factor, column in given["labels"].items()}
    columns = np.stack([labels[factor] for factor in factors], 1)
    others = [name for name in data.groups if name not in names]
    note = f"scores against factors are of {', '.join(names)}: {', '.join(others)} {'have' if others[1:] else 'has'} none of these factors"
    return {**given, **each, "labels": labels, "factors": columns, "kinds": factors}, [note]


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


def arrays(given: dict[str, Any], rows: Tensor, factors: Any) -> dict[str, Any]:
    """What is kept of the codes: `factors` has a row per sample, NaN where it has none of these factors."""
    found: dict[str, Any] = {"rows": rows.numpy(), "mean": given["mean"].astype(np.float32)}
    if given.get("variance") is not None:
        found["variance"] = given["variance"].astype(np.float32)
    if factors:
        same = "factors" in given  # all samples have them, in numbers of their own type
        found["factors"] = given["factors"] if same else np.stack([given["labels"][f] for f in factors], 1)
    if "group" in given:
        found |= {"group": given["group"], "groups": np.array(given["groups"])}
    return found
