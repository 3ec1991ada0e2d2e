"""Columns that vary most: an option of every table, for tables with many columns more than can be learnt from their rows."""

from __future__ import annotations

from dataclasses import replace

import torch

from unbraid.data import Data, Stored
from unbraid.errors import UserError


def most_varied(data: Data, columns: int = 1000) -> Data:
    """Only the columns of largest variance over all samples, in the order of the table.

    Arguments:
        data: a table.
        columns: keep so many columns, those that vary most; after counts=log1p if that is given too.
    """
    if len(data.shape) != 1 or not isinstance(data.source, Stored):
        raise UserError(
            f"columns={columns}: {data.name} has samples of shape {data.shape}; columns are those of a table"
        )
    if not 1 <= columns <= data.shape[0]:
        raise UserError(f"columns={columns}: {data.name} has {data.shape[0]} columns")
    x = data.draw(torch.arange(len(data)))
    variance = x.var(0)
    kept = variance.topk(columns).indices.sort().values
    share = float(variance[kept].sum() / variance.sum()) if variance.sum() else 1.0
    return replace(
        data,
        name=f"{data.name}{',' if ':' in data.name else ':'}columns={columns}",
        source=Stored(data.source.samples[:, kept].contiguous()),
        shape=(columns,),
        notes=(
            *data.notes,
            f"the {columns} of {data.shape[0]} columns that vary most, over all samples: {share:.0%} of the variance",
        ),
        fingerprint=f"{data.fingerprint}columns{columns}" if data.fingerprint else "",
        features=tuple(data.features[at] for at in kept.tolist()) if data.features else (),
        _parts={},
    )
