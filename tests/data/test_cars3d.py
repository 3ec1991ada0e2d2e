import io
import tarfile

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.io import savemat

from unbraid.data import cars3d as room
from unbraid.data import open_data
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.official import Official, checksum

CARS = 3


def views(car):
    """Pictures (128, 128, 3, azimuth, elevation) whose colour says what they are, darker at the top."""
    im = np.zeros((128, 128, 3, 24, 4), np.uint8)
    im[64:, :, 0] = 50 + 50 * car
    im[64:, :, 1] = 4 * np.arange(24)[:, None]
    im[64:, :, 2] = 40 * np.arange(4)
    return im


def write(folder, monkeypatch, cars=CARS, **changed):
    path = folder / room.FILE.name
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        # Stored out of order, as directories are, among files that are not cars.
        for name in ["data/sprites/sprites_1.mat", *(f"data/cars/car_{car:03d}_mesh.mat" for car in range(cars)[::-1])]:
            content = io.BytesIO()
            car = int(name[-12:-9]) if "/cars/" in name else 0
            savemat(content, changed or {"im": views(car)}, do_compression=False)
            entry = tarfile.TarInfo(name)
            entry.size = content.tell()
            archive.addfile(entry, io.BytesIO(content.getvalue()))
    monkeypatch.setattr(room, "FILE", Official(path.name, checksum(path, "md5"), ()))
    monkeypatch.setattr(room, "FACTORS", (*room.FACTORS[:2], Factor("model", CARS, "category")))
    monkeypatch.setattr(room, "SIZES", (4, 24, CARS))
    monkeypatch.setenv("UNBRAID_DATA", str(folder))
    monkeypatch.setenv("UNBRAID_CACHE", str(folder / "cache"))
    return path


def small(folder, monkeypatch):
    write(folder, monkeypatch)
    return "cars3d:pixels=16"


def test_pictures_stand_where_their_factors_say(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch)
    data = open_data("cars3d")
    assert data.shape == (3, 64, 64) and len(data) == 4 * 24 * CARS and data.name == "cars3d"
    rows = torch.tensor([0, 1, 3, 75, 287])
    elevation, azimuth, model = data.factor_values(rows).long().T
    colours = (data.draw(rows)[:, :, -1, 0] * 255).round().long()
    assert torch.equal(colours, torch.stack([50 + 50 * model, 4 * azimuth, 40 * elevation], 1))


def test_shrinking_is_lanczos(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch)
    original = np.ascontiguousarray(views(0)[..., 5, 2])
    right = np.asarray(Image.fromarray(original).resize((64, 64), Image.Resampling.LANCZOS))
    drawn = open_data("cars3d").draw(torch.tensor([(2 * 24 + 5) * CARS]))[0]
    assert np.array_equal((drawn * 255).round().numpy().transpose(1, 2, 0), right)
    whole = open_data("cars3d:pixels=128").draw(torch.tensor((2 * 24 + 5) * CARS))
    assert np.array_equal((whole * 255).round().numpy().transpose(1, 2, 0), original)


def test_the_archive_is_read_once(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch)
    before = open_data("cars3d:pixels=16").draw(torch.arange(9))
    monkeypatch.setattr(room, "_pictures", lambda path, pixels: pytest.fail("read again"))
    assert torch.equal(open_data("cars3d:pixels=16").draw(torch.arange(9)), before)


def test_wrong_archives_are_named(tmp_path, monkeypatch):
    write(tmp_path, monkeypatch, cars=2)
    with pytest.raises(UserError, match="holds 2 cars, should be 3"):
        open_data("cars3d")
    write(tmp_path, monkeypatch, im=np.zeros((128, 128, 3, 24, 3), np.uint8))
    with pytest.raises(UserError, match=r"im in data/cars/.* is uint8"):
        open_data("cars3d")
    path = write(tmp_path, monkeypatch, nothing=1)
    with pytest.raises(UserError, match="not the archive of cars3d"):
        open_data("cars3d")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(UserError, match="not the official file"):
        open_data("cars3d")
    with pytest.raises(UserError, match="have 128"):
        open_data("cars3d:pixels=129")
    assert not list((tmp_path / "cache").rglob("*.npy")) and not list((tmp_path / "cache").rglob("*.part"))
