"""What every method in the folder must be, and what a user's own method must be to pass as one."""

import inspect
from pathlib import Path

import pytest
import torch

from unbraid import catalog
from unbraid.ensembles import Ensemble, Single
from unbraid.methods import Method
from unbraid.networks import open_net

OWN = sorted(map(str, (Path(__file__).parent / "own").glob("*.py")))  # of more than single samples
METHODS = [*catalog.names("methods"), *OWN]
SHAPE = (1, 8, 8)
DOMAINS = ("one", "two")
NARROW = {"critic_width": 16}  # what would only make the tests slow
OPTIONS = {  # options that change what a method is
    "beta_vae:auto": {"beta": "auto:2"},
    "beta_tcvae:mss": {"estimator": "mss"},
    "beta_tcvae:lib": {"estimator": "lib"},
    "factor_vae:fresh": {"fresh_batch": True},
    "cvae:linear": {"linear_tc": True},
    "cvae:joint": {"joint_code": True},
    "srb_vae:learned": {"learned": True},
    "masked_vae:vanilla": {"masked": False},
}


def made(name, seed=0, **options):
    """A small method; whatever of these settings it has."""
    name, options = name.partition(":")[0], {**OPTIONS.get(name, {}), **options}
    kind = catalog.load("methods", name)
    known = inspect.signature(kind).parameters
    small = {**NARROW, "latents": 3, "domains": DOMAINS, **options}
    torch.manual_seed(seed)
    net = open_net("mlp:encoder=16,decoder=16", SHAPE, "unit")
    return kind(net, **{option: value for option, value in small.items() if option in known})


def batch(method, count=32, seed=1):
    """What the method needs of a batch, made of noise."""
    generator = torch.Generator().manual_seed(seed)
    draws = {entry: torch.rand(count, *SHAPE, generator=generator) for entry in ("x", "background", "x2")}
    draws["domain"] = torch.randint(len(DOMAINS), (count,), generator=generator)
    given = {entry: draws[entry] for entry in method.needs if entry != "noise"}
    return {**given, "noise": torch.randn(count, method.noise, generator=generator)}


@pytest.mark.parametrize("name", METHODS)
def test_options_are_documented_and_default(name):
    entry = catalog.entry("methods", name)
    assert entry.summary
    for option in entry.options:
        assert option.text, f"{name}: option {option.name} has no line under Arguments"
        assert option.name in catalog.FILLED_IN or option.default is not None


@pytest.mark.parametrize("name", METHODS)
def test_shapes_and_finite_terms(name):
    method = made(name)
    given = batch(method)
    codes = method.encode(given["x"])
    assert codes.shape == (32, method.latents)
    assert method.decode(codes).shape == given["x"].shape
    assert method.posterior(given["x"]).variance.shape == (32, method.latents)
    assert set(method.blocks) and all(isinstance(block, slice) for block in method.blocks.values())
    named = [place for block in method.blocks.values() for place in range(method.latents)[block]]
    assert sorted(named) == list(range(method.latents)), "every latent belongs to one block"
    for update in method.updates():
        terms = update.loss(given, 0)
        assert "loss" in terms
        assert all(value.ndim == 0 and torch.isfinite(value) for value in terms.values())


@pytest.mark.parametrize("name", [*METHODS, *OPTIONS])
def test_every_parameter_belongs_to_one_update_and_gets_a_gradient_from_it_alone(name):
    method = made(name)
    single = Single([method])
    owned = [single.names(update) for update in method.updates()]
    assert sorted(n for names in owned for n in names) == sorted(single.tensors)
    for update, names in zip(method.updates(), owned, strict=True):
        method.zero_grad(set_to_none=True)
        loss = update.loss(batch(method), 0)["loss"]
        torch.autograd.backward(loss, inputs=[single.tensors[n] for n in names])
        for parameter_name, parameter in single.tensors.items():
            moved = parameter.grad is not None and bool((parameter.grad != 0).any())
            assert moved == (parameter_name in names), parameter_name


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_weights(name):
    first, second, other = made(name), made(name), made(name, seed=1)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("name", METHODS)
def test_loss_falls(name):
    method = made(name, reconstruction="bernoulli")
    given = batch(method)
    optimiser = torch.optim.Adam(method.parameters(), lr=1e-2)
    losses = []
    for _ in range(200):
        optimiser.zero_grad()
        loss = method.loss(given, 0)["loss"]
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.5


@pytest.mark.parametrize("name", [*METHODS, *OPTIONS])
def test_no_two_updates_name_a_curve_alike(name):
    method = made(name)
    names = [term for update in method.updates() for term in update.loss(batch(method), 0) if term != "loss"]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", [*METHODS, *OPTIONS])
def test_an_ensemble_gives_each_seed_its_own_loss_and_gradient(name):
    alone = [made(name, seed) for seed in (0, 1, 2)]
    given = [batch(method, seed=5 + place) for place, method in enumerate(alone)]
    ensemble = Ensemble([made(name, seed) for seed in (0, 1, 2)])
    stack = {key: torch.stack([g[key] for g in given]) for key in given[0]}
    for which, own in enumerate(ensemble.method.updates()):
        names = ensemble.names(own)
        terms = ensemble.terms(own, stack, 0)
        found = torch.autograd.grad(terms["loss"].sum(), [ensemble.tensors[n] for n in names])
        for place, method in enumerate(alone):
            single = method.updates()[which].loss(given[place], 0)
            tensors = Single([method]).tensors
            exact = torch.autograd.grad(single["loss"], [tensors[n] for n in names])
            for term, value in single.items():
                assert terms[term][place].item() == pytest.approx(value.item(), rel=1e-4, abs=1e-6)
            for stacked, gradient in zip(found, exact, strict=True):
                torch.testing.assert_close(stacked[place], gradient, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("step", [3, torch.tensor(3)], ids=["step", "clock"])
@pytest.mark.parametrize("name", [*METHODS, *OPTIONS])
def test_the_loss_never_waits_for_the_device(name, step):
    """On the meta device there are no numbers to wait for: reading one raises. A compiled step's number is a tensor too."""
    method = made(name)
    given = {key: value.to("meta") for key, value in batch(method).items()}
    method, step = method.to("meta"), step if isinstance(step, int) else step.to("meta")
    for update in method.updates():
        assert all(value.device.type == "meta" for value in update.loss(given, step).values())


@pytest.mark.parametrize("name", [*METHODS, *OPTIONS])
def test_the_step_may_be_a_number_or_a_tensor(name):
    method = made(name)
    for update in method.updates():
        one, other = (update.loss(batch(method), step) for step in (7, torch.tensor(7)))
        for term, value in one.items():
            assert value.item() == pytest.approx(other[term].item(), rel=1e-6)


@pytest.mark.parametrize("name", [*METHODS, *OPTIONS])
def test_nothing_random_but_the_noise(name):
    """The global generator is neither read nor moved."""
    method = made(name)
    before = torch.get_rng_state()
    first = [update.loss(batch(method), 0) for update in method.updates()]
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(99)
    again = [update.loss(batch(method), 0) for update in method.updates()]
    assert all(a[term] == b[term] for a, b in zip(first, again, strict=True) for term in a)


@pytest.mark.parametrize("name", METHODS)
def test_constructor_takes_a_net_first(name):
    parameters = list(inspect.signature(catalog.load("methods", name).__init__).parameters)
    assert parameters[:2] == ["self", "net"]
    assert issubclass(catalog.load("methods", name), Method)
