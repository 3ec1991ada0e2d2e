"""IRS against disentanglement_lib and against its definition."""

import numpy as np
import pytest
from dlib_values import ARRAYS, dlib_values, uniform

from unbraid.errors import UserError
from unbraid.information import equal_width
from unbraid.metrics import irs


@pytest.mark.parametrize("name", ARRAYS)
def test_equals_disentanglement_lib(name):
    codes, factors, expected = dlib_values(name)
    score = irs(codes[:5000], factors[:5000], reference=True)
    assert score.value == pytest.approx(expected["irs"], abs=1e-10)


@pytest.mark.parametrize("quantile", [1.0, 0.99, 0.3])
def test_by_its_definition(quantile):
    rng = np.random.default_rng(0)
    codes, factors = rng.normal(size=(300, 3)), np.column_stack([rng.integers(4, size=300), rng.uniform(size=300)])
    score = irs(codes, factors, quantile=quantile, bins=6)
    held = np.column_stack([factors[:, 0], equal_width(factors[:, 1:], 6)])
    for i in range(3):
        furthest = np.abs(codes[:, i] - codes[:, i].mean()).max()
        for j in range(2):
            groups = [codes[held[:, j] == value, i] for value in np.unique(held[:, j])]
            away = [np.quantile(np.abs(group - group.mean()), quantile) for group in groups]
            assert score.matrix[i, j] == pytest.approx(1 - np.mean(away) / furthest, abs=1e-12)
    assert score.settings["binned_factors"] == [1]


def test_perfect_noise_and_half_robust():
    factors = uniform((5, 5), samples=4000)
    assert irs(factors, factors).value == pytest.approx(1)
    noise = irs(np.random.default_rng(1).normal(size=(4000, 2)), factors)
    assert noise.value == pytest.approx(noise.chance, abs=0.03) and noise.chance > 0.2
    # With one factor still the sum of two equal ones deviates by half of what it does at most.
    assert irs(factors.sum(axis=1), factors).value == pytest.approx(0.5, abs=0.01)


def test_mistakes():
    factors = uniform((5, 5), samples=100)
    with pytest.raises(UserError, match="quantile=0"):
        irs(factors, factors, quantile=0)
    with pytest.raises(UserError, match="no factor column varies"):
        irs(factors, np.zeros(100))
    with pytest.raises(UserError, match="bins=1"):
        irs(factors, factors, bins=1)
