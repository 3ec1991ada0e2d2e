"""CelebA from small files of the official layout."""

import numpy as np
import pytest
import torch
from PIL import Image

from unbraid.data import open_data
from unbraid.errors import UserError

FACES = 256  # a quarter of each: neither, hat, glasses, both
NAME = "celeba:per_class=64,background=64,crop=8"
HEADER = "5_o_Clock_Shadow Eyeglasses Male Wearing_Hat"


def small(folder, monkeypatch):
    """Noise under a list of four attributes; a crop of the middle cuts a rim away."""
    monkeypatch.setenv("UNBRAID_DATA", str(folder))
    monkeypatch.setenv("UNBRAID_CACHE", str(folder / "cache"))
    random, place = np.random.default_rng(0), folder / "CelebA"
    (place / "img_align_celeba").mkdir(parents=True)
    lines = [str(FACES), HEADER]
    for i in range(FACES):
        pixels = random.integers(0, 256, (12, 10, 3), np.uint8)
        Image.fromarray(pixels).save(place / "img_align_celeba" / f"{i + 1:06}.png")
        glasses, hat = (1 if i % 4 in wearing else -1 for wearing in ((2, 3), (1, 3)))
        lines.append(f"{i + 1:06}.png -1 {glasses:2d}  1 {hat:2d}")
    (place / "list_attr_celeba.txt").write_text("\n".join(lines) + "\n")
    return NAME


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    small(tmp_path, monkeypatch)
    return tmp_path / "CelebA"


def test_accessories_are_exclusive_and_pictures_are_their_middles(folder):
    data = open_data(NAME)
    target, behind = data.member("target"), data.member("background")
    assert data.shape == (3, 64, 64) and target.values[:, 0].tolist() == [0] * 64 + [1] * 64
    assert target.factors[0].labels == ("hat", "glasses") and not behind.factors and not data.notes
    middles = {}
    for i in range(FACES):
        picture = Image.open(folder / "img_align_celeba" / f"{i + 1:06}.png")
        middles[np.asarray(picture.resize((64, 64), Image.Resampling.BILINEAR, (1, 2, 9, 10))).tobytes()] = i % 4
    for member, kinds in ((target, [1] * 64 + [2] * 64), (behind, [0] * 64)):
        x = (member.draw(torch.arange(len(member))) * 255).round().byte().movedim(1, -1).numpy()
        assert [middles[each.tobytes()] for each in x] == kinds
    assert open_data(f"{data.name},folder=CelebA").fingerprint == data.fingerprint
    assert open_data(f"{data.name},seed=1").fingerprint != data.fingerprint


@pytest.mark.parametrize("pictures", ["img_align_celeba", "Img/img_align_celeba"])
def test_as_it_is_unpacked(pictures, folder):
    before = open_data(NAME).fingerprint
    for old, new in (("img_align_celeba", pictures), ("list_attr_celeba.txt", "Anno/list_attr_celeba.txt")):
        (folder / new).parent.mkdir(exist_ok=True)
        (folder / old).rename(folder / new)
    assert open_data(NAME).fingerprint == before


def test_fewer_than_asked_for_are_said():
    data = open_data("celeba:crop=8")
    assert len(data) == 192 and data.notes[0] == "CelebA here has only 64 faces with hat, not 5000"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda f: (f / "list_attr_celeba.txt").unlink(), r"CelebA has no list_attr_celeba\.txt, as in the official"),
        (lambda f: f.rename(f.parent / "other"), "has no img_align_celeba and no list_attr_celeba"),
        (lambda f: (f / "img_align_celeba" / "000002.png").unlink(), r"000002\.png is missing"),
        (lambda f: (f / "list_attr_celeba.txt").write_text("1\nMale Eyeglasses\n1.png 1 1\n"), "no attribute Wearing_Hat"),
        (lambda f: (f / "list_attr_celeba.txt").write_text(f"1\n{HEADER}\n1.png 1 1\n"), "line 3 has 3 words, not 5"),
        (lambda f: (f / "list_attr_celeba.txt").write_text(f"1\n{HEADER}\n1.png 1 1 1 1\n"), "has 0 faces with hat"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_in_one_line(spoil, words, folder):
    spoil(folder)
    with pytest.raises(UserError, match=words) as error:
        open_data("celeba:crop=8")
    assert "\n" not in str(error.value)


def test_without_a_folder(monkeypatch):
    with pytest.raises(UserError, match="folder=nowhere: no such folder"):
        open_data("celeba:folder=nowhere")
    with pytest.raises(UserError, match=r"000\d+\.png is 10x12: it does not have the part"):
        open_data("celeba")
    monkeypatch.delenv("UNBRAID_DATA")
    with pytest.raises(UserError, match="celeba may not be downloaded by a program: set UNBRAID_DATA"):
        open_data("celeba")
