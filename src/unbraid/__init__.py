"""Unbraid: learn, measure and trust disentangled representations.

import unbraid
run = unbraid.train("beta_vae", "sprites", beta=4, steps=20_000, seeds=10)
run.results
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from unbraid import geometry as geometry
    from unbraid import metrics as metrics
    from unbraid.data import Data as Data
    from unbraid.data import open_data as open_data
    from unbraid.errors import UserError as UserError
    from unbraid.estimators import ContrastiveVAE as ContrastiveVAE
    from unbraid.evaluation import evaluate as evaluate
    from unbraid.factors import Factor as Factor
    from unbraid.runs import Run as Run
    from unbraid.runs import load_run as load_run
    from unbraid.training import train as train

_PLACES = {
    "train": "training",
    "load_run": "runs",
    "Run": "runs",
    "evaluate": "evaluation",
    "open_data": "data",
    "Data": "data",
    "ContrastiveVAE": "estimators",
    "Factor": "factors",
    "UserError": "errors",
    "metrics": "",
    "geometry": "",
}

__all__ = [
    "ContrastiveVAE",
    "Data",
    "Factor",
    "Run",
    "UserError",
    "evaluate",
    "geometry",
    "load_run",
    "metrics",
    "open_data",
    "train",
]


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import unbraid` costs nothing."""
    if name not in _PLACES:
        from unbraid.errors import nearest

        near = "" if name.startswith("_") else nearest(name, _PLACES)
        raise AttributeError(f"module 'unbraid' has no attribute {name!r}{': ' if near else ''}{near}")
    if not _PLACES[name]:
        return importlib.import_module(f"unbraid.{name}")
    return getattr(importlib.import_module(f"unbraid.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
