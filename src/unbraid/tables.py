"""Samples, codes and factors in users' .npy, .npz, .csv and .h5ad files; no torch, so that scoring starts fast."""

from __future__ import annotations

import csv
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.cells import SPARSE, read_h5ad, read_sparse
from unbraid.errors import UserError, unknown
from unbraid.factors import KINDS, Factor, Kind

SUFFIXES = (".npy", ".npz", ".csv", ".h5ad")
SAMPLE_KEYS = ("x", "images", "imgs", "data", "X")
FEATURE_KEYS = ("features", "columns", "genes", "var_names", "feature_names")  # of arrays that name the columns
FACTOR_MARK = "factor:"
MANY = 1000
MISSING = (
    "",
    "NA",
    "N/A",
    "#N/A",
    "<NA>",
    "NaN",
    "nan",
    "NaT",
)  # as spreadsheets, R and pandas write what is not known


@dataclass(frozen=True)
class Columns:
    """Factors of every sample: class numbers from 0, or real numbers where the kind is continuous."""

    values: NDArray[Any]
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    labels: tuple[tuple[str, ...], ...]  # of each factor's values; empty where they are 0, 1, …

    @property
    def factors(self) -> tuple[Factor, ...]:
        """What the columns are."""
        return tuple(
            Factor(name, 0 if kind == "continuous" else int(column.max()) + 1, kind, labels)
            for name, kind, labels, column in zip(self.names, self.kinds, self.labels, self.values.T, strict=True)
        )


@dataclass(frozen=True)
class Table:
    """What a file holds: samples, factors, or both; and what the numbers of a sample are called, if it says so."""

    samples: NDArray[Any] | None
    columns: Columns | None
    features: tuple[str, ...] = ()


def read_codes(path: str) -> NDArray[Any]:
    """The codes in a file, one row per sample."""
    codes = read_table(path).samples
    if codes is None:
        raise UserError(f"{path} has only factor columns, no codes")
    if codes.ndim != 2:
        raise UserError(f"{path}: codes must be (samples, dimensions), not {codes.shape}")
    if codes.dtype.kind not in "buif":
        raise UserError(f"{path}: codes must be numbers, not {codes.dtype}")
    finite(path, codes)
    return codes


def read_factors(
    path: str, kinds: Sequence[str] | None = None
) -> tuple[NDArray[Any], tuple[str, ...], tuple[Kind, ...]]:
    """The factors in a file, with their names and kinds.

    Words are categories; whole numbers are ordered, up to a thousand different ones; all else is continuous.
    A CSV header can say it: `factor:shape:category`. All but continuous become class numbers in sorted order.

    Arguments:
        path: the file.
        kinds: one per factor, instead of what the file says.
    """
    for kind in kinds or []:
        if kind not in KINDS:
            raise unknown("kind of factor", kind, KINDS)
    table = read_table(path, all_factors=True, kinds=kinds)
    if table.columns is None:
        raise UserError(f"{path} holds no factors")
    return table.columns.values, table.columns.names, table.columns.kinds


def read_table(path: str, all_factors: bool = False, kinds: Sequence[str] | None = None, column: str = "") -> Table:
    """Read a .npy, .npz, .csv or .h5ad file.

    Arguments:
        path: the file.
        all_factors: all of it is factors if it marks none.
        kinds: one per factor, instead of what the file says.
        column: of a .csv file, a factor even if its header does not mark it as one.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise UserError(f"no such file: {path}")
    if file.suffix.lower() == ".csv":
        return _from_csv(path, file, all_factors, kinds, column)
    if file.suffix.lower() not in SUFFIXES:
        raise UserError(f"{path}: cannot read {file.suffix or 'a file without suffix'}: use {', '.join(SUFFIXES)}")
    if file.suffix.lower() == ".h5ad":
        return _known(path, *read_h5ad(path, file), column)
    arrays = _arrays(path, file)
    features, arrays = _features(arrays)
    if set(SPARSE) <= set(arrays):
        samples, known = read_sparse(path, arrays)
        return _known(path, samples, known, features, column)
    if "factors" in arrays:
        names = [str(name) for name in arrays.get("factor_names", np.array([])).reshape(-1)]
        kept = [str(kind) for kind in arrays.get("factor_kinds", np.array([])).reshape(-1)]
        columns = columns_of(path, arrays["factors"], names, kinds or kept)
        rest = {key: value for key, value in arrays.items() if not key.startswith("factor")}
        return _told(Table(_samples(path, rest) if rest else None, columns), features)
    samples = _samples(path, arrays)
    if all_factors:
        return Table(None, columns_of(path, samples, kinds=kinds or ()))
    return _told(Table(samples, None), features)


def _features(arrays: dict[str, NDArray[Any]]) -> tuple[tuple[str, ...], dict[str, NDArray[Any]]]:
    """Names of columns in an .npz file, and the other arrays."""
    key = next((k for k in FEATURE_KEYS if k in arrays and arrays[k].dtype.kind in "US" and arrays[k].ndim == 1), None)
    if key is None:
        return (), arrays
    words = arrays[key].astype(str).tolist()
    return tuple(words), {k: array for k, array in arrays.items() if k != key}


def _told(table: Table, features: tuple[str, ...]) -> Table:
    """With names of columns, if there is one for each."""
    fits = table.samples is not None and table.samples.ndim == 2 and table.samples.shape[1] == len(features)
    return replace(table, features=features) if fits else table


def _known(
    path: str, samples: NDArray[Any], columns: Mapping[str, NDArray[Any]], features: tuple[str, ...], column: str
) -> Table:
    """Samples, and each column that is known of them as a factor."""
    if column and column not in columns:
        raise unknown(f"column of {path} with a value for every sample and more than one", column, columns)
    each = [columns_of(path, values, [name]) for name, values in columns.items()]
    return _told(Table(samples, beside(each) if each else None), features)


def beside(each: Sequence[Columns]) -> Columns:
    """Factors of the same samples as one table."""
    values = np.concatenate([columns.values for columns in each], 1)
    names, kinds, labels = (tuple(getattr(c, what)[0] for c in each) for what in ("names", "kinds", "labels"))
    return Columns(values, names, kinds, labels)


def columns_of(path: str, values: NDArray[Any], names: Sequence[str] = (), kinds: Sequence[str] = ()) -> Columns:
    """Factors from an array with one row per sample, their kinds guessed where they are not given."""
    values = values.reshape(-1, 1) if values.ndim == 1 else values
    if values.ndim != 2 or not values.size:
        raise UserError(f"{path}: factors must be (samples, factors), not {values.shape}")
    count = values.shape[1]
    names = list(names) or [f"factor_{i + 1}" for i in range(count)]
    if len(names) != count or len(set(names)) != count:
        raise UserError(f"{path}: {count} factors need as many different names, not {', '.join(names)}")
    wanted = list(kinds) or [""] * count
    _one_each(path, names, wanted)
    if values.dtype.kind == "f":
        finite(f"{path}: {', '.join(names)}", values)
    coded = [_coded(path, name, values[:, i], wanted[i]) for i, name in enumerate(names)]
    # 64 bits: seconds since 1970 or distances in metres, cut to float32, would all be the same.
    real = any(kind == "continuous" for _, kind, _ in coded)
    stacked = np.stack([column for column, _, _ in coded], 1).astype(np.float64 if real else np.int64)
    return Columns(stacked, tuple(names), tuple(c[1] for c in coded), tuple(c[2] for c in coded))


def _one_each(path: str, names: Sequence[str], kinds: Sequence[str]) -> None:
    if len(kinds) != len(names):
        raise UserError(f"{path}: {len(kinds)} kinds given for the {len(names)} factors {', '.join(names)}")


def finite(path: str, values: NDArray[Any]) -> None:
    """Refuse values that are not numbers, or infinite."""
    if values.dtype.kind != "f":
        return
    wrong = ~np.isfinite(values)
    if wrong.any():
        first = tuple(int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape))
        raise UserError(f"{path}: {int(wrong.sum())} values are NaN or infinite, the first at {first}")


def _coded(path: str, name: str, column: NDArray[Any], wanted: str) -> tuple[NDArray[Any], Kind, tuple[str, ...]]:
    """Class numbers or real numbers, of what kind, and what the classes were called."""
    if wanted and wanted not in KINDS:
        raise UserError(f"{path}: factor {name!r} has kind {wanted!r}, must be one of {', '.join(KINDS)}")
    kind: Any = wanted or _guess(column)
    if kind != "category" and column.dtype.kind in "US":
        word = str(next((cell for cell in column if not _is_number(cell)), column[0]))
        raise UserError(f"{path}: factor {name!r} is {kind} but holds words, as {word!r}: make it a category")
    if kind == "continuous":
        return column.astype(np.float64), kind, ()
    found, classes = np.unique(column, return_inverse=True)
    numbers = column.dtype.kind not in "US"
    labels = tuple(str(int(v) if numbers and float(v).is_integer() else v) for v in found.tolist())
    plain = labels == tuple(map(str, range(len(found))))
    return classes.reshape(-1), kind, () if plain else labels


def _guess(column: NDArray[Any]) -> Kind:
    if column.dtype.kind in "USb":
        return "category"
    if column.dtype.kind == "f" and (column != np.round(column)).any():
        return "continuous"
    return "order" if len(np.unique(column)) <= MANY else "continuous"


def _samples(path: str, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    keys = [key for key in SAMPLE_KEYS if key in arrays] or list(arrays)
    if len(keys) != 1:
        raise UserError(f"{path} holds {', '.join(keys) or 'nothing'}: name the array of samples x")
    return arrays[keys[0]]


def _arrays(path: str, file: Path) -> dict[str, NDArray[Any]]:
    right = b"\x93NUMPY" if file.suffix.lower() == ".npy" else b"PK"
    try:
        with file.open("rb") as opened:
            if not opened.read(6).startswith(right):
                raise UserError(f"{path} is not a {file.suffix} file")
            opened.seek(0)
            found = np.load(opened, allow_pickle=False)
            return {"x": found} if isinstance(found, np.ndarray) else {key: found[key] for key in found.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        if "Object arrays" in str(error):
            raise UserError(f"{path} holds Python objects, which are not loaded: save numbers") from error
        reason = (str(error) or type(error).__name__).split("\n")[0]
        raise UserError(f"{path} is damaged or cut off: {reason}") from error


def _from_csv(path: str, file: Path, all_factors: bool, kinds: Sequence[str] | None, column: str) -> Table:
    header, rows = csv_rows(path, file)
    names = header or [str(i + 1) for i in range(len(rows[0]))]
    cells = np.array(rows)
    called = [name.removeprefix(FACTOR_MARK).partition(":")[0] for name in names]
    if column and column not in called:
        raise unknown(f"column of {path}", column, called)
    marked = [i for i, name in enumerate(names) if name.startswith(FACTOR_MARK) or name == column]
    if all_factors and not marked:
        marked = list(range(len(names)))
    rest = [i for i in range(len(names)) if i not in marked]
    places = [f"row {i + (2 if header else 1)}" for i in range(len(cells))]
    samples = [_numbers(path, names[i], cells[:, i], places) for i in rest]
    words = [names[i].removeprefix(FACTOR_MARK).partition(":") for i in marked]
    own = kinds or [w[2] for w in words]
    return Table(
        np.stack(samples, 1) if samples else None,
        csv_columns(path, cells[:, marked], [w[0] for w in words], own, places) if marked else None,
        tuple(names[i] for i in rest) if header else (),
    )


def header_row(path: str) -> list[str]:
    """The row that was read as the header of a CSV file; nothing for other files."""
    file = Path(path).expanduser()
    return csv_rows(path, file)[0] if file.suffix.lower() == ".csv" else []


def csv_columns(
    path: str, cells: NDArray[np.str_], names: Sequence[str], kinds: Sequence[str], places: Sequence[str] = ()
) -> Columns:
    """Factors from text: a column is numbers, or words; an empty cell or a stray word among numbers is a mistake.

    Arguments:
        path: the file, for errors.
        cells: (samples, factors).
        names: of the factors.
        kinds: of the factors, an empty word where it is to be guessed.
        places: what each row is called in errors.
    """
    _one_each(path, names, kinds)
    found = [
        columns_of(path, _numbers_or_words(path, name, column, kind, places), [name], [kind] if kind else ())
        for column, name, kind in zip(cells.T, names, kinds, strict=True)
    ]
    if len(set(names)) != len(names):
        raise UserError(f"{path}: factors need different names, not {', '.join(names)}")
    kept = tuple(column.kinds[0] for column in found)
    labels = tuple(column.labels[0] for column in found)
    return Columns(np.concatenate([column.values for column in found], 1), tuple(names), kept, labels)


def csv_rows(path: str, file: Path) -> tuple[list[str], list[list[str]]]:
    """The header of a CSV file, empty if its first row holds no words, and the rows below it."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not a UTF-8 text file: {error.reason} at byte {error.start}") from error
    top = text.partition("\n")[0]
    mark = max(",;\t", key=top.count)
    lines = csv.reader(text.splitlines(), delimiter=mark)
    rows = [[cell.strip() for cell in row] for row in lines if any(cell.strip() for cell in row)]
    header = rows.pop(0) if rows and not all(_is_number(cell) for cell in rows[0] if cell) else []
    if not rows:
        raise UserError(f"{path} has no rows of data")
    width = len(header or rows[0])
    for i, row in enumerate(rows):
        if len(row) != width:
            raise UserError(f"{path}: row {i + 1 + bool(header)} has {len(row)} cells, the first has {width}")
    return header, rows


def _numbers(path: str, name: str, cells: NDArray[np.str_], places: Sequence[str]) -> NDArray[np.float64]:
    try:
        numbers = cells.astype(np.float64)
    except ValueError as error:
        strays = [i for i, cell in enumerate(cells) if not _is_number(cell) and cell not in MISSING]
        hint = ""
        if 2 * len(strays) > len(cells):
            hint = f": leave out a column of words, head it factor:{name}, or make groups of it: {path}:group={name}"
        row = strays[0] if hint else next(i for i, cell in enumerate(cells) if not _is_number(cell))
        raise _wrong_cell(path, name, cells[row], places[row], hint) from error
    unknown = np.flatnonzero(~np.isfinite(numbers))
    if len(unknown):
        raise _wrong_cell(
            path,
            name,
            cells[unknown[0]],
            places[unknown[0]],
            f", and {len(unknown)} cells like it" * (len(unknown) > 1),
        )
    return numbers


def _numbers_or_words(
    path: str, name: str, cells: NDArray[np.str_], kind: str, places: Sequence[str]
) -> NDArray[np.float64] | NDArray[np.str_]:
    """A factor from text: numbers if all cells are; words if they are said to be categories, or half of them are words."""
    where = places or ["one row"] * len(cells)
    unknown = [i for i, cell in enumerate(cells) if cell in (MISSING[:1] if kind == "category" else MISSING)]
    if unknown:
        rows = f" ({len(unknown)} of {len(cells)} rows are so)" if len(unknown) > 1 else ""
        hint = f"{rows}: drop such rows" + (f", or head the column factor:{name}:category" if cells[unknown[0]] else "")
        raise _wrong_cell(path, name, cells[unknown[0]], where[unknown[0]], hint)
    strays = [i for i, cell in enumerate(cells) if not _is_number(cell)]
    if not strays:
        return cells.astype(np.float64)
    if not (kind == "category" or 2 * len(strays) >= len(cells)):
        hint = "" if kind else f", as most of the column is: mend it, or head the column factor:{name}:category"
        raise _wrong_cell(path, name, cells[strays[0]], where[strays[0]], hint)
    return cells


def _wrong_cell(path: str, name: str, cell: str, place: str, hint: str = "") -> UserError:
    said = "is empty" if not cell else f"is missing ({cell})" if cell in MISSING else f"{str(cell)!r} is not a number"
    return UserError(f"{path}: {place}, column {name}: {said}{hint}")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
