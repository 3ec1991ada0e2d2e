"""The estimates of the total correlation against values computed once by hand, and what beta-TCVAE makes of them."""

import math

import pytest
import torch

from unbraid.errors import UserError
from unbraid.losses.total_correlation import ESTIMATORS, aggregate, log_densities, log_weights
from unbraid.methods.beta_tcvae import BetaTCVAE
from unbraid.methods.vae import VAE
from unbraid.networks import open_net
from unbraid.posteriors import DiagonalGaussian

SAMPLES, NOISE = 50_000, 0.3


def codes(count, latents, seed=0):
    """Posteriors of noise variance 0.3 whose aggregate is N(0, 1) in every latent, independently: no total correlation."""
    generator = torch.Generator().manual_seed(seed)
    mean = math.sqrt(1 - NOISE) * torch.randn(count, latents, generator=generator)
    q = DiagonalGaussian(mean, torch.full_like(mean, math.log(NOISE)))
    return q, q.sample(torch.randn(count, latents, generator=generator))


def estimate(estimator, q, z, samples=SAMPLES):
    return aggregate(z, log_densities(z, q), log_weights(estimator, len(z), samples, z))


def average(estimator, count, batches):
    each = [estimate(estimator, *codes(count, 10, seed)).total_correlation().item() for seed in range(batches)]
    return sum(each) / len(each)


@pytest.mark.parametrize(
    ("estimator", "small", "large"), [("lib", -35.5, -61.7), ("mws", 99.3, 98.0), ("mss", -1.39, -0.32)]
)
def test_where_nothing_is_correlated(estimator, small, large):
    assert average(estimator, 64, 100) == pytest.approx(small, abs=0.3)
    assert average(estimator, 1024, 2) == pytest.approx(large, abs=0.3)


def test_the_diagonal_weighs_one_sample_of_all_and_every_row_weighs_one():
    weights = log_weights("mss", 8, 1000, torch.zeros(1)).exp()
    torch.testing.assert_close(weights.diagonal(), torch.full((8,), 1e-3))
    torch.testing.assert_close(weights.sum(1), torch.ones(8))
    assert sorted({round(w, 6) for w in weights.flatten().tolist()}) == [0.001, 0.141857, 0.142857]


def test_a_batch_that_is_all_the_data_is_no_estimate():
    """With N = B the stratified weights are close to the exact 1/B."""
    q, z = codes(256, 2)
    exact = aggregate(z, log_densities(z, q), -math.log(256))
    found = estimate("mss", q, z, samples=256)
    assert found.total_correlation().item() == pytest.approx(exact.total_correlation().item(), abs=0.01)


def test_correlated_codes_have_the_gaussian_total_correlation():
    """z = (a, a rho + ...) with correlation 0.8 has -1/2 log(1 - 0.64) = 0.511 nats."""
    generator = torch.Generator().manual_seed(0)
    mixing = torch.linalg.cholesky(torch.tensor([[1 - NOISE, 0.8], [0.8, 1 - NOISE]]) + 0.11 * torch.eye(2))
    mean = torch.randn(2000, 2, generator=generator) @ mixing.T  # covariance ((0.81, 0.8), (0.8, 0.81))
    q = DiagonalGaussian(mean, torch.full_like(mean, math.log(0.19)))
    z = q.sample(torch.randn(2000, 2, generator=generator))
    assert estimate("mss", q, z).total_correlation().item() == pytest.approx(0.511, abs=0.08)


def test_the_gradients_of_mws_and_lib_are_the_same():
    found = []
    for estimator in ("mws", "lib"):
        q, noise = codes(32, 3)[0], torch.randn(32, 3, generator=torch.Generator().manual_seed(9))
        mean = q.mean.clone().requires_grad_()
        moved = DiagonalGaussian(mean, q.log_variance)
        estimate(estimator, moved, moved.sample(noise)).total_correlation().backward()
        found.append(mean.grad)
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-6)


def net():
    torch.manual_seed(0)
    return open_net("mlp:encoder=8,decoder=8", (5,), "real")


def given():
    generator = torch.Generator().manual_seed(1)
    return {"x": torch.randn(64, 5, generator=generator), "noise": torch.randn(64, 3, generator=generator)}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_beta_one_is_the_vae(estimator):
    terms = BetaTCVAE(net(), 3, beta=1.0, estimator=estimator).loss(given(), 0)
    assert terms["loss"] == VAE(net(), 3).loss(given(), 0)["loss"]


def test_beta_weighs_the_total_correlation_and_the_curves_are_unweighted():
    method = BetaTCVAE(net(), 3, beta=5.0, estimator="mss")
    method.samples = SAMPLES
    terms = method.loss(given(), 0)
    expected = terms["reconstruction"] + terms["kl"] + 4 * terms["total_correlation"]
    assert terms["loss"].item() == pytest.approx(expected.item(), rel=1e-6)
    vae = VAE(net(), 3)
    q = vae.posterior(given()["x"])
    z = q.sample(given()["noise"])
    prior = DiagonalGaussian(torch.zeros_like(z), torch.zeros_like(z))
    one_sample = (log_densities(z, q).sum(-1).diagonal() - log_densities(z, prior).sum(-1).diagonal()).mean()
    parts = terms["mutual_information"] + terms["total_correlation"] + terms["dimension_kl"]
    assert parts.item() == pytest.approx(one_sample.item(), rel=1e-5)


def test_the_curves_do_not_depend_on_what_is_minimised():
    each = [BetaTCVAE(net(), 3, estimator=estimator).loss(given(), 0) for estimator in ESTIMATORS]
    assert len({terms["total_correlation"].item() for terms in each}) == 1
    assert len({terms["loss"].item() for terms in each}) == 3


def test_an_unknown_estimator_is_one_clear_line():
    with pytest.raises(UserError, match="did you mean 'mws'"):
        BetaTCVAE(net(), 3, estimator="mwss")
