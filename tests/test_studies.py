"""Studies: a grid in one file, as run folders; what is finished is skipped."""

import pytest

from unbraid.errors import Notice, UserError
from unbraid.studies import read_study, run_study
from unbraid.workers import _steps

STUDY = """
data: sprites:pixels=16,positions=4,orientations=4
net: mlp:encoder=8,decoder=8
latents: [2, 3]
steps: 20
seeds: 2
processes: {processes}
metrics: [mig]
runs:
  - {{method: beta_vae, beta: [1, 4]}}
  - {{method: autoencoder}}
"""


GOOD = "method: vae\ndata: sprites\n"


def write(folder, text):
    path = folder / "study.yaml"
    path.write_text(text)
    return path


def test_the_grid(tmp_path):
    jobs, whole = read_study(write(tmp_path, STUDY.format(processes=1)))
    assert [(j["method"], j["latents"], j.get("beta")) for j in jobs] == [
        ("beta_vae", 2, 1), ("beta_vae", 2, 4), ("beta_vae", 3, 1), ("beta_vae", 3, 4),
        ("autoencoder", 2, None), ("autoencoder", 3, None),
    ]  # fmt: skip
    assert all(job["seeds"] == [0, 1] for job in jobs) and whole == {"processes": 1, "metrics": ["mig"]}


@pytest.mark.parametrize(("processes", "latents"), [(1, "[2, 3]"), (2, "2")])
def test_runs_every_configuration_once(tmp_path, processes, latents):
    path = write(tmp_path, STUDY.format(processes=processes).replace("[2, 3]", latents))
    rows, report, board, agreement, _ = run_study(path, tmp_path / "out", None)
    count = 3 * len(latents.split(","))
    assert len(rows) == count and report.is_file()
    assert all(row["seeds"] == 2 and "±" in row["mig"] and row["status"] == "finished" for row in rows)
    assert {"method", "beta"} <= set(rows[0])
    order = next(row for row in board if row["score"] == "mig")["order, the best first"]
    assert order.count("±") == count and "autoencoder" in order
    assert all(row["with labels"] == "mig" for row in agreement)
    stamps = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("weights.safetensors")}
    assert len(stamps) == 2 * count
    again, *_ = run_study(path, tmp_path / "out", None)
    assert again == rows
    assert stamps == {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("weights.safetensors")}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: [", r"study\.yaml is not valid YAML: line \d: "),
        ("method: vae\ndata: sprites\nsteps: 3\n  lr: 1", "line 4: mapping values are not allowed here"),
        ("data: \x00", "is not a text file"),
        ("just words", "must hold keys and values"),
        ("data: sprites\nsteps: 3", "every run needs a method"),
        ("method: beta_vae\nruns: 3\ndata: sprites", "'runs' must be a list of mappings"),
        ("method: beta_vae\ndata: sprites\nbta: 3", "did you mean 'beta'"),
        ("method: betavae\ndata: sprites", "did you mean 'beta_vae'"),
        ("method: vae\ndata: sprites\nbeta: 3", "vae has no option beta: "),
        ("method: beta_vae\ndata: sprites\nbeta: []", "beta is an empty list"),
        ("runs: []\ndata: sprites", "'runs' must be a list of mappings"),
        (GOOD + "seed: 3\nseeds: 2", "give seed or seeds, not both"),
        (GOOD + "seeds: x", "seeds must be a whole number of at least 1 or a list of seeds, not 'x'"),
        (GOOD + "seed: x", "a seed must be a whole number of at least 0, not 'x'"),
        (GOOD + "steps: many", "steps must be a whole number, not 'many'"),
        (GOOD + "lr: fast", "lr must be a number, not 'fast'"),
        (GOOD + "precision: 16", "precision must be a word, not 16"),
        (GOOD + "net: 5", "net must be given by name or path, not 5"),
        (GOOD + "out: 5", "out must be the name of a folder, not 5"),
        (GOOD + "metrics: 5", "metrics must be a list of names, not 5"),
        (GOOD + "metrics: [mgi]", "unknown metric 'mgi': did you mean 'mig'"),
        (GOOD + "metrics: [1]", "unknown metric 1"),
    ],
)
def test_mistakes_are_one_line(tmp_path, text, words):
    with pytest.raises(UserError, match=words) as error:
        read_study(write(tmp_path, text))
    assert "\n" not in str(error.value)


def test_known_options_are_named_once(tmp_path):
    with pytest.raises(UserError) as error:
        read_study(write(tmp_path, GOOD + "xyzzy: 1"))
    assert str(error.value).count(" out,") == 1


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("", [0]), ("seed: 3", [3]), ("seed: [3, 5]", [3, 5]), ("seeds: 2", [0, 1]), ("seeds: [4]", [4])],
)
def test_seeds_are_those_that_were_asked_for(tmp_path, text, seeds):
    (job,), _ = read_study(write(tmp_path, GOOD + text))
    assert job["seeds"] == seeds and "seed" not in job


def test_numbers_that_yaml_takes_for_words(tmp_path):
    text = "method: beta_vae\ndata: sprites\nlr: 1e-3\nbeta: [1e-2, 4]\nmetrics: mig, mig\n"
    jobs, whole = read_study(write(tmp_path, text))
    assert [job["beta"] for job in jobs] == [0.01, 4] and jobs[0]["lr"] == 0.001 and whole == {"metrics": ["mig"]}


@pytest.mark.parametrize("processes", ["two", "0", "-3"])
def test_processes(tmp_path, processes):
    with pytest.raises(UserError, match=f"processes must be a whole number of at least 1, not '?{processes}"):
        run_study(write(tmp_path, GOOD + f"processes: {processes}"), tmp_path / "out", None)
    assert not (tmp_path / "out").exists()


def test_out_that_is_a_file(tmp_path):
    path = write(tmp_path, GOOD)
    with pytest.raises(UserError, match=r"cannot use .*study\.yaml as the folder: .*study\.yaml is a file"):
        run_study(path, path, None)


def test_steps_may_be_left_to_train():
    assert [_steps(job) for job in ({}, {"steps": 3})] == [20_000, 3]


def test_stopped_runs_say_so_each_time(tmp_path):
    (tmp_path / "breaks.py").write_text(
        "from unbraid.methods.vae import VAE\n\nclass Breaks(VAE):\n"
        "    def penalty(self, q, z):\n        kl = q.kl().sum(-1).mean()\n        return kl, {'kl': kl / 0}\n"
    )
    text = STUDY.format(processes=1).replace("beta_vae, beta: [1, 4]", str(tmp_path / "breaks.py"))
    path = write(tmp_path, text.replace("[2, 3]", "2"))
    for _ in range(2):
        with pytest.warns(Notice, match=r"seed-[01] stopped: term 'kl' became inf") as said:
            rows, *_ = run_study(path, tmp_path / "out", None)
        assert [row["status"] for row in rows] == ["stopped: seed 0, 1", "finished"]
    assert [str(each.message).partition(" stopped")[0][-6:] for each in said] == ["seed-0", "seed-1"]
