"""Samples with what is known of each: AnnData's .h5ad files, and sparse arrays in .npz files. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import UserError

MOST_BYTES = 8 << 30  # of samples made dense
SPARSE = ("data", "indices", "indptr", "shape")
Known = dict[str, NDArray[Any]]


def read_h5ad(path: str, file: Path) -> tuple[NDArray[Any], Known, tuple[str, ...]]:
    """X, dense or sparse; the columns of obs, which lie in groups (since AnnData 0.7) or in one compound table; names of var."""
    try:
        import h5py
    except ImportError as error:
        raise UserError(f"{path} is an HDF5 file, which h5py reads: pip install 'unbraid[omics]'") from error
    try:
        with h5py.File(file) as opened:
            lacking = [part for part in ("X", "obs") if part not in opened]
            if lacking:
                raise UserError(f"{path} has no {' and no '.join(lacking)}: is it an AnnData file?")
            samples = _matrix(path, opened["X"])
            return samples, distinct(_columns(opened)), _names(opened.get("var"))
    except (OSError, KeyError, RuntimeError) as error:
        raise UserError(f"{path} is damaged or not an .h5ad file: {error}") from error


def read_sparse(path: str, arrays: Mapping[str, NDArray[Any]]) -> tuple[NDArray[Any], Known]:
    """Samples from `data`, `indices`, `indptr` and `shape`, as SciPy saves them; other arrays of one word or number per row."""
    kind = arrays.get("format", np.array("csr")).item()
    words = kind.decode() if isinstance(kind, bytes) else str(kind)
    samples = dense(path, [arrays[key] for key in SPARSE[:3]], arrays["shape"], words)
    rest = {key: value for key, value in arrays.items() if key not in (*SPARSE, "format")}
    return samples, distinct({key: value for key, value in rest.items() if value.shape == (len(samples),)})


def dense(path: str, parts: list[NDArray[Any]], shape: Any, kind: str) -> NDArray[Any]:
    """A compressed matrix, rows (csr) or columns (csc), with its zeros."""
    from scipy import sparse

    kinds = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}
    if kind not in kinds:
        raise UserError(f"{path} is a sparse matrix of format {kind}: convert it to csr")
    rows, columns = (int(size) for size in np.asarray(shape).reshape(-1)[:2])
    if rows * columns * 4 > MOST_BYTES:
        raise UserError(
            f"{path} has {rows}x{columns} values, too many to be held with their zeros: choose fewer columns"
        )
    data, indices, indptr = parts
    try:
        found: NDArray[Any] = kinds[kind]((data.astype(np.float32), indices, indptr), (rows, columns)).toarray()
    except ValueError as error:
        raise UserError(f"{path} is damaged or not a {kind} matrix: {error}") from error
    return found


def distinct(columns: Known) -> Known:
    """Without what says nothing of samples as a kind: names of their own, one value for all, values that are missing."""
    return {name: column for name, column in columns.items() if _tells(column)}


def _tells(column: NDArray[Any]) -> bool:
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        return False
    if column.dtype.kind in "US" and (column == "").any():
        return False
    count = len(np.unique(column))
    return count > 1 and not (column.dtype.kind in "US" and count == len(column))


def _matrix(path: str, x: Any) -> NDArray[Any]:
    if not hasattr(x, "keys"):
        found: NDArray[Any] = x[()]
        return found
    about = x.attrs
    kind = _word(about.get("encoding-type", about.get("h5sparse_format", "csr"))).removesuffix("_matrix")
    shape = about["shape"] if "shape" in about else about["h5sparse_shape"]
    return dense(path, [x[key][()] for key in SPARSE[:3]], shape, kind)


def _names(var: Any) -> tuple[str, ...]:
    """The index of var: what the columns of X are called."""
    if var is None:
        return ()
    compound = not hasattr(var, "keys")
    index = var.dtype.names[0] if compound else _word(var.attrs.get("_index", "_index"))
    if not compound and index not in var:
        return ()
    return tuple(map(_word, var[index][()].tolist()))


def _columns(file: Any) -> Known:
    """Columns of obs, without the index; categories as their words."""
    obs = file["obs"]
    if not hasattr(obs, "keys"):  # one compound table: words of a category are in uns
        table = obs[()]
        uns = file.get("uns", {})
        return {name: _named(table[name], uns.get(f"{name}_categories")) for name in table.dtype.names[1:]}
    index = _word(obs.attrs.get("_index", "_index"))
    old = obs.get("__categories", {})  # AnnData 0.7
    found: Known = {}
    for name in obs:
        column = obs[name]
        if name in (index, "__categories"):
            continue
        if not hasattr(column, "keys"):
            found[name] = _named(column[()], old.get(name))
        elif "codes" in column:
            found[name] = _named(column["codes"][()], column["categories"])
        elif "values" in column and not column["mask"][()].any():  # numbers that might be missing, none of which is
            found[name] = _words(column["values"][()])
    return found


def _named(codes: NDArray[Any], categories: Any) -> NDArray[Any]:
    """Codes as words; an empty word where there is none."""
    if categories is None:
        return _words(codes)
    words = np.append(_words(categories[()]).astype(str), "")
    return words[codes]


def _words(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype.kind in "SO":
        return np.array([_word(each) for each in column])
    return column


def _word(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
