"""Correlated and held-out factors change what is trained on and leave the test alone."""

import numpy as np
import pytest
import torch

from unbraid.data import open_data
from unbraid.dependence import dependent
from unbraid.errors import UserError

NAME = "sprites:scales=4,orientations=3,positions=8,pixels=16"


@pytest.fixture(scope="module")
def plain():
    return open_data(NAME)


def table(data, part, first, second):
    values = data.factor_values(data.rows(part)).long()
    sizes = [factor.size for factor in data.factors]
    flat = values[:, first] * sizes[second] + values[:, second]
    return torch.bincount(flat, minlength=sizes[first] * sizes[second]).view(sizes[first], sizes[second]).double()


@pytest.mark.parametrize("strength", [0.2, 0.7])
def test_pairs_follow_equation_1(plain, strength):
    data = open_data(f"{NAME},correlate=x-y,strength={strength}")
    line = torch.arange(8, dtype=torch.float64) / 7
    weight = torch.exp(-((line[:, None] - line) ** 2) / (2 * strength**2))
    # The plain split is random, so its own table times the weights is what to expect, give or take the rounding of rows.
    expected = table(plain, "train", 3, 4) * weight
    expected *= len(data.rows("train")) / expected.sum()
    found = table(data, "train", 3, 4)
    assert len(data.rows("train")) == len(plain.rows("train"))
    assert ((found - expected).abs() < 1 + 4 * expected.sqrt()).all()


def test_a_row_comes_as_often_as_its_weight_says_to_within_one(plain):
    data = dependent(plain, correlate="x-y")
    rows, times = data.rows("train").unique(return_counts=True)
    values = plain.values.double()
    weight = torch.exp(-(((values[:, 3] - values[:, 4]) / 7) ** 2) / (2 * 0.2**2))
    share = weight / weight[plain.rows("train")].sum() * len(plain.rows("train"))
    assert (times - share[rows]).abs().max() < 1 and len(rows) < len(plain.rows("train"))


def test_other_factors_stay_even_and_the_test_part_stays_plain(plain):
    data = open_data(f"{NAME},correlate=x-y,hold_out=shape0-scale3")
    assert torch.equal(data.rows("test"), plain.rows("test"))
    for part in ("train", "validation"):
        assert set(data.rows(part).tolist()) <= set(plain.rows(part).tolist())
        assert table(data, part, 0, 1)[0, 3] == 0
        assert table(data, part, 3, 4).argmax(1).sub(torch.arange(8)).abs().max() <= (1 if part == "train" else 3)
    assert table(data, "test", 0, 1)[0, 3] > 0
    turns = table(data, "train", 2, 2).diagonal()
    assert (turns / turns.mean() - 1).abs().max() < 0.1
    assert torch.equal(data.draw(torch.arange(5)), plain.draw(torch.arange(5)))


def test_holding_out_alone_only_leaves_rows_out(plain):
    data = dependent(plain, hold_out="shape0-scale3+shape1")
    rows, values = plain.rows("train"), plain.factor_values(plain.rows("train"))
    gone = ((values[:, 0] == 0) & (values[:, 1] == 3)) | (values[:, 0] == 1)
    assert torch.equal(data.rows("train"), rows[~gone])


def test_the_same_rows_everywhere_and_always():
    first, second = (open_data(f"{NAME},correlate=scale-x") for _ in range(2))
    assert torch.equal(first.rows("train"), second.rows("train"))
    assert torch.equal(first.to("cpu").rows("train"), first.rows("train"))
    order = first.rows("train")[:-1] == first.rows("train")[1:]
    assert order.float().mean() < 0.05  # copies of a row are not side by side


def test_name_and_notes_say_it(plain):
    data = open_data(f"{NAME},strength=0.4,hold_out=shape0-scale3,correlate=x-y+scale-shape")
    assert data.name == f"{NAME},correlate=x-y+scale-shape,strength=0.4,hold_out=shape0-scale3"
    assert open_data(data.name).name == data.name
    correlated, held = data.notes
    assert "x with y and scale with shape (strength 0.4)" in correlated and "tested on independent" in correlated
    assert "shape=0 scale=3" in held and "part of the test" in held
    assert open_data(f"{NAME},strength=0.2,correlate=").name == plain.name


def test_users_own_files_have_the_options_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).normal(size=(1000, 3))
    grid = np.stack(np.meshgrid(np.arange(10), np.arange(100), indexing="ij"), -1).reshape(-1, 2)
    np.savez("mine.npz", x=x, factors=grid, factor_names=["my-age", "k2"])
    plain = open_data("mine.npz")
    names = [factor.name for factor in plain.factors]
    data = open_data(f"mine.npz:correlate={names[0]}-{names[1]},hold_out={names[1]}7")
    values = data.factor_values(data.rows("train")).double()
    assert values.T.corrcoef()[0, 1] > 0.7 and not (values[:, 1] == 7).any()
    assert open_data(data.name).name == data.name and data.fingerprint == plain.fingerprint


def test_continuous_factors_correlate_but_have_no_combinations():
    data = open_data("linear_square:samples=4000,correlate=w1-w2")
    assert data.factor_values(data.rows("train")).T.corrcoef()[0, 1] > 0.7
    assert data.factor_values(data.rows("test")).T.corrcoef()[0, 1].abs() < 0.2
    with pytest.raises(UserError, match="w1 is continuous"):
        open_data("linear_square:hold_out=w13")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("correlate=x-scal", "unknown factor 'scal': did you mean 'scale'"),
        ("correlate=x", "name two factors, as in correlate=x-y"),
        ("correlate=x-x", "name two factors"),
        ("correlate=x-y-scale", "name two factors"),
        ("corelate=x-y", "did you mean 'correlate'"),
        ("strength=0.4", "say which factors go together"),
        ("correlate=x-y,strength=0", "strength=0.0: must be a number above 0"),
        ("correlate=x-y,strength=big", "strength=big: must be a number"),
        ("hold_out=shap0", "did you mean 'shape'"),
        ("hold_out=shape", "'shape' is not a factor and its value"),
        ("hold_out=shape3", "shape has the values 0 to 2, not 3"),
        ("hold_out=x0-x1", "one value in a combination"),
        ("hold_out=shape0+shape1+shape2", "nothing is left"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(UserError, match=message) as caught:
        open_data(f"{NAME},{options}")
    assert "\n" not in str(caught.value)


def test_data_without_factors_cannot_depend():
    with pytest.raises(UserError, match="has no factors"):
        dependent(open_data(np.zeros((20, 3))), correlate="x-y")
