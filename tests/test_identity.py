"""What tells runs apart: settings of objects, functions, data put together by hand, files of one name."""

import numpy as np
import pytest
import torch
from torch import nn

import unbraid
from unbraid.configuration import source
from unbraid.data import Data, Stored, open_data
from unbraid.errors import UserError
from unbraid.methods.beta_vae import BetaVAE
from unbraid.networks import open_net

DRAW = np.random.default_rng(0)
X = DRAW.standard_normal((200, 4)).astype(np.float32)
SMALL = {"latents": 2, "steps": 2, "batch_size": 16, "progress": False, "device": "cpu"}


def by_object(**options):
    torch.manual_seed(0)
    return BetaVAE(open_net("linear", (4,), "real"), 2, **options)


def test_objects_differ_by_their_options(tmp_path):
    options = {k: v for k, v in SMALL.items() if k != "latents"}
    paths = [unbraid.train(by_object(beta=b), X, out=tmp_path, **options).path for b in (1.0, 100.0, 1.0)]
    assert paths[0] != paths[1] and paths[0] == paths[2]


def test_functions_differ_by_what_they_make(tmp_path):
    def maker(width):
        def pair(shape, latents):
            return nn.Sequential(nn.Linear(4, width), nn.ReLU()), nn.Linear(latents, 4)

        return pair

    paths = [unbraid.train("vae", X, net=maker(w), out=tmp_path, **SMALL).path for w in (8, 16, 8)]
    assert paths[0] != paths[1] and paths[0] == paths[2]


class Scaled(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2


def test_modules_differ_by_their_source():
    torch.manual_seed(0)
    plain, scaled = nn.Linear(4, 2), Scaled(4, 2)
    scaled.load_state_dict(plain.state_dict())
    data = open_data(X)
    names = [open_net((m, nn.Linear(2, 4)), (4,), "real").name for m in (plain, scaled)]
    assert names[0] != names[1] and source("vae", X, "auto", data) == source("vae", X, "auto", data)


def test_data_put_together_by_hand_differ_by_their_samples(tmp_path):
    made = [Data("mine", Stored(torch.from_numpy(x)), (4,), "real") for x in (X, X + 1, X)]
    paths = [unbraid.train("vae", data, net="linear", out=tmp_path, **SMALL).path for data in made]
    assert paths[0] != paths[1] and paths[0] == paths[2]


def test_method_and_net_files_of_one_name(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a/own.py").write_text(
        '"""Own."""\nfrom unbraid.methods.vae import VAE\nclass Own(VAE):\n    """Own."""\n'
    )
    (tmp_path / "b/own.py").write_text(
        '"""Own."""\nfrom torch import nn\ndef own(shape, latents):\n    return nn.Linear(4, 5), nn.Linear(latents, 4)\n'
    )
    method, net = str(tmp_path / "a/own.py"), str(tmp_path / "b/own.py")
    run = unbraid.train(method, X, net=net, out=tmp_path / "out", **SMALL)
    assert unbraid.load_run(run.path).encode(X).shape == (200, 2)


def test_changed_data_are_noticed(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X)
    run = unbraid.train("vae", str(path), net="linear", out=tmp_path / "out", **SMALL)
    unbraid.evaluate(run.path)
    np.save(path, X + 1)
    with pytest.raises(UserError, match=r"is not what .* was trained on any more"):
        unbraid.evaluate(run.path)
    with pytest.warns(UserWarning, match="scored on other data"):
        unbraid.evaluate(run.path, str(path))
    path.unlink()
    with pytest.raises(UserError, match="say where: --data"):
        unbraid.evaluate(run.path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_numbers_that_are_none_are_refused(value, tmp_path):
    for name in ("lr", "beta", "clip"):
        with pytest.raises(UserError, match=f"{name} must"):
            unbraid.train("beta_vae", X, net="linear", out=tmp_path, **{**SMALL, name: value})


def test_numbers_of_numpy_are_numbers(tmp_path):
    given = {**SMALL, "steps": np.int64(2), "latents": np.int64(2), "lr": np.float32(1e-3), "seeds": np.int64(2)}
    run = unbraid.train("vae", X, net="linear", out=tmp_path, **given)
    assert [m.config["seed"] for m in run.members] == [0, 1]
    assert run.path == unbraid.train("vae", X, net="linear", out=tmp_path, **{**SMALL, "lr": float(np.float32(1e-3)), "seeds": 2}).path  # fmt: skip


OWN = '"""Own."""\nimport torch\nfrom unbraid.methods.vae import VAE\n\n\nclass Own(VAE):\n    """Own."""\n\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (OWN + "    def penalty(self, q, z):\n        return q.kl().mean()\n", r"the loss of Own fails \(vae.py, line"),
        (OWN + "    def loss(self, batch, step):\n        return {'x': 1}\n", "with 'loss' among them"),
        (OWN + "    def loss(self, batch, step):\n        return {'loss': 1.0}\n", "must be a tensor without axes"),
        (OWN + "    def __init__(self, net, latents=2):\n        1 / 0\n", "cannot be built: ZeroDivisionError"),
        ('"""Own."""\nclass Own:\n    """Own."""\n    def __init__(self, net, latents=2): ...\n', "must be a class that extends"),
        ('"""Own."""\nraise ValueError("no")\nclass Own: ...\n', "does not import: ValueError: no"),
        ('"""Own."""\nclass Own(\n', "is not valid Python: line 2"),
    ],
)  # fmt: skip
def test_own_methods_that_do_not_work_are_told_in_one_line(text, words, tmp_path):
    (tmp_path / "own.py").write_text(text)
    with pytest.raises(UserError, match=words) as error:
        unbraid.train(str(tmp_path / "own.py"), X, net="linear", out=tmp_path, **SMALL)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("net", "words"),
    [
        (nn.Linear(4, 4), "must be a name, a file, a function or a pair"),
        (lambda shape: None, "cannot be built: TypeError"),
        (lambda shape, latents: nn.Linear(4, 4), "must give a pair of modules"),
        ("mlp:encoder=0", "layer widths must be whole numbers"),
        ("mlp:encoder=32-", "layer widths must be whole numbers"),
    ],
)
def test_own_networks_that_do_not_work_are_told_in_one_line(net, words, tmp_path):
    with pytest.raises(UserError, match=words):
        unbraid.train("vae", X, net=net, out=tmp_path, **SMALL)


@pytest.mark.parametrize("method", [BetaVAE, None])
def test_a_class_is_no_method(method, tmp_path):
    with pytest.raises(UserError, match="method must be a name, a file or a method object"):
        unbraid.train(method, X, out=tmp_path)
