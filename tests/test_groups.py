"""Data in groups: joined or split, under one name that opens them again, and every mistake in one line."""

import json

import numpy as np
import pandas
import pytest
import torch

import unbraid
from unbraid.cli import main
from unbraid.data import Data, Stored, open_data
from unbraid.errors import UserError
from unbraid.groups import Chained, Picked, join, labels_of
from unbraid.loop import Loop
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


def test_several_targets_are_classes_of_targets():
    data = open_data({"ill": A, "background": B, "worse": A[:20]})
    (target, which) = next(iter(labels_of(data, torch.tensor([0, 60, 85])).items()))
    assert target.labels == ("ill", "worse") and which[[0, 2]].tolist() == [0, 1] and which[1].isnan()
    assert not labels_of(open_data({"target": A, "background": B}), torch.tensor([0]))
    assert not labels_of(open_data({"a": A, "b": B, "c": A}), torch.tensor([0])), "domains, none the background"


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
        ({"target": A, "background": B[:0]}, "background: array has 0 samples: at least 10 are needed"),
        ({"target": A, "background": B[:1]}, "background: array has 1 sample: at least 10 are needed"),
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
        ("{table}:group=condition,background=ctrl,background=stim", "background is given twice, ctrl and stim: give it once"),
        ("{table}:group=condition,background=", "background: give the option a value, as in .*:background=VALUE"),
        ("{table}:group=,background=ctrl", "group: give the option a value, as in .*:group=COLUMN"),
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


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with good and bad files, and a run of good ones."""
    folder = tmp_path_factory.mktemp("files")
    hole = np.where(np.arange(4) == 2, np.nan, B)
    for name, array in {"a": A, "b": B, "narrow": B[:, :3], "none": B[:0], "one": B[:1], "hole": hole}.items():
        np.save(folder / f"{name}.npy", array)
    table(folder / "cells.csv")
    table(folder / "words.csv", header="u,v,condition,factor:dose").write_text(
        "u,condition\n" + "1,\n2,ctrl\n3,stim\n" * 9
    )
    (folder / "dose.csv").write_text("dose\n" + "0\n1\n" * 30)
    (folder / "single.csv").write_text("u,condition\n1,ctrl\n" + "2,stim\n" * 20)
    words = ["--target", "a.npy", "--background", "b.npy", *TINY, "--out", "runs"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["train", "w2_vae", *words]) == 0
        assert main(["train", "vae", "b.npy", *TINY, "--out", "plain"]) == 0
    return folder


TINY = ["--steps", "2", "--batch-size", "8", "--net", "mlp:encoder=8,decoder=8"]
PAIR = "--target a.npy --background"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (f"train w2_vae {PAIR} none.npy", "background: none.npy has 0 samples: at least 10 are needed"),
        ("train w2_vae --target none.npy --background b.npy", "target: none.npy has 0 samples: at least 10"),
        (f"train w2_vae {PAIR} one.npy", "background: one.npy has 1 sample: at least 10 are needed"),
        (f"train w2_vae {PAIR} hole.npy", "background: hole.npy: 25 values are NaN or infinite, the first at (0, 2)"),
        (f"train w2_vae {PAIR} nowhere.npy", "background: no such file or folder: nowhere.npy"),
        (f"train w2_vae {PAIR} sprits", "background: unknown data set 'sprits': did you mean 'sprites'?"),
        ("train w2_vae --target a.npy --bakground b.npy", "unknown option '--bakground': did you mean '--background'?"),
        (f"train {PAIR} b.npy", "train what on what?"),
        ("train cpca cells.csv:group=condition", "(the groups here are ctrl, sham, stim)"),
        ("train clvm --domain a.npy --domain b.npy", "clvm needs a background: give it as --target A --background B"),
        (f"train w2_vae {PAIR} b.npy --salient 0", "salient must be from 1 to 100000, not 0"),
        (f"train cpca {PAIR} b.npy --latents 5", "latents=5: samples of 4 numbers have at most 4 axes"),
        ("train w2_vae cells.csv", "column condition: 'ctrl' is not a number: leave out a column of words"),
        ("train w2_vae cells.csv:group=conditon,background=ctrl", "unknown column of cells.csv 'conditon': did you mean"),
        ("train w2_vae cells.csv:group=condition,background=control", "unknown value of condition 'control': did you mean 'ctrl'?"),
        ("train w2_vae words.csv:group=condition,background=ctrl", "row 2, column condition: is empty (9 of 27 rows are so): drop such rows"),
        ("train w2_vae single.csv:group=condition,background=ctrl", "group background has 1 sample: at least 10"),
        ("train w2_vae nowhere.csv:group=condition,background=ctrl", "no such file or folder: nowhere.csv"),
        ("evaluate runs --data nowhere.npy", "no such file or folder: nowhere.npy"),
        ("evaluate runs --data narrow.npy", "narrow.npy has samples of shape (3,), runs/w2_vae-a-b"),
        ("evaluate runs --metrics comon_w2", "unknown metric 'comon_w2': did you mean 'common_w2'?"),
        ("evaluate plain --metrics common_w2", "common_w2 of plain"),
        ("evaluate plain --metrics label_leakage", "it needs labels, which this run and its data do not have"),
        ("score none.npy dose.csv", "codes must have shape (samples, columns), not (0, 4)"),
        ("score one.npy dose.csv", "codes has a single row; a score needs many samples"),
        ("score hole.npy dose.csv", "hole.npy: 25 values are NaN or infinite"),
        ("score a.npy words.csv", "words.csv: row 2, column condition: is empty"),
        ("report nowhere", "no run at nowhere"),
    ],
)  # fmt: skip
def test_mistakes_of_the_command_are_one_line(words, answer, files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    given = words.split()
    if given[0] in ("evaluate", "report") and given[1] != "nowhere":
        given[1] = str(next((files / given[1]).iterdir()).relative_to(files))
    before = sorted(files.rglob("*"))
    assert main(given + (TINY if given[0] == "train" else [])) == 2
    told = capsys.readouterr()
    assert told.err.startswith("unbraid: ") and told.err.count("\n") == 1 and answer in told.err and not told.out
    assert sorted(files.rglob("*")) == before, "nothing was written"


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (A, "in Python {'target': a, 'background': b}"),
        ({"target": A, "backgrund": B}, "w2_vae needs a background: .*the groups here are target, backgrund"),
        ({"target": A, "background": B[:, :3]}, "groups must have one shape"),
        ({"target": A, "background": None}, "background: cannot read data from a NoneType: give a name, a path, an array"),
        ({"target": A[:, 0], "background": B}, r"target: array has shape \(60,\): give \(samples, features\)"),
        ({"target": A.astype(str), "background": B}, "target: array holds <U32: samples must be real numbers"),
        ([A, B], "cannot read data from a list"),
    ],
)  # fmt: skip
def test_mistakes_in_python_are_one_line(data, answer, tmp_path):
    with pytest.raises(UserError, match=answer) as caught:
        unbraid.train("w2_vae", data, steps=2, out=tmp_path, progress=False)
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())


def test_a_method_has_flags_of_its_own(files, out, monkeypatch, capsys):
    monkeypatch.chdir(files)
    flags = ["--linear-tc", "--joint-code", "false", "--out", str(out)]
    assert main(["train", "cvae", *f"{PAIR} b.npy".split(), *flags, *TINY]) == 0
    options = unbraid.load_run(capsys.readouterr().out.strip()).config["options"]
    assert options["linear_tc"] is True and options["joint_code"] is False


def test_data_frames_are_arrays():
    frames = {"target": pandas.DataFrame(A), "background": pandas.DataFrame(B, columns=list("abcd"))}
    data = open_data(frames)
    np.testing.assert_array_equal(everything(data), np.concatenate([A, B]))
    with pytest.raises(UserError, match="background: table holds object: samples must be real numbers"):
        open_data({**frames, "background": frames["background"].assign(d="x")})


class Cut(Exception):
    pass


@pytest.mark.parametrize(
    ("data", "groups"),
    [
        ("target={0}/a.npy & background={0}/b.npy", ("target", "background")),
        ("ill={0}/a.npy & worse={0}/b.npy & background={0}/b.npy", ("ill", "worse", "background")),
        ("{0}/cells.csv:group=condition,background=ctrl", ("sham", "stim", "background")),
        ({"ill": A, "worse": A[:21] + 1, "background": B}, ("ill", "worse", "background")),
    ],
    ids=["files", "targets", "column", "arrays"],
)
def test_every_way_to_give_groups_from_training_to_report(data, groups, files, out, monkeypatch, capsys):
    """Groups of unequal sizes, more than one of them targets: trained, cut off, resumed, scored and reported."""
    data = data.format(files) if isinstance(data, str) else data
    given = {"steps": 6, "batch_size": 8, "net": "mlp:encoder=8,decoder=8", "save_seconds": 0, "progress": False}
    whole = unbraid.train("w2_vae", data, out=out / "whole", **given)
    real = Loop.batch

    def cut(self, step):
        if step == 4:
            raise Cut
        return real(self, step)

    with monkeypatch.context() as patch:
        patch.setattr(Loop, "batch", cut)
        with pytest.raises(Cut):
            unbraid.train("w2_vae", data, out=out / "cut", **given)
    run = unbraid.train("w2_vae", data, out=out / "cut", **given)
    for name, weight in run.method.state_dict().items():
        assert torch.equal(weight, whole.method.state_dict()[name])
    if isinstance(data, str):
        assert main(["evaluate", str(run.path)]) == 0
    else:
        unbraid.evaluate(run, data)
    results = json.loads((run.path / "results.json").read_text())
    assert tuple(results["groups"]) == groups and sum(results["groups"].values()) == results["samples"]
    assert {"common_w2", "group_leakage", "salient_silence"} <= results["scores"].keys()
    assert ("salient_classification" in results["scores"]) == (len(groups) > 2), "several targets are classes"
    assert main(["report", str(run.path)]) == 0
    assert all(group in (run.path / "report.html").read_text() for group in groups)
