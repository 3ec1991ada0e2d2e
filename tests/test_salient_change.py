"""What a salient code changes in the columns of a table: against a linear truth, kept in the run, told in the report."""

import json

import numpy as np
import pytest
import torch
from torch import nn

import unbraid
from unbraid.blocks import speaking
from unbraid.evaluation import evaluate
from unbraid.report import write_report
from unbraid.report.change import name_bars
from unbraid.salient_change import salient_change

NAMES = [f"gene{i}" for i in range(6)]


class Linear(nn.Module):
    """Decodes [z, s] by a matrix; background has the salient code `rest`."""

    def __init__(self, rest):
        super().__init__()
        self.matrix, self.rest = torch.arange(12.0).view(3, 4), rest
        self.blocks = {"common": slice(0, 2), "salient": slice(2, 3)}

    def decode(self, codes):
        return codes @ self.matrix

    def absent(self, codes):
        return codes.new_full((len(codes), 1), self.rest)


@pytest.mark.parametrize("rest", [0.0, 2.0])
def test_of_a_linear_decoder_it_is_the_mean_code_times_the_salient_row(rest):
    method, codes = Linear(rest), torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    found = salient_change(method.decode, codes, speaking(method, codes, ["common"]))
    np.testing.assert_allclose(found, (codes[:, 2].mean() - rest) * method.matrix[2], rtol=1e-4)


def tables(shift):
    """Noise, to which targets have `shift` added in the second column, taken away in the fifth."""
    x, y = np.random.default_rng(0).normal(0, 0.3, (2, 600, 6)).astype(np.float32)
    x[:, 1] += shift
    x[:, 4] -= shift / 2
    return x, y


def test_a_shift_of_two_columns_is_found_kept_and_told(tmp_path):
    for name, x in zip(("cases", "controls"), tables(3.0), strict=True):
        np.savez(tmp_path / f"{name}.npz", x=x, genes=np.array(NAMES))
    data = {"target": str(tmp_path / "cases.npz"), "background": str(tmp_path / "controls.npz")}
    run = unbraid.train("w2_vae", data, net="linear", common=2, salient=1, steps=800, lr=1e-2, out=tmp_path, progress=False)  # fmt: skip
    evaluate(run, metrics=["salient_silence"])
    with np.load(run.path / "salient_change.npz") as kept:
        order = np.argsort(-np.abs(kept["change"]))
        assert kept["features"][order[:2]].tolist() == ["gene1", "gene4"]
        np.testing.assert_allclose(kept["change"][order[:2]], [3.0, -1.5], atol=0.4)
        assert np.abs(kept["change"][order[2:]]).max() < 0.3
        np.testing.assert_allclose(kept["difference"][order[:2]], [3.0, -1.5], atol=0.2)
    page = write_report([run.path], tmp_path / "report.html").read_text()
    assert "What the salient code changes" in page and page.index(">gene1<") < page.index(">gene4<")


def test_without_a_salient_code_or_a_background_there_is_none(tmp_path):
    x, y = tables(1.0)
    plain = unbraid.train("vae", x, latents=2, steps=2, out=tmp_path, progress=False)
    several = unbraid.train("vae", {"target": x, "background": y}, latents=2, steps=2, out=tmp_path, progress=False)
    for run in (plain, several):
        evaluate(run, metrics=["active_units"])
        assert json.loads((run.path / "results.json").read_text())["scores"]
        assert not (run.path / "salient_change.npz").exists()


def test_bars_point_either_way():
    drawn = name_bars([2.0, -1.0], ["up", "down"], title="two")
    assert drawn.count('class="bar s0"') == drawn.count('class="bar s1"') == 1 and "<title>down: −1" in drawn
