"""The masked VAE against the VAE that it is without a mask, and what its mask hides."""

import pytest
import torch

from unbraid.errors import UserError
from unbraid.methods.beta_vae import BetaVAE
from unbraid.methods.masked_vae import MaskedVAE
from unbraid.networks import open_net

THREE = ("digits", "clothes", "letters")


def made(domains=THREE, **options):
    torch.manual_seed(0)
    net = open_net("mlp:encoder=8,decoder=8", (5,), "real")
    return MaskedVAE(net, domains, **{"private": 2, "shared": 3, **options})


def batch(method, count=30):
    draw = torch.Generator().manual_seed(1)
    domain = torch.arange(count) % len(method.domains)
    return {"x": torch.randn(count, 5, generator=draw), "domain": domain,
            "noise": torch.randn(count, method.noise, generator=draw)}  # fmt: skip


@pytest.mark.parametrize("domains", [("one",), ("one", "two"), THREE, (*THREE, "faces")])
def test_any_number_of_domains(domains):
    method = made(domains)
    assert list(method.blocks) == [*(f"private/{name}" for name in domains), "shared"]
    assert method.masks(torch.zeros(1)).sum(-1).tolist() == [5] * len(domains)
    assert all(torch.isfinite(term) for term in method.loss(batch(method), 0).values())


def test_masks_are_those_of_the_paper():
    assert made(("one", "two"), private=1, shared=1).masks(torch.zeros(1)).tolist() == [[1, 0, 1], [0, 1, 1]]
    method = made(private="1-0-2", shared=1)
    assert method.masks(torch.zeros(1)).tolist() == [[1, 0, 0, 1], [0, 0, 0, 1], [0, 1, 1, 1]]
    assert method.blocks == {"private/digits": slice(0, 1), "private/clothes": slice(1, 1),
                             "private/letters": slice(1, 3), "shared": slice(3, 4)}  # fmt: skip
    for place, name in enumerate(THREE):
        heard = [at for block in method.heard(name) for at in range(4)[method.blocks[block]]]
        assert heard == method.masks(torch.zeros(1))[place].nonzero()[:, 0].tolist()


def test_all_masks_one_is_the_beta_vae():
    method, plain = made(masked=False, beta=4.0), BetaVAE(open_net("mlp", (5,), "real"), 9, beta=4.0)
    plain.encoder, plain.decoder = method.encoder, method.decoder
    given = batch(method)
    ours, theirs = method.loss(given, 0), plain.loss(given, 0)
    assert all(ours[name].item() == pytest.approx(theirs[name].item(), rel=1e-6) for name in theirs)
    assert method.heard("letters") == list(method.blocks)


def test_what_the_mask_hides_reaches_the_loss_by_its_kl_alone():
    """The gradient of hidden latents is that of the KL: mu and (sigma² - 1) / 2, so they end at N(0, I)."""
    method = made(("one", "two"))
    given = {**batch(method), "domain": torch.zeros(30, dtype=torch.long)}
    seen = []
    method.encoder.register_forward_hook(lambda module, x, out: seen.append(out) or out.retain_grad())
    method.loss(given, 0)["loss"].backward()
    mean, log_variance = seen[0].chunk(2, -1)
    by_mean, by_log_variance = 30 / method.beta * seen[0].grad.detach()[:, :7], 30 / method.beta * seen[0].grad[:, 7:]
    hidden = method.blocks["private/two"]
    torch.testing.assert_close(by_mean[:, hidden], mean[:, hidden].detach())
    torch.testing.assert_close(by_log_variance[:, hidden], 0.5 * (log_variance.exp() - 1)[:, hidden].detach())
    for block in ("private/one", "shared"):
        assert (by_mean - mean.detach())[:, method.blocks[block]].abs().max() > 1e-3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"private": "2-3"}, "private=2-3: one whole number for all domains, or one for each of digits, clothes, letters, as 10-10-10"),
        ({"private": "a"}, "private=a: one whole number"),
        ({"private": 0, "shared": 0}, "at least one latent"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(options, words):
    with pytest.raises(UserError, match=words):
        made(**options)
    with pytest.raises(UserError, match="did you mean 'letters'"):
        made().heard("leters")
