"""Linear domains: the factors are what paper 000's Proposition 2.1 asks for, and the mixing is one matrix."""

import numpy as np
import pytest
import torch

from unbraid.data import open_data
from unbraid.errors import UserError


@pytest.mark.parametrize("private", ["3-4", "2-0-5"])
def test_factors_are_uncorrelated_and_mixed_by_one_matrix(private):
    sizes = [int(n) for n in private.split("-")]
    data = open_data(f"linear_domains:private={private},shared=2,samples={'-'.join(['60'] * len(sizes))},features=30")
    assert data.groups == tuple("abc"[: len(sizes)]) and data.shape == (30,) and not data.factors
    weights = []
    for size, name in zip(sizes, data.groups, strict=True):
        member = data.member(name)
        z, x = member.values.numpy(), member.draw(torch.arange(60)).numpy()
        assert [factor.name for factor in member.factors] == [*(f"{name}{n + 1}" for n in range(size)), "shared1", "shared2"]  # fmt: skip
        np.testing.assert_allclose(z.mean(0), 0, atol=1e-12)
        np.testing.assert_allclose(z.T @ z / 60, np.eye(size + 2), atol=1e-12)
        weights.append(np.linalg.lstsq(z, x, rcond=None)[0])
        np.testing.assert_allclose(z @ weights[-1], x, atol=1e-5)
    for each in weights[1:]:
        np.testing.assert_allclose(each[-2:], weights[0][-2:], atol=1e-6)


def test_rows_at_right_angles_and_domains_apart():
    data = open_data("linear_domains:orthogonal=true,apart=7")
    for name in data.groups:
        member = data.member(name)
        z, x = member.values.numpy(), member.draw(torch.arange(len(member))).double().numpy()
        weights = np.linalg.lstsq(z, x - x.mean(0), rcond=None)[0]
        np.testing.assert_allclose(weights @ weights.T, np.eye(len(weights)), atol=1e-5)
        assert np.linalg.norm(x.mean(0)) == pytest.approx(7, abs=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("private=3", "at least two domains, and a number of each for every one"),
        ("private=3-4-5", "samples=400-300: at least two domains"),
        ("private=3-a", "private=3-a: must be whole numbers joined by dashes"),
        ("samples=5-300", "a domain needs more samples than factors, and at least 10"),
        ("features=8,orthogonal=true", "9 rows at right angles need as many features"),
        ("apart=-1", "apart=-1.0: must be a number of at least 0"),
    ],
)
def test_mistakes_are_one_line(options, message):
    with pytest.raises(UserError, match=message):
        open_data(f"linear_domains:{options}")
