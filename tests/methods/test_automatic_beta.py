"""The beta that training finds is the one of the linear theory, whatever the start, and the run says so."""

import json

import pytest
import torch

import unbraid
from unbraid.automatic_beta import FINEST, AutomaticBeta, automatic
from unbraid.cli import main
from unbraid.errors import UserError
from unbraid.linear_theory import linear_closed_form
from unbraid.methods.beta_vae import BetaVAE
from unbraid.networks import open_net
from unbraid.report.advice import advise
from unbraid.report.folder import read_run


def slope(noise, wanted=2):
    search = AutomaticBeta(wanted)
    search.loss(torch.tensor(noise)).backward()
    return search.log.grad.item()


def test_beta_rises_while_the_weakest_wanted_latent_has_noise_to_gain_and_falls_otherwise():
    assert slope([0.1, 0.3, 0.99]) == pytest.approx(-0.4)  # AdaGrad walks against this
    assert slope([0.9, 0.1, 0.99]) == pytest.approx(0.8)
    assert slope([0.5, 0.1, 0.99]) == pytest.approx(0.0)
    assert slope([5.0, 0.1, 7.0]) == 1.0


def test_beta_does_not_fall_without_end():
    assert slope([FINEST / 2, 0.9, 0.9]) == 0.0
    assert slope([FINEST / 2, 0.1, 0.9]) < 0.0


@pytest.mark.parametrize(("said", "wanted"), [("auto", 6), ("auto:5", 5), ("auto:6", 6)])
def test_words(said, wanted):
    assert automatic(said, 6).wanted == wanted and automatic(4.0, 6) is None


@pytest.mark.parametrize("said", ["aut", "auto:", "auto:0", "auto:7", "auto:-1"])
def test_wrong_words_are_one_clear_line(said):
    with pytest.raises(UserError) as error:
        automatic(said, 6)
    assert repr(said) in str(error.value) and "\n" not in str(error.value)


def test_beta_is_a_constant_to_the_networks():
    method = BetaVAE(open_net("linear", (5,), "real"), 3, beta="auto")
    with torch.no_grad():
        method.search.log.fill_(1.25)
    batch = {"x": torch.randn(8, 5), "noise": torch.randn(8, 3)}
    terms = method.loss(batch, 0)
    expected = terms["reconstruction"] + torch.tensor(1.25).exp() * terms["kl"]
    assert terms["loss"].item() == pytest.approx(expected.item(), rel=1e-6)
    terms["loss"].backward()
    assert method.search.log.grad is None


def test_on_the_linear_square_it_is_the_weakest_wanted_eigenvalue(square, out):
    """sigma² = beta / (2 lambda) is 1/2 at beta = lambda: half of the beta at which that latent dies."""
    options = {
        "net": "linear",
        "latents": 4,
        "beta": "auto:2",
        "lr": 1e-2,
        "steps": 4000,
        "progress": False,
        "device": "cpu",
    }
    run = unbraid.train("beta_vae", square, seed=2, out=out, **options)
    x = square.draw(square.rows("train"))
    optimum = linear_closed_form(x.T.cov().numpy(), 1.0, 2)
    (note,) = run.state["notes"]
    beta = run.history[-1]["terms"]["beta"]
    assert beta == pytest.approx(optimum.eigenvalues[1], rel=0.1)
    assert run.history[-1]["terms"]["active"] == 2
    assert f"beta = {beta:.2g}"[:-1] in note and "2 of 4 latents are active, 2 were wanted" in note
    assert note.endswith("half-way to giving way")
    assert run.method.weight().item() == pytest.approx(beta, rel=0.01)
    assert any(advice.words == note for advice in advise(read_run(run.path)))


def test_the_command_takes_it_and_the_sentence_is_kept(out, capsys):
    words = ["train", "beta_vae", "linear_square:samples=500", "--net", "linear", "--latents", "2", "--steps", "20"]
    assert main([*words, "--beta", "auto", "--seeds", "2", "--out", str(out)]) == 0
    (group,) = map(unbraid.load_run, out.iterdir())
    for member in group.members:
        assert member.config["options"]["beta"] == "auto"
        (note,) = json.loads((member.path / "state.json").read_text())["notes"]
        assert "2 were wanted" in note and "train longer" in note
    assert group.members[0].state["notes"] != group.members[1].state["notes"]
    assert main([*words, "--beta", "aut", "--out", str(out)]) == 2
    assert "beta must be a number, auto, or auto:5" in capsys.readouterr().err
