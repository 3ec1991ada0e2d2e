"""SAP against the values of disentanglement_lib, its ceilings, and each kind of factor."""

import numpy as np
import pytest
from dlib_values import ARRAYS, SIZES, dlib_values, uniform

from unbraid.errors import UserError
from unbraid.metrics import sap


@pytest.mark.parametrize("name", ARRAYS)
def test_equals_disentanglement_lib(name):
    codes, factors, expected = dlib_values(name)
    parts = {"test_codes": codes[5000:], "test_factors": factors[5000:]}
    score = sap(codes[:5000], factors[:5000], **parts, reference=True)
    assert score.value == pytest.approx(expected["sap.SAP_score"], abs=1e-3)
    continuous = sap(codes[:5000], factors[:5000], estimator="correlation")
    assert continuous.value == pytest.approx(expected["sap_continuous.SAP_score"], abs=1e-6)


@pytest.mark.parametrize(
    ("data", "ceiling"), [("dsprites", 0.25), ("cars3d", 0.26), ("smallnorb", 0.34), ("mpi3d-toy", 0.48)]
)
def test_ceiling(data, ceiling):
    factors = uniform(SIZES[data], samples=15_000)
    perfect = sap(factors * [1.0, -3.0, *[7.0] * (len(SIZES[data]) - 2)], factors)
    assert perfect.ceiling == pytest.approx(ceiling, abs=0.03)
    assert perfect.value == pytest.approx(perfect.ceiling, abs=1e-3)


def test_rotation_lowers():
    factors = uniform((8, 8), samples=4000)
    turned = factors @ np.array([[1, 1], [1, -1]])
    assert sap(turned, factors).value < 0.02 < 0.1 < sap(factors, factors).value


def test_kinds_decide():
    rng = np.random.default_rng(0)
    turn = rng.uniform(0, 2 * np.pi, size=3000)
    factors = np.column_stack([rng.integers(3, size=3000), rng.integers(5, size=3000), rng.normal(size=3000), turn])
    codes = np.column_stack([factors[:, 0], factors[:, 1], factors[:, 2], np.cos(turn + 1)])
    score = sap(codes, factors, kinds=["category", "order", "continuous", "cycle"])
    assert score.settings["estimator"] == ["svm", "svm", "correlation", "correlation"]
    np.testing.assert_allclose(score.parts["per_factor"][2:], 1, atol=0.01)
    assert sap(codes, turn, kinds=["continuous"]).value < 0.7
    binned = sap(codes, factors, kinds=["category", "order", "continuous", "continuous"], estimator="svm")
    assert binned.settings["binned_factors"] == [2, 3]
    forced = sap(codes, factors[:, :1], kinds=["category"], estimator="correlation")
    assert any("taken for amounts" in warning for warning in forced.warnings)


def test_scale_matters_to_the_reference_only():
    factors = uniform((5, 4), samples=2000)
    small = factors * [1e-4, 1.0]
    assert sap(small, factors).value == pytest.approx(sap(factors, factors).value, abs=1e-9)
    raw = sap(small, factors, reference=True)
    assert raw.value != pytest.approx(sap(factors, factors, reference=True).value, abs=0.02)
    assert any("columns [0] vary by less" in warning for warning in raw.warnings)


def test_a_value_that_only_held_out_samples_have():
    factors = np.repeat([[0], [1]], 200, axis=0)
    score = sap(factors * 1.0, factors, test_codes=np.array([0.0, 1.0, 2.0]), test_factors=np.array([0, 1, 2]))
    assert score.parts["scores"][0, 0] == pytest.approx(2 / 3)


def test_mistakes():
    rng = np.random.default_rng(0)
    codes, real = rng.normal(size=(300, 2)), rng.normal(size=(300, 1))
    with pytest.raises(UserError, match="did you mean 'svm'"):
        sap(codes, real, estimator="svn")
    with pytest.raises(UserError, match="every value as a class, but factor column 0 has 300"):
        sap(codes, real, reference=True)
    with pytest.raises(UserError, match="no factor column varies"):
        sap(codes, np.zeros(300))
    with pytest.raises(UserError, match="bins=1"):
        sap(codes, real, bins=1)
