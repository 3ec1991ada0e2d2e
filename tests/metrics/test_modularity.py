"""Modularity against disentanglement_lib, and what unused latents do to the mean."""

import numpy as np
import pytest
from dlib_values import ARRAYS, SIZES, dlib_values, uniform

from unbraid.errors import UserError
from unbraid.metrics import modularity


@pytest.mark.parametrize("name", ARRAYS)
def test_equals_disentanglement_lib(name):
    codes, factors, expected = dlib_values(name)
    score = modularity(codes[:5000], factors[:5000], reference=True)
    assert score.value == pytest.approx(expected["modularity"], abs=1e-10)
    default = modularity(codes[:5000], factors[:5000])
    assert default.all_latents == pytest.approx(score.value)
    assert default.value == score.in_use


@pytest.mark.parametrize(("data", "noisy"), [("dsprites", 0.67), ("cars3d", 0.99), ("shapes3d", 0.67)])
def test_perfect_noise_and_constant_latents(data, noisy):
    factors = uniform(SIZES[data])
    k, n = factors.shape[1], 10 - factors.shape[1]
    noise = np.random.default_rng(1).normal(size=(len(factors), n))
    score = modularity(np.hstack([factors, noise]), factors)
    assert score.parts["used"].tolist() == [True] * k + [False] * n
    assert score.value == pytest.approx(1, abs=0.002) == score.ceiling
    assert score.parts["per_latent"][k:].mean() == pytest.approx(noisy, abs=0.06)
    assert score.all_latents == pytest.approx((k + n * score.parts["per_latent"][k:].mean()) / 10, abs=0.002)
    dead = modularity(np.hstack([factors, 0 * noise]), factors)
    assert dead.value == score.value
    assert dead.all_latents == pytest.approx(k / 10, abs=0.002)
    assert any(f"{k} of 10 latents are in use" in warning for warning in dead.warnings)


def test_two_factors_in_one_latent():
    """A latent that holds both factors to the same extent has delta 1; with a third factor, 1/2."""
    factors = uniform((4, 4, 4))
    both = factors[:, :1] * 4.0 + factors[:, 1:2]
    assert modularity(both, factors[:, :2], bins=16).value == pytest.approx(0, abs=0.001)
    assert modularity(both, factors, bins=16).value == pytest.approx(0.5, abs=0.001)


def test_which_latents_may_count():
    factors = uniform((4, 5))
    mixed = np.column_stack([factors, factors.sum(axis=1)])
    everything, two = modularity(mixed, factors), modularity(mixed, factors, active=[True, True, False])
    assert two.value == pytest.approx(1, abs=0.001) and everything.value < 0.9
    with pytest.raises(UserError, match="active has 2 entries for 3 latents"):
        modularity(mixed, factors, active=[True, False])


def test_nothing_told_and_a_single_factor():
    factors = uniform((4, 5))
    nothing = modularity(np.random.default_rng(1).normal(size=(10_000, 3)), factors)
    assert nothing.value == 0 and nothing.all_latents > 0.4
    assert any("no latent tells" in warning for warning in nothing.warnings)
    single = modularity(factors, factors[:, 0])
    assert single.value == 1 and any("single factor" in warning for warning in single.warnings)
    with pytest.raises(UserError, match="no factor column varies"):
        modularity(factors, np.zeros(10_000))
    with pytest.raises(UserError, match="bins=1"):
        modularity(factors, factors, bins=1)
