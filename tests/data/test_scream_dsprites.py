import numpy as np
import pytest
import torch
from PIL import Image

from unbraid.data import open_data
from unbraid.errors import UserError

BASE = "base=sprites:pixels=16+positions=4+orientations=5"
PLAIN = "sprites:pixels=16,positions=4,orientations=5"


def painting(folder, height=68, width=80):
    """A picture that fits already, whose red and green say where a pixel is."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 0] = 3 * np.arange(height)[:, None]
    pixels[..., 1] = 3 * np.arange(width)
    pixels[..., 2] = 120
    path = folder / "scream.png"
    Image.fromarray(pixels).save(path)
    return path


def small(folder, monkeypatch):
    return f"scream_dsprites:picture={painting(folder)},{BASE}"


def test_background_is_a_tinted_window_and_sprites_its_negative(tmp_path):
    data, base = open_data(small(tmp_path, None)), open_data(PLAIN)
    pixels = np.asarray(Image.open(tmp_path / "scream.png")) / 255
    rows = torch.arange(0, len(data), 7)
    tints, places = [], []
    for x, sprite in zip(data.draw(rows).double().numpy(), base.draw(rows)[:, 0].numpy(), strict=True):
        window = 2 * np.where(sprite == 1, 1 - x, x)  # the sum of a window and a tint
        # Of every window the picture's red grows by 3 a line, its green by 3 a column, and its blue is one.
        tint = window - pixels[:16, :16].transpose(2, 0, 1)
        assert np.ptp(tint.reshape(3, -1), axis=1).max() < 1e-5
        tints.append(tint[2, 0, 0])
        places.append(tint[:2, 0, 0])
    assert min(tints) >= 0 and max(tints) <= 1 and np.std(tints) == pytest.approx(12**-0.5, abs=0.05)
    # Red and green have the place of the window in them beside the tint.
    top, left = np.array([(68 - 16) * 3, (80 - 16) * 3]) / 255
    assert np.mean(places, 0) == pytest.approx([0.5 + top / 2, 0.5 + left / 2], abs=0.1)
    assert np.min(places) >= 0 and (np.max(places, 0) <= [1 + top, 1 + left]).all()


def test_large_pictures_are_shrunk_in_proportion(tmp_path):
    path = tmp_path / "large.jpg"
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (600, 900, 3), np.uint8)).save(path)
    data = open_data(f"scream_dsprites:picture={path},{BASE}")
    assert data.source.paint.painting.shape == (3, 59, 88)


def test_the_content_of_the_picture_counts(tmp_path):
    before = open_data(small(tmp_path, None))
    Image.fromarray(np.full((60, 80, 3), 9, np.uint8)).save(tmp_path / "scream.png")
    after = open_data(before.name)
    assert before.name == after.name and before.fingerprint != after.fingerprint


def test_mistakes_are_named(tmp_path):
    with pytest.raises(UserError, match=r"needs a picture, as in .*The_Scream.jpg"):
        open_data("scream_dsprites")
    with pytest.raises(UserError, match="no such image"):
        open_data(f"scream_dsprites:picture={tmp_path}/none.jpg,{BASE}")
    with pytest.raises(UserError, match="must be larger than a sprite of 16x16"):
        open_data(f"scream_dsprites:picture={painting(tmp_path, 16, 80)},{BASE}")
