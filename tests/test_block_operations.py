"""Blocks silenced, swapped, decoded as another group, moved; what is sensitive; and the sheets of the command line."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

import unbraid
from unbraid.block_operations import (
    decoder,
    latents_in,
    most_sensitive,
    moved,
    plane,
    private,
    sensitivity,
    swapped,
    without,
)
from unbraid.block_sheets import OPERATIONS, sheet
from unbraid.cli import main
from unbraid.errors import UserError
from unbraid.methods.masked_vae import MaskedVAE
from unbraid.networks import open_net
from unbraid.report import write_report

THREE = ("one", "two", "three")
SMALL = {"steps": 20, "progress": False, "device": "cpu", "probe_every": 10}
DRAWN = "sprites:shapes=1,scales=2,orientations=4,positions=8,pixels=16"


@pytest.fixture
def method():
    torch.manual_seed(0)
    return MaskedVAE(open_net("linear", (6,), "real"), THREE, private=2, shared=1)


CODES = torch.arange(14.0).view(2, 7) + 1


def test_what_speaks(method):
    weight = method.decoder[0].weight
    for blocks, latents in ((["shared"], [6]), (["private/two", "shared"], [2, 3, 6]), ([], [])):
        expected = CODES[:, latents] @ weight[:, latents].T + method.decoder[0].bias
        torch.testing.assert_close(decoder(method, blocks)(CODES), expected)
        assert latents_in(method, blocks) == latents
    assert without(method, ["private/one"]) == ["private/two", "private/three", "shared"]
    assert private(method, "two", THREE) == ["private/two"]
    assert private(MaskedVAE(open_net("linear", (6,), "real"), THREE, masked=False), "two", THREE) == []


def test_swapped_moved_and_planes(method):
    found = swapped(method, CODES, CODES.flip(0), ["private/one", "shared"])
    assert found[0].tolist() == [8, 9, 3, 4, 5, 6, 14] and found[1].tolist() == [1, 2, 10, 11, 12, 13, 7]
    values = torch.tensor([-1.0, 0.0, 5.0])
    walk = moved(CODES[0], [6, 1], values)
    assert walk.shape == (2, 3, 7) and walk[0, :, 6].tolist() == walk[1, :, 1].tolist() == [-1, 0, 5]
    assert walk[0, 2, :6].tolist() == [1, 2, 3, 4, 5, 6]
    both = plane(CODES[0], (6, 1), values)
    assert both[2, 0].tolist() == [1, -1, 3, 4, 5, 6, 5] and both.shape == (3, 3, 7)


def test_sensitivity_is_the_size_of_the_jacobians_columns(method):
    found = sensitivity(decoder(method, list(method.blocks)), CODES)
    torch.testing.assert_close(found, method.decoder[0].weight.norm(dim=0), rtol=1e-3, atol=1e-4)
    own = decoder(method, method.heard("two"))
    hidden = sensitivity(own, CODES)[[0, 1, 4, 5]]
    assert hidden.abs().max() == 0, "what a group does not use changes nothing"
    assert set(most_sensitive(own, CODES)) <= {2, 3, 6}


def test_sensitivity_of_a_curved_decoder():
    found = sensitivity(lambda z: z**2, torch.tensor([[1.0, 3.0]]), epsilon=1e-3)
    torch.testing.assert_close(found, torch.tensor([2.0, 6.0]), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("call", [
    lambda m: decoder(m, ["shred"]), lambda m: without(m, ["shred"]), lambda m: swapped(m, CODES, CODES, ["shred"]),
])  # fmt: skip
def test_unknown_blocks_are_one_line(call, method):
    with pytest.raises(UserError, match="unknown block 'shred': did you mean 'shared'"):
        call(method)


def test_other_mistakes(method):
    with pytest.raises(UserError, match="swapped row by row"):
        swapped(method, CODES, CODES[:1], ["shared"])
    with pytest.raises(UserError, match="a plane needs two latents"):
        most_sensitive(lambda z: z, CODES[:, :1])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    data = " & ".join([f"plain={DRAWN}", f"moved={DRAWN},shift=2", f"turned={DRAWN},turn=30"])
    return unbraid.train("masked_vae", data, net="spatial_broadcast:channels=8", private=2, shared=2, seeds=1,
                         out=tmp_path_factory.mktemp("runs"), **SMALL)  # fmt: skip


def test_decoding_by_blocks_and_as_a_group(run):
    member = run.members[0]
    codes = np.random.default_rng(0).standard_normal((5, 8)).astype(np.float32)
    silent = codes.copy()
    silent[:, [0, 1, 4, 5]] = 0
    np.testing.assert_allclose(member.decode(codes, group="moved"), member.decode(silent), atol=1e-6)
    np.testing.assert_allclose(
        run.decode(codes, blocks=["private/moved", "shared"])[0], member.decode(silent), atol=1e-6
    )
    for given, words in (({"group": "movd"}, "unknown group of .*did you mean 'moved'"),
                         ({"blocks": ["shred"]}, "unknown block 'shred'"),
                         ({"blocks": ["shared"], "group": "moved"}, "not both")):  # fmt: skip
        with pytest.raises(UserError, match=words):
            run.decode(codes, **given)


def test_counterfactuals_of_three_domains(run):
    member = run.members[0]
    found = sheet(member, member.data, samples=4)
    assert found.samples.shape == (3 * 7, 4, 1, 16, 16)
    assert found.names[7:14] == ["moved as it is", "moved as moved", "moved as plain", "moved as turned",
                                    "moved from private/moved alone", "moved from private/plain alone",
                                    "moved from private/turned alone"]  # fmt: skip
    codes = member.encode(found.samples[7])
    np.testing.assert_allclose(found.samples[9], member.decode(codes, group="plain"), atol=1e-5)
    np.testing.assert_allclose(found.samples[13], member.decode(codes, blocks=["private/turned"]), atol=1e-5)


def test_sheets_on_the_command_line(run, tmp_path, capsys):
    path = str(run.members[0].path)
    for words, rows in ((["swap", "shared"], 6), (["zero", "shared"], 9), (["as", "turned"], 6), (["plane"], 21)):
        assert main(["blocks", path, *words, "--samples", "3"]) == 0
        said = capsys.readouterr().out.splitlines()
        assert len(said) == rows + 1 and said[-1].endswith(f"blocks-{'-'.join(words)}.png")
        columns = 7 if words == ["plane"] else 3
        with Image.open(said[-1]) as drawn:
            assert drawn.size == (4 * (17 * columns - 1), 4 * (17 * rows - 1))
    out = tmp_path / "sheet.npz"
    assert main(["blocks", path, "--out", str(out), "--samples", "2"]) == 0
    with np.load(out) as held:
        assert held["samples"].shape == (21, 2, 1, 16, 16) and len(held["names"]) == 21


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["cunterfactual"], "did you mean 'counterfactual'"),
        (["zero"], "zero: name a block (private/plain, private/moved, private/turned, shared)"),
        (["zero", "shred"], "unknown block 'shred'"),
        (["as", "plan"], "unknown group 'plan'"),
        (["plane", "shared"], "plane: it takes no name"),
        (["--samples", "1"], "--samples 1: at least 2"),
        (["--out", "x.jpg"], "--out x.jpg: must end in .png or .npz"),
    ],
)
def test_mistakes_on_the_command_line(run, words, answer, capsys):
    assert main(["blocks", str(run.members[0].path), *words]) == 2
    said = capsys.readouterr().err
    assert answer in said and said.count("\n") == 1


def test_a_report_of_domains(run, tmp_path):
    member = run.members[0]
    unbraid.evaluate(member, metrics="active_units")
    with np.load(member.path / "pictures.npz") as held:
        assert held["counterfactual/moved"].shape[0] == len(held["counterfactual_rows/moved"]) == 7
        latents, walk = held["traversal_latents"], held["traversals"]
    assert len(latents) == 4 == len(walk), "those of one domain and the shared ones"
    page = write_report([member.path], tmp_path / "report.html").read_text()
    for said in ('id="deviation"', 'id="counterfactual"', "Moved from private/turned alone", "Private/moved"):
        assert said in page, said


@pytest.mark.parametrize(("method", "block"), [("w2_vae", "salient"), ("beta_vae", "code")])
def test_every_method_with_blocks(method, block, tmp_path):
    """Contrastive ones, and those whose code is one block, on tables too."""
    data = {"target": "linear_square:samples=800", "background": "linear_square:samples=700,seed=1"}
    run = unbraid.train(method, data, net="linear", out=tmp_path, **SMALL)
    for operation in ("zero", "swap"):
        found = sheet(run, run.data, operation, block, samples=3)
        assert found.samples.shape[1:] == (3, 3) and len(found.names) == len(found.samples)
    assert sheet(run, run.data, "plane").samples.shape == (14, 7, 3)
    made = sheet(run, run.data, "as", "background", samples=3)
    silent = run.encode(made.samples[0])
    if block == "salient":
        silent[:, run.method.blocks["salient"]] = 0
    np.testing.assert_allclose(made.samples[1], run.decode(silent), atol=1e-5)


def test_no_groups_no_counterfactuals():
    with pytest.raises(UserError, match="counterfactual: mine has no groups"):
        sheet(SimpleNamespace(method=None), SimpleNamespace(name="mine", groups=()))
    assert set(OPERATIONS) == {"counterfactual", "as", "zero", "swap", "traverse", "plane"}
