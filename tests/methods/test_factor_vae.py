"""The critic against a closed form, the shuffled codes, and the limit without it."""

import math

import pytest
import torch
from torch import nn

from unbraid.methods.factor_vae import FactorVAE, shuffle
from unbraid.methods.vae import VAE
from unbraid.networks import open_net


def given(latents=3, numbers=6):
    generator = torch.Generator().manual_seed(1)
    return {"x": torch.randn(64, 5, generator=generator), "noise": torch.randn(64, numbers, generator=generator)}


def net():
    torch.manual_seed(0)
    return open_net("mlp:encoder=8,decoder=8", (5,), "real")


@pytest.mark.parametrize("fresh", [False, True])
def test_gamma_zero_is_the_vae(fresh):
    method = FactorVAE(net(), 3, gamma=0.0, fresh_batch=fresh, critic_width=8)
    batch = given()
    plain = VAE(net(), 3).loss({**batch, "noise": batch["noise"][:, :3]}, 0)
    assert method.loss(batch, 0)["loss"] == plain["loss"]


def test_gamma_weighs_what_the_critic_sees():
    terms = FactorVAE(net(), 3, gamma=7.0, critic_width=8).loss(given(), 0)
    expected = terms["reconstruction"] + terms["kl"] + 7 * terms["total_correlation"]
    assert terms["loss"].item() == pytest.approx(expected.item(), rel=1e-6)


def test_the_critic_is_the_papers():
    critic = FactorVAE(net(), 3).critic
    assert [m.out_features for m in critic if isinstance(m, nn.Linear)] == [1000] * 6 + [2]
    assert all(m.negative_slope == 0.2 for m in critic if isinstance(m, nn.LeakyReLU))
    critic_update = FactorVAE(net(), 3).updates()[1]
    assert (critic_update.lr, critic_update.betas) == (1e-4, (0.5, 0.9))


def test_shuffled_codes_keep_every_latent_and_lose_what_binds_them():
    generator = torch.Generator().manual_seed(0)
    line = torch.randn(2000, 1, generator=generator)
    codes = torch.cat([line, line, -line], 1)
    shuffled = shuffle(codes, torch.randn(2000, 3, generator=generator))
    assert torch.equal(shuffled.sort(0).values, codes.sort(0).values)
    off = shuffled.T.corrcoef() - torch.eye(3)
    assert off.abs().max() < 0.08 and (shuffled != codes).float().mean() > 0.99


def test_halves_of_a_batch_never_meet():
    """With `fresh_batch` the shuffled codes are of other samples than the joint ones."""
    method, batch = FactorVAE(net(), 3, fresh_batch=True, critic_width=8), given()
    seen = []
    method.critic.register_forward_pre_hook(lambda module, codes: seen.append(codes[0].detach()))
    method.critic_loss(batch, 0)
    joint, apart = seen
    z = method.posterior(batch["x"]).sample(batch["noise"][:, :3]).detach()
    assert torch.equal(joint, z[32:]) and torch.equal(apart.sort(0).values, z[:32].sort(0).values)


def test_the_critic_finds_the_total_correlation_of_a_gaussian():
    """Fixed codes with correlation 0.8: mean(l0 - l1) is -1/2 log(1 - 0.64) = 0.511 nats."""
    rho = 0.8
    torch.manual_seed(0)
    identity = (nn.Identity(), nn.Linear(2, 2))
    method = FactorVAE(open_net(identity, (2,), "real"), 2, critic_width=64, critic_depth=2)
    head = method.encoder[1]
    with torch.no_grad():
        head.weight.copy_(torch.cat([torch.eye(2), torch.zeros(2, 2)]))
        head.bias.copy_(torch.tensor([0.0, 0.0, -30.0, -30.0]))  # the code is the sample itself
    generator = torch.Generator().manual_seed(2)
    mixing = torch.linalg.cholesky(torch.tensor([[1.0, rho], [rho, 1.0]]))
    update = method.updates()[1]
    optimiser = torch.optim.Adam(method.critic.parameters(), lr=2e-3, betas=update.betas)

    def batch(count):
        x = torch.randn(count, 2, generator=generator) @ mixing.T
        return {"x": x, "noise": torch.randn(count, method.noise, generator=generator)}

    for _ in range(600):
        optimiser.zero_grad()
        update.loss(batch(512), 0)["loss"].backward()
        optimiser.step()
    with torch.no_grad():
        found = method.loss(batch(20_000), 0)["total_correlation"].item()
    assert found == pytest.approx(-0.5 * math.log(1 - rho**2), rel=0.15)
