import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from unbraid.data import dsprites as room
from unbraid.data import grid, open_data
from unbraid.data.sprites import sprites
from unbraid.errors import UserError

FOLDER = os.environ.get("UNBRAID_DATA")
FRAMES = next(iter(Path(FOLDER).glob("*/dsprites_official_frames_320.npz")), None) if FOLDER else None
genuine = pytest.mark.skipif(FRAMES is None, reason="UNBRAID_DATA has no genuine dSprites frames")


def small(folder, monkeypatch):
    return "dsprites:accept_other=true"


def frames():
    held = np.load(FRAMES)
    classes = held["latents_classes"][:, 1:]
    return torch.from_numpy(held["imgs"]).float(), classes


@genuine
def test_agrees_with_genuine_frames():
    data = open_data("dsprites:accept_other=true")
    images, classes = frames()
    rows = torch.from_numpy(np.ravel_multi_index(classes.T, room.SIZES))
    assert np.array_equal(data.factor_values(rows).numpy(), classes)
    assert (data.draw(rows)[:, 0] != images).sum() <= 4


@genuine
def test_drawn_sprites_look_like_genuine_ones():
    data = sprites(orientations=39)
    images, classes = frames()
    kept = classes[:, 2] < 39
    drawn = data.draw(torch.from_numpy(np.ravel_multi_index(classes[kept].T, (3, 6, 39, 32, 32))))[:, 0]
    best = torch.zeros(len(drawn))
    for down in range(-2, 3):
        for across in range(-2, 3):
            moved = drawn.roll((down, across), (1, 2))
            shared, either = (
                (moved * images[kept]).sum((1, 2)),
                torch.maximum(moved, images[kept]).sum((1, 2)),
            )
            best = torch.maximum(best, shared / either)
    assert best.min() > 0.75 and best.mean() > 0.87


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A file laid out as the official one, with a grid of 2x2 pictures."""
    sizes = (2, 1, 2, 5, 1)
    monkeypatch.setattr(room, "SIZES", sizes)
    monkeypatch.setattr(room, "RIGHT", ((20, 64, 64), False, np.dtype(np.uint8)))
    monkeypatch.setattr(room, "AT_ONCE", 7)
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    images = np.random.default_rng(0).integers(0, 2, (20, 64, 64), np.uint8)
    classes = np.concatenate([np.zeros((20, 1), np.int64), grid(sizes).numpy()], 1)
    title = np.array({"title": "tiny sprites", "n": 1}, dtype=object)

    def write(**changed):
        parts = {"metadata": title, "imgs": images, "latents_classes": classes, **changed}
        path = tmp_path / room.NAME
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in parts.items():
                archive.writestr(f"{name}.npy", npy(array, allow_pickle=True))
        return path

    return write, images


def test_another_file_must_be_asked_for(tiny):
    write, images = tiny
    write()
    with pytest.raises(UserError, match=r"not the official file.*accept_other=true"):
        open_data("dsprites")
    for _ in range(2):
        data = open_data("dsprites:accept_other=true")
        drawn = data.draw(torch.arange(20).view(4, 5))
        assert torch.equal(drawn.view(20, 64, 64), torch.from_numpy(images).float())
        assert data.name == "dsprites:accept_other=true" and data.fingerprint
        assert "not the official one" in data.notes[0] and "'tiny sprites'" in data.notes[0]


def test_a_changed_file_is_read_anew(tiny):
    write, images = tiny
    write()
    before = open_data("dsprites:accept_other=true")
    write(imgs=1 - images)
    after = open_data("dsprites:accept_other=true")
    assert torch.equal(after.draw(torch.arange(20)), 1 - before.draw(torch.arange(20)))
    assert before.fingerprint != after.fingerprint


def test_wrong_contents_are_named(tiny):
    write, images = tiny
    write(imgs=images * 3)
    with pytest.raises(UserError, match="must hold 0 and 1, found 3"):
        open_data("dsprites:accept_other=true")
    write(imgs=images[:10])
    with pytest.raises(UserError, match="should be"):
        open_data("dsprites:accept_other=true")
    write(latents_classes=np.zeros((20, 6), np.int64))
    with pytest.raises(UserError, match="not in the order"):
        open_data("dsprites:accept_other=true")
    path = write()
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(UserError, match="damaged"):
        open_data("dsprites:accept_other=true")
