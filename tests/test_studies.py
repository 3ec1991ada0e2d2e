"""Studies: a grid in one file, as run folders; what is finished is skipped."""

import pytest

from unbraid.errors import UserError
from unbraid.studies import read_study, run_study

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
    assert all(job["seeds"] == 2 for job in jobs) and whole == {"processes": 1, "metrics": ["mig"]}


@pytest.mark.parametrize(("processes", "latents"), [(1, "[2, 3]"), (2, "2")])
def test_runs_every_configuration_once(tmp_path, processes, latents):
    path = write(tmp_path, STUDY.format(processes=processes).replace("[2, 3]", latents))
    rows, report = run_study(path, tmp_path / "out", None)
    count = 3 * len(latents.split(","))
    assert len(rows) == count and report.is_file()
    assert all(row["seeds"] == 2 and "±" in row["mig"] for row in rows)
    assert {"method", "beta"} <= set(rows[0])
    stamps = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("weights.safetensors")}
    assert len(stamps) == 2 * count
    again, _ = run_study(path, tmp_path / "out", None)
    assert again == rows
    assert stamps == {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("weights.safetensors")}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "is not valid YAML"),
        ("just words", "must hold keys and values"),
        ("data: sprites\nsteps: 3", "every run needs a method"),
        ("method: beta_vae\nruns: 3\ndata: sprites", "'runs' must be a list of mappings"),
        ("method: beta_vae\ndata: sprites\nbta: 3", "did you mean 'beta'"),
        ("method: betavae\ndata: sprites", "did you mean 'beta_vae'"),
    ],
)
def test_mistakes_are_one_line(tmp_path, text, words):
    with pytest.raises(UserError, match=words) as error:
        read_study(write(tmp_path, text))
    assert "\n" not in str(error.value)
