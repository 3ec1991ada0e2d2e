import numpy as np
import pytest
import torch

from unbraid.data.linear_square import linear_square
from unbraid.data.nonlinear_square import nonlinear_square


def test_the_turned_plane_keeps_lengths_and_variances():
    data = linear_square(ratio=2.0)
    x, w = data.draw(torch.arange(len(data))), data.values * torch.tensor([2.0, 1.0])
    assert torch.allclose((x[1:] - x[:-1]).norm(dim=1), (w[1:] - w[:-1]).norm(dim=1), atol=1e-5)
    spectrum = np.linalg.eigvalsh(np.cov(x.numpy().T))
    assert spectrum == pytest.approx([0, 1 / 12, 1 / 3], abs=0.005)
    assert x[:, 2].var() > 0.01


def test_the_axis_of_the_turn_stays():
    data = linear_square(ratio=1.0, samples=1000)
    x = data.draw(torch.arange(1000))
    flat = torch.cat([data.values, torch.zeros(1000, 1)], 1)
    axis = torch.tensor([1.0, -1.0, 1.0])
    assert torch.allclose(x @ axis, flat @ axis, atol=1e-5)
    away, was = torch.linalg.cross(x, axis[None]), torch.linalg.cross(flat, axis[None])
    cosine = torch.nn.functional.cosine_similarity(away, was)
    assert torch.allclose(cosine, torch.tensor(0.5**0.5), atol=1e-3)


def test_the_same_points_on_every_machine():
    assert linear_square(samples=10).values[0].tolist() == pytest.approx([0.63696169, 0.26978671])
    first = nonlinear_square(samples=10).draw(torch.tensor(0))
    assert first.tolist() == pytest.approx([0.402483, 0.056881, -0.228801, 0.131195, 0.360542, 0.151634], abs=1e-5)
    assert not torch.equal(first, nonlinear_square(samples=10, seed=1).draw(torch.tensor(0)))


def test_the_bent_square_is_a_surface_but_not_a_plane():
    data = nonlinear_square()
    x = data.draw(torch.arange(5000)).double()
    spectrum = torch.linalg.svdvals(x - x.mean(0)) ** 2
    assert data.shape == (6,) and spectrum[1] > 1e-3 * spectrum[0]
    assert 1e-9 < spectrum[2] / spectrum[0] < 0.1
