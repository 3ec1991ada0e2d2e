"""Views: what a batch holds, chosen by what a method needs; runs of groups from training to report."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import unbraid
from unbraid import catalog
from unbraid.cli import main
from unbraid.data import open_data
from unbraid.encoding import at_hand, scored_rows, with_factors
from unbraid.errors import UserError
from unbraid.methods.vae import VAE
from unbraid.networks import open_net
from unbraid.streams import Streams
from unbraid.studies import read_study
from unbraid.views import view_of
from unbraid.workers import apart

CPU = torch.device("cpu")
CONTRAST, DOMAINS = (str(Path(__file__).parent / "own" / f"tiny_{name}.py") for name in ("contrast", "domains"))
SMALL = {"net": "linear", "batch_size": 16, "steps": 40, "progress": False, "device": "cpu"}
LARGE, LESS = "linear_square:samples=600", "linear_square:samples=300,seed=1"
PAIR = {"target": LARGE, "background": LESS}
THREE = {"a": LARGE, "b": LESS, "c": "linear_square:samples=200,seed=2"}


def method_with(needs, **attributes):
    method = VAE(open_net("linear", (3,), "real"), 2)
    for name, value in {"needs": needs, **attributes}.items():
        setattr(method, name, value)
    return method


def batches(data, method, size, steps=20, seeds=(0,), stacked=False):
    view = view_of(method, data, size, "mine")
    streams = Streams(seeds, view.pools(), size, method.noise, CPU, uniforms=view.uniforms, stacked=stacked)
    return view, [view.batch(streams.at(step)) for step in range(steps)]


def rows_in(data, samples):
    """The row that each sample is."""
    return torch.cdist(samples, data.draw(torch.arange(len(data)))).argmin(-1)


def test_every_view_says_what_it_gives():
    for name in catalog.names("views"):
        view = catalog.load("views", name)
        assert catalog.entry("views", name).summary and view.gives[0] == "x"


def test_single_samples_of_grouped_data_are_of_all_groups():
    data = open_data(THREE)
    view, found = batches(data, method_with(("x",)), 64)
    assert set(found[0]) == {"x"} and view.samples == len(data.rows("train"))
    seen = rows_in(data, torch.cat([batch["x"] for batch in found]))
    assert np.isin(seen, data.rows("train")).all() and set(data.group[seen].tolist()) == {0, 1, 2}


def test_contrast_has_equally_many_of_both_whatever_their_sizes():
    data = open_data({"one": LARGE, "background": LESS, "two": THREE["c"]})
    view, found = batches(data, method_with(("x", "background", "noise")), 64)
    x, background = (rows_in(data, torch.cat([batch[entry] for batch in found])) for entry in ("x", "background"))
    assert all(batch[entry].shape == (64, 3) for batch in found for entry in ("x", "background"))
    assert set(data.group[x].tolist()) == {0, 2} and set(data.group[background].tolist()) == {1}
    assert np.isin(torch.cat([x, background]), data.rows("train")).all()
    assert view.samples == 480 + 160


@pytest.mark.parametrize("mixed", [False, True])
def test_domains_know_where_samples_come_from(mixed):
    data = open_data(THREE)
    _, found = batches(data, method_with(("x", "domain"), mixed=mixed), 64, steps=30)
    for batch in found:
        assert batch["domain"].dtype == torch.int64 and batch["x"].shape == (64, 3)
        assert torch.equal(data.group[rows_in(data, batch["x"])], batch["domain"])
    shares = [torch.bincount(batch["domain"], minlength=3).tolist() for batch in found]
    if mixed:
        mean = torch.tensor(shares).double().mean(0) / 64
        torch.testing.assert_close(mean, torch.tensor([600, 300, 200]).double() / 1100, atol=0.05, rtol=0)
    else:
        assert shares == [[22, 21, 21]] * 30


@pytest.mark.parametrize("needs", [("x",), ("x", "background"), ("x", "domain")])
def test_batches_depend_on_seed_and_step_alone(needs):
    data = open_data(PAIR)
    method = method_with(needs)
    alone, again = (batches(data, method, 8, seeds=(3,))[1] for _ in range(2))
    company = batches(data, method, 8, seeds=(1, 3), stacked=True)[1]
    for one, same, several in zip(alone, again, company, strict=True):
        for entry in needs:
            assert torch.equal(one[entry], same[entry]) and torch.equal(one[entry], several[entry][1])
            assert entry == "domain" or not torch.equal(one[entry], several[entry][0])


@pytest.mark.parametrize(
    ("needs", "data", "size", "words"),
    [
        (("x", "background"), LARGE, 8, r"mine needs a background: give it as --target A --background B, in Python .*, or name a column"),
        (("x", "background"), THREE, 8, r"needs a background: .* \(the groups here are a, b, c\)"),
        (("x", "domain"), LARGE, 8, "mine needs domains: give them as --domain A --domain B, or name a column"),
        (("x", "domain"), THREE, 2, "batch_size=2: at least one sample of each of 3 domains"),
        (("x", "domian"), THREE, 8, "unknown entry of a batch that mine needs 'domian': did you mean 'domain'"),
        (("background", "domain"), PAIR, 8, "background and domain, which no one view of data gives together"),
    ],
)  # fmt: skip
def test_data_that_cannot_give_it(needs, data, size, words):
    with pytest.raises(UserError, match=words) as error:
        view_of(method_with(needs), open_data(data), size, "mine")
    assert "\n" not in str(error.value)


def test_a_method_made_for_other_domains():
    method = method_with(("x", "domain"), domains=("a", "b"))
    with pytest.raises(UserError, match=r"made for 2 domains \(a, b\), the data have 3 \(a, b, c\)"):
        view_of(method, open_data(THREE), 8, "mine")


def weights(run):
    return load_file(run.path / "weights.safetensors")


@pytest.mark.parametrize(("method", "data"), [(CONTRAST, PAIR), (DOMAINS, THREE), ("vae", PAIR)])
def test_an_ensemble_is_its_seeds(method, data, tmp_path):
    together = unbraid.train(method, data, seeds=3, out=tmp_path / "together", **SMALL)
    alone = unbraid.train(method, data, seed=2, out=tmp_path / "alone", **SMALL)
    assert together.path.name == alone.path.parent.name
    mine, theirs = weights(together.members[2]), weights(alone)
    assert all(torch.allclose(mine[name], theirs[name], atol=1e-4) for name in theirs)
    assert alone.config["groups"] == list(data) and alone.config["data"] == open_data(data).name


def test_the_run_of_a_mapping_is_the_run_of_its_name(tmp_path):
    one = unbraid.train(CONTRAST, PAIR, out=tmp_path, **SMALL)
    other = unbraid.train(CONTRAST, f"target={LARGE} & background={LESS}", out=tmp_path, **SMALL)
    assert one.path == other.path and one.path.parent.name.startswith("tiny_contrast-linear_square-linear_square-")
    again = unbraid.load_run(one.path)
    assert again.data.groups == ("target", "background") and again.data.name == one.config["data"]
    assert type(again.method).__name__ == "TinyContrast"


def test_domains_are_told_and_are_no_option(tmp_path):
    run = unbraid.train(DOMAINS, THREE, shared=2, out=tmp_path, **SMALL)
    assert run.method.latents == 5 and list(run.method.blocks) == ["private/a", "private/b", "private/c", "shared"]
    assert run.config["options"] == {"shared": 2, "batches": "balanced"}
    assert unbraid.load_run(run.path).method.domains == ("a", "b", "c")
    with pytest.raises(UserError, match=r"unknown option of .*tiny_domains.py 'domains'"):
        unbraid.train(DOMAINS, THREE, domains=("a",), out=tmp_path, **SMALL)
    with pytest.raises(UserError, match="needs domains: give them as --domain A --domain B"):
        unbraid.train(DOMAINS, LARGE, out=tmp_path, **SMALL)
    mixed = unbraid.train(DOMAINS, THREE, shared=2, batches="mixed", out=tmp_path, **SMALL)
    assert mixed.path != run.path
    kind = type(run.method)
    given = kind(open_net("linear", (3,), "real"), domains=("a", "b", "c"))
    assert unbraid.train(given, THREE, out=tmp_path, **{**SMALL, "net": "auto"}).status == "finished"


def test_seeds_that_cannot_be_stacked_get_groups_by_name(tmp_path):
    small = {"net": "conv", "steps": 2, "batch_size": 4, "out": tmp_path, "progress": False, "device": "cpu"}
    name = "sprites:pixels=16,positions=4,orientations=2,group=shape,background=0"
    run = unbraid.train(CONTRAST, name, seeds=2, processes=2, **small)
    assert [member.status for member in run.members] == ["finished"] * 2
    assert run.config["groups"] == ["1", "2", "background"] and open_data(run.config["data"]).name == run.config["data"]
    parts = apart([{"method": DOMAINS, "data": f"a={LARGE} & b={LESS}", "net": "linear", "seeds": [0, 1]}])
    assert [part["seeds"] for part in parts] == [[0, 1]]


@pytest.fixture(scope="module")
def contrast(tmp_path_factory):
    """A run whose background has no factors."""
    folder = tmp_path_factory.mktemp("contrast")
    np.save(folder / "behind.npy", np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32))
    data = {"target": "linear_square:samples=1000", "background": folder / "behind.npy"}
    return unbraid.train(CONTRAST, data, seeds=2, out=folder, **SMALL)


def test_evaluation_knows_groups_and_blocks(contrast):
    run = contrast.members[0]
    results = unbraid.evaluate(run)
    codes = np.load(run.path / "codes.npz")
    group = codes["group"]
    assert codes["groups"].tolist() == ["target", "background"] and np.bincount(group).tolist() == [100, 50]
    assert results["groups"] == {"target": 100, "background": 50}
    assert results["part"] == "test" and results["scores"]["mig"] and len(codes["rows"]) == 150
    assert [factor["name"] for factor in results["factors"]] == ["w1", "w2"]
    assert np.isnan(codes["factors"][group == 1]).all() and np.isfinite(codes["factors"][group == 0]).all()
    assert results["notes"] == ["scores against factors are of target: background has none of these factors"]


def test_what_a_measure_may_ask_for(contrast):
    run = contrast.members[0]
    data = run.data
    rows, part = scored_rows(data, 10_000)
    given = at_hand(run, data, rows)
    assert part == "test" and given["groups"] == ("target", "background") and set(given["group"]) == {0, 1}
    assert given["blocks"] == {"common": slice(0, 2), "salient": slice(2, 4)} and given["codes"].shape == (150, 4)
    assert [factor.name for factor in given["labels"]] == ["w1", "w2"] and "factors" not in given
    known, said = with_factors(given, data)
    assert known["codes"].shape == (100, 4) and known["factors"].shape == (100, 2) and len(said) == 1
    of_target = given["group"] == 0
    for column, values in zip(known["factors"].T, given["labels"].values(), strict=True):
        np.testing.assert_array_equal(column, values[of_target])
        assert np.isnan(values[~of_target]).all()
    rows, part = scored_rows(open_data({"a": np.ones((60, 2)), "b": np.zeros((60, 2))}), 30)
    assert part == "all" and 0 < (rows >= 60).sum() < 30


def test_domains_of_one_kind_are_scored_together(tmp_path):
    results = unbraid.evaluate(unbraid.train(DOMAINS, THREE, out=tmp_path, **SMALL), metrics=["mig", "active_units"])
    assert results["samples"] == 110 and not results["notes"]


def test_blocks_of_codes(contrast):
    x = np.ones((7, 3), np.float32)
    for run, shape in ((contrast, (2, 7, 4)), (contrast.members[0], (7, 4))):
        codes = run.encode(x)
        assert codes.shape == shape
        np.testing.assert_array_equal(run.encode(x, block="salient"), codes[..., 2:])
    with pytest.raises(UserError, match=r"unknown block of .* 'salent': did you mean 'salient'"):
        contrast.encode(x, block="salent")


def test_pictures_of_all_groups_and_a_report(tmp_path, capsys):
    draw = np.random.default_rng(0)
    for name, count in (("cases", 600), ("controls", 500)):
        np.save(tmp_path / f"{name}.npy", draw.integers(0, 255, (count, 8, 8), np.uint8))
    words = [
        "--target",
        tmp_path / "cases.npy",
        f"--background={tmp_path / 'controls.npy'}",
        "--out",
        tmp_path / "runs",
    ]
    small = ["--net", "mlp:encoder=8,decoder=8", "--steps", "30", "--probe-every", "10", "--device", "cpu"]
    assert main(["train", CONTRAST, *map(str, words), *small]) == 0
    run = capsys.readouterr().out.strip()
    assert Path(run).parent.name.startswith("tiny_contrast-cases-controls-")
    assert main(["evaluate", run, "--json"]) == 0 and main(["report", run]) == 0
    page = Path(run, "report.html").read_text()
    assert "cases.npy against " in page and (Path(run) / "pictures.npz").is_file()
    assert json.loads(Path(run, "results.json").read_text())["samples"] == 110


def test_domains_on_the_command_line(tmp_path, capsys):
    words = ["train", DOMAINS, "--domain", LARGE, "--domain", LESS, "--shared", "2", "--net", "linear", "--steps", "5"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    run = unbraid.load_run(capsys.readouterr().out.strip())
    assert list(run.method.blocks) == ["private/linear_square_1", "private/linear_square_2", "shared"]
    assert main(["train", DOMAINS, "--domain", LARGE, "--domain", LESS, "--help"]) == 0
    assert "--domains" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ([CONTRAST, LARGE], f"{CONTRAST} needs a background: give it as --target A --background B"),
        ([DOMAINS, LARGE], f"{DOMAINS} needs domains: give them as --domain A --domain B"),
        ([CONTRAST, "--target", LARGE], f"--target {LARGE} has nothing behind it: give --background once"),
        ([CONTRAST, "--background", LARGE], f"--background {LARGE}: against which target? Give --target too"),
        ([CONTRAST, "--target", LARGE, "--background", LESS, "--background", LARGE], "2 backgrounds: give --background once"),
        ([CONTRAST, "--target"], "--target needs a value"),
        ([CONTRAST, LARGE, "--target", LARGE, "--background", LESS], "--target, --background and --domain stand for DATA"),
        ([CONTRAST, "--target", LARGE, "--background", "sprites:pixels=16"], "groups must have one shape: target has samples of shape (3,), background has samples of shape (1, 16, 16)"),
        ([DOMAINS, "--domain", LARGE], f"--domain {LARGE} is one domain only: give --domain at least twice"),
        ([DOMAINS, "--domain", LARGE, "--background", LESS], "give either --domain or --target and --background"),
        ([DOMAINS, "--domian", LARGE, LESS], "unknown option '--domian': did you mean '--domain'"),
        ([DOMAINS, "--domain", LARGE, "--domain", "nowhere.npy"], "nowhere: no such file or folder: nowhere.npy"),
    ],
)  # fmt: skip
def test_mistakes_on_the_command_line_are_one_line(words, answer, capsys, tmp_path):
    assert main(["train", *words, "--net", "linear", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("unbraid: ") and said.count("\n") == 1 and answer in said


def test_a_study_of_groups(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(f"method: {CONTRAST}\ndata: {{target: {LARGE}, background: '{LESS}'}}\nweight: [1, 2]\n")
    jobs, _ = read_study(path)
    assert [job["data"] for job in jobs] == [f"target={LARGE} & background={LESS}"] * 2
