import sys

import numpy as np
import pytest
import torch

from unbraid.data import grid, open_data
from unbraid.data import shapes3d as room
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.official import Official, checksum

SIZES = (2, 2, 3, 2, 2, 3)
h5py = pytest.importorskip("h5py")


def write(folder, monkeypatch, *, backwards=False, shape=(64, 64, 3)):
    count = int(np.prod(SIZES))
    images = np.random.default_rng(0).integers(0, 256, (count, *shape), np.uint8)
    labels = grid(SIZES).numpy() * [0.1, 0.1, 0.1, 0.07, 1, 4.3] - [0, 0, 0, -0.75, 0, 30]
    path = folder / room.FILE.name
    with h5py.File(path, "w") as file:
        file.create_dataset("images", data=images, chunks=(7, 64, 8, 1), compression="gzip")
        file.create_dataset("labels", data=labels[::-1] if backwards else labels)
    monkeypatch.setattr(room, "FILE", Official(path.name, checksum(path), ()))
    monkeypatch.setattr(room, "SIZES", SIZES)
    kinds = [Factor(f.name, size, f.kind) for f, size in zip(room.FACTORS, SIZES, strict=True)]
    monkeypatch.setattr(room, "FACTORS", tuple(kinds))
    monkeypatch.setattr(room, "AT_ONCE", 30)
    monkeypatch.setenv("UNBRAID_DATA", str(folder))
    monkeypatch.setenv("UNBRAID_CACHE", str(folder / "cache"))
    return images


def small(folder, monkeypatch):
    write(folder, monkeypatch)
    return "shapes3d"


def test_pictures_are_those_of_the_file(tmp_path, monkeypatch):
    images = write(tmp_path, monkeypatch)
    data = open_data("shapes3d")
    drawn = data.draw(torch.arange(144).view(12, 12))
    right = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    assert torch.equal(drawn.view(144, 3, 64, 64), right)
    assert torch.equal(data.values, grid(SIZES))
    assert isinstance(data.source.samples, np.memmap) and data.source.samples.dtype == np.uint8


def test_h5py_is_needed_to_unpack_and_only_then(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "h5py", None)
        with pytest.raises(UserError, match=r"pip install 'unbraid\[hdf5\]'") as caught:
            open_data("shapes3d")
        assert "\n" not in str(caught.value)
    before = open_data("shapes3d").draw(torch.tensor(5))
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert torch.equal(open_data("shapes3d").draw(torch.tensor(5)), before)


def test_wrong_files_are_named(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch, backwards=True)
    with pytest.raises(UserError, match="not in the order"):
        open_data("shapes3d")
    write(tmp_path, monkeypatch, shape=(64, 64, 1))
    with pytest.raises(UserError, match="should be uint8 144x64x64x3"):
        open_data("shapes3d")
    (tmp_path / room.FILE.name).write_bytes(b"no")
    monkeypatch.setattr(room, "FILE", Official(room.FILE.name, None, ()))
    with pytest.warns(UserWarning, match="unverified"), pytest.raises(UserError, match="damaged"):
        open_data("shapes3d")
