"""Data in groups: joined or split, under one name that opens them again, and every mistake in one line."""

import numpy as np
import pytest
import torch

from unbraid.data import Data, Stored, open_data
from unbraid.errors import UserError
from unbraid.groups import Chained, Picked, join, labels_of
from unbraid.spelling import apart, from_options, in_short, joined, slug

RANDOM = np.random.default_rng(0)
A, B = RANDOM.normal(size=(60, 4)).astype(np.float32), RANDOM.normal(size=(25, 4)).astype(np.float32)
PARTS = ("train", "validation", "test")


def everything(data):
    return data.draw(torch.arange(len(data)))


def test_arrays_by_group():
    data = open_data({"target": A, "background": B})
    assert data.groups == ("target", "background") and data.shape == (4,) and isinstance(data.source, Stored)
    assert data.group.tolist() == [0] * 60 + [1] * 25
    np.testing.assert_array_equal(everything(data), np.concatenate([A, B]))
    assert data.name == "target=array & background=array"
    for group, array in (("target", A), ("background", B)):
        member, places = data.member(group), data.rows_of(group)
        np.testing.assert_array_equal(everything(member), array)
        for part in PARTS:
            rows = data.rows(part)
            mine = rows[data.group[rows] == data.groups.index(group)]
            assert torch.equal(mine.sort().values, places[member.rows(part)].sort().values)
            assert torch.equal(member.rows(part), open_data(array).rows(part)), "split as it is split alone"
    assert len(set(data.group[data.rows("train")[:20]].tolist())) == 2, "the first rows of a part are of all groups"
    assert torch.equal(torch.cat([data.rows(part) for part in PARTS]).sort().values, torch.arange(85))
    moved = data.to("cpu")
    assert torch.equal(moved.rows("test"), data.rows("test")) and moved.member("target") is data.member("target")


def test_fingerprints_follow_samples_and_groups():
    prints = [
        open_data(given).fingerprint
        for given in (
            {"target": A, "background": B},
            {"target": A, "background": B.copy()},
            {"target": A, "background": B + 1},
            {"one": A, "background": B},
            {"target": Data("mine", Stored(torch.from_numpy(A)), (4,), "real"), "background": B},
            {"target": Data("mine", Stored(torch.from_numpy(A) + 1), (4,), "real"), "background": B},
        )
    ]
    assert prints[0] == prints[1] and len(set(prints)) == 5 and all(prints)
    assert open_data({"a": "sprites:pixels=16", "b": "sprites:pixels=16,shapes=2"}).fingerprint == ""


def test_one_name_opens_the_whole_again(tmp_path):
    np.save(tmp_path / "salt & pepper.npy", A)
    np.save(tmp_path / "b.npy", B)
    data = open_data({"target": str(tmp_path / "salt & pepper.npy"), "background": tmp_path / "b.npy"})
    again = open_data(data.name)
    assert again.name == data.name and again.fingerprint == data.fingerprint and again.groups == data.groups
    assert data.name == f"target={tmp_path}/salt & pepper.npy & background={tmp_path}/b.npy"
    name = (
        "one=sprites:pixels=16,positions=4,orientations=2 & two=sprites:shapes=1,positions=8,orientations=2,pixels=16"
    )
    data = open_data(name)
    assert open_data(data.name).name == data.name and "two=sprites:shapes=1" in data.name


def test_rendered_and_stored_together():
    pictures = RANDOM.integers(0, 256, (40, 16, 16), np.uint8)
    data = open_data({"one": "sprites:pixels=16,positions=4,orientations=2", "two": pictures})
    assert isinstance(data.source, Chained) and data.pixels == "unit" and data.values is None
    count = len(data.member("one"))
    rows = torch.tensor([[0, count + 3], [count, 5]])
    drawn = data.draw(rows)
    assert drawn.shape == (2, 2, 1, 16, 16)
    torch.testing.assert_close(drawn[0, 1], torch.from_numpy(pictures[3:4]) / 255)
    torch.testing.assert_close(drawn[1, 1], data.member("one").draw(torch.tensor(5)))
    assert data.member("one").factors and not data.member("two").factors
    labels = labels_of(data, torch.tensor([0, count]))
    assert [factor.name for factor in labels] == ["shape", "scale", "orientation", "x", "y"]
    assert all(values[0] == 0 and values[1].isnan() for values in labels.values())


def test_the_same_factors_stay():
    name = "linear_square:samples=50"
    data = open_data({"a": name, "b": f"{name},seed=1"})
    assert [factor.name for factor in data.factors] == ["w1", "w2"]
    rows = data.rows_of("b")[torch.tensor([3, 4])]
    assert torch.equal(data.factor_values(rows), data.member("b").factor_values(torch.tensor([3, 4])))


def test_pixels_fall_to_the_widest():
    bits = RANDOM.integers(0, 2, (20, 8, 8), np.uint8)
    grey = RANDOM.random((20, 8, 8)).astype(np.float32)
    assert open_data({"a": bits, "b": bits}).pixels == "binary"
    assert open_data({"a": bits, "b": grey}).pixels == "unit"
    wide = open_data({"a": grey, "b": grey * 3})
    assert wide.pixels == "real" and wide.notes[0].startswith("b: the pixels of array lie in")


def table(path, count=60, header="u,v,condition,factor:dose"):
    rows = [f"{i},{i / 7},{('ctrl', 'stim', 'sham')[i % 3]},{i % 2}" for i in range(count)]
    path.write_text("\n".join([header, *rows]))
    return path


@pytest.mark.parametrize("header", ["u,v,condition,factor:dose", "u,v,factor:condition:category,factor:dose"])
def test_a_column_says_which(tmp_path, header):
    path = table(tmp_path / "cells.csv", header=header)
    data = open_data(f"{path}:group=condition,background=ctrl")
    assert data.groups == ("sham", "stim", "background") and data.name == f"{path}:group=condition,background=ctrl"
    assert [factor.name for factor in data.factors] == ["dose"] and isinstance(data.source, Picked)
    assert data.member("background").draw(torch.arange(3))[:, 0].tolist() == [0, 3, 6]
    assert data.draw(data.rows_of("stim"))[:2, 0].tolist() == [1, 4]
    assert data.member("stim").factor_values(torch.arange(2)).tolist() == [[1], [0]]
    again = open_data(data.name)
    assert torch.equal(again.rows("test"), data.rows("test")) and again.fingerprint == data.fingerprint
    some = open_data(f"{path}:group=condition,background=ctrl,target=stim")
    assert some.groups == ("stim", "background") and len(some) == 40
    domains = open_data(f"{path}:group=condition,target=stim+ctrl")
    assert domains.groups == ("stim", "ctrl")
    assert domains.name == f"{path}:group=condition,target=stim+ctrl"


def test_a_factor_of_any_data_says_which():
    data = open_data("sprites:pixels=16,positions=4,orientations=2,group=shape,background=2")
    assert data.groups == ("0", "1", "background")
    assert [factor.name for factor in data.factors] == ["scale", "orientation", "x", "y"]
    assert open_data(data.name).name == data.name
    whole = open_data("sprites:pixels=16,positions=4,orientations=2")
    hearts = whole.draw((whole.values[:, 0] == 2).nonzero()[:, 0])
    torch.testing.assert_close(everything(data.member("background")), hearts)


def test_values_with_a_plus(tmp_path):
    values = np.array(["CD4+ T", "CD8+ T", "B"] * 10)
    np.savez(tmp_path / "x.npz", x=A[:30], factors=values, factor_names=["type"])
    data = open_data(f"{tmp_path}/x.npz:group=type,background=B,target=CD8+ T+CD4+ T")
    assert data.groups == ("CD8+ T", "CD4+ T", "background") and not data.factors and data.values is None


def test_numbers_keep_their_names(tmp_path):
    np.savez(tmp_path / "x.npz", x=A[:30], factors=np.array([5, 10, 1_500_000] * 10), factor_names=["dose"])
    assert open_data(f"{tmp_path}/x.npz:group=dose,background=5").groups == ("10", "1500000", "background")


def test_members_of_a_data_set_of_ones_own():
    data = join({"target": open_data(A), "background": open_data(B)}, "mine:size=3")
    assert data.name == "mine:size=3" and data.member("background").name == "array"


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"target": A, "background": B[:, :3]},
         r"groups must have one shape: target has samples of shape \(4,\), background has samples of shape \(3,\)"),
        ({"target": A, "background": B[:0]}, r"background: array has shape \(0, 4\)"),
        ({"target": A, "background": B[:1]}, "background: array has 1 samples: at least 10 are needed"),
        ({"target": A, "background": Data("few", Stored(torch.ones(3, 4)), (4,))}, "group background has 3 samples: at least 10"),
        ({"target": A, "background": B * np.nan}, "background: array: 100 values are NaN or infinite, the first at"),
        ({"target": A}, r"one group only \(target\): at least two"),
        ({}, r"one group only \(none\)"),
        ({"a b": A, "c": B}, "group 'a b': a group is named by letters"),
        ({1: A, "c": B}, "group 1: a group is named by letters"),
        ({"a": {"b": A, "c": B}, "d": B}, r"a=b=array & c=array has groups of its own \(b, c\)"),
        ({"target": "sprits", "background": B}, "target: unknown data set 'sprits': did you mean 'sprites'"),
        ("a=linear_square & a=linear_square", "two groups are called a"),
        ("{table}:group=conditon", "unknown column of .*cells.csv 'conditon': did you mean 'condition'"),
        ("{table}:group=condition,background=control", "unknown value of condition 'control': did you mean 'ctrl'"),
        ("{table}:group=condition,background=ctrl,target=stm", "unknown value of condition 'stm': did you mean 'stim'"),
        ("{table}:group=condition,background=ctrl,target=ctrl+stim", "background=ctrl: must be one value of condition that is no target"),
        ("{table}:group=condition,target=stim", r"one group only \(condition=stim\)"),
        ("{table}:group=condition,hold_out=dose0", "hold_out cannot be combined with group"),
        ("{table}:background=ctrl", "background=ctrl: say which column, as in group=COLUMN,background=ctrl"),
        ("{table}:grup=condition", "no such file|unknown"),
        ("linear_square:group=w1", "w1 is continuous; groups need a factor with few values"),
        ("linear_square:group=w3", "unknown factor of linear_square 'w3': did you mean 'w1'|'w2'"),
        ("{bare}:group=condition", "has no factors: group=condition needs a factor, or a column of a .csv file"),
        ("{short}:group=condition", "group ctrl has 7 samples: at least 10"),
        ("{one}:group=u", r"one group only \(u=7\)"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(what, message, tmp_path):
    if isinstance(what, str):
        np.save(tmp_path / "bare.npy", A)
        (tmp_path / "one.csv").write_text("u,v\n" + "\n".join(f"7,{i}" for i in range(20)))
        paths = {"table": table(tmp_path / "cells.csv"), "short": table(tmp_path / "short.csv", 20)}
        what = what.format(bare=tmp_path / "bare.npy", one=tmp_path / "one.csv", **paths)
    with pytest.raises(UserError, match=message) as caught:
        open_data(what)
    assert "\n" not in str(caught.value)


def test_groups_that_are_not_there():
    data = open_data({"target": A, "background": B})
    for ask in (data.member, data.rows_of, open_data(A).member):
        with pytest.raises(UserError, match="unknown group of"):
            ask("targt")


def test_spelling():
    assert apart("target=a.npy & background=b:c=1,d=2") == {"target": "a.npy", "background": "b:c=1,d=2"}
    assert not apart("sprites:pixels=16") and not apart("target=a.npy") and not apart("salt & pepper.npy")
    assert apart(joined({"x": "salt & pepper/", "y": "b"})) == {"x": "salt & pepper/", "y": "b"}
    assert slug("target=/far/away/cases.npy & background=controls.npy:group=x") == "cases-controls"
    assert slug("sprites:pixels=16") == "sprites" and slug("./far/my photos.npz") == "my_photos"
    assert in_short("target=cases.npy & background=sprites:pixels=3") == "cases.npy against sprites"
    assert in_short("a=mnist & b=fashion_mnist") == "mnist and fashion_mnist" and in_short("mnist:x=1") == "mnist"
    assert from_options(["a.npy"], ["b.npy"], []) == "target=a.npy & background=b.npy"
    assert (
        from_options(["x/a.npy", "background.npy"], ["b"], [])
        == "a=x/a.npy & background_1=background.npy & background=b"
    )
    assert (
        from_options([], [], ["mnist", "sprites", "mnist:a=1"]) == "mnist_1=mnist & sprites=sprites & mnist_2=mnist:a=1"
    )
