"""Explicitness against disentanglement_lib, areas under the curve against scikit-learn."""

import sys

import numpy as np
import pytest
from dlib_values import ARRAYS, dlib_values, uniform
from sklearn.metrics import roc_auc_score

from unbraid.errors import UserError
from unbraid.metrics import explicitness

areas_under_roc = sys.modules["unbraid.metrics.explicitness"].areas_under_roc


@pytest.mark.parametrize("name", ARRAYS)
def test_equals_disentanglement_lib(name):
    codes, factors, expected = dlib_values(name)
    parts = {"test_codes": codes[5000:], "test_factors": factors[5000:]}
    score = explicitness(codes[:5000], factors[:5000], **parts, reference=True)
    assert score.value == pytest.approx(expected["explicitness_test"], abs=1e-5)
    assert score.train == pytest.approx(expected["explicitness_train"], abs=1e-5)


def test_areas_with_ties_and_absent_classes():
    rng = np.random.default_rng(0)
    scores, classes = rng.normal(size=(300, 4)).round(1), rng.integers(3, size=300)
    areas = areas_under_roc(scores, classes)
    for k in range(3):
        assert areas[k] == pytest.approx(roc_auc_score(classes == k, scores[:, k]))
    assert np.isnan(areas[3])
    assert areas_under_roc(np.ones((300, 1)), (classes == 0) - 1).tolist() == [0.5]


def test_perfect_rotated_and_noise():
    factors = uniform((3, 5), samples=3000)
    noise = np.random.default_rng(1).normal(size=(3000, 2))
    assert explicitness(factors, factors).value == pytest.approx(1, abs=0.01)
    assert explicitness(factors @ [[1, 2], [2, -1]], factors).value == pytest.approx(1, abs=0.01)
    assert explicitness(noise, factors).value == pytest.approx(0.5, abs=0.03)
    scaled = explicitness(noise, factors, normalised=True)
    assert scaled.value == pytest.approx(2 * explicitness(noise, factors).value - 1) and scaled.chance == 0


def test_a_gaussian_threshold():
    """Two classes that are told by one Gaussian each: the area is the chance that one exceeds the other."""
    from scipy.special import ndtr

    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=8000)
    score = explicitness(classes + rng.normal(size=8000), classes)
    assert score.value == pytest.approx(ndtr(1 / 2**0.5), abs=0.01)


def test_continuous_factors_are_binned_and_say_so():
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.integers(3, size=2000), rng.uniform(size=2000)])
    score = explicitness(factors, factors, bins=5)
    assert score.settings["binned_factors"] == [1]
    assert score.value == pytest.approx(1, abs=0.02)


def test_mistakes_and_pitfalls():
    factors = uniform((6,), samples=500)
    codes = factors + 0.1 * np.random.default_rng(0).normal(size=factors.shape)
    assert any("stopped after 2 steps" in warning for warning in explicitness(codes, factors, steps=2).warnings)
    with pytest.raises(UserError, match="steps=0"):
        explicitness(codes, factors, steps=0)
    with pytest.raises(UserError, match="every value as a class"):
        explicitness(codes, codes, reference=True)
    with pytest.raises(UserError, match="no factor column varies"):
        explicitness(codes, np.zeros(500))
