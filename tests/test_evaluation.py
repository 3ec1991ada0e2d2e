"""Evaluation: what cannot be computed is skipped and said, what was computed before is kept; runs check what they are given."""

import json

import numpy as np
import pytest
import torch

import unbraid
from unbraid.errors import UserError

TINY = "sprites:pixels=16,positions=4,orientations=4"
SMALL = {"net": "mlp:encoder=8,decoder=8", "latents": 3, "steps": 5, "progress": False, "device": "cpu"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return unbraid.train("vae", TINY, seeds=2, out=tmp_path_factory.mktemp("runs"), **SMALL)


def scores(run):
    return json.loads((run.path / "results.json").read_text())["scores"]


def test_asking_for_one_score_keeps_the_others(run):
    member = run.members[0]
    unbraid.evaluate(member, metrics="mig")
    assert set(scores(member)) == {"mig"}
    unbraid.evaluate(member, metrics=["disentanglement_score"])
    assert set(scores(member)) == {"mig", "disentanglement_score"}
    unbraid.evaluate(str(member.path), metrics=["mig"], samples=50)
    assert set(scores(member)) == {"mig"}, "scores of other samples do not stay beside these"
    unbraid.evaluate(run.members[1], metrics=["mig"])
    assert run.results["scores"]["mig"]["values"][1] is not None


def test_what_cannot_be_computed_is_skipped_unless_it_was_asked_for(tmp_path):
    x = np.random.default_rng(0).random((300, 5)).astype(np.float32)
    run = unbraid.train("autoencoder", x, out=tmp_path, **{**SMALL, "net": "linear"})
    results = unbraid.evaluate(run)
    assert "distance_to_orthogonality" in results["scores"] and "needs factors" in results["skipped"]["mig"]
    with pytest.raises(UserError, match=r"mig of .*: it needs factors"):
        unbraid.evaluate(run, metrics=["mig"])


@pytest.mark.parametrize("count", [12, 40])
def test_few_samples_are_scored_all_together_and_it_is_said(count, tmp_path):
    x = np.random.default_rng(0).random((count, 1, 8, 8)).astype(np.float32)
    results = unbraid.evaluate(unbraid.train("vae", x, out=tmp_path, **SMALL))
    assert results["part"] == "all" and results["samples"] == count and results["scores"]
    assert "the training included" in results["notes"][-1]


def test_tensors_and_arrays_encode_alike(tmp_path):
    x = np.random.default_rng(0).random((60, 9, 8, 3)).astype(np.float32)
    run = unbraid.train("vae", x, out=tmp_path, **SMALL)
    codes = run.encode(x)
    for given in (torch.from_numpy(x), torch.from_numpy(x).double(), torch.from_numpy(x).permute(0, 3, 1, 2)):
        np.testing.assert_allclose(run.encode(given).detach().numpy(), codes, atol=1e-5)
    leaf = torch.from_numpy(codes).requires_grad_()
    run.decode(leaf).sum().backward()
    assert leaf.grad.abs().sum() > 0
    for wrong, words in (
        (torch.zeros(4, 216), r"samples of shape \(4, 216\) given"),
        (x * 255, "divide by 255"),
    ):
        with pytest.raises(UserError, match=words):
            run.encode(wrong)
    with pytest.raises(UserError, match=r"codes of shape \(4,\) given"):
        run.decode(torch.zeros(4))


def test_several_seeds_decode_what_they_encoded(run):
    x = np.random.default_rng(0).random((5, 1, 16, 16)).astype(np.float32)
    codes = run.encode(x)
    assert codes.shape == (2, 5, 3)
    decoded = run.decode(codes)
    assert decoded.shape == (2, 5, 1, 16, 16)
    np.testing.assert_allclose(decoded[1], run.members[1].decode(codes[1]), atol=1e-6)


@pytest.mark.parametrize("file", ["config.yaml", "state.json", "weights.safetensors", "results.json"])
def test_a_damaged_file_is_named(file, run, tmp_path):
    import shutil

    copy = tmp_path / "seed-0"
    unbraid.evaluate(run.members[0], metrics=["mig"])
    shutil.copytree(run.members[0].path, copy)
    (copy / file).write_bytes(b"\x00garbage{")
    broken = unbraid.load_run(copy)
    with pytest.raises(UserError, match=file):
        _ = (broken.config, broken.status, broken.method, broken.results)


def test_nonsense_is_one_line(run):
    for what, words in ((None, "given by its folder"), ("nowhere", "no run at nowhere")):
        with pytest.raises(UserError, match=words):
            unbraid.load_run(what)
    with pytest.raises(UserError, match="samples must be a whole number"):
        unbraid.evaluate(run, samples=0)
    with pytest.raises(UserError, match="not finite"):
        unbraid.geometry.distance_to_orthogonality(run.members[0].decode, np.full((4, 3), np.nan, np.float32))
    with pytest.raises(UserError, match="must give tensors"):
        unbraid.geometry.distance_to_orthogonality(lambda z: z.numpy(), np.zeros((4, 3), np.float32))


def test_a_decoder_that_ignores_its_code_is_warned_of():
    score = unbraid.geometry.distance_to_orthogonality(
        lambda z: torch.ones(len(z), 7) + 0 * z[:, :1], torch.randn(9, 3)
    )
    assert any("ignores its code" in warning for warning in score.warnings)
