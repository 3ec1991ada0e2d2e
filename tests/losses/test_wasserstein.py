"""The exact plan against brute force, POT and closed forms; its gradient; and the floors that finite batches have."""

import itertools
import sys

import numpy as np
import pytest
import torch

from unbraid import transport
from unbraid.errors import UserError
from unbraid.losses.wasserstein import squared_w2


def pair(count, other, latents=3, seed=0):
    draw = torch.Generator().manual_seed(seed)
    size = {"generator": draw, "dtype": torch.float64}
    return torch.randn(count, latents, **size), torch.randn(other, latents, **size) + 0.5


@pytest.mark.parametrize("count", [1, 2, 5, 6])
def test_brute_force(count):
    a, b = pair(count, count, seed=count)
    cheapest = min((a - b[list(order)]).square().sum(-1).mean() for order in itertools.permutations(range(count)))
    assert squared_w2(a, b).item() == pytest.approx(cheapest.item(), rel=1e-12)


@pytest.mark.parametrize(("count", "other"), [(40, 40), (40, 25), (7, 30), (1, 9)])
def test_pot(count, other):
    ot = pytest.importorskip("ot")
    a, b = pair(count, other)
    uniform = [np.full(n, 1 / n) for n in (count, other)]
    theirs = ot.emd2(*uniform, ot.dist(a.numpy(), b.numpy()))
    assert squared_w2(a, b).item() == pytest.approx(theirs, rel=1e-9)
    assert transport.squared_w2(a.numpy(), b.numpy()) == pytest.approx(theirs, rel=1e-9)
    found = transport.plan(a.numpy(), b.numpy())
    assert np.allclose(found.sum(1), uniform[0]) and np.allclose(found.sum(0), uniform[1]) and (found >= 0).all()


@pytest.mark.parametrize(("count", "other"), [(8, 8), (8, 5)])
def test_the_gradient_is_that_of_the_matched_costs(count, other):
    """Danskin: away from ties the plan stands still, so finite differences of the whole minimum agree."""
    if count != other:
        pytest.importorskip("ot")
    a, b = pair(count, other)
    a.requires_grad_(), b.requires_grad_()
    assert torch.autograd.gradcheck(squared_w2, (a, b))


def test_a_shift_costs_its_square_and_a_permutation_nothing():
    a, _ = pair(50, 50)
    assert squared_w2(a, a[torch.randperm(50)]).item() == pytest.approx(0, abs=1e-12)
    assert squared_w2(a, a + 2).item() == pytest.approx(3 * 4, rel=1e-9)


# B = 64, 128 and 256 for each dimension, from simulations of their own; Table 1 of paper 001 ends near the d = 8 row
FLOORS = {4: (1.47, 1.05, 0.78), 6: (3.18, 2.58, 2.05), 8: (5.50, 4.43, 3.72), 16: (16.1, 14.1, 12.8), 32: (40.8, 37.6, 35.3)}  # fmt: skip


@pytest.mark.parametrize("latents", FLOORS)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_floors_of_standard_normal_batches(latents, place):
    found = transport.normal_floor(latents, (64, 128, 256)[place], repeats=20)
    spread = found.std() * (1 / 20 + 1 / 20) ** 0.5  # ours, and that of the table, which had as few repeats
    assert found.mean() == pytest.approx(FLOORS[latents][place], abs=4 * spread + 0.01)


def test_the_floor_of_data_is_that_of_their_distribution():
    codes = np.random.default_rng(5).standard_normal((5000, 8))
    found, normal = transport.floor(codes, 128), transport.normal_floor(8, 128)
    assert found.mean() == pytest.approx(normal.mean(), abs=3 * (found.var() / 20 + normal.var() / 20) ** 0.5)
    with pytest.raises(UserError, match="two batches of 128 need 256 samples, there are 200"):
        transport.floor(codes[:200], 128)


def test_without_pot_unequal_sizes_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    with pytest.raises(UserError, match=r"\(4 and 3\).*pip install 'unbraid\[transport\]'"):
        squared_w2(*pair(4, 3))
    assert squared_w2(*pair(4, 4)) > 0


def test_a_diverged_code_gives_a_diverged_loss():
    a, b = pair(4, 4)
    assert torch.isnan(squared_w2(a * float("nan"), b))


def test_seeds_stacked_and_compiled_steps():
    """Mapped over seeds as one by one; and traced without looking at numbers."""
    many = [pair(6, 6, seed=seed) for seed in range(3)]
    a, b = (torch.stack(each) for each in zip(*many, strict=True))
    mapped = torch.func.vmap(torch.func.grad(squared_w2))(a, b)
    for place, (one, other) in enumerate(many):
        torch.testing.assert_close(mapped[place], torch.func.grad(squared_w2)(one, other))
    assert squared_w2(a[0].to("meta"), b[0].to("meta")).shape == ()
    traced = torch.compile(squared_w2, backend="aot_eager", fullgraph=True)
    assert traced(a[0], b[0]).item() == pytest.approx(squared_w2(a[0], b[0]).item())
