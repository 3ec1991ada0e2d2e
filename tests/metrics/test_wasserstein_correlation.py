"""Gaussian Wasserstein correlation: closed forms."""

import numpy as np
import pytest
from scipy.linalg import sqrtm
from test_gaussian_total_correlation import with_covariance

from unbraid.metrics import wasserstein_correlation


@pytest.mark.parametrize("rho", [0.0, 0.5, -0.9])
def test_two_latents(rho):
    score = wasserstein_correlation(with_covariance(np.array([[1, rho], [rho, 1]])))
    expected = 4 - 2 * (np.sqrt(1 + rho) + np.sqrt(1 - rho))
    assert score.value == pytest.approx(expected, abs=1e-9)
    assert score.normalised == pytest.approx(expected / 2, abs=1e-9)
    assert score.best == "low"


def test_by_its_definition():
    mixing = np.random.default_rng(1).normal(size=(5, 5))
    covariance = mixing @ mixing.T
    root = sqrtm(np.diag(covariance.diagonal()) @ covariance)
    expected = 2 * np.trace(covariance) - 2 * np.trace(root).real
    assert wasserstein_correlation(with_covariance(covariance)).value == pytest.approx(expected, rel=1e-6)


def test_scale_and_dead_latents():
    codes = with_covariance(np.array([[1, 0.8], [0.8, 2]]))
    score, large = wasserstein_correlation(codes), wasserstein_correlation(3 * codes)
    assert large.value == pytest.approx(9 * score.value) and large.normalised == pytest.approx(score.normalised)
    dead = wasserstein_correlation(np.ones((2000, 3)))
    assert dead.value == dead.normalised == 0
