"""What the salient code changes, column by column: targets decoded with their salient code and without.

    change = mean over targets of decode([z, s]) - decode([z, s of background])                     (1)

in the units of the data. It is what the model says that targets have on top of what they share with background; whether it
is right is another matter, and another seed is the first test.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unbraid import storage
from unbraid.blocks import speaking
from unbraid.data import Data
from unbraid.spelling import BACKGROUND


def salient_change(decode: Callable[[Tensor], Tensor], codes: Tensor, without: Tensor) -> np.ndarray:
    """(1), shaped as a sample.

    Arguments:
        decode: codes to samples.
        codes: (targets, latents).
        without: the same codes with the salient code of background.
    """
    with torch.no_grad():
        found: np.ndarray = (decode(codes) - decode(without)).double().mean(0).numpy()
    return found


def keep_change(folder: Path, method: Any, data: Data, rows: Tensor, codes: np.ndarray) -> None:
    """Keep the change of a table's columns in a run folder; nothing where there is no salient code or no background.

    Arguments:
        folder: of the run.
        method: trained.
        data: the data.
        rows: that are scored.
        codes: their posterior means.
    """
    if len(data.shape) != 1 or "salient" not in method.blocks or data.group is None or BACKGROUND not in data.groups:
        return
    targets = data.group[rows] != data.groups.index(BACKGROUND)
    if not targets.any() or targets.all():
        return
    x, chosen = data.draw(rows), torch.from_numpy(codes).float()[targets]
    kept = {
        "change": salient_change(method.decode, chosen, speaking(method, chosen, method.heard(BACKGROUND))),
        "difference": (x[targets].double().mean(0) - x[~targets].double().mean(0)).numpy(),
        "sd": x.double().std(0).numpy(),
        "features": np.array(data.features or [f"column {at + 1}" for at in range(data.shape[0])]),
    }
    storage.write_arrays(folder / "salient_change.npz", kept)
