"""Geometry: derivatives, exact assignment, and measures of decoders and posteriors whose answer is known."""

import importlib
import itertools
import subprocess
import sys

import numpy as np
import pytest
import torch

import unbraid.geometry
from unbraid import catalog
from unbraid.errors import UserError
from unbraid.geometry import (
    active_units,
    distance_to_orthogonality,
    gram_matrices,
    ima_contrast,
    jacobians,
    polarized_regime,
    right_singular_vectors,
)
from unbraid.geometry.active_units import noise_order
from unbraid.geometry.distance_to_orthogonality import (
    closest_signed_permutation,
    distance_to_signed_permutation,
    haar_baseline,
)


def haar(d, draws, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((draws, d, d)))[0]


def linear(matrix):
    weight = torch.as_tensor(np.asarray(matrix), dtype=torch.float64)
    return lambda z: z @ weight.T


def points(n, d, seed=0):
    return torch.as_tensor(np.random.default_rng(seed).standard_normal((n, d)))


# derivatives


def curved(z):
    return torch.stack([z[:, 0] * z[:, 1], torch.sin(z[:, 0]), z[:, 1] ** 3, z.sum(1)], 1).view(-1, 2, 2)


def curved_derivative(z):
    a, b = z.T
    zero, one = np.zeros_like(a), np.ones_like(a)
    rows = [[b, a], [np.cos(a), zero], [zero, 3 * b**2], [one, one]]
    return np.moveaxis(np.array(rows), 2, 0)


@pytest.mark.parametrize("chunk", [1, 4, 100])
def test_jacobians_of_a_known_function(chunk):
    z = points(9, 2)
    np.testing.assert_allclose(jacobians(curved, z, chunk=chunk), curved_derivative(z.numpy()), atol=1e-12)


def test_gram_is_the_product_of_the_jacobians():
    z = points(20, 2)
    J = curved_derivative(z.numpy())
    np.testing.assert_allclose(gram_matrices(curved, z), np.einsum("nij,nik->njk", J, J), atol=1e-12)


def test_codes_take_the_precision_of_the_module():
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 5))
    J = jacobians(net, np.zeros((2, 3)))
    assert J.dtype == torch.float32 and J.shape == (2, 5, 3) and not J.requires_grad


class Cube(torch.autograd.Function):
    """Has a backward rule only."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * gradient


def test_reverse_mode_where_forward_mode_is_missing():
    z = points(4, 3)
    np.testing.assert_allclose(jacobians(Cube.apply, z), torch.diag_embed(3 * z**2), atol=1e-12)


def test_decoders_that_do_not_fit_are_named():
    z = points(4, 3)
    with pytest.raises(UserError, match=r"does not take codes of shape \(2, 3\)"):
        jacobians(linear(np.ones((5, 2))), z)
    with pytest.raises(UserError, match="one row per code"):
        jacobians(lambda z: z.sum(), z)
    with pytest.raises(UserError, match="no derivative"):
        jacobians(lambda z: torch.from_numpy(z.detach().numpy() ** 2), z)
    with pytest.raises(UserError, match="mask of 3 booleans"):
        distance_to_orthogonality(linear(np.eye(3)), z, active=[0, 1])
    with pytest.raises(UserError, match="codes must be an array"):
        ima_contrast(linear(np.eye(3)), z[0])


def test_right_singular_vectors_are_those_of_svd():
    J = np.random.default_rng(0).standard_normal((30, 50, 6)) * [9, 7, 5, 3, 2, 1]
    expected = np.linalg.svd(J)[2].swapaxes(1, 2)
    for found in (right_singular_vectors(J), right_singular_vectors(torch.as_tensor(J).float())):
        cosines = np.abs((found * expected).sum(axis=1))
        assert (1 - cosines).max() < 1e-9


# closest signed permutation


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_assignment_equals_brute_force(d):
    signs = list(itertools.product([1.0, -1.0], repeat=d))
    eye = np.eye(d)
    every = np.array([eye[list(p)] * s for p in itertools.permutations(range(d)) for s in signs])
    for V in haar(d, 60, seed=d):
        P = closest_signed_permutation(V)
        least = np.abs(V - every).sum(axis=(1, 2)).min()
        assert np.abs(V - P).sum() == pytest.approx(least, abs=1e-12)
        frobenius = np.sqrt(((V - every) ** 2).sum(axis=(1, 2)).min())
        assert distance_to_signed_permutation(V) == pytest.approx(frobenius, abs=1e-7)
    for V in 2 * np.random.default_rng(d).standard_normal((60, d, d)):
        P = closest_signed_permutation(V)
        assert np.abs(V - P).sum() == pytest.approx(np.abs(V - every).sum(axis=(1, 2)).min(), abs=1e-12)


@pytest.mark.parametrize(
    ("d", "mean"),
    [
        (1, 0.0),
        (3, 0.983),
        (4, 1.331),
        (5, 1.640),
        (6, 1.913),
        (7, 2.170),
        (8, 2.409),
        (10, 2.844),
        (20, 4.594),
    ],
)
def test_haar_baseline(d, mean):
    assert haar_baseline(d)[0] == pytest.approx(mean, abs=0.012)


def test_haar_baseline_of_a_plane_is_known_exactly():
    # An angle t, uniform up to 45 degrees, is 2 sqrt(2) sin(t / 2) away.
    assert haar_baseline(2)[0] == pytest.approx(16 * np.sqrt(2) / np.pi * (1 - np.cos(np.pi / 8)), abs=0.012)
    assert haar_baseline(5)[1] == pytest.approx(0.189, abs=0.01)


# measures of a decoder


def test_orthogonal_columns_are_at_no_distance():
    W = haar(5, 1)[0][:, :3] * [3, -1, 2]
    score = distance_to_orthogonality(linear(W), points(10, 3))
    assert score.value == pytest.approx(0, abs=1e-6)
    assert score.best == "low" and not score.warnings
    assert ima_contrast(linear(W), points(10, 3)).value == pytest.approx(0, abs=1e-12)


def test_known_linear_decoder():
    angle = 0.3
    V = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    W = haar(4, 1)[0][:, :2] @ np.diag([5, 1]) @ V.T
    score = distance_to_orthogonality(linear(W), points(7, 2))
    assert score.value == pytest.approx(2 * np.sqrt(2) * np.sin(angle / 2), abs=1e-7)
    assert score.parts["per_point"].shape == (7,)
    np.testing.assert_allclose(score.parts["singular_values"], np.tile([5, 1], (7, 1)), atol=1e-9)
    assert tuple(score.parts["haar"].values()) == haar_baseline(2)

    lengths = np.linalg.norm(W, axis=0)
    expected = np.log(lengths.prod()) - np.log(5)
    assert ima_contrast(linear(W), points(7, 2)).value == pytest.approx(expected, abs=1e-9)


def test_a_gaussian_decoder_is_as_far_as_a_random_rotation():
    weights = np.random.default_rng(0).standard_normal((300, 40, 5))
    values = [distance_to_orthogonality(linear(W), points(2, 5)).value for W in weights]
    assert np.mean(values) == pytest.approx(haar_baseline(5)[0], abs=0.04)


def test_passive_latents_are_told_apart():
    mixed = np.array([[1.0, 0, 0, 0], [0, 2.0, 0, 0], [0, 0, 1e-5, 1e-5], [0, 0, 0, 1e-5]])
    z = points(5, 4)
    whole = distance_to_orthogonality(linear(mixed), z)
    assert whole.value > 0.5 and "latents [2, 3]" in whole.warnings[0]
    active = np.array([True, True, False, False])
    score = distance_to_orthogonality(linear(mixed), z, active=active)
    assert score.parts["active"]["value"] == pytest.approx(0, abs=1e-7)
    assert tuple(score.parts["active"]["haar"].values()) == haar_baseline(
        score.parts["active"]["singular_values"].shape[-1]
    )
    assert score.value == whole.value and not score.warnings
    assert ima_contrast(linear(mixed), z, active=active).parts["active"] == pytest.approx(0, abs=1e-12)
    none = distance_to_orthogonality(linear(mixed), z, active=np.zeros(4, dtype=bool))
    assert none.parts["active"] == {} and any("no latent is active" in w for w in none.warnings)
    assert ima_contrast(linear(mixed), z, active=np.zeros(4, dtype=bool)).parts["active"] == 0


def test_a_column_of_zeros_adds_no_contrast():
    W = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    assert ima_contrast(linear(W), points(5, 3)).value == pytest.approx(0.5 * np.log(2))


def test_dependent_columns_are_infinitely_far():
    score = ima_contrast(linear(np.ones((3, 2))), points(5, 2))
    assert score.value == np.inf and "linearly dependent" in score.warnings[0]


def test_equal_singular_values_are_warned_of():
    score = distance_to_orthogonality(linear(np.eye(3)), points(5, 3))
    assert any("arbitrary" in w for w in score.warnings)


def test_one_latent():
    assert distance_to_orthogonality(linear([[2.0], [1.0]]), points(5, 1)).value == 0
    assert ima_contrast(linear([[2.0], [1.0]]), points(5, 1)).value == 0


def test_points_are_drawn_once_per_seed():
    z = points(50, 2)
    draws = [distance_to_orthogonality(curved, z, points=10, seed=s).value for s in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]
    everything = distance_to_orthogonality(curved, z)
    assert everything.settings["points"] == 50
    assert everything.value == pytest.approx(everything.parts["per_point"].mean())


# measures of a posterior


def test_active_units_by_both_rules():
    rng = np.random.default_rng(0)
    spread = np.array([0.97, 0.45, 0.02, 0.6])
    noise = np.array([0.05, 0.79, 1.0, 0.7])
    mean = rng.standard_normal((4000, 4)) * spread
    score = active_units(mean, np.tile(noise, (4000, 1)), kl=np.ones((4000, 4)))
    assert score.value == 2
    assert score.parts["active"].tolist() == [True, False, False, True]
    assert score.parts["active_by_noise"].tolist() == [True, True, False, True]
    assert score.parts["noise_order"].tolist() == [0, 3, 1, 2]
    assert score.parts["kl"].tolist() == [1, 1, 1, 1]
    assert "latents [1]" in score.warnings[0]
    assert noise_order(noise[None].repeat(2, 0)).tolist() == [0, 3, 1, 2]
    with pytest.raises(UserError, match="not their logarithms"):
        active_units(mean, -np.ones((4000, 4)))
    with pytest.raises(UserError, match="must be equal"):
        active_units(mean, np.ones((4000, 3)))


def probe(step, sigma2, var_mu):
    """A posterior with the same sigma everywhere and centred means."""
    sigma2, mu2 = np.array(sigma2), np.array(var_mu)
    log_sigma2 = np.log(sigma2)
    kl = 0.5 * (mu2 + sigma2 - log_sigma2 - 1)
    return {"step": step, "mu2": mu2, "var_mu": mu2, "sigma2": sigma2, "log_sigma2": log_sigma2, "kl": kl}


def test_polarized_regime_of_a_known_history():
    polarized, mixed = ([0.01, 1.0], [0.99, 0.0]), ([0.5, 0.9], [0.5, 0.1])
    states = [mixed, polarized, mixed, polarized, polarized]
    history = [probe(500 * (i + 1), *state) for i, state in enumerate(states)]
    score = polarized_regime(history)
    # The only difference is sigma^2 / 2 of the active latent.
    expected = 0.5 * 0.01 / (0.5 * (0.99 + 0.01 - np.log(0.01) - 1))
    assert score.parts["delta"][1] == pytest.approx(expected)
    assert score.parts["since"] == 2000
    assert score.value == pytest.approx(500 / 2500)
    assert (score.parts["delta"] < 0.03).tolist() == [False, True, False, True, True]
    assert score.parts["active"].tolist() == [True, False]
    assert polarized_regime(history, threshold=10).value == pytest.approx(2000 / 2500)
    assert polarized_regime(history[:3]).value == 0 and polarized_regime(history[:3]).parts["since"] is None


def test_a_collapsed_model_is_not_polarized():
    dead = probe(500, [1.0, 1.0], [0.0, 0.0])
    score = polarized_regime([dead, {**dead, "step": 1000}])
    assert score.value == 0 and score.parts["delta"].tolist() == [1, 1]
    assert "no latent is active" in score.warnings[0]


def test_histories_that_cannot_be_read():
    good = probe(500, [0.1], [0.9])
    with pytest.raises(UserError, match="empty"):
        polarized_regime([])
    with pytest.raises(UserError, match="probe 0 of the history lacks kl"):
        polarized_regime([{k: v for k, v in good.items() if k != "kl"}])
    with pytest.raises(UserError, match="grow from probe to probe"):
        polarized_regime([good, good])


# the room


def test_names_stay_functions():
    for name in catalog.names("geometry"):
        importlib.import_module(f"unbraid.geometry.{name}")
        assert callable(getattr(unbraid.geometry, name))
        assert catalog.entry("geometry", name).options


def test_measures_of_the_posterior_do_not_load_torch():
    program = "import sys; from unbraid.geometry import active_units, polarized_regime as p"
    program += "; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
