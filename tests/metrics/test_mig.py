"""MIG against the values of disentanglement_lib, and what a perfect code can reach."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.information import entropy, equal_width, mutual_information
from unbraid.metrics import mig

ARRAYS = (
    "identity",
    "random_rotation",
    "noisy_overcomplete",
    "pure_noise",
    "btcvae_dsprites_mean",
    "VAE_dsprites_mean",
)


@pytest.mark.parametrize("name", ARRAYS)
def test_equals_disentanglement_lib(name):
    if "UNBRAID_DATA" not in os.environ:
        pytest.skip("needs the reference values: set UNBRAID_DATA to the folder that holds reference/")
    folder = Path(os.environ["UNBRAID_DATA"]) / "reference"
    expected = json.loads((folder / "disentanglement_lib_values.json").read_text())[name]
    if "dsprites" in name:
        arrays = np.load(folder / "dsprites_codes_8000.npz")
        codes, factors = arrays[name], arrays["factors"]
    else:
        arrays = np.load(folder / "synthetic_codes_8000.npz")
        codes, factors = arrays[f"{name}_codes"], arrays["synthetic_factors"]
    score = mig(codes[:5000], factors[:5000])
    assert score.value == pytest.approx(expected["mig.discrete_mig"], abs=1e-6)
    np.testing.assert_allclose(score.parts["information"], expected["mutual_info_matrix"], atol=1e-6)
    np.testing.assert_allclose(score.parts["entropy"], expected["entropy"], atol=1e-6)


def uniform(sizes, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(n, size=10_000) for n in sizes], axis=1)


@pytest.mark.parametrize(
    ("sizes", "ceiling"),
    [
        pytest.param((3, 6, 40, 32, 32), 0.896, id="dsprites"),
        pytest.param((4, 24, 183), 0.819, id="cars3d"),
        pytest.param((5, 9, 18, 6), 0.996, id="smallnorb"),
        pytest.param((10, 10, 10, 8, 4, 15), 0.996, id="shapes3d"),
        pytest.param((4, 4, 2, 3, 3, 40, 40), 0.942, id="mpi3d-toy"),
    ],
)
def test_ceiling(sizes, ceiling):
    factors = uniform(sizes)
    assert mig(np.random.default_rng(1).normal(size=(10_000, 3)), factors).ceiling == pytest.approx(ceiling, abs=0.01)
    perfect = mig(factors / np.array(sizes) * [(-1) ** j for j in range(len(sizes))], factors)
    assert perfect.value == pytest.approx(ceiling, abs=0.01)


def test_ceiling_of_each_factor_and_the_remedy():
    factors = uniform((3, 6, 40, 32, 32))
    score = mig(factors, factors)
    np.testing.assert_allclose(score.parts["per_factor"], [1.0, 1.0, 0.80, 0.84, 0.84], atol=0.01)
    assert sum("coarser" in warning for warning in score.warnings) == 3
    finer = mig(factors, factors, bins=40)
    assert finer.value > 0.98 and not finer.warnings


def test_mutual_information_by_its_definition():
    rng = np.random.default_rng(0)
    left, right = rng.integers(4, size=(300, 2)), rng.integers(5, size=(300, 3))
    right[:, 0] = left[:, 1]
    fast = mutual_information(left, right)
    for i in range(2):
        for k in range(3):
            joint = np.histogram2d(left[:, i], right[:, k], bins=(range(5), range(6)))[0] / 300
            independent = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
            at = joint > 0
            assert fast[i, k] == pytest.approx((joint[at] * np.log(joint[at] / independent[at])).sum(), abs=1e-12)
    assert fast[1, 0] == pytest.approx(entropy(right)[0])


def test_bins_are_closed_below_and_the_last_one_above():
    column = np.array([0.0, 0.5, 1.0, 1.5, 2.0])[:, None]
    assert equal_width(column, 2)[:, 0].tolist() == [0, 0, 1, 1, 1]


def test_a_dead_latent_whose_range_is_rounding():
    codes = uniform((4, 4)).astype(float)
    codes = np.column_stack([codes, 1 + np.finfo(float).eps * codes[:, 0]])
    score = mig(codes, codes[:, :2])
    assert any("constant code columns [2]" in warning for warning in score.warnings)
    assert score.value > 0.99


def test_continuous_factors_are_binned_and_say_so():
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.integers(5, size=4000), rng.uniform(size=4000)])
    score = mig(factors, factors)
    assert score.settings["binned_factors"] == [1]
    assert score.settings["kinds"] == ["order", "continuous"]
    assert score.parts["entropy"][1] == pytest.approx(np.log(20), abs=0.01)
    assert score.value == pytest.approx(score.ceiling) == pytest.approx(1, abs=0.03)


def test_skewed_values_have_the_ceiling_of_their_ranks():
    factors = uniform((10, 10))
    skewed = 2.0 ** (3 * factors)
    assert mig(skewed, skewed).value < 0.6
    assert mig(skewed, skewed).ceiling == pytest.approx(mig(factors, factors).value)


def test_pitfalls_are_named():
    factors = uniform((4, 5))
    codes = factors + np.random.default_rng(0).uniform(size=factors.shape)
    codes[0, 1] = 1e4
    frozen = np.column_stack([factors, np.zeros(len(factors))])
    kinds = [Factor("shape", 4, "category"), Factor("size", 5, "order"), Factor("colour", 1, "category")]
    score = mig(codes, frozen, kinds=kinds)
    assert any("code columns [1]" in w and "outliers" in w for w in score.warnings)
    assert any("'colour' never varies" in w for w in score.warnings)
    assert np.isnan(score.parts["per_factor"][2]) and np.isfinite(score.value)
    with pytest.raises(UserError, match="no factor column varies"):
        mig(codes, np.zeros(len(codes)))
    with pytest.raises(UserError, match="bins=1"):
        mig(codes, factors, bins=1)
