"""Counts made comparable: an option of every data set of vectors, for raw counts such as reads of genes in cells."""

from __future__ import annotations

from dataclasses import replace

import torch

from unbraid.data import Data, Stored
from unbraid.errors import UserError, unknown

WAYS = ("log1p",)


def normalised(data: Data, counts: str = "") -> Data:
    """Every sample divided by its total, times the median total of all samples, then log(1 + x).

    Arguments:
        data: samples of at least 0.
        counts: log1p for raw counts: log(1 + count / total of the sample * median total).
    """
    if counts not in WAYS:
        raise unknown("way to normalise counts", counts, WAYS)
    if len(data.shape) != 1 or not isinstance(data.source, Stored):
        raise UserError(
            f"counts={counts}: {data.name} has samples of shape {data.shape}; counts are vectors in a table"
        )
    x = data.draw(torch.arange(len(data)))
    if x.min() < 0:
        raise UserError(f"counts={counts}: {data.name} has a value of {x.min():g}; counts are at least 0")
    totals = x.sum(1, keepdim=True, dtype=torch.float64)
    if not totals.min():
        raise UserError(f"counts={counts}: row {int(totals.argmin())} of {data.name} has no counts at all: drop it")
    note = (
        f"counts were divided by their sample's total, times the median total {totals.median():g}, and log(1 + x) taken"
    )
    return replace(
        data,
        name=f"{data.name}{',' if ':' in data.name else ':'}counts={counts}",
        source=Stored((x / totals * totals.median()).log1p().to(torch.float32)),
        pixels="real",
        notes=(*data.notes, note),
        fingerprint=f"{data.fingerprint}{counts}" if data.fingerprint else "",
        _parts={},
    )
