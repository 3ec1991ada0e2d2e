import errno
import shutil

import numpy as np
import pytest
import torch

from unbraid import kept
from unbraid.errors import UserError
from unbraid.kept import Mapped, keep

SHAPE = (6, 2, 3)
RIGHT = np.arange(36, dtype=np.uint8).reshape(SHAPE)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "toy"


def halves():
    yield RIGHT[:2]
    yield RIGHT[2:].transpose(0, 2, 1).copy().transpose(0, 2, 1)  # in another order of memory


def test_made_once_and_mapped(cache):
    asked = []
    for _ in range(2):
        found = keep("toy", "a", SHAPE, lambda: asked.append(1) or halves())
        assert isinstance(found, np.memmap) and not found.flags.writeable and np.array_equal(found, RIGHT)
    assert asked == [1] and not list(cache.glob("*.part"))


def test_a_failure_leaves_nothing_behind(cache):
    def breaks():
        yield RIGHT[:2]
        raise UserError("broken")

    with pytest.raises(UserError, match="broken"):
        keep("toy", "a", SHAPE, breaks)
    with pytest.raises(ValueError, match="12 bytes"):
        keep("toy", "a", SHAPE, lambda: [RIGHT[:2]])
    assert not list(cache.glob("*.part")) and not list(cache.glob("*.npy"))


def test_without_room_it_is_said_how_much_is_needed(monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10, 10, 35))
    with pytest.raises(UserError, match=r"GB free.*UNBRAID_CACHE"):
        keep("toy", "a", SHAPE, halves)


def test_without_a_cache_small_arrays_stay_in_memory(monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kept, "_write", full)
    assert np.array_equal(keep("toy", "a", SHAPE, halves), RIGHT)
    monkeypatch.setattr(kept, "MOST_IN_MEMORY", 35)
    with pytest.raises(UserError, match=r"cannot write to .*No space left"):
        keep("toy", "a", SHAPE, halves)


def test_mapped_reads_rows_in_either_layout():
    images = np.random.default_rng(0).integers(0, 256, (9, 4, 5, 3), np.uint8)
    right = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
    rows = torch.tensor([[3, 3, 0], [8, 1, 2]])
    last, first = Mapped(images, channels_last=True), Mapped(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
    for source in (last, first, last.to(torch.device("cpu"))):
        assert torch.equal(source.draw(rows), right[rows]) and source.draw(rows).is_contiguous()
        assert torch.equal(source.draw(torch.tensor(4)), right[4]) and len(source) == 9
