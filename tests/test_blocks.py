"""Blocks of a code: which are silent, what rows are called, and what evaluation and training keep of them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import unbraid
from unbraid import block_distances, transport
from unbraid.block_maps import block_maps
from unbraid.blocks import sorts, speaking
from unbraid.cli import main
from unbraid.data import open_data
from unbraid.factors import Factor
from unbraid.methods.zero_salient_vae import ZeroSalientVAE
from unbraid.networks import open_net
from unbraid.report import write_report

DIGIT = Factor("digit", 3, "category", ("zero", "one", "two"))
GROUPS = ("background", "target")
SMALL = {"net": "mlp:encoder=8,decoder=8", "progress": False, "device": "cpu"}


def method(**own: object) -> SimpleNamespace:
    return SimpleNamespace(blocks={"common": slice(0, 2), "salient": slice(2, 5)}, latents=5, **own)


def test_silent_blocks_are_zero_or_what_the_method_puts_there():
    codes = torch.arange(10.0).view(2, 5) + 1
    assert speaking(method(), codes, ["common"]).tolist() == [[1, 2, 0, 0, 0], [6, 7, 0, 0, 0]]
    assert speaking(method(), codes, ["salient"]).tolist() == [[0, 0, 3, 4, 5], [0, 0, 8, 9, 10]]
    torch.testing.assert_close(speaking(method(), codes, ["common", "salient"]), codes)
    learned = method(absent=lambda codes: torch.full((len(codes), 3), -1.0))
    assert speaking(learned, codes, ["common"])[0].tolist() == [1, 2, -1, -1, -1]
    assert speaking(learned, codes, ["salient"])[0].tolist() == [0, 0, 3, 4, 5]


def test_background_alone_is_decoded_without_a_salient_code():
    contrastive = ZeroSalientVAE(open_net("linear", (5,), "real"), 2, 3)
    assert contrastive.heard("background") == ["common"] and contrastive.heard("target") == ["common", "salient"]


def test_rows_are_called_by_class_and_background_is_one():
    group = np.repeat([0, 1], 30)
    digit = np.where(group == 1, np.arange(60) % 3, np.nan)
    digit[59] = np.nan
    found = sorts({DIGIT: digit}, group, GROUPS)
    assert (found.by, found.names, found.background) == ("digit", ("zero", "one", "two", "background"), 3)
    assert set(found.number[:30]) == {3} and found.number[30:33].tolist() == [0, 1, 2] and found.number[59] == -1


@pytest.mark.parametrize("labels", [
    {},
    {Factor("place", 0, "continuous"): np.linspace(0, 1, 60)},
    {DIGIT: np.arange(60) % 3.0},  # background has it too
    {DIGIT: np.where(np.arange(60) < 30, np.nan, np.arange(60))},  # more classes than colours
])  # fmt: skip
def test_rows_are_called_by_group_where_no_label_is_fit(labels):
    found = sorts(labels, np.repeat([0, 1], 30), GROUPS)
    assert (found.by, found.names) == ("group", ("target", "background")) and found.number.tolist() == [1] * 30 + [
        0
    ] * 30
    domains = sorts(labels, np.repeat([0, 1], 30), ("a", "b"))
    assert (domains.names, domains.background) == (("a", "b"), None) and domains.number.tolist() == [0] * 30 + [1] * 30


def test_maps_have_as_many_of_each_group_and_latents_themselves_where_there_are_two():
    draw = np.random.default_rng(0)
    given = {
        "mean": draw.normal(size=(500, 5)), "group": (np.arange(500) < 120).astype(int), "groups": GROUPS,
        "blocks": {"common": slice(0, 2), "salient": slice(2, 5), "none": slice(5, 5)},
    }  # fmt: skip
    found = block_maps(given, samples=200)
    assert {name for name in found if name.startswith("map/")} == {"map/common", "map/salient"}
    assert found["map/salient"].shape == (200, 2) and np.bincount(found["sort"]).tolist() == [100, 100]
    rows = {tuple(row) for row in given["mean"][:, :2].astype(np.float32)}
    assert all(tuple(row) in rows for row in found["map/common"])
    again = block_maps(given, samples=200)
    assert all(np.array_equal(found[name], again[name]) for name in found), "the same seed draws the same map"
    assert block_maps({**given, "group": given["group"][:60], "mean": given["mean"][:60]}) == {}


def test_a_map_separates_a_background_that_is_silent():
    draw = np.random.default_rng(0)
    group = np.arange(300) % 2
    mean = np.where(group[:, None] == 1, draw.normal(size=(300, 3)) + 8, 0.01 * draw.normal(size=(300, 3)))
    found = block_maps({"mean": mean, "group": group, "groups": GROUPS, "blocks": {"salient": slice(0, 3)}})
    places, behind = found["map/salient"], found["sort"] == 1
    centres = [places[mask].mean(0) for mask in (behind, ~behind)]
    assert np.square(places[behind] - centres[0]).sum(1).mean() < np.square(centres[0] - centres[1]).sum()


def test_distances_are_those_of_the_codes():
    draw = np.random.default_rng(1)
    mean = draw.normal(size=(80, 3))
    mean[40:, 0] += 5
    found = block_distances.distances({"a": slice(0, 1), "b": slice(1, 3)}, mean, np.zeros_like(mean), 2)
    assert found["a"] == pytest.approx(transport.squared_w2(mean[:20, :1], mean[40:60, :1]))
    floors = [transport.squared_w2(part[:20, 1:], part[20:, 1:]) for part in (mean[:40], mean[40:])]
    assert found["b floor"] == pytest.approx(np.mean(floors)) and found["a"] > 10 * found["a floor"]


@pytest.fixture(scope="module")
def squares():
    return open_data({"target": "linear_square:samples=1000", "background": "linear_square:samples=900,seed=1"})


def distances(run) -> list[dict[str, float]]:
    return [row["distances"] for row in run.history if "distances" in row]


def test_training_watches_distances_of_a_method_that_has_no_such_term(squares, out):
    given = {**SMALL, "steps": 30, "probe_every": 10, "common": 2, "salient": 1}
    both = unbraid.train("cvae", squares, seeds=2, out=out / "both", **given)
    alone = unbraid.train("cvae", squares, seed=1, out=out / "alone", **given)
    ours, theirs = distances(both.members[1]), distances(alone)
    assert len(ours) == 3 and set(ours[0]) == {"common", "common floor", "salient", "salient floor"}
    for stacked, single in zip(ours, theirs, strict=True):
        assert stacked == pytest.approx(single, rel=1e-4)
    assert distances(both.members[0]) != ours


def test_nothing_to_watch_without_blocks_or_groups(squares, square, out):
    for data in (squares, square):
        assert not distances(unbraid.train("vae", data, steps=10, probe_every=5, latents=2, out=out, **SMALL))
    few = open_data({"target": "linear_square:samples=1000", "background": "linear_square:samples=50,seed=1"})
    assert block_distances.sides(few, method()) == {}  # type: ignore[arg-type]
    found = block_distances.sides(squares, method())  # type: ignore[arg-type]
    assert {name: len(rows) for name, rows in found.items()} == {"target": 90, "background": 90}
    for name, rows in found.items():
        assert {squares.groups[int(number)] for number in squares.group[rows]} == {name}


def test_domains_are_compared_in_pairs(out):
    """Blocks of any name, over groups none of which is a background."""
    data = open_data({"a": "linear_square:samples=600", "b": "linear_square:samples=600,seed=1"})
    own = str(Path(__file__).parent / "own/tiny_domains.py")
    run = unbraid.train(own, data, steps=10, probe_every=5, out=out, **SMALL)
    assert set(distances(run)[0]) >= {"private/a", "private/b", "shared", "shared floor"}
    unbraid.evaluate(run)
    with np.load(run.path / "maps.npz") as maps:
        assert {"map/private/a", "map/shared"} <= set(maps.files) and maps["sorts"].tolist() == ["a", "b"]
    assert "Maps of the code" in write_report([run.path], out / "report.html").read_text()


def test_pictures_maps_and_report_of_images(out, tmp_path):
    draw = np.random.default_rng(0)
    data = {name: draw.random((count, 1, 8, 8), np.float32) for name, count in (("target", 700), ("background", 600))}
    run = unbraid.train("w2_vae", data, steps=20, probe_every=5, common=3, salient=3, out=out, **SMALL)
    unbraid.evaluate(run, metrics="salient_silence")
    assert not (run.path / "maps.npz").exists(), "who asks for one score does not wait for maps"
    with np.load(run.path / "pictures.npz") as held:
        pictures = dict(held)
    unbraid.evaluate(run)
    assert (run.path / "maps.npz").exists()
    unbraid.evaluate(run, metrics=["salient_silence"])
    assert (run.path / "maps.npz").exists(), "maps of the same samples are kept"
    assert pictures["block_sets"].tolist() == ["original", "all of the code", "common alone", "salient alone"]
    assert pictures["blocks"].shape == (4, 10, 1, 8, 8) and pictures["groups"].shape == (2, 2, 10, 1, 8, 8)
    rows = np.load(run.path / "codes.npz")["rows"]
    group = run.data.group[rows].numpy()
    first = {name: rows[group == at][0] for at, name in enumerate(run.data.groups)}
    assert pictures["group_names"].tolist() == ["target", "background"]
    for place, name in enumerate(("target", "background")):
        original = run.data.draw(torch.tensor([first[name]]))
        np.testing.assert_allclose(pictures["groups"][place, 0, 0], original[0])
        codes = run.encode(original.numpy())
        if name == "background":
            codes[:, 3:] = 0
        np.testing.assert_allclose(pictures["groups"][place, 1, 0], run.decode(codes)[0], atol=1e-5)
    grid = pictures["between/salient"]
    assert grid.shape == (6, 6, 1, 8, 8) and not {"between/common", "originals"} & set(pictures)
    np.testing.assert_allclose(grid[0, 0], pictures["blocks"][1, 0], atol=1e-5)
    ends = run.encode(pictures["blocks"][0, [0, -1]])  # of targets without classes the last is the other
    ends[0, 3:] = ends[1, 3:]
    np.testing.assert_allclose(grid[-1, -1], run.decode(ends)[0], atol=1e-5)
    assert json.loads((run.path / "results.json").read_text())["blocks"] == {"common": [0, 3], "salient": [3, 6]}
    page = write_report([run.path], tmp_path / "report.html").read_text()
    for part in ("maps", "blocks", "groups", "between", "traversals"):
        assert f'id="{part}"' in page, part
    assert "W2² between groups, common" in page


def test_a_table_with_groups(out, tmp_path, capsys):
    draw = np.random.default_rng(0)
    lines = ["factor:state:category,a,b,c"]
    lines += [
        f"{'ill' if at % 2 else 'well'},{','.join(f'{v:.3f}' for v in draw.normal(size=3))}" for at in range(1200)
    ]
    (tmp_path / "cells.csv").write_text("\n".join(lines))
    words = ["train", "zero_salient_vae", f"{tmp_path / 'cells.csv'}:group=state,background=well", "--common", "2",
             "--salient", "1", "--net", "linear", "--steps", "10", "--out", str(out)]  # fmt: skip
    assert main(words) == 0
    run = capsys.readouterr().out.strip()
    assert main(["evaluate", run]) == 0 and main(["report", run]) == 0
    assert (Path(run) / "maps.npz").exists() and not (Path(run) / "pictures.npz").exists()
    page = (Path(run) / "report.html").read_text()
    assert "its two latents" in page and "coloured by group" in page and 'id="blocks"' not in page


def test_axes_alone_have_one_block(out):
    draw = np.random.default_rng(0)
    data = {name: draw.random((600, 1, 6, 6), np.float32) for name in ("target", "background")}
    run = unbraid.train("cpca", data, steps=5, latents=2, out=out, **SMALL)
    unbraid.evaluate(run, metrics="salient_silence")
    with np.load(run.path / "pictures.npz") as pictures:
        assert pictures["block_sets"].tolist() == ["original", "all of the code"]
        assert pictures["between/salient"].shape[:2] == (6, 6)
    for few in (2, 3):  # of which all may be of one group
        unbraid.evaluate(run, metrics="gaussian_total_correlation", samples=few)
