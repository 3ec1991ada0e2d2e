"""What would go wrong after a minute of training goes wrong before it, in one line."""

from __future__ import annotations

import copy
import traceback
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unbraid.data import Data
from unbraid.errors import Notice, UserError
from unbraid.methods import Batch, Method
from unbraid.streams import Streams
from unbraid.views import view_of

HOST = torch.device("cpu")


def check(method: Method, config: dict[str, Any], data: Data) -> None:
    """What would go wrong after a minute goes wrong now: missing entries, losses that are none, data far from 1."""
    few = max(4, len(data.groups))
    view = view_of(method, data, few, config["method"])
    view_of(method, data, config["batch_size"], config["method"])
    x = data.draw(data.rows("train")[:100])
    for note in data.notes:
        warnings.warn(note, Notice, stacklevel=3)
    if data.pixels == "real" and (size := float(x.abs().max())) > 1000:
        warnings.warn(f"the numbers of {data.name} go up to {size:.3g}: standardise them if training fails", Notice, stacklevel=3)  # fmt: skip
    if config["method"].endswith(".py") or config["source"].startswith("object"):
        drawn = Streams([0], view.pools(), few, method.noise, HOST, uniforms=view.uniforms).at(0)
        _try_losses(method, {**view.batch(drawn), "noise": torch.zeros_like(drawn.noise)})


def _try_losses(method: Method, batch: Batch) -> None:
    """A user's own method gives what the loop needs: named 0-d tensors with a loss among them."""
    name = type(method).__name__
    for update in copy.deepcopy(method).updates():
        try:
            terms = update.loss(batch, 0)
        except UserError:
            raise
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            where = next(f for f in reversed(frames) if "/torch/" not in f.filename)
            at = f"{Path(where.filename).name}, line {where.lineno}"
            raise UserError(f"the loss of {name} fails ({at}): {type(error).__name__}: {error}") from error
        if not isinstance(terms, dict) or "loss" not in terms:
            raise UserError(
                f"the loss of {name} must give a dictionary of terms with 'loss' among them, not {terms!r:.80}"
            )
        for term, value in terms.items():
            if not isinstance(value, Tensor) or value.ndim:
                shape = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
                raise UserError(
                    f"term {term!r} of {name} must be a tensor without axes (a mean over the batch), not {shape}"
                )
