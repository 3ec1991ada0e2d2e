"""The command line as people use it, and as they mistype it: one line, exit code 2, no traceback."""

import json
import re
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
        (["study", "nowhere.yaml"], "no such file: nowhere.yaml"),
        (["claims", "run"], "which claim?"),
        (["claims", "run", "002/tabel-3.4"], "did you mean '002/table-3.4'?"),
        (["claims", "run", "002/table-3.4", "--scale", "big"], "unknown scale 'big'"),
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
    captured = said(capsys, "train", file, TINY, *FAST, "--out", tmp_path, code=1)
    assert "term 'kl' became inf" in captured.err and "try a lower --lr or --clip 1" in captured.err


def test_list_and_help_import_no_torch():
    code = (
        "import sys\nfrom unbraid.cli import main\nmain(['list'])\nmain(['claims', 'list'])\n"
        "main(['train', 'beta_vae', '--help'])\nassert 'torch' not in sys.modules and 'scipy' not in sys.modules"
    )
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    assert time.perf_counter() - began < 10
