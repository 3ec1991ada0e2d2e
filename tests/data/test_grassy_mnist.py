"""Grassy MNIST: Eqs. 10 and 11 pixel by pixel, over drawn grass and over pictures of every kind."""

import numpy as np
import pytest
import torch
from PIL import Image

from unbraid.data import grassy_mnist, open_data
from unbraid.errors import UserError

RANDOM = np.random.default_rng(0)
DIGITS = RANDOM.integers(0, 256, (400, 28, 28), np.uint8)
LABELS = (np.arange(400) % 10).astype(np.uint8)


def small(folder, monkeypatch):
    """Noise with labels in the place of MNIST."""
    made = torch.from_numpy(DIGITS)[:, None], torch.from_numpy(LABELS)[:, None]
    monkeypatch.setattr(grassy_mnist, "images_and_labels", lambda *_: made)
    return "grassy_mnist:per_digit=12,patches=60"


@pytest.fixture
def name(monkeypatch):
    return small(None, monkeypatch)


@pytest.fixture
def pictures(tmp_path):
    """One picture of every kind, in a folder within the folder."""
    folder = tmp_path / "grass"
    (folder / "deep").mkdir(parents=True)
    colour = RANDOM.integers(0, 256, (40, 50, 3), np.uint8)
    clear = np.concatenate([colour[::-1], np.zeros((40, 50, 1), np.uint8)], 2)
    Image.fromarray(colour).save(folder / "a.png")
    Image.fromarray(clear).save(folder / "b.png")
    Image.fromarray(colour[:, :, 0]).save(folder / "deep" / "c.png")
    (folder / "notes.txt").write_text("no picture")
    return folder


def everything(data):
    return data.draw(torch.arange(len(data)))


@pytest.mark.parametrize("kind", ["linear", "nonlinear"])
def test_targets_are_the_papers_equations_in_every_pixel(kind, name):
    data = open_data(f"{name},kind={kind}")
    target, grass = data.member("target"), everything(data.member("background")).numpy()
    source = target.source.base.sources[0]
    x, labels = everything(target).numpy(), target.values[:, 0].numpy()
    assert x.shape == (120, 3, 28, 28) and (np.bincount(labels) == 12).all()
    dark = 0
    for row in range(0, 120, 11):
        t, y = source.digits[row].numpy() / 255, grass[source.behind[row]]
        assert any(np.array_equal(source.digits[row], DIGITS[i]) and LABELS[i] == labels[row] for i in range(400))
        for u, v, c in RANDOM.integers(0, (28, 28, 3), (60, 3)):
            seen = kind == "linear" or y[c, u, v] > 0.3
            dark += not seen
            assert x[row, c, u, v] == pytest.approx(seen * (0.5 * y[c, u, v] + 0.5 * t[u, v]), abs=1e-6)
    assert (dark > 20) == (kind == "nonlinear")


def test_grass_that_is_drawn_is_green_and_every_result_says_so(name):
    data = open_data(name)
    grass = everything(data.member("background"))
    red, green, blue = grass.mean((0, 2, 3))
    assert grass.min() >= 0 and grass.max() <= 1 and green > red > blue
    assert 0.3 < (grass > 0.3).float().mean() < 0.7, "Eq. 11 darkens some, not all"
    down, across = ((green := grass[:, 1]).diff(dim=d).square().mean() for d in (1, 2))
    assert down < 0.5 * across, "blades stand upright"
    assert any("drawn (procedural" in note for note in data.notes) and data.fingerprint == ""
    assert data.groups == ("target", "background") and not data.member("background").factors


def test_the_same_again_and_another_seed_another(name):
    data, again, other = open_data(name), open_data(data_name := open_data(name).name), open_data(f"{name},seed=1")
    assert data_name == name and other.name == f"{name},seed=1"
    assert torch.equal(everything(data), everything(again)) and not torch.equal(everything(data), everything(other))
    for group in data.groups:
        assert not torch.equal(everything(data.member(group)), everything(other.member(group)))
    rows = torch.tensor([[3, 150], [119, 120]])
    assert torch.equal(data.to("cpu").draw(rows), everything(data)[rows])


def test_pictures_in_colour_transparent_and_grey(name, pictures):
    data = open_data(f"{name},textures={pictures}")
    behind, target = data.member("background"), data.member("target")
    assert behind.factors[0].labels == ("a", "b", "c") and [f.name for f in target.factors] == ["digit", "texture"]
    patches, texture = (everything(behind) * 255).round().byte(), behind.values[:, 0]
    assert texture.bincount().tolist() == [20, 20, 20]
    assert torch.equal(target.values[:, 1], texture[target.source.base.sources[0].behind])
    wholes = [np.asarray(Image.open(file))[..., :3] for file in (pictures / "a.png", pictures / "b.png")]
    for patch, number in zip(patches, texture.tolist(), strict=True):
        if number == 2:
            assert torch.equal(patch[0], patch[1]) and torch.equal(patch[0], patch[2])
            continue
        windows = np.lib.stride_tricks.sliding_window_view(wholes[number], (28, 28), (0, 1))
        assert (windows == patch.numpy()).all((2, 3, 4)).any()
    assert any("3 pictures (a, b, c)" in note for note in data.notes) and str(pictures) not in " ".join(data.notes)
    single = open_data(f"{name},textures={pictures / 'a.png'}")
    assert not single.member("background").factors and single.fingerprint != data.fingerprint != ""


def test_textures_by_a_name_in_the_users_folder(name, pictures, monkeypatch):
    monkeypatch.setenv("UNBRAID_DATA", str(pictures.parent))
    data = open_data(f"{name},textures=grass/a.png+grass/deep")
    assert data.name == f"{name.replace('per_digit', 'textures=grass/a.png+grass/deep,per_digit')}"
    assert data.member("background").factors[0].labels == ("a", "c")
    assert torch.equal(everything(open_data(data.name)), everything(data))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("kind=lienar", "did you mean 'linear'"),
        ("textures=nowhere", "textures=nowhere: no such file or folder 'nowhere'"),
        ("textures={}/grass/a.png+nowhere", "no such file or folder 'nowhere'"),
        ("textures={}/empty", "holds no pictures"),
        ("textures={}/tiny.png", r"tiny\.png is 60x27: patches of 28x28 pixels cannot be cut"),
        ("textures={}/broken.png", "damaged or not an image"),
        ("textures={}/grass/notes.txt", "holds no pictures"),
        ("per_digit=41", "per_digit=41: MNIST has 40 of the rarest digit"),
        ("per_digit=0", "per_digit=0"),
        ("patches=9", "patches=9: must be a whole number of at least 10"),
        ("seed=-1", "seed=-1"),
    ],
)
def test_mistakes_are_one_line(options, words, name, pictures):
    (pictures.parent / "empty").mkdir()
    Image.new("RGB", (60, 27)).save(pictures.parent / "tiny.png")
    (pictures.parent / "broken.png").write_bytes(b"no picture")
    key = options.partition("=")[0]
    kept = ",".join(part for part in name.partition(":")[2].split(",") if not part.startswith(key))
    with pytest.raises(UserError, match=words) as error:
        open_data(f"grassy_mnist:{kept},{options.format(pictures.parent)}")
    assert "\n" not in str(error.value)
