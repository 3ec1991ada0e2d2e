"""`unbraid score` on whatever people may feed it: each input gets a right answer or one clear line."""

import json
import math

import numpy as np
import pytest

from unbraid.cli import main
from unbraid.scoring import scores_of

ROWS = 120
DRAW = np.random.default_rng(0)
FACTORS = np.stack([DRAW.integers(0, 3, ROWS), DRAW.integers(0, 4, ROWS)], axis=1)
CODES = FACTORS @ np.array([[1.0, 0.2, 0], [0, 1, 0]]) + 0.1 * DRAW.standard_normal((ROWS, 3))


def with_value(array, value, row=3, column=1):
    changed = array.astype(np.result_type(array, type(value)))
    changed[row, column] = value
    return changed


def table(array, header="a,b,c"):
    return "\n".join([header, *(",".join(map(str, row)) for row in array)])


def cut(array):
    from io import BytesIO

    held = BytesIO()
    np.save(held, array)
    return held.getvalue()[:-100]


RARE = FACTORS.copy()
RARE[0, 0] = 3
WORDS = np.array(["circle", "square", "heart"])[FACTORS[:, 0]][:, None]
OK = None
CASES = {
    # codes: what, file name, and the answer, if it is not a number for every score
    "as they should be": (CODES, FACTORS, OK),
    "one latent, flat": (CODES[:, 0], FACTORS, "codes must be (samples, dimensions)"),
    "three axes": (CODES[:, :, None], FACTORS, "codes must be (samples, dimensions), not (120, 3, 1)"),
    "no rows": (CODES[:0], FACTORS, "must have shape (samples, columns), not (0, 3)"),
    "no columns": (CODES[:, :0], FACTORS, "must have shape (samples, columns), not (120, 0)"),
    "one row": (CODES[:1], FACTORS[:1], "a single row"),
    "two rows": (CODES[:2], FACTORS[:2], "2 samples are too few for a score"),
    "NaN": (with_value(CODES, math.nan), FACTORS, "1 values are NaN or infinite, the first at (3, 1)"),
    "infinite": (with_value(CODES, math.inf), FACTORS, "1 values are NaN or infinite, the first at (3, 1)"),
    "words": (CODES.astype(str), FACTORS, "codes must be numbers"),
    "Python objects": (CODES.astype(object), FACTORS, "holds Python objects, which are not loaded"),
    "complex": (CODES + 1j, FACTORS, "codes must be numbers"),
    "booleans": (CODES > 0.5, FACTORS, OK),
    "integers": (CODES.round().astype(np.int32), FACTORS, OK),
    "half precision": (CODES.astype(np.float16), FACTORS, OK),
    "big endian": (CODES.astype(">f8"), FACTORS, OK),
    "Fortran order": (np.asfortranarray(CODES), FACTORS, OK),
    "transposed": (CODES.T, FACTORS, "3 rows but factors 120; samples come first"),
    "both transposed": (CODES.T, FACTORS.T, "3 rows but factors 2; samples come first: are both transposed?"),
    "both transposed, as many latents as factors": (CODES[:, :2].T, FACTORS.T, "are both transposed?"),
    "a row short": (CODES[:-1], FACTORS, "119 rows but factors 120"),
    "huge": (CODES * 1e300, FACTORS, "too large"),
    "large": (CODES * 1e100, FACTORS, OK),
    "tiny": (CODES * 1e-100, FACTORS, OK),
    "far from zero": (CODES + 1e6, FACTORS, OK),
    "one dead latent": (CODES * [1, 1, 0], FACTORS, OK),
    "all dead": (CODES * 0 + 3, FACTORS, OK),
    "an outlier": (with_value(CODES, 1e12), FACTORS, OK),
    "one latent": (CODES[:, :1], FACTORS, OK),
    "twice the same": (np.hstack([CODES, CODES]), FACTORS, OK),
    "more latents than samples": (DRAW.standard_normal((60, 90)), FACTORS[:60], OK),
    "factors as codes": (FACTORS.astype(float), FACTORS, OK),
    "an empty file": (b"", FACTORS, "is not a .npy file"),
    "cut off": (cut(CODES), FACTORS, "is damaged or cut off"),
    "text named npy": (b"hello", FACTORS, "is not a .npy file"),
    "csv with a header": (table(CODES), FACTORS, OK),
    "csv without": (table(CODES, "").lstrip(), FACTORS, OK),
    "csv with semicolons": (table(CODES).replace(",", ";"), FACTORS, OK),
    "csv with a mark at its start": ("\ufeff" + table(CODES), FACTORS, OK),
    "csv with a word": (table(CODES).replace("\n", "\nnothing,", 2), FACTORS, "cells, the first has"),
    "csv with an empty cell": (table(CODES[:-1]) + "\n1,,2", FACTORS, "row 121, column b: is empty"),
    "csv with a word in a cell": (
        table(CODES[:-1]) + "\n1,many,2",
        FACTORS,
        "row 121, column b: 'many' is not a number",
    ),
    "csv with nothing": ("a,b,c\n", FACTORS, "has no rows of data"),
    "one array of several": ({"left": CODES, "right": CODES}, FACTORS, "name the array of samples x"),
    "one array named x": ({"x": CODES, "other": CODES}, FACTORS, OK),
    # factors
    "a factor that never varies": (CODES, with_value(FACTORS, 0) * [1, 0], OK),
    "no factor varies": (CODES, FACTORS * 0, "no factor"),
    "factors of words": (CODES, table(WORDS, "shape"), OK),
    "NaN in a factor": (CODES, with_value(FACTORS.astype(float), math.nan), "NaN or infinite"),
    "real factors": (CODES, FACTORS + DRAW.random(FACTORS.shape), OK),
    "a number of its own for each sample": (CODES, np.arange(ROWS)[:, None], OK),
    "one factor, flat": (CODES, FACTORS[:, 0], OK),
    "negative class numbers": (CODES, FACTORS - 7, OK),
    "large class numbers": (CODES, FACTORS * 10**12, OK),
    "transposed factors": (CODES, FACTORS.T, "120 rows but factors 2; samples come first"),
    "three axes of factors": (CODES, FACTORS[:, :, None], "factors must be (samples, factors), not (120, 2, 1)"),
    "infinite factor": (CODES, with_value(FACTORS.astype(float), math.inf), "NaN or infinite"),
    "huge real factors": (CODES, (FACTORS + DRAW.random(FACTORS.shape)) * 1e300, OK),
    "factors of Python objects": (CODES, FACTORS.astype(object), "holds Python objects, which are not loaded"),
    "twice the same factor": (CODES, FACTORS[:, [0, 0]], OK),
    "a class with one sample": (CODES, RARE, OK),
    "two columns of one name": (CODES, table(FACTORS, "a,a"), "different names"),
    "a kind too few": (CODES, FACTORS, "1 kinds given for the 2 factors", "--kinds=order"),
    "a misspelt kind": (CODES, FACTORS, "did you mean 'category'", "--kinds=order,categry"),
    "words that shall be numbers": (CODES, table(WORDS, "factor:shape:continuous"), "is continuous but holds words"),
    "cycles": (CODES, FACTORS, OK, "--kinds=cycle,cycle"),
    "a misspelt score": (CODES, FACTORS, "did you mean 'mig'", "--metrics=migg"),
    "intervals from one half": (CODES, FACTORS, "at least 2 repeats", "--bootstrap=1"),
}


def test_there_are_many_cases_of_every_sort():
    assert len(CASES) >= 60
    sorts = ("axes", "NaN", "words", "row", "varies", "huge", "transposed")
    assert all(any(sort in name for name in CASES) for sort in sorts)


def write(folder, name, what):
    if isinstance(what, dict):
        np.savez(folder / f"{name}.npz", **what)
        return folder / f"{name}.npz"
    if isinstance(what, str):
        (folder / f"{name}.csv").write_text(what)
        return folder / f"{name}.csv"
    path = folder / f"{name}.npy"
    if isinstance(what, bytes):
        path.write_bytes(what)
    else:
        np.save(path, what, allow_pickle=True)
    return path


@pytest.mark.parametrize("name", list(CASES))
def test_a_right_answer_or_one_clear_line(name, tmp_path, capsys):
    codes, factors, answer, *options = CASES[name]
    words = [str(write(tmp_path, "codes", codes)), str(write(tmp_path, "factors", factors)), *options]
    code = main(["score", *words, "--json"])
    said = capsys.readouterr()
    if answer is not OK:
        assert code == 2 and said.out == ""
        assert said.err.startswith("unbraid: ") and said.err.count("\n") == 1 and answer in said.err
        return
    assert code == 0, said.err
    rows = json.loads(said.out)
    assert len(rows) >= 2
    for row in rows:
        assert row["value"] is not None and math.isfinite(row["value"]), row["score"]


def test_slow_scores_come_last(tmp_path):
    codes, factors = write(tmp_path, "codes", CODES), write(tmp_path, "factors", FACTORS)
    names = [name for name, _ in scores_of(codes, factors, None, None)]
    slow = [names.index(name) for name in ("dci", "dci_es", "downstream")]
    quick = [names.index(name) for name in ("mig", "sap", "modularity", "irs", "mcc", "factor_vae_score")]
    assert max(quick) < min(slow) and slow == sorted(slow)


def test_the_table_says_what_made_a_score(tmp_path, capsys):
    codes, factors = write(tmp_path, "codes", CODES), write(tmp_path, "factors", FACTORS)
    words = ["score", str(codes), str(factors), "--kinds=category,order", "--metrics=sap,mcc"]
    assert main(words) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "estimator svm, C 0.01" in told and "estimator eta / |r|" in told and ".pearson" in told
    assert "factors were taken as category, order; --kinds says otherwise" in told
    assert main([*words, "--json"]) == 0
    sap = json.loads(capsys.readouterr().out)[0]
    assert sap["settings"]["kinds"] == ["category", "order"] and sap["settings"]["seed"] == 0


@pytest.mark.parametrize(
    ("path", "words"),
    [("codes.txt", "cannot read .txt"), ("nowhere.npy", "no such file"), (".", "no such file")],
)
def test_files_that_cannot_be_read(path, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes.txt").write_text("1 2 3")
    np.save("factors.npy", FACTORS)
    assert main(["score", path, "factors.npy"]) == 2
    assert words in capsys.readouterr().err
