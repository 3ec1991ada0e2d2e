"""Seven ways to split a table of two groups into common and salient codes, and one evaluation of them all on held-out samples.

What is common and what is salient, a method says itself, or, where it has one block only, the most favourable reading does:

- PCA (of both groups together) and plain VAE: as many latents as the others have in all; the `SALIENT` of them that separate
  the groups best on the training part, by the area under the ROC curve, are the salient code, all others the common one.
- cPCA: its `SALIENT` axes are the salient code, alpha being the one of `ALPHAS` whose axes separate the groups best on the
  training part; the common code is the PCA of what these axes leave of both groups.

Without salient code means: 0 where the method was trained to decode background so; in the others the mean that the salient
latents have over the background of the training part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unbraid.blocks import speaking
from unbraid.claims import Bench
from unbraid.contrastive_axes import contrastive_axes, covariance
from unbraid.errors import UserError
from unbraid.own_folders import found
from unbraid.report.charts import Series, scatter_chart, standalone
from unbraid.salient_change import salient_change
from unbraid.transport import floor, squared_w2

COMMON, SALIENT = 8, 4
TRAINED = {"Eq. 8": "w2_vae", "Eq. 7": "zero_salient_vae", "cVAE": "cvae", "MM-cVAE": "mm_cvae", "VAE": "vae"}
METHODS = (*TRAINED, "cPCA", "PCA")
PLAIN = ("VAE", "cPCA", "PCA")  # what the two losses of paper 001 are to be better than
ALPHAS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
NEIGHBOURS = 15
FOLDS = 5
Array = np.ndarray


@dataclass(frozen=True)
class Sides:
    """Samples (rows, features), and whether each is a target."""

    x: Array
    target: Array


@dataclass(frozen=True)
class Reading:
    """What a method says of held-out samples: both codes, and what the salient one changes in the decoded targets."""

    common: Array
    salient: Array
    change: Array


def job(label: str, data: Any, **training: Any) -> dict[str, Any]:
    """Keywords of `unbraid.train`; every method has its own defaults and latents in all as the others."""
    sizes = {"latents": COMMON + SALIENT} if label == "VAE" else {"common": COMMON, "salient": SALIENT}
    return {"method": TRAINED[label], "data": data, **sizes, **training}


def read(label: str, run: Any, known: Sides, asked: Sides) -> Reading:
    """Codes and change of held-out samples.

    Arguments:
        label: of METHODS.
        run: trained, of one seed; None for the two that have a closed form.
        known: training part.
        asked: held-out samples.
    """
    if run is None:
        axes, middle = (_pca_axes if label == "PCA" else _cpca_axes)(known)
        back = torch.from_numpy(axes.T)
        return _split(
            lambda x: (x - middle) @ axes, lambda c: c @ back, known, asked, None if label == "PCA" else range(SALIENT)
        )
    method = run.method
    if "salient" not in method.blocks:
        return _split(_encoder(method), lambda c: method.decode(c.float()), known, asked, None)
    codes = _encoder(method)(asked.x)
    common, salient = (codes[:, method.blocks[name]] for name in ("common", "salient"))
    targets = torch.from_numpy(codes[asked.target]).float()
    return Reading(common, salient, salient_change(method.decode, targets, speaking(method, targets, ["common"])))


def _encoder(method: Any) -> Callable[[Array], Array]:
    def encode(x: Array) -> Array:
        with torch.no_grad():
            codes: Array = method.encode(torch.from_numpy(x).float()).double().numpy()
        return codes

    return encode


def _split(encode: Callable[[Array], Array], decode: Callable[[torch.Tensor], torch.Tensor], known: Sides, asked: Sides,
           chosen: Any) -> Reading:  # fmt: skip
    """The most favourable reading of a code of one block."""
    seen, codes = encode(known.x), encode(asked.x)
    apart = [abs(_area(column, known.target) - 0.5) for column in seen.T]
    where = np.argsort(apart)[::-1][:SALIENT] if chosen is None else np.array(chosen)
    targets = torch.from_numpy(codes[asked.target])
    without = targets.clone()
    without[:, where.copy()] = torch.from_numpy(seen[~known.target][:, where].mean(0))
    return Reading(np.delete(codes, where, axis=1), codes[:, where], salient_change(decode, targets, without))


def _pca_axes(known: Sides) -> tuple[Array, Array]:
    middle = known.x.mean(0)
    return np.linalg.svd(known.x - middle, full_matrices=False)[2][: COMMON + SALIENT].T, middle


def _cpca_axes(known: Sides) -> tuple[Array, Array]:
    """Salient axes first, then the principal axes of what they leave."""
    middle = known.x.mean(0)
    target, background = (covariance(known.x[rows]) for rows in (known.target, ~known.target))
    each = [contrastive_axes(target, background, alpha, SALIENT) for alpha in ALPHAS]
    best = max(
        each, key=lambda axes: max(abs(_area(column, known.target) - 0.5) for column in ((known.x - middle) @ axes).T)
    )
    left = (known.x - middle) @ (np.eye(len(best)) - best @ best.T)
    return np.concatenate([best, np.linalg.svd(left, full_matrices=False)[2][:COMMON].T], 1), middle


def _area(column: Array, target: Array) -> float:
    """Under the ROC curve."""
    from scipy.stats import rankdata

    positive, ranks = int(target.sum()), rankdata(column)
    return float((ranks[target].sum() - positive * (positive + 1) / 2) / (positive * (len(column) - positive)))


def accuracy(codes: Array, target: Array) -> float:
    """Of logistic regression on rows that it was not fitted to, mean of both groups, in percent: 50 is knowing nothing."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    return _balanced(cross_val_predict(_classifier(), codes, target, cv=folds), target)


def _classifier() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000))


def _balanced(said: Array, target: Array) -> float:
    return 100 * float(np.mean([(said == target)[target == kind].mean() for kind in (False, True)]))


def accuracy_elsewhere(known: Array, known_target: Array, codes: Array, target: Array) -> float:
    """The same where there are too few held-out rows to fit to: fitted to codes of the training part."""
    said = _classifier().fit(known, known_target).predict(codes)
    return _balanced(said, target)


def explained(codes: Array, wanted: Array) -> float:
    """R² of ridge regression on rows that it was not fitted to, mean over the wanted columns."""
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    wanted = wanted.reshape(len(codes), -1)
    model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 3, 11)))
    said = cross_val_predict(model, codes, wanted, cv=KFold(FOLDS, shuffle=True, random_state=0)).reshape(wanted.shape)
    lost = np.square(wanted - said).sum(0) / np.square(wanted - wanted.mean(0)).sum(0)
    return float(1 - lost.mean())


def over_floor(codes: Array, target: Array, most: int = 64) -> float:
    """W2² between the groups in multiples of W2² between two halves of one group; 1 is one distribution."""
    sides = codes[target], codes[~target]
    batch = min(most, *(len(side) // 2 for side in sides))
    draw = np.random.default_rng(0)
    between = [squared_w2(*(side[draw.permutation(len(side))[:batch]] for side in sides)) for _ in range(20)]
    return float(np.mean(between) / np.mean([floor(side, batch) for side in sides]))


def mixing(codes: Array, target: Array) -> float:
    """Share of neighbours of the other group, over what it were if groups were dealt at random: 1 is fully mixed."""
    from scipy.spatial.distance import cdist

    apart = cdist(codes, codes)
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1)[:, : min(NEIGHBOURS, len(codes) // 4)]
    other = (target[near] != target[:, None]).mean(1)
    share = target.mean()
    by_chance = np.where(target, 1 - share, share) * len(codes) / (len(codes) - 1)
    return float((other / by_chance).mean())


def ranks(change: Array) -> Array:
    """Place of every column by size of its change, the largest being 1."""
    place = np.empty(len(change), int)
    place[np.argsort(-np.abs(change))] = np.arange(1, len(change) + 1)
    return place


def table_file(path: str) -> Path:
    """A file in the user's folder of data."""
    there = found(path)
    if there is None:
        raise UserError(
            f"this claim reads {path}, which it cannot download: put it into the folder that UNBRAID_DATA names"
        )
    return there


def maps(bench: Bench, name: str, reading: Reading, asked: Sides, called: tuple[str, str]) -> list[str]:
    """Two principal axes of the table, of salient and of common codes, targets and background in their colours."""
    paths = []
    for what, codes in (("table", asked.x), ("salient", reading.salient), ("common", reading.common)):
        centred = codes - codes.mean(0)
        plane = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
        series = [
            Series(word, *plane[rows].T.tolist())
            for word, rows in zip(called, (asked.target, ~asked.target), strict=True)
        ]
        title = "the table itself" if what == "table" else f"{what} codes"
        chart = scatter_chart(series, title=title, x_label=f"{title}, first principal axis", y_label="second")
        paths.append(bench.figure(f"{name}-{what}.svg"))
        paths[-1].write_text(standalone(chart))
    return [str(path) for path in paths]
