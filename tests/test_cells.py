"""Cells by genes: .h5ad in its layouts, sparse .npz, and counts made comparable."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse

from unbraid.data import open_data
from unbraid.errors import UserError

RANDOM = np.random.default_rng(0)
COUNTS = RANDOM.poisson(0.7, (40, 6)) + np.eye(40, 6, dtype=int)
CONDITION = np.array(["ctrl", "stim"] * 20)
SHARED = Path(os.environ.get("UNBRAID_DATA", "nowhere")) / "omics"


def everything(data):
    return data.draw(torch.arange(len(data))).numpy()


def h5ad(path, layout, x):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        if x == "dense":
            file["X"] = COUNTS.astype(np.float32)
        else:
            matrix, group = sparse.csr_matrix(COUNTS.astype(np.float32)), file.create_group("X")
            names = ("h5sparse_format", "h5sparse_shape") if layout == "compound" else ("encoding-type", "shape")
            group.attrs[names[0]], group.attrs[names[1]] = "csr" if layout == "compound" else "csr_matrix", matrix.shape
            for key in ("data", "indices", "indptr"):
                group[key] = getattr(matrix, key)
        barcodes, codes = np.array([f"cell{i}" for i in range(40)], "S8"), np.arange(40) % 2
        depth = RANDOM.random(40)
        if layout == "compound":
            kinds = [("index", "S8"), ("condition", "i1"), ("depth", "f8"), ("same", "i8")]
            file["obs"] = np.array(list(zip(barcodes, codes, depth, codes * 0, strict=True)), kinds)
            file["uns/condition_categories"] = np.array(["ctrl", "stim"], "S4")
            return
        obs = file.create_group("obs")
        obs.attrs["_index"] = "barcode"
        obs["barcode"], obs["depth"], obs["same"] = barcodes, depth, codes * 0
        obs["part"] = np.where(np.arange(40) < 20, np.nan, 1.0)
        if layout == "groups":
            obs["condition/codes"], obs["condition/categories"] = codes.astype("i1"), np.array(["ctrl", "stim"], "S4")
        else:
            obs["condition"], obs["__categories/condition"] = codes.astype("i1"), np.array(["ctrl", "stim"], "S4")


@pytest.mark.parametrize("x", ["dense", "sparse"])
@pytest.mark.parametrize("layout", ["compound", "categories", "groups"])
def test_h5ad_in_every_layout(layout, x, tmp_path):
    path = tmp_path / "cells.h5ad"
    h5ad(path, layout, x)
    data = open_data(path)
    assert np.array_equal(everything(data), COUNTS) and data.pixels == "real"
    assert {f.name: (f.kind, f.labels) for f in data.factors} == {
        "condition": ("category", ("ctrl", "stim")),
        "depth": ("continuous", ()),
    }
    split = open_data(f"{path}:group=condition,background=ctrl")
    assert split.groups == ("stim", "background") and np.array_equal(everything(split.member("stim")), COUNTS[1::2])
    with pytest.raises(UserError, match=r"unknown column of .*'conditon': did you mean 'condition'"):
        open_data(f"{path}:group=conditon")


def sparse_npz(path):
    matrix = sparse.csr_matrix(COUNTS.astype(np.uint16))
    parts = {key: getattr(matrix, key) for key in ("data", "indices", "indptr")}
    cells, genes = np.array([f"c{i}" for i in range(40)]), np.array([f"g{i}" for i in range(6)])
    np.savez(path, **parts, shape=matrix.shape, genes=genes, cells=cells, condition=CONDITION)


def test_sparse_npz_with_and_without_columns(tmp_path):
    sparse_npz(tmp_path / "own.npz")
    data = open_data(tmp_path / "own.npz")
    assert [f.name for f in data.factors] == ["condition"] and np.array_equal(everything(data), COUNTS)
    for make in (sparse.csr_matrix, sparse.csc_matrix):
        sparse.save_npz(tmp_path / "scipy.npz", make(COUNTS))
        data = open_data(tmp_path / "scipy.npz")
        assert np.array_equal(everything(data), COUNTS) and not data.factors
    sparse.save_npz(tmp_path / "coo.npz", sparse.bsr_matrix(COUNTS))
    with pytest.raises(UserError, match="format bsr: convert it to csr"):
        open_data(tmp_path / "coo.npz")


def test_counts_are_made_comparable(tmp_path):
    sparse_npz(tmp_path / "own.npz")
    data = open_data(f"{tmp_path}/own.npz:counts=log1p,group=condition,background=ctrl")
    totals = COUNTS.sum(1, keepdims=True)
    middle = np.sort(totals[:, 0])[19]  # torch's median is the lower of two
    expected = np.log1p(COUNTS / totals * middle)
    np.testing.assert_allclose(everything(data.member("stim")), expected[1::2], rtol=1e-5)
    assert data.name == f"{tmp_path}/own.npz:counts=log1p,group=condition,background=ctrl"
    assert any("median total" in note for note in data.notes)
    again = open_data(data.name)
    assert again.fingerprint == data.fingerprint != open_data(f"{tmp_path}/own.npz:group=condition").fingerprint


@pytest.mark.parametrize(
    ("array", "option", "words"),
    [
        (COUNTS - 5.0, "counts=log1p", "counts are at least 0"),
        (COUNTS * (np.arange(40) != 3)[:, None], "counts=log1p", "row 3 of .* has no counts at all"),
        (COUNTS, "counts=log", "did you mean 'log1p'"),
        (RANDOM.random((20, 5, 5)), "counts=log1p", "counts are vectors"),
    ],
)
def test_what_is_no_count(array, option, words, tmp_path):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(UserError, match=words) as error:
        open_data(f"{tmp_path}/a.npy:{option}")
    assert "\n" not in str(error.value)


def test_without_h5py_and_with_other_files(tmp_path, monkeypatch):
    (tmp_path / "no.h5ad").write_bytes(b"no cells")
    with pytest.raises(UserError, match=r"damaged or not an \.h5ad file"):
        open_data(tmp_path / "no.h5ad")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(UserError, match=r"pip install 'unbraid\[omics\]'"):
        open_data(tmp_path / "no.h5ad")


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared cells here")
def test_real_cells():
    data = open_data(f"{SHARED}/10x_pbmc68k_reduced.h5ad")
    assert data.shape == (765,) and len(data) == 700
    kinds = {factor.name: factor for factor in data.factors}
    assert kinds["bulk_labels"].size == 10 and kinds["phase"].size == 3 and "CD34+" in kinds["bulk_labels"].labels
    cells = open_data(f"{SHARED}/pbmc_ifnb/pbmc_ifnb_counts.npz:counts=log1p,group=condition,background=ctrl")
    assert cells.groups == ("stim", "background") and cells.shape == (9015,) and len(cells) == 2000
