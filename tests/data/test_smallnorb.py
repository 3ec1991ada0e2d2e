import gzip
import struct

import numpy as np
import pytest
import torch

from unbraid.data import grid, open_data
from unbraid.data import smallnorb as room
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.official import checksum

SIZES = (2, 4, 3, 3, 2)


def matrix(values, kind):
    """A binary matrix as on the web page of NORB: sizes are three at least."""
    sizes = [*values.shape, 1, 1][: max(values.ndim, 3)]
    return struct.pack(f"<{2 + len(sizes)}I", kind, values.ndim, *sizes) + values.tobytes()


def write(folder, monkeypatch, *, instances=((0, 2), (1, 3)), damage=b""):
    rows = grid(SIZES).numpy()
    order = np.random.default_rng(0).permutation(len(rows))
    sums = {}
    for part, these in zip((room.TRAIN, room.TEST), instances, strict=True):
        found = rows[order][np.isin(rows[order][:, 1], these)].astype("<i4")
        pictures = np.zeros((len(found), 2, 96, 96), np.uint8)
        pictures[:, 0] = (np.ravel_multi_index(tuple(found.T), SIZES) + 100)[:, None, None]
        pictures[:, 1] = 255
        info = found[:, 1:] * [1, 1, 2, 1]
        parts = {
            "dat": matrix(pictures, 0x1E3D4C55),
            "cat": matrix(found[:, 0].copy(), 0x1E3D4C54),
            "info": matrix(info.astype("<i4"), 0x1E3D4C54),
        }
        for name, content in parts.items():
            path = folder / f"{part}-{name}.mat.gz"
            path.write_bytes(gzip.compress(damage + content, 1))
            sums[path.name] = checksum(path)
    monkeypatch.setattr(room, "CHECKSUMS", sums)
    monkeypatch.setattr(room, "SIZES", SIZES)
    kinds = [Factor(f.name, size, f.kind) for f, size in zip(room.FACTORS, SIZES, strict=True)]
    monkeypatch.setattr(room, "FACTORS", tuple(kinds))
    monkeypatch.setenv("UNBRAID_DATA", str(folder))
    monkeypatch.setenv("UNBRAID_CACHE", str(folder / "cache"))


def small(folder, monkeypatch):
    write(folder, monkeypatch)
    return "smallnorb:pixels=16"


def test_left_pictures_stand_where_their_factors_say(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch)
    data = open_data("smallnorb")
    assert data.shape == (1, 64, 64) and len(data) == 144
    assert [factor.name for factor in data.factors] == ["category", "elevation", "azimuth", "light"]
    grey = (data.draw(torch.arange(144)).flatten(1) * 255).round().long()
    assert torch.equal(grey, (torch.arange(144) + 100)[:, None].expand(144, 64 * 64))
    assert torch.equal(data.values, grid(SIZES)[:, [0, 2, 3, 4]])


def test_instances_may_be_a_factor(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch)
    data = open_data("smallnorb:instances=true,pixels=8")
    assert torch.equal(data.values, grid(SIZES)) and data.factors[1].name == "instance"
    assert data.name == "smallnorb:pixels=8,instances=true"


def test_wrong_files_are_named(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch, instances=((0, 2), (1,)))
    with pytest.raises(UserError, match="lack 36 combinations"):
        open_data("smallnorb")
    write(tmp_path, monkeypatch, damage=b"oh")
    with pytest.raises(UserError, match="not a binary matrix"):
        open_data("smallnorb")
    with pytest.raises(UserError, match="have 96"):
        open_data("smallnorb:pixels=128")
