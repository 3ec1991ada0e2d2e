"""MIG against the values of disentanglement_lib, and what a perfect code can reach."""

import numpy as np
import pytest
from dlib_values import ARRAYS, SIZES, dlib_values, uniform

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.information import entropy, equal_width, mutual_information
from unbraid.metrics import mig


@pytest.mark.parametrize("name", ARRAYS)
def test_equals_disentanglement_lib(name):
    codes, factors, expected = dlib_values(name)
    score = mig(codes[:5000], factors[:5000], reference=True)
    assert score.value == pytest.approx(expected["mig.discrete_mig"], abs=1e-6)
    assert mig(codes[:5000], factors[:5000]).value == score.value
    np.testing.assert_allclose(score.parts["information"], expected["mutual_info_matrix"], atol=1e-6)
    np.testing.assert_allclose(score.parts["entropy"], expected["entropy"], atol=1e-6)


@pytest.mark.parametrize(
    ("data", "ceiling"),
    [("dsprites", 0.896), ("cars3d", 0.819), ("smallnorb", 0.996), ("shapes3d", 0.996), ("mpi3d-toy", 0.942)],
)
def test_ceiling(data, ceiling):
    sizes = SIZES[data]
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


def test_reference_takes_every_value_for_itself():
    factors = np.random.default_rng(0).integers(60, size=(4000, 2)) / 7
    score = mig(factors, factors, reference=True, bins=5, binning="mass", correction="shuffled", kinds=["cycle"] * 2)
    assert score.value == mig(factors, factors, kinds=["order"] * 2).value
    assert score.settings["bins"] == 20 and score.settings["binned_factors"] == []
    assert score.value != mig(factors, factors).value


def test_bins_of_equal_mass_do_not_mind_outliers_or_warps():
    factors = uniform((8, 8))
    codes = factors + 0.3 * np.random.default_rng(1).normal(size=factors.shape)
    clean = mig(codes, factors, binning="mass")
    assert clean.value > 0.6
    codes[0] = 1e6
    assert mig(codes, factors).value < 0.01
    assert mig(codes, factors, binning="mass").value == pytest.approx(clean.value, abs=0.01)
    assert mig(np.sinh(codes[1:]), factors[1:], binning="mass").value == pytest.approx(
        mig(codes[1:], factors[1:], binning="mass").value, abs=1e-12
    )


@pytest.mark.parametrize("correction", ["miller_madow", "shuffled"])
def test_corrections_lower_noise_but_not_the_best(correction):
    factors = uniform((10, 30), samples=1000)
    noise = np.random.default_rng(1).normal(size=(1000, 4))
    plain, corrected = (mig(noise, factors, correction=c) for c in ("none", correction))
    assert corrected.parts["information"].mean() < 0.5 * plain.parts["information"].mean()
    perfect = mig(factors, factors, correction=correction, bins=30)
    assert perfect.value == pytest.approx(perfect.ceiling)
    assert perfect.value > 0.9


def test_nats_by_accident_are_said():
    """Cars3D: 19 * 182 / 20,000 nats with any latent whatever."""
    factors = uniform(SIZES["cars3d"])
    noise = np.random.default_rng(1).uniform(size=(10_000, 2))
    said = [w for w in mig(noise, factors).warnings if "by accident" in w]
    assert len(said) == 1 and "column 2 shares about 0.17 nats" in said[0]
    assert mig(noise, factors).information[:, 2] == pytest.approx(0.17, abs=0.03)
    assert not any("by accident" in w for w in mig(noise, factors, correction="shuffled").warnings)


def test_codes_drawn_from_the_posterior_hide_noisy_latents():
    """Each factor twice, once under noise: the means have no gap, the drawn codes have nearly all of it."""
    factors = uniform((5, 5))
    means = np.hstack([factors, factors]) / 5
    variance = np.broadcast_to([1e-6, 1e-6, 4.0, 4.0], means.shape)
    assert mig(means, factors, variance=variance).value == 0
    drawn = mig(means, factors, variance=variance, sampled=True, seed=3)
    assert drawn.value > 0.9 and drawn.settings["codes"] == "drawn from the posterior"
    assert drawn.value == mig(means, factors, variance=variance, sampled=True, seed=3).value
    with pytest.raises(UserError, match="needs the variance"):
        mig(means, factors, sampled=True)
    with pytest.raises(UserError, match=r"shape \(10000, 2\) but codes \(10000, 4\)"):
        mig(means, factors, variance=variance[:, :2], sampled=True)
    with pytest.raises(UserError, match="is it a log variance"):
        mig(means, factors, variance=np.log(variance), sampled=True)
    with pytest.raises(UserError, match="did you mean 'mass'"):
        mig(means, factors, binning="mas")
    with pytest.raises(UserError, match="unknown correction"):
        mig(means, factors, correction="bootstrap")
