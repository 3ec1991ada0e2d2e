"""Gaussian total correlation: closed forms."""

import numpy as np
import pytest

from unbraid.metrics import gaussian_total_correlation


def with_covariance(covariance, samples=500):
    """Codes whose sample covariance is exactly this."""
    draw = np.random.default_rng(0).normal(size=(samples, len(covariance)))
    draw -= draw.mean(axis=0)
    white = draw @ np.linalg.inv(np.linalg.cholesky(np.cov(draw, rowvar=False))).T
    return white @ np.linalg.cholesky(covariance).T


@pytest.mark.parametrize("rho", [0.0, 0.5, -0.9])
def test_two_latents(rho):
    score = gaussian_total_correlation(with_covariance(np.array([[1, 3 * rho], [3 * rho, 9]])))
    assert score.value == pytest.approx(-0.5 * np.log(1 - rho**2), abs=1e-9)
    assert score.best == "low"


def test_by_its_definition():
    mixing = np.random.default_rng(1).normal(size=(5, 5))
    covariance = mixing @ mixing.T
    expected = 0.5 * (np.log(covariance.diagonal()).sum() - np.linalg.slogdet(covariance)[1])
    assert gaussian_total_correlation(with_covariance(covariance)).value == pytest.approx(expected, rel=1e-6)


def test_a_repeated_latent_is_finite_and_warned_of():
    codes = with_covariance(np.eye(2))
    score = gaussian_total_correlation(codes[:, [0, 1, 0]])
    assert 10 < score.value < np.inf
    assert any("linear function of others" in warning for warning in score.warnings)
    assert not any("linear" in warning for warning in gaussian_total_correlation(codes).warnings)


def test_no_latent_that_varies():
    score = gaussian_total_correlation(np.ones((2000, 2)))
    assert score.value == 0 and any("constant" in warning for warning in score.warnings)
