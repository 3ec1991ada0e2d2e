"""The command line as people use it, and as they mistype it: one line, exit code 2, no traceback."""

import json
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

from unbraid.cli import EXAMPLES, main

TINY = "sprites:pixels=16,positions=4,orientations=4"
FAST = ["--net", "mlp:encoder=16,decoder=16", "--latents", "3", "--steps", "40", "--probe-every", "10"]


@pytest.fixture(scope="module")
def group(tmp_path_factory):
    """Two seeds trained by the command, evaluated and reported."""
    out = tmp_path_factory.mktemp("runs")
    assert main(["train", "beta_vae", TINY, *FAST, "--seeds", "2", "--out", str(out)]) == 0
    (found,) = out.iterdir()
    return found


def said(capsys, *words, code=0):
    assert main(list(map(str, words))) == code
    return capsys.readouterr()


def test_the_last_line_of_train_is_the_run_folder(group, capsys):
    out = said(capsys, "train", "beta_vae", TINY, *FAST, "--seeds", "2", "--out", group.parent).out
    assert out.strip().splitlines()[-1] == str(group)
    one = said(capsys, "train", *FAST, "--out", group.parent, "beta_vae", "--seed=1", TINY).out
    assert one.strip() == str(group / "seed-1")


def test_evaluate_and_report(group, capsys, tmp_path):
    rows = json.loads(said(capsys, "evaluate", group, "--json").out)
    assert {"mig", "disentanglement_score", "distance_to_orthogonality"} <= {row["score"] for row in rows}
    assert all(row["seeds"] == 2 for row in rows)
    told = said(capsys, "evaluate", group / "seed-0").out
    assert "ceiling" in told.splitlines()[0] and "mig" in told
    page = said(capsys, "report", group, "--out", tmp_path / "page.html").out.strip()
    assert page == str(tmp_path / "page.html") and "<h1" in (tmp_path / "page.html").read_text()


def test_report_scores_what_was_not_scored(capsys, tmp_path):
    run = said(capsys, "train", "vae", TINY, *FAST, "--out", tmp_path).out.strip()
    assert said(capsys, "report", run).out.strip() == f"{run}/report.html"
    assert json.loads((tmp_path / run / "results.json").read_text())["scores"]["mig"]["ceiling"] > 0.9


def test_score_needs_no_model(capsys, tmp_path):
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 5, (2000, 2))
    np.save(tmp_path / "codes.npy", np.c_[factors + 0.01 * rng.standard_normal((2000, 2)), np.ones(2000)])
    lines = ["shape,size", *(f"{'abcde'[a]},{b}" for a, b in factors)]
    (tmp_path / "factors.csv").write_text("\n".join(lines))
    told = said(capsys, "score", tmp_path / "codes.npy", tmp_path / "factors.csv").out
    assert re.search(r"^mig +(1|0\.9\d*) ", told, re.M) and "! constant code columns [2]" in told
    rows = json.loads(said(capsys, "score", tmp_path / "codes.npy", tmp_path / "factors.csv", "--json").out)
    assert {row["score"] for row in rows} >= {"mig", "disentanglement_score"}
    rows = said(capsys, "score", tmp_path / "codes.npy", tmp_path / "factors.csv", "--metrics", "mig", "--json").out
    assert [row["score"] for row in json.loads(rows)] == ["mig"]
    words = ["--metrics", "mig", "--bootstrap", "20", "--json"]
    (row,) = json.loads(said(capsys, "score", tmp_path / "codes.npy", tmp_path / "factors.csv", *words).out)
    low, high = map(float, row["interval"].split(" to "))
    assert low <= row["value"] <= high and "bootstrap 20" in row["made with"]


@pytest.mark.parametrize("command", [[], *[[name] for name in EXAMPLES if name], ["train", "beta_vae"]])
def test_help_shows_examples(command):
    done = subprocess.run([sys.executable, "-m", "unbraid", *command, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "unbraid " in done.stdout and "usage" in done.stdout.lower()
    assert ("examples:" in done.stdout) or "options of beta_vae" in done.stdout


def test_list(capsys):
    assert {row["kind"] for row in json.loads(said(capsys, "list", "--json").out)} == {
        "methods", "data", "networks", "metrics", "claims"
    }  # fmt: skip
    assert "beta_vae" in said(capsys, "list", "methods").out
    assert "002/table-3.3" in said(capsys, "claims", "list").out


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["trian"], "unknown command 'trian': did you mean 'train'?"),
        (["list", "metod"], "did you mean 'methods'?"),
        (["train"], "usage: unbraid train"),
        (["train", "beta_vae"], "train what on what?"),
        (["train", "betavae", TINY], "did you mean 'beta_vae'?"),
        (["train", "beta_vae", "spirtes"], "did you mean 'sprites'?"),
        (["train", "beta_vae", "sprites:pixel=3"], "did you mean 'pixels'?"),
        (["train", "beta_vae", TINY, "--bta", "3"], "unknown option '--bta': did you mean '--beta'?"),
        (["train", "beta_vae", TINY, "--beta"], "--beta needs a value"),
        (["train", "beta_vae", TINY, "--beta", "much"], "to keep 5 latents active, not 'much'"),
        (["train", "beta_vae", TINY, "vae"], "unexpected 'vae'"),
        (["train", "beta_vae", TINY, "--net", "con"], "did you mean 'conv'?"),
        (["train", "./nowhere.py", TINY], "no such file: ./nowhere.py"),
        (["train", "beta_vae", "nowhere.csv"], "no such file or folder: nowhere.csv"),
        (["evaluate", "nowhere"], "no run at nowhere"),
        (["report", "nowhere"], "no run at nowhere"),
        (["score", "a.npy", "b.csv"], "no such file: a.npy"),
        (["score", "a.npy"], "required: factors"),
        (["score", "a.npy", "b.csv", "extra"], "unexpected 'extra' (see unbraid score --help)"),
        (["train", "vae", TINY, "--beta", "4"], "vae has no option beta: "),
        (["train", "vae", TINY, "--seed", "3", "--seeds", "2"], "give --seed or --seeds, not both"),
        (["train", "vae", TINY, "--seed", "x"], "seed must be a whole number, not 'x'"),
        (["train", "vae", TINY, "--seeds", "1.5"], "seeds must be a whole number of at least 1 or a list"),
        (["train", "vae", TINY, "--seeds", "0"], "seeds must be a whole number of at least 1 or a list"),
        (["train", "vae", TINY, "--seeds", "0,x"], "a seed must be a whole number of at least 0, not 'x'"),
        (["train", "vae", TINY, "--seeds", "0,0"], "name a seed twice"),
        (["train", "vae", TINY, "--seeds", ","], "seeds is empty"),
        (["train", "vae", TINY, "--seeds", "1000000"], "1000000 seeds are too many at once: at most 400"),
        (["train", "vae", TINY, "--save-seconds", "x"], "save_seconds must be a number, not 'x'"),
        (["train", "vae", TINY, "--save-seconds", "-1"], "save_seconds must be a number of at least 0, not -1"),
        (["train", "vae", TINY, "--save-seconds", "nan"], "save_seconds must be a number of at least 0, not nan"),
        (["train", "vae", TINY, "--progress", "maybe"], "progress must be true or false, not 'maybe'"),
        (["train", "vae", TINY, "--processes", "x"], "processes must be a whole number of at least 1, not 'x'"),
        (["train", "vae", TINY, "--processes", "0"], "processes must be a whole number of at least 1, not 0"),
        (["train", "vae", TINY, "--processes", "-1"], "processes must be a whole number of at least 1, not -1"),
        (["train", "vae", TINY, "--precision", "16"], "unknown precision '16'"),
        (["train", "vae", TINY, "--device", "cpu:9"], "device 'cpu:9' is not available here: there is one cpu"),
        (["train", "vae", TINY, "--device", "meta"], "device 'meta' is not available here: meta computes nothing"),
        (["train", "vae", TINY, "--device", "hpu"], "device 'hpu' is not available here"),
        (["train", "vae", TINY, "--out", __file__], "is a file"),
        (["claims", "run", "002/theorem-2", "--out", __file__], "is a file"),
        (["claims", "run", "002/theorem-2", "--ledger", "/"], "cannot write /: it is a folder"),
        (
            ["claims", "run", "002/theorem-2", "--processes", "0"],
            "processes must be a whole number of at least 1, not 0",
        ),
        (["claims", "list", "002/tabel-3.4"], "did you mean '002/table-3.4'?"),
        (["study", "."], "cannot read .: Is a directory"),
        (["study", sys.executable], "is not a text file"),
        (["study", "nowhere.yaml"], "no such file: nowhere.yaml"),
        (["claims", "run"], "which claim?"),
        (["claims", "run", "002/tabel-3.4"], "did you mean '002/table-3.4'?"),
        (["claims", "run", "002/table-3.4", "--scale", "big"], "unknown scale 'big'"),
        (
            ["score", "a.npy", "b.csv", "--metrics", "common_w2"],
            "common_w2 needs more than codes and factors (group, groups, blocks)",
        ),
        (["claims", "run", "--scael", "cpu", "002/table-3.4"], "did you mean '--scale'?"),
    ],
)
def test_mistakes_are_one_line(words, answer, capsys):
    code = main(words)
    captured = capsys.readouterr()
    if words == ["train"]:
        assert code == 0 and answer in captured.out
        return
    assert code == 2 and captured.out == ""
    assert captured.err.startswith("unbraid: ") and captured.err.count("\n") == 1
    assert answer in captured.err


def test_a_run_that_broke_says_so_and_fails(capsys, tmp_path):
    file = tmp_path / "breaks.py"
    file.write_text(
        '"""Breaks."""\nimport torch\nfrom unbraid.methods.vae import VAE\n\n\nclass Breaks(VAE):\n    """Breaks."""\n\n'
        "    def penalty(self, q, z):\n        kl = q.kl().sum(-1).mean()\n"
        '        return kl, {"kl": kl / torch.zeros(()), }\n'
    )
    words = ["train", file, TINY, *FAST, "--out", tmp_path / "runs"]
    captured = said(capsys, *words, code=1)
    assert captured.err.count("term 'kl' became inf") == 1 and "its last good state, of step 0" in captured.err
    again = said(capsys, *words, code=1)
    assert again.err == captured.err and again.out == captured.out
    (run,) = again.out.splitlines()
    told = said(capsys, "evaluate", run, "--metrics", "mig", "--json")
    assert [row["status"] for row in json.loads(told.out)] == ["stopped"] and told.err == captured.err
    said(capsys, *words, "--seeds", "2", code=1)
    rows = json.loads(said(capsys, "evaluate", f"{run}/..", "--metrics", "mig", "--json").out)
    assert [row["status"] for row in rows] == ["stopped: seed 0, 1"]


def test_report_of_whatever_a_star_names(group, capsys, tmp_path):
    """The report of last time, a folder that is none, a run that was cut off: each is said, none is in the way."""
    runs = tmp_path / "runs"
    shutil.copytree(group, runs / "b")
    (runs / "a").mkdir()
    cut = runs / "c/seed-0"
    shutil.copytree(group / "seed-0", cut)
    for name in ("results.json", "weights.safetensors"):
        (cut / name).unlink(missing_ok=True)
    (cut / "state.json").write_text('{"status": "running", "step": 0}')
    for _ in range(2):
        told = said(capsys, "report", *sorted(runs.iterdir()))
        assert told.out.strip() == str(runs / "report.html")
        lines = told.err.splitlines()
        assert "left out: no run at" in lines[0] and "c/seed-0 is unfinished (running, or cut off)" in lines[1]
    (cut / "state.json").write_text('{"status": "finished", "step": 40}')
    assert "c/seed-0 is shown without scores: " in said(capsys, "report", *sorted(runs.iterdir())).err
    assert "it is a folder; name a file" in said(capsys, "report", group, "--out", runs, code=2).err
    words = ["report", runs / "report.html", runs / "a", tmp_path / "nowhere"]
    assert "is a run folder" in said(capsys, *words, code=2).err.splitlines()[-1]


def test_claims_by_name(capsys):
    rows = json.loads(said(capsys, "claims", "list", "002/theorem-2", "--json").out)
    assert [row["name"] for row in rows] == ["002/theorem-2"]


def test_a_score_asked_for_twice_is_given_once(capsys, tmp_path):
    values = np.random.default_rng(0).integers(0, 4, (2000, 2))
    with (tmp_path / "U8.NPY").open("wb") as file:
        np.save(file, values.astype(float))
    (tmp_path / "H.CSV").write_text("\n".join(["a,b", *(f"{a},{b}" for a, b in values)]))
    words = ["score", tmp_path / "U8.NPY", tmp_path / "H.CSV", "--metrics", "mig,mig", "--json"]
    assert len(json.loads(said(capsys, *words).out)) == 1


def test_public_names_and_misspelt_ones():
    import unbraid

    assert {"train", "Run", "metrics", "__version__"} <= set(dir(unbraid)) and "importlib" not in dir(unbraid)
    assert {"mig", "Score"} <= set(dir(unbraid.metrics)) and "ima_contrast" in dir(unbraid.geometry)
    for room, name, meant in (
        (unbraid, "trian", "train"),
        (unbraid.metrics, "mgi", "mig"),
        (unbraid.geometry, "ima_contrst", "ima_contrast"),
    ):
        with pytest.raises(AttributeError, match=f"no attribute '{name}': did you mean '{meant}'"):
            getattr(room, name)
    with pytest.raises(AttributeError, match=r"no attribute '_trian'$"):
        _ = unbraid._trian


def test_list_and_help_import_no_torch():
    code = (
        "import sys\nfrom unbraid.cli import main\nmain(['list'])\nmain(['claims', 'list'])\n"
        "main(['train', 'beta_vae', '--help'])\nassert 'torch' not in sys.modules and 'scipy' not in sys.modules"
    )
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    assert time.perf_counter() - began < 10
