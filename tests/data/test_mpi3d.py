import numpy as np
import pytest
import torch

from unbraid.data import grid, open_data
from unbraid.data import mpi3d as room
from unbraid.errors import Notice, UserError
from unbraid.factors import Factor
from unbraid.kept import Mapped
from unbraid.official import Official, checksum

SIZES = (3, 2, 2, 2, 2, 2, 2)


def write(folder, monkeypatch, *, save=np.savez, shape=None, published=True):
    images = np.random.default_rng(0).integers(0, 256, (192, 64, 64, 3), np.uint8)
    path = folder / "mpi3d_toy.npz"
    # A second array, and one with a long name, so that the pictures lie anywhere in the file.
    save(path, **{"a" * 300: np.arange(5), "images": images.reshape(shape or images.shape), "z": np.arange(3)})
    sum_ = checksum(path, "md5") if published else None
    monkeypatch.setattr(room, "VERSIONS", {"toy": room.Version(Official(path.name, sum_, ()), *SIZES[:2])})
    monkeypatch.setattr(room, "STEPS", tuple(Factor(f.name, 2, f.kind) for f in room.STEPS))
    monkeypatch.setenv("UNBRAID_DATA", str(folder))
    monkeypatch.setenv("UNBRAID_CACHE", str(folder / "cache"))
    return images


def small(folder, monkeypatch):
    write(folder, monkeypatch)
    return "mpi3d"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("shape", [None, (*SIZES, 64, 64, 3)])
def test_pictures_are_those_of_the_file(tmp_path, monkeypatch, save, shape):
    images = write(tmp_path, monkeypatch, save=save, shape=shape)
    data = open_data("mpi3d:version=toy")
    assert data.name == "mpi3d" and data.shape == (3, 64, 64) and data.notes == ()
    right = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    assert torch.equal(data.draw(torch.arange(192).view(2, 96)).view(right.shape), right)
    assert torch.equal(data.values, grid(SIZES))
    assert isinstance(data.source, Mapped) and isinstance(data.source.samples, np.memmap)
    assert bool(list((tmp_path / "cache").rglob("*.npy"))) == (save is np.savez_compressed)


def test_without_a_published_checksum_every_result_says_so(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch, published=False)
    with pytest.warns(Notice, match="unverified"):
        data = open_data("mpi3d")
    assert "unverified" in data.notes[0] and checksum(tmp_path / "mpi3d_toy.npz") in data.notes[0]
    assert data.fingerprint == checksum(tmp_path / "mpi3d_toy.npz")


def test_published_factor_sizes():
    for name, version in room.VERSIONS.items():
        final = name in ("toy", "realistic", "real")
        assert (version.colours, version.shapes) == ((6, 6) if final else (4, 4))
        assert (version.file.checksum is not None) == final
        sizes = [version.colours, version.shapes, *(factor.size for factor in room.STEPS)]
        assert np.prod(sizes) == (1_036_800 if final else 460_800)


def test_wrong_files_are_named(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch, shape=(96, 128, 64, 3))
    with pytest.raises(UserError, match="should be 192 of 64x64x3"):
        open_data("mpi3d")
    with pytest.raises(UserError, match=r"unknown version of mpi3d 'to'.*known: toy"):
        open_data("mpi3d:version=to")
    path = tmp_path / "mpi3d_toy.npz"
    np.savez(path, other=np.zeros(3))
    monkeypatch.setattr(room, "VERSIONS", {"toy": room.Version(Official(path.name, checksum(path), ()), 3, 2)})
    with pytest.raises(UserError, match="holds images"):
        open_data("mpi3d")
