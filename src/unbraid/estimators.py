"""Contrastive methods as a scikit-learn transformer: fitted to targets and background, it gives one block of their codes."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from unbraid import catalog
from unbraid.errors import UserError, unknown

BLOCKS = ("salient", "common", "all")


class WrongInput(UserError, ValueError):
    """A user's mistake, as scikit-learn expects it."""


class _Framed(TransformerMixin, BaseEstimator):
    """The `transform` that scikit-learn wraps to make data frames: its columns are named after the estimator's block."""

    def transform(self, X: Any) -> Any:
        """Codes of samples."""
        return self._codes(X)


class _AnyBlock:
    """The `transform` that may be asked for another block: a copy that gives this block is, so that names are right."""

    block: str

    def transform(self, X: Any, block: str | None = None) -> Any:
        """Codes (samples, latents) of samples.

        Arguments:
            X: samples, targets or background.
            block: salient, common or all, if not the estimator's own.
        """
        if block is None or block == self.block:
            return super().transform(X)  # type: ignore[misc]
        other = copy.copy(self)
        other.block = block
        return other.transform(X)


class ContrastiveVAE(_AnyBlock, _Framed):
    """What varies only in the cases: codes of targets against background, trained by `unbraid.train`.

        ContrastiveVAE().fit(cases, controls).transform(cases)
        make_pipeline(StandardScaler(), ContrastiveVAE(background_label="control")).fit(rows, labels)

    Whatever comes second in `fit` is background samples if it is a table, and labels if it has one dimension. The table is
    for use alone. In a pipeline it would be wrong: the steps before change the first argument only, so that targets were
    scaled and background not. Labels pass through a pipeline as scikit-learn's `y`, cut together with the rows in
    cross-validation, and all rows go through the same steps; a classifier at the end may read the same labels. Those who
    want the table in a pipeline all the same name it: `Pipeline(..., transform_input=["background"])` sends what is given
    as `background` through the steps (with scikit-learn's metadata routing and `set_fit_request(background=True)`).

    A tenth of each group is kept for validation, another for test: they are not trained on. Data frames in give
    `feature_names_in_`; `set_output` gives data frames. Images, (N, H, W) or with channels, are taken as they are.
    The fitted estimator holds the trained networks and pickles with them; evaluation and reports need a run folder: `out`.

    Arguments:
        method: one that compares targets with a background: w2_vae, zero_salient_vae, clvm, cpca, …, or a `.py` file.
        net: networks, as in `unbraid.train`.
        common: latents of what targets and background share; without meaning for a method that has none, as cpca.
        salient: latents of what only targets have.
        steps: batches to train on.
        batch_size: targets per batch, and as many of the background.
        lr: learning rate; by default what the method says.
        seed: decides weights, batches and noise: the same seed, the same codes.
        block: what `transform` gives: salient, common or all. Read when codes are asked for, so it may be set after fitting.
        standardise: bring every column of a table to mean 0 and variance 1 over targets and background together.
        background_label: where labels are given, that of the background; all others are targets.
        options: more options of the method, such as lambda_z, or of `unbraid.train`, such as device.
        out: the folder to keep run folders in; a run found there is not trained again. By default they are not kept.
    """

    def __init__(
        self,
        method: str = "w2_vae",
        net: Any = "auto",
        common: int = 8,
        salient: int = 4,
        *,
        steps: int = 5000,
        batch_size: int = 128,
        lr: float | None = None,
        seed: int = 0,
        block: str = "salient",
        standardise: bool = True,
        background_label: Any = 0,
        options: dict[str, Any] | None = None,
        out: str | Path | None = None,
    ) -> None:
        self.method = method
        self.net = net
        self.common = common
        self.salient = salient
        self.steps = steps
        self.batch_size = batch_size
        self.lr = lr
        self.seed = seed
        self.block = block
        self.standardise = standardise
        self.background_label = background_label
        self.options = options
        self.out = out

    def fit(self, X: Any, y: Any = None, *, background: Any = None) -> ContrastiveVAE:
        """Train.

        Arguments:
            X: targets; with labels, all rows.
            y: background samples, or a label for each row of X.
            background: background samples, by name; then y is not read.
        """
        with _as_value_errors():
            options = self._options()
            target, behind = self._groups(X, y, background)
            self.scaler_ = None
            if self.standardise and target.ndim == 2:
                # Its own output is for us, whatever the user wants of ours.
                self.scaler_ = StandardScaler().set_output(transform="default").fit(np.concatenate([target, behind]))
                target, behind = (self.scaler_.transform(x) for x in (target, behind))
            self._train({"target": target, "background": behind}, options)
        return self

    def inverse_transform(self, X: Any, block: str | None = None) -> NDArray[Any]:
        """Samples, in the units of the data, from codes of one block, the other being as nothing, or from whole codes.

        Arguments:
            X: codes.
            block: which block they are of, if not the estimator's own.
        """
        check_is_fitted(self, "run_")
        with _as_value_errors():
            given = check_array(X, dtype=np.float32)
            method = self.run_.method
            codes = given if given.shape[1] == method.latents else self._completed(given, block or self.block)
            samples: NDArray[Any] = self.run_.decode(codes)
            return samples if self.scaler_ is None else self.scaler_.inverse_transform(samples)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the codes: salient0, salient1, …

        Arguments:
            input_features: names of the columns that came in, only checked.
        """
        check_is_fitted(self, "run_")
        if input_features is not None:
            names = getattr(self, "feature_names_in_", None)
            if len(input_features) != self.n_features_in_:
                raise WrongInput(f"input_features should have length equal to the {self.n_features_in_} columns fitted")
            if names is not None and list(input_features) != list(names):
                raise WrongInput(f"input_features is not equal to feature_names_in_: {', '.join(names)}")
        where = self._where(self.block)
        each = [f"{name}{i}" for name, s in self.run_.method.blocks.items() for i in range(s.stop - s.start)]
        return np.array(each[where], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32"]  # of codes, whatever came in
        return tags

    def _options(self) -> dict[str, Any]:
        """Of the method and of training; what can be refused before reading data is."""
        if self.block not in BLOCKS:
            raise unknown("block", self.block, BLOCKS)
        if not isinstance(self.method, str):
            raise UserError(f"method must be a name or a .py file, not {self.method!r}")
        if "background" not in catalog.load("methods", self.method).needs:
            fitting = [n for n in catalog.names("methods") if "background" in catalog.load("methods", n).needs]
            raise UserError(f"{self.method} compares nothing with a background; these do: {', '.join(fitting)}")
        if not isinstance(self.options, Mapping | None):
            raise UserError(f"options must be a mapping such as {{'lambda_z': 2.0}}, not {self.options!r}")
        if "seeds" in (self.options or {}):
            raise UserError("options has seeds, but an estimator is of one seed: set seed, and fit one for each")
        known = {option.name for option in catalog.entry("methods", self.method).options}
        sizes = {"common": self.common, "salient": self.salient}
        if "salient" not in known:  # all its latents are salient
            sizes = {"latents": self.salient}
        training = {"net": self.net, "steps": self.steps, "batch_size": self.batch_size, "lr": self.lr}
        return {**training, **{k: v for k, v in sizes.items() if k in known}, **(self.options or {})}

    def _groups(self, X: Any, y: Any, background: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Targets and background, alike and enough of each."""
        samples = self._samples(X, "target", reset=True)
        _enough("target", samples)
        table = y is not None and len(_shape(y)) != 1
        if table and background is not None:
            raise UserError("background is given twice: second, and by name")
        if background is None and y is None:
            raise UserError("ContrastiveVAE requires y to be passed, but the target y is None: "
                            "give fit(target, background) or fit(rows, labels)")  # fmt: skip
        if background is None and not table:
            behind = self._is_background(y, len(samples))
            target, other = samples[~behind], samples[behind]
        else:
            given = y if background is None else background
            _alike(X, given)
            _enough("background", given)
            target, other = samples, self._samples(given, "background", reset=False)
        _enough("target", target)
        _enough("background", other)
        return target, other

    def _is_background(self, labels: Any, rows: int) -> NDArray[np.bool_]:
        each = np.asarray(labels, dtype=object)
        if len(each) != rows:
            raise UserError(f"{rows} rows, but {len(each)} labels")
        missing = sum(one is None or str(one) in ("nan", "<NA>", "NaT") for one in each)
        if missing:
            raise UserError(f"{missing} of {rows} labels are missing (NaN or None)")
        found = np.array([bool(one == self.background_label) for one in each])
        if not found.any():
            known = sorted({repr(one) for one in each.tolist()})
            more = ", …" if known[8:] else ""
            raise UserError(f"no row has the label of the background, {self.background_label!r}: "
                            f"set background_label to one of {', '.join(known[:8])}{more}")  # fmt: skip
        return found

    def _samples(self, X: Any, name: str, *, reset: bool) -> NDArray[Any]:
        """Finite numbers; how many columns there are, and their names, is kept or compared."""
        try:
            x = validate_data(self, X, reset=reset, allow_nd=True, ensure_all_finite=False)
            x = x.astype(np.float64) if x.dtype.kind == "O" else x  # as a polars frame with words becomes
        except ValueError as error:
            if name == "samples":
                raise
            said = _words_in(X) or " ".join(str(error).split())
            raise WrongInput(f"{name}: {said}") from error
        wrong = ~np.isfinite(x) if x.dtype.kind == "f" else np.zeros(0, bool)
        if wrong.any():
            row = int(wrong.reshape(len(x), -1).any(1).argmax())
            raise WrongInput(f"{name}: {int(wrong.sum())} values are NaN or infinity, the first in row {row}")
        # A table is never pixels, not even one of small whole numbers.
        return x.astype(np.float64) if x.ndim == 2 and x.dtype.kind != "f" else x

    def _train(self, data: dict[str, NDArray[Any]], options: dict[str, Any]) -> None:
        from unbraid.runs import Run
        from unbraid.training import train

        with ExitStack() as stack:
            out = self.out
            if out is None:
                out = stack.enter_context(tempfile.TemporaryDirectory(prefix="unbraid-"))
            training = {"seed": self.seed, "out": out, "progress": False, **options}
            folder = train(self.method, data, **training).path
            run = Run(folder, net=self.net)  # without the data, which no one wants in a pickle
            if run.status == "stopped":
                raise UserError(f"training stopped: {run.state['reason']}; try a smaller lr, or standardise=True")
            run.config, run.method  # noqa: B018  (read while the folder is there, and kept)
            self.history_ = run.history
            self.run_ = run

    def _codes(self, X: Any) -> NDArray[Any]:
        """Codes of the estimator's block."""
        check_is_fitted(self, "run_")
        with _as_value_errors():
            where = self._where(self.block)
            x = self._samples(X, "samples", reset=False)
            codes: NDArray[Any] = self.run_.encode(x if self.scaler_ is None else self.scaler_.transform(x))
        return codes[:, where]

    def _where(self, block: str) -> slice:
        blocks = self.run_.method.blocks
        if block == "all":
            return slice(0, self.run_.method.latents)
        if block not in blocks:
            raise WrongInput(str(unknown(f"block of {self.method}", block, [*blocks, "all"])))
        return blocks[block]

    def _completed(self, given: NDArray[Any], block: str) -> NDArray[Any]:
        """Whole codes from one block, the others being silent: beside common codes stand the background's salient ones."""
        import torch

        from unbraid.blocks import speaking

        method, where = self.run_.method, self._where(block)
        if given.shape[1] != where.stop - where.start:
            raise UserError(f"codes of {given.shape[1]} latents given: {block} has {where.stop - where.start}, "
                            f"a whole code {method.latents}")  # fmt: skip
        codes = torch.zeros(len(given), method.latents)
        codes[:, where] = torch.tensor(given)
        return speaking(method, codes, [block]).numpy()


@contextmanager
def _as_value_errors() -> Iterator[None]:
    """A user's mistake is a ValueError too."""
    try:
        yield
    except UserError as error:
        raise error if isinstance(error, ValueError) else WrongInput(str(error)) from error


def _enough(name: str, x: Any) -> None:
    from unbraid.data import enough

    enough(name, _shape(x)[0])


def _words_in(table: Any) -> str:
    """Which columns of a data frame cannot be read as numbers; nothing if all can."""
    found = []
    for name in getattr(table, "columns", ()):
        try:
            np.asarray(table[name], dtype=np.float64)
        except (TypeError, ValueError):
            found.append(str(name))
    return f"column {', '.join(found)} holds words, not numbers: leave it out, or give it as labels" if found else ""


def _alike(target: Any, background: Any) -> None:
    """Both have the same columns: by name where both have names, else by number."""
    ours, theirs = (list(map(str, getattr(x, "columns", ()))) for x in (target, background))
    if ours and theirs and ours != theirs:
        lacking = [name for name in ours if name not in theirs]
        more = [name for name in theirs if name not in ours]
        if not lacking and not more:
            raise UserError("background has the columns of target in another order: give background[target.columns]")
        said = f"lacks {', '.join(lacking)}" if lacking else f"has {', '.join(more)}, which target lacks"
        raise UserError(f"columns of target and background differ: background {said}")
    shapes = [_shape(x)[1:] for x in (target, background)]
    if shapes[0] != shapes[1]:
        first, second = (f"{s[0]} columns" if len(s) == 1 else f"samples of shape {s}" for s in shapes)
        raise UserError(f"target has {first}, background {second}")


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(x.shape) if hasattr(x, "shape") else np.asarray(x).shape
