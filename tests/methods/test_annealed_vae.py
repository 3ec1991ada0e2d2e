"""The capacity: its schedule, its limits, and a KL that follows it."""

import pytest
import torch

from unbraid.methods.annealed_vae import AnnealedVAE
from unbraid.methods.autoencoder import Autoencoder
from unbraid.methods.vae import VAE
from unbraid.networks import open_net
from unbraid.schedules import linear


def net():
    torch.manual_seed(0)
    return open_net("mlp:encoder=8,decoder=8", (5,), "real")


def given():
    generator = torch.Generator().manual_seed(1)
    return {"x": torch.randn(64, 5, generator=generator), "noise": torch.randn(64, 3, generator=generator)}


@pytest.mark.parametrize("kind", [int, torch.tensor])
def test_a_linear_ramp(kind):
    found = [float(linear(kind(step), 1.0, 5.0, 100)) for step in (0, 25, 100, 101, 10**6)]
    assert found == pytest.approx([1.0, 2.0, 5.0, 5.0, 5.0])
    assert float(linear(kind(0), 1.0, 5.0, 0)) == 5.0


def test_gamma_zero_is_reconstruction_alone():
    terms = AnnealedVAE(net(), 3, gamma=0.0).loss(given(), 9)
    assert terms["loss"] == terms["reconstruction"] == VAE(net(), 3).loss(given(), 0)["reconstruction"]


def test_without_capacity_gamma_is_beta_and_one_is_the_vae():
    assert (
        AnnealedVAE(net(), 3, gamma=1.0, capacity=0.0).loss(given(), 9)["loss"]
        == VAE(net(), 3).loss(given(), 0)["loss"]
    )


def test_the_loss_is_burgess():
    terms = AnnealedVAE(net(), 3, gamma=10.0, capacity=8.0, ramp=100).loss(given(), 50)
    assert terms["capacity"].item() == 4.0
    expected = terms["reconstruction"] + 10 * (terms["kl"] - 4).abs()
    assert terms["loss"].item() == pytest.approx(expected.item(), rel=1e-6)
    assert issubclass(AnnealedVAE, Autoencoder)


def test_the_kl_follows_the_capacity():
    torch.manual_seed(0)
    method = AnnealedVAE(open_net("mlp:encoder=32,decoder=32", (5,), "real"), 3, gamma=50.0, capacity=6.0, ramp=600)
    generator = torch.Generator().manual_seed(3)
    optimiser = torch.optim.Adam(method.parameters(), lr=2e-3)
    apart = []
    for step in range(900):
        batch = {"x": torch.randn(128, 5, generator=generator), "noise": torch.randn(128, 3, generator=generator)}
        optimiser.zero_grad()
        terms = method.loss(batch, step)
        terms["loss"].backward()
        optimiser.step()
        apart.append((terms["kl"] - terms["capacity"]).abs().item())
    assert max(apart[100:]) < 1.0
    assert terms["capacity"].item() == 6.0 and terms["kl"].item() > 5.0
