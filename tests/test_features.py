"""Names of columns, from every reader to groups; and the columns that vary most."""

import numpy as np
import pytest
import torch
from scipy import sparse

from unbraid.data import Data, Stored, open_data
from unbraid.errors import UserError

NAMES = ("ISG15", "IFI6", "CD3D", "LYZ")
X = np.random.default_rng(0).normal(0, [3.0, 0.1, 2.0, 1.0], (40, 4))
CONDITION = np.array(["ctrl", "stim"] * 20)


def csv(path):
    rows = [",".join([*map(str, row), kind]) for row, kind in zip(X, CONDITION, strict=True)]
    path.write_text("\n".join([",".join([*NAMES, "factor:condition"]), *rows]))


def npz(path):
    np.savez(path, x=X, columns=np.array(NAMES), factors=np.arange(40) % 2)


def csr(path):
    matrix = sparse.csr_matrix(X)
    parts = {key: getattr(matrix, key) for key in ("data", "indices", "indptr")}
    np.savez(path, **parts, shape=matrix.shape, genes=np.array(NAMES), condition=CONDITION)


def h5ad(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["X"], file["var/_index"] = X, np.array(NAMES, "S8")
        file["var"].attrs["_index"] = "_index"
        file["obs/_index"], file["obs/condition"] = np.array([f"c{i}" for i in range(40)], "S8"), CONDITION.astype("S4")
        file["obs"].attrs["_index"] = "_index"


def old_h5ad(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["X"] = X
        file["var"] = np.array([(name, 1) for name in NAMES], [("index", "S8"), ("n", "i4")])
        file["obs"] = np.array(
            [(f"c{i}", kind) for i, kind in enumerate(CONDITION)], [("index", "S8"), ("condition", "S4")]
        )


@pytest.mark.parametrize(
    ("write", "name"), [(csv, "a.csv"), (npz, "a.npz"), (csr, "b.npz"), (h5ad, "a.h5ad"), (old_h5ad, "b.h5ad")]
)
def test_a_table_tells_the_names_of_its_columns(write, name, tmp_path):
    path = tmp_path / name
    write(path)
    assert open_data(path).features == NAMES
    if write is npz:
        return  # its factors have no names
    split = open_data(f"{path}:columns=2,group=condition,background=ctrl")
    assert split.features == split.member("stim").features == ("ISG15", "CD3D") and split.shape == (2,)
    np.testing.assert_allclose(split.member("stim").draw(torch.arange(20)), X[1::2, [0, 2]], rtol=1e-4)
    assert open_data(split.name).fingerprint == split.fingerprint != open_data(f"{path}:group=condition").fingerprint


def test_names_that_are_not_those_of_columns_are_left_out(tmp_path):
    np.savez(tmp_path / "a.npz", x=X, genes=np.array(NAMES[:3]))
    np.savez(tmp_path / "b.npz", x=X.reshape(40, 2, 2), genes=np.array(NAMES))
    np.savetxt(tmp_path / "c.csv", X, delimiter=",")
    assert not any(open_data(tmp_path / name).features for name in ("a.npz", "b.npz", "c.csv"))


def test_groups_have_the_same_columns(tmp_path):
    np.savez(tmp_path / "cases.npz", x=X, genes=np.array(NAMES))
    np.savez(tmp_path / "controls.npz", x=X + 1, genes=np.array(NAMES)[[0, 1, 3, 2]])
    np.save(tmp_path / "nameless.npy", X)
    both = {"target": str(tmp_path / "cases.npz"), "background": str(tmp_path / "controls.npz")}
    with pytest.raises(UserError, match="column 3 is CD3D in target, LYZ in background"):
        open_data(both)
    assert open_data({**both, "background": str(tmp_path / "nameless.npy")}).features == NAMES


def test_counts_come_before_the_choice_of_columns(tmp_path):
    counts = np.random.default_rng(0).poisson([1000, 5, 1], (40, 3))
    np.savez(tmp_path / "a.npz", x=counts, genes=np.array(["house", "some", "few"]))
    assert open_data(f"{tmp_path}/a.npz:columns=1").features == ("house",)
    data = open_data(f"{tmp_path}/a.npz:columns=1,counts=log1p")
    assert data.features == ("few",) and data.name.endswith("counts=log1p,columns=1")
    assert any("the 1 of 3 columns that vary most" in note for note in data.notes)


@pytest.mark.parametrize(("columns", "words"), [(0, "has 4 columns"), (5, "has 4 columns"), ("few", "a whole number")])
def test_a_number_of_columns_that_there_is_not(columns, words, tmp_path):
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(UserError, match=words):
        open_data(f"{tmp_path}/a.npy:columns={columns}")


def test_pictures_have_no_columns():
    from unbraid.features import most_varied

    with pytest.raises(UserError, match="columns are those of a table"):
        most_varied(Data("pictures", Stored(torch.zeros(20, 1, 4, 4)), (1, 4, 4)), 3)
