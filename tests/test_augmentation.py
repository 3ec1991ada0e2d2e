"""Pictures moved and coloured at random: exactly where and how, by chance that belongs to a row or to a step."""

import colorsys
import json
import math

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import unbraid
from unbraid.augmentation import Augmented, augmented, coloured
from unbraid.data import Data, Stored, open_data
from unbraid.errors import UserError
from unbraid.groups import Chained, labels_of
from unbraid.methods.vae import VAE
from unbraid.networks import open_net
from unbraid.streams import Streams
from unbraid.views import view_of

CPU = torch.device("cpu")
RANDOM = np.random.default_rng(0)
SPRITES = "sprites:shapes=1,scales=2,orientations=2,positions=8,pixels=16"
PAIR = {"grey": f"{SPRITES},shift=2,colour=true", "tinted": f"{SPRITES},shift=2,hue=true"}


def canvas(picture, *, side=None, scale=1.0, right=0.0, down=0.0, degrees=0.0):
    """One picture, moved as told."""
    picture = torch.as_tensor(picture, dtype=torch.float32)[None]
    height, width = (side or picture.shape[-2], side or picture.shape[-1])
    source = Augmented(Stored(picture), height, width, scale, (1.0, 1.0, 1.0, 0.0), len(picture[0]))
    numbers = (torch.tensor([float(n)]) for n in (right, down, math.radians(degrees)))
    x = source.base.draw(torch.tensor([0]))
    return source.moved(x, *numbers)[0, 0]


def spot(side=9, row=2, column=5):
    picture = torch.zeros(1, side, side)
    picture[0, row, column] = 1
    return picture


@pytest.mark.parametrize(
    ("told", "row", "column"),
    [
        ({}, 2, 5),
        ({"right": 2}, 2, 7),
        ({"down": 3}, 5, 5),
        ({"degrees": 90}, 5, 6),  # clockwise about the middle (4, 4)
        ({"degrees": 180, "right": 1}, 6, 4),
        ({"side": 13}, 4, 7),
        ({"side": 13, "right": -1, "down": 1}, 5, 6),
    ],
)
def test_a_spot_lands_where_it_should(told, row, column):
    found = canvas(spot(), **told)
    expected = torch.zeros_like(found)
    expected[row, column] = 1
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_half_a_pixel_is_shared_and_zeros_come_from_beyond():
    found = canvas(spot(), right=0.5)
    assert found[2, 5].item() == pytest.approx(0.5, abs=1e-5) and found[2, 6].item() == pytest.approx(0.5, abs=1e-5)
    assert canvas(torch.ones(1, 8, 8), right=8).abs().max() < 1e-5
    found = canvas(torch.ones(1, 8, 8), side=8, scale=0.5)
    assert found[2:6, 2:6].min() > 1 - 1e-5 and found.sum().item() == pytest.approx(16, abs=1e-4)
    oblong = canvas(torch.ones(1, 4, 8), side=10)
    assert oblong[3:7, 1:9].min() > 1 - 1e-5 and oblong.sum().item() == pytest.approx(32, abs=1e-4)


@pytest.mark.parametrize("hue", [0.0, 0.1, 0.5, 0.73])
def test_grey_pictures_get_a_pure_colour(hue):
    found = coloured(torch.full((1, 1, 1, 1), 0.5), torch.tensor([2 * math.pi * hue]))
    np.testing.assert_allclose(found.flatten(), 0.5 * np.array(colorsys.hsv_to_rgb(hue, 1, 1)), atol=1e-6)


def test_colours_turn_and_grey_stays():
    red, grey = torch.tensor([1.0, 0, 0]).view(1, 3, 1, 1), torch.full((1, 3, 1, 1), 0.3)
    for thirds, expected in ((1, [0, 1, 0]), (2, [0, 0, 1]), (3, [1, 0, 0])):
        hue = torch.tensor([2 * math.pi * thirds / 3])
        torch.testing.assert_close(coloured(red, hue).flatten(), torch.tensor(expected).float(), atol=1e-6, rtol=0)
        torch.testing.assert_close(coloured(grey, hue), grey)


def test_factors_say_how_each_row_was_moved():
    data = open_data(f"{SPRITES},size=20,shift=3-1,turn=20,hue=true")
    assert [factor.name for factor in data.factors[-4:]] == ["shift_x", "shift_y", "turn", "hue"]
    assert [factor.kind for factor in data.factors[-4:]] == ["continuous"] * 3 + ["cycle"]
    right, down, turn, hue = data.values[:, -4:].T
    for column, low, high in ((right, -3, 3), (down, -1, 1), (turn, -20, 20), (hue, 0, 2 * math.pi)):
        assert low <= column.min() and column.max() < high
        assert torch.histc(column, 4, low, high).min() > 0.15 * len(column)
    rows = torch.tensor([3, 40])
    plain = open_data(SPRITES).draw(rows)
    again = data.source.moved(plain, *(data.factor_values(rows)[:, at].float() for at in (-4, -3)), turn[rows].deg2rad().float())  # fmt: skip
    torch.testing.assert_close(data.draw(rows), coloured(again, hue[rows].float()), atol=1e-5, rtol=0)
    assert torch.equal(data.draw(rows[:, None])[:, 0], data.draw(rows)) and data.shape == (3, 20, 20)


def test_a_row_is_moved_the_same_whatever_else_is():
    both, one = open_data(f"{SPRITES},shift=3"), open_data(f"{SPRITES},shift=0-3,turn=5")
    assert torch.equal(both.values[:, -1], one.values[:, -2])


def test_names_open_again():
    name = f"{SPRITES},turn=10,shift=2,size=24"
    data = open_data(name)
    assert data.name == f"{open_data(SPRITES).name},size=24,shift=2,turn=10"
    assert open_data(data.name).name == data.name
    grouped = open_data(f"{SPRITES},shift=2,group=scale")
    assert grouped.groups == ("0", "1") and open_data(grouped.name).name == grouped.name
    rows = grouped.rows_of("1")[:5]
    whole = open_data(f"{SPRITES},shift=2")
    assert torch.equal(grouped.draw(rows), whole.draw((whole.values[:, 1] == 1).nonzero()[:5, 0]))
    held = open_data(f"{SPRITES},shift=2,hold_out=shape0-scale0")
    assert (held.factor_values(held.rows("train"))[:, 1] == 1).all() and held.factors == whole.factors


def test_data_without_factors_and_data_with_groups():
    pictures = RANDOM.integers(0, 256, (40, 12, 12), np.uint8)
    data = augmented(open_data(pictures), shift="2")
    assert [factor.name for factor in data.factors] == ["shift_x", "shift_y"] and data.values.shape == (40, 2)
    assert data.fingerprint and data.fingerprint != open_data(pictures).fingerprint
    groups = augmented(open_data({"a": pictures, "b": pictures[:30]}), colour=True, shift="0-1")
    assert groups.shape == (3, 12, 12) and groups.member("b").factors[0].name == "shift_y"
    assert len(groups.values) == 70


def test_groups_share_factors_by_name():
    data = open_data(PAIR)
    assert isinstance(data.source, Chained) and data.chance == 4
    labels = labels_of(data, torch.arange(len(data)))
    known = {factor.name: ~column.isnan() for factor, column in labels.items()}
    assert known["shift_x"].all() and known["hue"].tolist() == (data.group == 1).tolist()


def test_training_draws_anew_and_evaluation_does_not():
    data = open_data(PAIR)
    method = VAE(open_net("linear", data.shape, "unit"), 2)
    view = view_of(method, data, 6, "mine")
    streams = Streams([3, 5], view.pools(), 6, 2, CPU, uniforms=view.uniforms, stacked=True)
    drawn = streams.at(7)
    x = view.batch(drawn)["x"]
    alone = Streams([5], view.pools(), 6, 2, CPU, uniforms=view.uniforms)
    assert x.shape == (2, 6, 3, 16, 16) and torch.equal(x[1], view.batch(alone.at(7))["x"])
    fixed = data.draw(drawn.picks[0])
    assert torch.equal(fixed, data.draw(drawn.picks[0]))
    assert ((fixed - x).abs().flatten(2).amax(-1) > 0.05).all(), "no sample is where its row's own chance puts it"
    same = data.draw(drawn.picks[0][:1].expand(2, -1), drawn.uniforms)
    assert not torch.equal(same[0], same[1]), "a row is not moved twice alike"


def test_both_sides_of_a_contrast_are_moved_by_chance_of_their_own():
    data = open_data({"target": PAIR["grey"], "background": PAIR["grey"]})
    method = VAE(open_net("linear", data.shape, "unit"), 2)
    method.needs = ("x", "background")
    view = view_of(method, data, 50, "mine")
    drawn = Streams([0], view.pools(), 50, 2, CPU, uniforms=view.uniforms).at(0)
    assert drawn.uniforms.shape == (50, 8)
    found = view.batch(drawn)
    for side, picks, numbers in zip(("x", "background"), drawn.picks, drawn.uniforms.split(4, -1), strict=True):
        assert torch.equal(found[side], data.draw(picks, numbers))


def test_a_killed_training_goes_on_bit_for_bit(tmp_path, monkeypatch):
    from unbraid.loop import Loop

    given = {"net": "linear", "steps": 60, "batch_size": 8, "latents": 2, "progress": False, "device": "cpu"}
    data = f"{SPRITES},shift=2,turn=10"
    whole = unbraid.train("vae", data, out=tmp_path / "whole", **given)
    batch = Loop.batch

    def dies(self, step):
        if step == 41:
            raise KeyboardInterrupt
        return batch(self, step)

    with monkeypatch.context() as patch:
        patch.setattr(Loop, "batch", dies)
        with pytest.raises(KeyboardInterrupt):
            unbraid.train("vae", data, out=tmp_path / "cut", save_seconds=0.0, **given)
    cut = unbraid.train("vae", data, out=tmp_path / "cut", **given)
    one, other = (load_file(run.path / "weights.safetensors") for run in (whole, cut))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_scored_against_how_they_were_moved(tmp_path):
    run = unbraid.train("vae", f"{SPRITES},shift=2-0", net="linear", steps=5, latents=2, out=tmp_path, progress=False)
    unbraid.evaluate(run, metrics="mig")
    results = json.loads((run.path / "results.json").read_text())
    assert results["factors"][-1] == {"name": "shift_x", "size": 0, "kind": "continuous"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shift": "far"}, "shift=far: must be a number of pixels, or one across and one down, as 6 or 6-0"),
        ({"shift": "1-2-3"}, "shift=1-2-3: must be"),
        ({"turn": 270.0}, "turn=270: must be from 0 to 180 degrees"),
        ({"scale": 0.0}, "scale=0: must be a number above 0"),
        ({"size": 2}, "size=2: must be a whole number of at least 4"),
    ],
)
def test_mistakes_are_one_line(options, message):
    with pytest.raises(UserError, match=message):
        augmented(open_data(SPRITES), **options)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("linear_square:shift=2", r"has samples of shape \(3,\); only images can be moved"),
        (f"{SPRITES},shift=2,group=shift_x", "shift_x is continuous"),
        (f"{SPRITES},hue=true,group=hue", "hue is continuous"),
        (f"{SPRITES},turn=x", "turn=x: must be a number"),
        (f"{SPRITES},shfit=2", "did you mean 'shift'"),
    ],
)
def test_mistakes_in_a_name_are_one_line(what, message):
    with pytest.raises(UserError, match=message):
        open_data(what)


def test_pictures_that_have_no_hue():
    for shape, pixels, message in (((2, 8, 8), "unit", "2 channels; colour and hue need 1 or 3"),
                                   ((1, 8, 8), "real", "the pixels of mine do not lie in 0..1")):  # fmt: skip
        with pytest.raises(UserError, match=message):
            augmented(Data("mine", Stored(torch.rand(20, *shape)), shape, pixels), hue=True)
    with pytest.raises(UserError, match="has a factor hue already"):
        augmented(augmented(open_data(SPRITES), hue=True), hue=True)
