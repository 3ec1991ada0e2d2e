"""Common and salient codes: limits that are each other, terms against closed forms, and where gradients go."""

import math

import numpy as np
import pytest
import torch
from torch import nn

import unbraid
from unbraid import catalog
from unbraid.errors import UserError
from unbraid.losses.mmd import squared_mmd
from unbraid.losses.wasserstein import squared_w2
from unbraid.methods.common_salient_vae import CommonSalientVAE
from unbraid.methods.cvae import CVAE
from unbraid.methods.mm_cvae import GAMMAS, MMcVAE
from unbraid.methods.rb_vae import RbVAE
from unbraid.methods.srb_vae import SRbVAE
from unbraid.methods.w2_vae import W2VAE
from unbraid.methods.zero_salient_vae import ZeroSalientVAE
from unbraid.networks import open_net

BLOCKS = {"common": 3, "salient": 2}


def net():
    torch.manual_seed(0)
    return open_net("mlp:encoder=8,decoder=8", (5,), "real")


def batch(method, count=32):
    draw = torch.Generator().manual_seed(1)
    samples = {name: torch.randn(count, 5, generator=draw) for name in ("x", "background")}
    return {**samples, "noise": torch.randn(count, method.noise, generator=draw)}


def base(**options):
    return CommonSalientVAE(net(), **BLOCKS, **options)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (CVAE, {"gamma": 0.0}),
        (RbVAE, {"learned": False}),
        (RbVAE, {}),  # s_ref starts at 0
        (ZeroSalientVAE, {"lambda_s": 0.0}),
        (W2VAE, {"lambda_s": 0.0, "lambda_z": 0.0}),
        (MMcVAE, {"common_weight": 0.0, "salient_weight": 0.0}),
    ],
)
def test_without_its_term_every_method_is_the_shared_loss(kind, options):
    method = kind(net(), **BLOCKS, beta=2.0, **options)
    plain = base(beta=2.0)
    assert method.loss(batch(method), 0)["loss"].item() == plain.loss(batch(plain), 0)["loss"].item()


def test_w2_without_w2_is_zero_salient():
    w2, zero = W2VAE(net(), **BLOCKS, lambda_z=0.0, lambda_s=3.0), ZeroSalientVAE(net(), **BLOCKS, lambda_s=3.0)
    assert w2.loss(batch(w2), 0)["loss"] == zero.loss(batch(zero), 0)["loss"]


def test_the_shared_loss_is_two_vaes():
    """Eq. 3 written out: x from [z, s] with both KLs, y from [z, 0] with one; beta weighs every KL."""
    method = base(beta=2.0)
    given = batch(method)
    z_noise, s_noise, y_noise, _ = given["noise"].split([3, 2, 3, 2], -1)
    x, y = given["x"], given["background"]
    q_x, q_y = method.posterior(x), method.posterior(y)
    code = q_x.sample(torch.cat([z_noise, s_noise], -1))
    common = method.block(q_y, "common")
    behind = torch.cat([common.sample(y_noise), torch.zeros(32, 2)], -1)
    errors = (x - method.decode(code)).square().sum(1) + (y - method.decode(behind)).square().sum(1)
    expected = errors + 2 * q_x.kl().sum(1) + 2 * common.kl().sum(1)
    terms = method.loss(given, 0)
    assert terms["loss"].item() == pytest.approx(expected.mean().item(), rel=1e-5)
    named = [name for name in terms if name.endswith("_kl")]
    assert sum(terms[name].item() for name in named) * 2 == pytest.approx((expected - errors).mean().item(), rel=1e-5)


def test_the_shared_loss_does_not_know_the_salient_code_of_background():
    """The flaw that paper 001 starts from: Eq. 3 lets it be anything."""
    method = base()
    given = batch(method)
    gradient = {}
    for kind in (CommonSalientVAE, ZeroSalientVAE):
        method = kind(net(), **BLOCKS)
        head = method.encoder[1]
        silent = {**given, "x": given["x"] * 0}  # through x the head is used: look at y alone
        seen = method.see(silent)
        _, background = method.reconstructions(silent, seen)
        added, _ = method.penalty(silent, seen)
        gradient[kind] = torch.autograd.grad(background + seen.z_y.kl().sum(-1).mean() + added, head.weight)[0][3:5]
    assert not gradient[CommonSalientVAE].any() and gradient[ZeroSalientVAE].any()


def test_silence_is_the_transport_of_the_posterior_to_zero():
    """lambda_s weighs W2²(q(s|y), a point mass at 0) = |mu|² + |sigma|², Eq. 7."""
    method = ZeroSalientVAE(net(), **BLOCKS, lambda_s=7.0)
    given = batch(method)
    q = method.block(method.posterior(given["background"]), "salient")
    draws = q.sample(torch.randn(20_000, 32, 2, generator=torch.Generator().manual_seed(3)))
    terms = method.loss(given, 0)
    assert terms["background_salient"].item() == pytest.approx(draws.square().sum(-1).mean().item(), rel=0.01)
    plain = base().loss(given, 0)["loss"].item()
    assert terms["loss"].item() == pytest.approx(plain + 7 * terms["background_salient"].item(), rel=1e-5)


def test_w2_is_of_drawn_common_codes_and_moves_the_encoder_alone():
    method = W2VAE(net(), **BLOCKS, lambda_z=5.0)
    given = batch(method)
    seen = method.see(given)
    apart = squared_w2(seen.z_x_drawn, seen.z_y_drawn)
    terms = method.loss(given, 0)
    assert terms["w2"].item() == apart.item()
    others = ZeroSalientVAE(net(), **BLOCKS).loss(given, 0)["loss"].item()
    assert terms["loss"].item() == pytest.approx(others + 5 * apart.item(), rel=1e-5)
    found = torch.autograd.grad(apart, [*method.encoder.parameters(), *method.decoder.parameters()], allow_unused=True)
    moved = [gradient is not None and bool(gradient.any()) for gradient in found]
    assert moved == [True] * 4 + [False] * 4
    head = found[2]  # means of z and s, then log variances of z and s
    assert head[:3].any() and not head[3:5].any() and head[5:8].any() and not head[8:].any()


def test_learned_reference_is_the_salient_code_of_background():
    method = RbVAE(net(), **BLOCKS)
    (reference,) = method.reference
    given = batch(method)
    terms = method.loss(given, 0)
    assert torch.autograd.grad(terms["background_reconstruction"], reference, retain_graph=True)[0].any()
    assert not torch.autograd.grad(terms["reconstruction"], reference)[0].any()


class Fixed(CVAE):
    """Codes are the samples themselves, whatever the encoder says."""

    def posterior(self, x):
        from unbraid.posteriors import DiagonalGaussian

        return DiagonalGaussian(x, torch.full_like(x, -40.0))


def gaussian(method, count, rho, seed):
    """z in 1 dimension and s in 1, correlated by rho: their mutual information is -1/2 log(1 - rho²)."""
    draw = torch.Generator().manual_seed(seed)
    z, other = torch.randn(2, count, 1, generator=draw)
    x = torch.cat([z, rho * z + (1 - rho**2) ** 0.5 * other], -1)
    return {"x": x, "background": x, "noise": torch.randn(count, method.noise, generator=draw)}


@pytest.mark.parametrize("linear", [False, True])
def test_a_network_finds_mutual_information_and_a_linear_critic_is_blind(linear):
    rho = 0.8
    torch.manual_seed(0)
    identity = (nn.Identity(), nn.Linear(2, 2))
    method = Fixed(open_net(identity, (2,), "real"), 1, 1, linear_tc=linear)
    update = method.updates()[1]
    optimiser = torch.optim.Adam(method.critic.parameters(), lr=3e-3, betas=update.betas)
    for step in range(500):
        optimiser.zero_grad()
        update.loss(gaussian(method, 512, rho, step), 0)["loss"].backward()
        optimiser.step()
    with torch.no_grad():
        found = method.loss(gaussian(method, 20_000, rho, 9_999), 0)["total_correlation"].item()
    assert found == pytest.approx(0.0 if linear else -0.5 * math.log(1 - rho**2), abs=0.02 if linear else 0.08)


def test_shuffled_pairs_are_those_of_the_authors_code():
    """Halves swapped: [s1, z2] and [s2, z1]."""
    method = CVAE(net(), **BLOCKS)
    seen = []
    method.critic.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    z, s = torch.randn(8, 3), torch.randn(8, 2)
    method.mistakes(z, s)
    assert torch.equal(seen[0], torch.cat([z, s], -1))
    assert torch.equal(seen[1], torch.cat([torch.cat([z[4:], z[:4]]), s], -1))


def test_joint_code_gives_everything_every_gradient():
    method = CVAE(net(), **BLOCKS, joint_code=True, linear_tc=True)
    (update,) = method.updates()
    terms = update.loss(batch(method), 0)
    assert torch.autograd.grad(terms["critic"], method.encoder[1].weight, retain_graph=True)[0].any()
    assert torch.autograd.grad(terms["total_correlation"], method.critic[-1].weight)[0].any()


def test_two_optimisers_keep_apart():
    method = CVAE(net(), **BLOCKS)
    loss = method.critic_loss(batch(method), 0)["loss"]
    assert torch.autograd.grad(loss, method.encoder[1].weight, allow_unused=True)[0] is None


def test_mmd_of_two_points_and_of_one_distribution():
    a, b = torch.zeros(1, 2), torch.tensor([[1.0, 1.0]])
    assert squared_mmd(a, b, [0.5, 2.0]).item() == pytest.approx(4 - 2 * (math.exp(-1) + math.exp(-4)), rel=1e-6)
    codes = torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    assert squared_mmd(codes, codes, [1.0]).item() == pytest.approx(0, abs=1e-6)
    assert squared_mmd(codes, codes + 1, [1.0]) > 0.1


def test_moments_are_of_common_codes_of_both_and_of_salient_codes_of_background():
    method = MMcVAE(net(), **BLOCKS, common_weight=3.0, salient_weight=5.0)
    given = batch(method)
    terms, seen = method.loss(given, 0), method.see(given)
    s_y = seen.s_y.sample(given["noise"][:, -2:])
    assert terms["common_mmd"].item() == pytest.approx(squared_mmd(seen.z_x_drawn, seen.z_y_drawn, GAMMAS).item())
    assert terms["salient_mmd"].item() == pytest.approx(squared_mmd(s_y, torch.zeros(1, 2), GAMMAS).item(), rel=1e-5)
    added = 3 * terms["common_mmd"].item() + 5 * terms["salient_mmd"].item()
    assert terms["loss"].item() == pytest.approx(base().loss(given, 0)["loss"].item() + added, rel=1e-5)


def test_critics_of_the_symmetric_kl_oppose_the_model():
    """Encoded pairs are pulled to where critics say "decoded", and the other way round; critics learn the opposite."""
    method = SRbVAE(net(), **BLOCKS, lambda_rec=0.0, lambda_lat=0.0)
    given = batch(method)
    terms = method.loss(given, 0)
    total = terms["symmetric_kl"] + terms["background_symmetric_kl"]
    assert terms["loss"].item() == pytest.approx(total.item(), rel=1e-6)
    for critic in (method.target_critic, method.background_critic):
        last = critic.head[-1].weight
        fooled = torch.autograd.grad(terms["loss"], last, retain_graph=True)[0]
        learned = torch.autograd.grad(method.critic_loss(given, 0)["loss"], last)[0]
        assert torch.nn.functional.cosine_similarity(fooled.flatten(), learned.flatten(), dim=0) < -0.5


def test_where_encoder_and_decoder_agree_the_symmetric_kl_is_gone():
    """The optimal critic gives log q/p: with q = p it is blind, so that the adversarial terms are 0 and critics err by 4 log 2."""
    torch.manual_seed(0)
    pair = (nn.Identity(), nn.Identity())
    method = SRbVAE(open_net(pair, (2,), "real"), 1, 1, critic_width=16, critic_lr=2e-3)
    with torch.no_grad():
        method.encoder[1].weight.copy_(torch.cat([torch.eye(2), torch.zeros(2, 2)]))
        method.encoder[1].bias.copy_(torch.tensor([0.0, 0.0, -30.0, -30.0]))
    optimiser = torch.optim.Adam([*method.target_critic.parameters(), *method.background_critic.parameters()], lr=2e-3)

    def given(seed, count=512):
        draw = torch.Generator().manual_seed(seed)
        x, noise = torch.randn(count, 2, generator=draw), torch.randn(count, method.noise, generator=draw)
        return {"x": x, "background": torch.randn(count, 2, generator=draw) * torch.tensor([1.0, 0.0]), "noise": noise}

    for step in range(300):
        optimiser.zero_grad()
        error = method.critic_loss(given(step), 0)["loss"]
        error.backward()
        optimiser.step()
    terms = method.loss(given(10**6, 10_000), 0)
    assert error.item() == pytest.approx(4 * math.log(2), abs=0.02)
    assert abs(terms["symmetric_kl"].item()) < 0.05 and abs(terms["background_symmetric_kl"].item()) < 0.05


CONTRASTIVE = [name for name in catalog.names("methods") if "background" in catalog.load("methods", name).needs]
SHAPES = [(20,), (3, 28, 28), (3, 64, 64), (3, 96, 96)]
NETS = [((3, 64, 64), "celeba"), ((3, 96, 96), "celeba"), ((3, 28, 28), "grassy"), ((3, 96, 96), "grassy:layers=8")]


def targets_and_background(shape):
    """Two kinds of targets and a background, no two of one size."""
    draw = np.random.default_rng(0)
    images = len(shape) == 3
    return {
        name: draw.integers(0, 256, (count, *shape), np.uint8) if images else draw.normal(size=(count, *shape))
        for name, count in (("hat", 14), ("glasses", 11), ("background", 23))
    }


@pytest.mark.parametrize(
    ("name", "shape", "net"),
    [(name, shape, "auto") for name in CONTRASTIVE for shape in SHAPES]
    + [(name, *given) for name in CONTRASTIVE for given in NETS if name not in ("cpca", "clvm")],  # which have none
)
def test_vectors_and_images_of_every_size(name, shape, net, out):
    data = targets_and_background(shape)
    run = unbraid.train(name, data, net=net, steps=2, batch_size=4, out=out, device="cpu")
    assert run.status == "finished"
    codes = run.encode(data["hat"][:3])
    assert codes.shape == (3, run.method.latents) and run.decode(codes).shape == (3, *shape)
    assert np.isfinite(run.decode(codes)).all()


def test_the_network_of_grassy_digits_is_the_papers():
    encoder, decoder = open_net("grassy", (3, 28, 28), "unit").build(12, 24)
    downs = [m for m in encoder.modules() if isinstance(m, nn.Conv2d)]
    ups = [m for m in decoder.modules() if isinstance(m, nn.ConvTranspose2d)]
    assert [(m.out_channels, m.stride[0]) for m in downs] == [(32, 2), (32, 1), (64, 2), (64, 1), (128, 2)]
    assert [(m.in_channels, m.stride[0]) for m in ups] == [(128, 2), (64, 1), (64, 2), (32, 1), (32, 2)]
    linear = [[m.in_features for m in net.modules() if isinstance(m, nn.Linear)] for net in (encoder, decoder)]
    assert linear == [[128 * 4 * 4], [12]]
    norms = [m.num_groups for net in (encoder, decoder) for m in net.modules() if isinstance(m, nn.GroupNorm)]
    assert norms == [1] * 9


def test_the_network_of_faces_goes_on_as_that_of_grassy_digits():
    encoder, decoder = open_net("grassy:layers=8,first=8", (3, 96, 96), "unit").build(64, 128)
    downs = [m for m in encoder.modules() if isinstance(m, nn.Conv2d)]
    assert [m.out_channels for m in downs] == [8, 8, 16, 16, 32, 32, 64] and sum(m.stride[0] == 2 for m in downs) == 4
    assert sum(isinstance(m, nn.ConvTranspose2d) for m in decoder.modules()) == 7
    assert [m.in_features for m in encoder.modules() if isinstance(m, nn.Linear)] == [64 * 6 * 6]
    for wrong, right in (("layers=1", "from 2 to 12"), ("layers=x", "from 2 to 12"), ("first=x", "of at least 1")):
        with pytest.raises(UserError, match=f"grassy:{wrong}: must be a whole number {right}"):
            open_net(f"grassy:{wrong}", (3, 28, 28), "unit").build(4, 8)
