"""The closed form of linear VAEs against direct minimisation, and the worked example of the thesis."""

import numpy as np
import pytest
from scipy.optimize import minimize

from unbraid.errors import UserError
from unbraid.linear_theory import (
    linear_closed_form,
    noise_cost,
    noise_variances,
    optimal_scale,
    rotated_noise_cost,
)

M1 = np.array([[4.0, 1], [-3, 1], [5, -1]])


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def expected_loss(parameters, covariance, beta, d):
    """E |x - W (A x + s e)|^2 + beta KL and its gradient, for x with this covariance."""
    n = len(covariance)
    W, A = parameters[: n * d].reshape(n, d), parameters[n * d : 2 * n * d].reshape(d, n)
    log_noise = parameters[2 * n * d :]
    noise = np.exp(log_noise)
    rest = np.eye(n) - W @ A
    loss = np.trace(rest @ covariance @ rest.T) + ((W**2).sum(0) * noise).sum()
    loss += beta / 2 * (np.trace(A @ covariance @ A.T) + (noise - log_noise - 1).sum())
    dW = -2 * rest @ covariance @ A.T + 2 * W * noise
    dA = -2 * W.T @ rest @ covariance + beta * A @ covariance
    dlog = (W**2).sum(0) * noise + beta / 2 * (noise - 1)
    return loss, np.concatenate([dW.ravel(), dA.ravel(), dlog])


@pytest.mark.parametrize(
    ("eigenvalues", "beta", "d"),
    [
        pytest.param((1 / 3, 1 / 12, 0.0), 0.05, 2, id="both active"),
        pytest.param((1 / 3, 1 / 12, 0.0), 0.4, 2, id="one collapsed"),
        pytest.param((1.0, 0.5, 0.2, 0.05), 0.2, 2, id="fewer latents than axes"),
        pytest.param((1.0, 0.4), 0.2, 3, id="more latents than axes"),
    ],
)
def test_closed_form_is_the_minimum(eigenvalues, beta, d):
    n = len(eigenvalues)
    axes = np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0]
    covariance = axes @ np.diag(eigenvalues) @ axes.T
    optimum = linear_closed_form(covariance, beta, d)
    runs = [
        minimize(
            expected_loss,
            0.3 * np.random.default_rng(seed).standard_normal(2 * n * d + d),
            args=(covariance, beta, d),
            jac=True,
            method="BFGS",
            options={"gtol": 1e-9, "maxiter": 5000},
        )
        for seed in range(4)
    ]
    best = min(runs, key=lambda run: run.fun)
    assert best.fun == pytest.approx(optimum.loss, abs=1e-9)
    W, noise = best.x[: n * d].reshape(n, d), np.exp(best.x[2 * n * d :])
    order = np.argsort(noise)
    np.testing.assert_allclose(noise[order], optimum.noise, atol=1e-5)
    np.testing.assert_allclose((W**2).sum(0)[order], optimum.column_norms, atol=1e-5)
    for j in np.flatnonzero(optimum.active):
        column = W[:, order[j]]
        assert abs(column @ optimum.axes[:, j]) == pytest.approx(np.linalg.norm(column), abs=1e-5)


def test_stretched_square():
    optimum = linear_closed_form(np.diag([1 / 12, 1 / 3, 0]), 0.1, 3)
    np.testing.assert_allclose(optimum.eigenvalues, [1 / 3, 1 / 12, 0])
    np.testing.assert_allclose(optimum.collapse, [2 / 3, 1 / 6, 0])
    np.testing.assert_allclose(optimum.noise, [0.15, 0.6, 1])
    assert optimum.active.tolist() == [True, True, False]
    np.testing.assert_allclose(np.abs(optimum.axes[:, 0]), [0, 1, 0])
    for beta, active in ((0.16, 2), (0.17, 1), (0.66, 1), (0.67, 0)):
        assert linear_closed_form(np.diag([1 / 12, 1 / 3, 0]), beta, 2).active.sum() == active
    assert linear_closed_form(np.diag([1 / 12, 1 / 3]), 1.0, 2).loss == pytest.approx(5 / 12)


def test_worked_example():
    assert noise_cost(M1, 0) == pytest.approx(24.49, abs=0.005)
    assert noise_cost(M1 @ rotation(np.pi / 4).T, 0) == pytest.approx(52.39, abs=0.005)
    assert rotated_noise_cost(M1, 0) == pytest.approx(23.15, abs=0.005)
    # e^(-C/2), not the e^(-C) of Eq. 3.21.
    assert noise_cost(M1, 3) == pytest.approx(noise_cost(M1, 0) * np.exp(-1.5))


def test_noise_cost_is_the_least():
    C = 1.7
    variances = noise_variances(M1, C)
    assert -np.log(variances).sum() == pytest.approx(C)
    assert variances[0] / variances[1] == pytest.approx(3 / 50)
    norms = (M1**2).sum(0)
    assert norms @ variances == pytest.approx(noise_cost(M1, C))
    first = np.exp(np.linspace(-8, 8, 4001))
    assert (norms[0] * first + norms[1] * np.exp(-C) / first).min() == pytest.approx(noise_cost(M1, C), rel=1e-5)
    angles = np.linspace(0, np.pi / 2, 4001)
    found = min(noise_cost(M1 @ rotation(a).T, C) for a in angles)
    assert found == pytest.approx(rotated_noise_cost(M1, C), rel=1e-5)
    assert found > rotated_noise_cost(M1, C) * (1 - 1e-12)


def test_lemma_7():
    x, y = np.random.default_rng(0).standard_normal((2, 7))
    grid = np.linspace(0.05, 6, 200_001)
    values = grid**2 * (x**2).sum() - 7 * np.log(grid**2) - np.log(y**2).sum()
    assert optimal_scale(x) == pytest.approx(grid[values.argmin()], abs=1e-4)


def test_mistakes_are_named():
    with pytest.raises(UserError, match="square"):
        linear_closed_form(np.ones((2, 3)), 1, 2)
    with pytest.raises(UserError, match="not symmetric"):
        linear_closed_form(np.array([[1, 2], [0, 1]]), 1, 2)
    with pytest.raises(UserError, match="beta=0"):
        linear_closed_form(np.eye(2), 0, 2)
    with pytest.raises(UserError, match=r"columns \[1\] of M are zero"):
        noise_cost(np.array([[1, 0], [1, 0]]), 1)
    with pytest.raises(UserError, match="every x is 0"):
        optimal_scale(np.zeros(3))
