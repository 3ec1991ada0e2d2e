"""The penalty of a batch by hand, what it buys on a Gaussian, and the limit without it."""

import math

import pytest
import torch

from unbraid.losses.covariance import covariance, off_diagonal, off_unit_diagonal
from unbraid.methods.dip_vae_i import DIPVAEI
from unbraid.methods.dip_vae_ii import DIPVAEII
from unbraid.methods.vae import VAE
from unbraid.networks import open_net
from unbraid.posteriors import DiagonalGaussian

BOTH = pytest.mark.parametrize("kind", [DIPVAEI, DIPVAEII])


def net():
    torch.manual_seed(0)
    return open_net("mlp:encoder=8,decoder=8", (5,), "real")


def given():
    generator = torch.Generator().manual_seed(1)
    return {"x": torch.randn(64, 5, generator=generator), "noise": torch.randn(64, 3, generator=generator)}


@BOTH
def test_without_lambdas_it_is_the_vae(kind):
    assert (
        kind(net(), 3, lambda_od=0.0, lambda_d=0.0).loss(given(), 0)["loss"] == VAE(net(), 3).loss(given(), 0)["loss"]
    )


def test_the_covariance_is_numpys():
    codes = given()["x"] + 5
    torch.testing.assert_close(covariance(codes), codes.T.cov(correction=0))


@pytest.mark.parametrize(
    ("kind", "matrix", "off", "diagonal"),
    # four means at the corners of a sheared square: Cov = ((2.5, 1.5), (1.5, 2.5)); sigma² = 1/2 in every latent
    [(DIPVAEI, 2.5, 2 * 1.5**2, 2 * 1.5**2), (DIPVAEII, 3.0, 2 * 1.5**2, 2 * 2.0**2)],
)
def test_the_penalty_of_a_known_batch(kind, matrix, off, diagonal):
    mean = torch.tensor([[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]])
    q = DiagonalGaussian(mean, torch.full_like(mean, math.log(0.5)))
    method = kind(open_net("linear", (5,), "real"), 2, lambda_od=3.0, lambda_d=7.0)
    moments = method.moments(q)
    torch.testing.assert_close(moments, torch.tensor([[matrix, 1.5], [1.5, matrix]]))
    assert off_diagonal(moments).item() == pytest.approx(off)
    assert off_unit_diagonal(moments).item() == pytest.approx(diagonal)
    penalty, terms = method.penalty(q, mean)
    assert (terms["off_diagonal"].item(), terms["off_unit_diagonal"].item()) == pytest.approx((off, diagonal))
    assert (penalty - terms["kl"]).item() == pytest.approx(3 * off + 7 * diagonal, rel=1e-6)


def correlation_after_training(kind, **options):
    """Between the two means, for a rotated Gaussian, after 600 steps: too few for the KL alone to align the axes."""
    turn = torch.tensor([[math.cos(0.5), -math.sin(0.5)], [math.sin(0.5), math.cos(0.5)]])
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(500, 2, generator=generator) * torch.tensor([5.0, 3.0]) @ turn.T
    torch.manual_seed(1)
    method = kind(open_net("linear", (2,), "real"), 2, **options)
    optimiser = torch.optim.Adam(method.parameters(), lr=1e-2)
    for _ in range(600):
        optimiser.zero_grad()
        method.loss({"x": x, "noise": torch.randn(500, 2, generator=generator)}, 0)["loss"].backward()
        optimiser.step()
    with torch.no_grad():
        return covariance(method.encode(x))[0, 1].abs().item()


@BOTH
def test_the_penalty_decorrelates(kind):
    assert correlation_after_training(kind, lambda_od=50.0) < 1e-2


def test_without_penalty_codes_are_still_correlated():
    assert correlation_after_training(VAE) > 5e-2
