"""Limits and closed forms of the VAE family."""

import numpy as np
import pytest
import torch
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from unbraid.claims.paper_002.theorem_2 import covariance, rotated_gaussian, train_exactly
from unbraid.geometry import distance_to_orthogonality
from unbraid.linear_theory import linear_closed_form
from unbraid.losses.reconstruction import reconstruction_error
from unbraid.methods.beta_vae import BetaVAE
from unbraid.methods.vae import VAE
from unbraid.networks import open_net
from unbraid.posteriors import DiagonalGaussian, FullGaussian


def net():
    torch.manual_seed(0)
    return open_net("mlp:encoder=8,decoder=8", (5,), "real")


def given():
    return {"x": torch.randn(64, 5), "noise": torch.randn(64, 3)}


def test_beta_one_is_the_vae():
    batch = given()
    assert BetaVAE(net(), 3, beta=1.0).loss(batch, 0)["loss"] == VAE(net(), 3).loss(batch, 0)["loss"]


def test_beta_weighs_the_kl_and_the_curve_is_unweighted():
    batch = given()
    terms = BetaVAE(net(), 3, beta=7.0).loss(batch, 0)
    assert terms["loss"].item() == pytest.approx((terms["reconstruction"] + 7 * terms["kl"]).item(), rel=1e-6)
    assert terms["kl"] == VAE(net(), 3).loss(batch, 0)["kl"]


def test_diagonal_kl_is_torchs():
    q = DiagonalGaussian(torch.randn(9, 4), torch.randn(9, 4))
    exact = kl_divergence(Normal(q.mean, q.variance.sqrt()), Normal(0.0, 1.0))
    torch.testing.assert_close(q.kl(), exact)


def test_full_kl_and_covariance_are_torchs():
    q = FullGaussian.from_numbers(torch.randn(6, 4 + 10), 4)
    exact = kl_divergence(
        MultivariateNormal(q.mean, scale_tril=q.factor), MultivariateNormal(torch.zeros(4), torch.eye(4))
    )
    torch.testing.assert_close(q.kl(), exact, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(q.variance, (q.factor @ q.factor.mT).diagonal(dim1=-2, dim2=-1))
    assert (q.factor.triu(1) == 0).all() and (q.factor.diagonal(dim1=-2, dim2=-1) > 0).all()


def test_full_samples_have_the_covariance():
    q = FullGaussian.from_numbers(torch.tensor([[1.0, -1.0, 0.2, -0.3, 0.8]]), 2)
    draws = FullGaussian(q.mean, q.factor).sample(torch.randn(200_000, 2, generator=torch.Generator().manual_seed(0)))
    torch.testing.assert_close(draws.T.cov(), (q.factor @ q.factor.mT)[0], atol=0.02, rtol=0.02)


def test_without_correlation_the_full_posterior_is_the_diagonal_one():
    mean, log_sigma = torch.randn(5, 3), torch.randn(5, 3)
    full = FullGaussian.from_numbers(torch.cat([mean, log_sigma, torch.zeros(5, 3)], 1), 3)
    diagonal = DiagonalGaussian(mean, 2 * log_sigma)
    torch.testing.assert_close(full.kl(), diagonal.kl().sum(1))
    noise = torch.randn(5, 3)
    torch.testing.assert_close(full.sample(noise), diagonal.sample(noise))


def test_squared_error_is_summed_over_pixels_without_a_half():
    x, raw = torch.zeros(2, 1, 2, 2), torch.full((2, 1, 2, 2), 3.0)
    assert reconstruction_error("squared", x, raw).tolist() == [36.0, 36.0]


def test_bernoulli_is_the_cross_entropy_in_nats():
    x, raw = torch.ones(1, 2), torch.zeros(1, 2)
    assert reconstruction_error("bernoulli", x, raw).item() == pytest.approx(2 * np.log(2), rel=1e-6)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_trained_linear_beta_vae_is_the_closed_form(seed):
    """Axes, noise, decoder norms to 1e-3; beta kills the latents that theory says it kills."""
    x = rotated_gaussian(seed)
    beta = 0.6  # the fourth eigenvalue, 0.25, lies below beta / 2
    optimum = linear_closed_form(covariance(x), beta, 4)
    assert optimum.active.tolist() == [True, True, True, False]
    trained = train_exactly(x, beta, 4, seed)
    order = np.argsort(trained["noise"])
    columns = trained["columns"][:, order][:, :3]
    np.testing.assert_allclose(trained["noise"][order], optimum.noise, atol=1e-3)
    np.testing.assert_allclose((trained["columns"] ** 2).sum(0)[order], optimum.column_norms, atol=1e-3)
    cosines = np.abs((columns / np.linalg.norm(columns, axis=0)).T @ optimum.axes[:, :3])
    np.testing.assert_allclose(cosines, np.eye(3), atol=1e-3)
    decoder = torch.from_numpy(columns).float()
    assert distance_to_orthogonality(lambda z: z @ decoder.T, np.zeros((4, 3))).value < 2e-3
