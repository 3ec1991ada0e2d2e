"""cPCA against its closed form and on the toy data that it was made for; CLVM against the Gaussian that it is."""

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from sklearn.cluster import KMeans

from unbraid.clustering import matched_accuracy
from unbraid.contrastive_axes import ALPHAS, affinity, contrastive_axes, covariance, exemplary_alphas
from unbraid.data import open_data
from unbraid.errors import UserError
from unbraid.methods.clvm import CLVM
from unbraid.methods.cpca import CPCA
from unbraid.networks import open_net


def toy(seed=0):
    """Targets, background, and the targets' groups."""
    target, background = (open_data(f"linear_contrast:part={part},seed={seed}") for part in ("target", "background"))
    every = torch.arange(400)
    return target.draw(every), background.draw(every), target.values[:, 0].numpy()


def direction(third):
    """Along which groups move, in one third of the coordinates."""
    found = np.zeros(30)
    found[10 * third : 10 * third + 10] = 10**-0.5
    return found


TRUE = np.stack([direction(1), direction(2)], 1)


def trained(method, batch, steps, lr):
    for update in method.updates():
        optimiser = torch.optim.Adam([p for module in update.over for p in module.parameters()], lr=lr)
        for step in range(steps):
            optimiser.zero_grad()
            update.loss(batch, step)["loss"].backward()
            optimiser.step()
    return method


def four_groups(codes, group):
    found = KMeans(4, n_init=10, random_state=0).fit(codes).labels_
    return matched_accuracy(found, group.astype(int), 4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cpca_finds_the_groups_that_pca_does_not(seed):
    """At least 99 % for alpha 2 to 10, under 40 % for PCA."""
    x, y, group = toy(seed)
    found = {}
    for alpha in (0, 2, 3, 5, 10, 30, 100):
        axes = contrastive_axes(covariance(x), covariance(y), alpha, 2)
        found[alpha] = four_groups(x.numpy() @ axes, group)
    assert all(found[alpha] >= 0.99 for alpha in (2, 3, 5, 10)) and found[0] < 0.4
    assert 0.5 < found[30] < 0.9 and 0.5 < found[100] < 0.9


@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_gradients_find_the_closed_form(alpha):
    x, y, group = toy()
    torch.manual_seed(0)
    method = trained(CPCA(open_net("auto", (30,), "real"), 2, alpha=alpha), {"x": x, "background": y}, 1200, 0.03)
    axes, exact = method.axes().detach().numpy(), contrastive_axes(covariance(x), covariance(y), alpha, 2)
    assert np.abs((axes * exact).sum(0)) == pytest.approx(1, abs=1e-3)
    codes = method.encode(x).detach().numpy()
    assert codes.mean(0) == pytest.approx(0, abs=0.1)
    assert four_groups(codes, group) > 0.99 if alpha else four_groups(codes, group) < 0.4


def test_the_loss_of_cpca_is_least_at_the_eigenvectors():
    x, y, _ = toy()
    method = CPCA(open_net("auto", (30,), "real"), 3, alpha=2.0)
    values, vectors = np.linalg.eigh(covariance(x) - 2 * covariance(y))
    with torch.no_grad():
        method.directions.weight.copy_(torch.from_numpy(vectors[:, ::-1][:, :3].copy()))
    expected = -(values[::-1][:3] * [1, 2 / 3, 1 / 3]).sum() * 399 / 400  # a batch's variance has no n - 1
    loss = method.loss({"x": x, "background": y}, 0)["loss"]
    assert loss.item() == pytest.approx(expected, rel=1e-4)
    gradient = torch.autograd.grad(loss, method.directions.weight)[0]
    assert gradient.abs().max() < 1e-3 * values[-1]


def test_exemplary_alphas_stand_for_pca_the_groups_and_what_is_beyond():
    x, y, group = toy()
    found = exemplary_alphas(covariance(x), covariance(y), 2, count=3)
    assert len(found) == 3 and found[0] == 0 and set(found) <= set(ALPHAS) and list(found) == sorted(found)
    best = max(
        four_groups(x.numpy() @ contrastive_axes(covariance(x), covariance(y), alpha, 2), group) for alpha in found
    )
    assert best > 0.99


def test_affinity_of_subspaces():
    axes = np.eye(4)
    assert affinity(axes[:, :2], axes[:, [1, 0]]) == pytest.approx(1)
    assert affinity(axes[:, :2], axes[:, 1:3]) == 0
    turned = np.stack([np.cos(0.3) * axes[0] + np.sin(0.3) * axes[2], axes[1]], 1)
    assert affinity(axes[:, :2], turned) == pytest.approx(np.cos(0.3))


@pytest.fixture
def model():
    torch.manual_seed(1)
    made = CLVM(open_net("auto", (5,), "real"), 2, 1).double()
    with torch.no_grad():
        made.log_noise.fill_(-0.7)
    return made


def parameters(model):
    shared, target = model.shared.weight.detach().numpy(), model.target.weight.detach().numpy()
    means = [layer.bias.detach().numpy() for layer in (model.target, model.shared)]
    return shared, target, means, np.exp(-0.7) * np.eye(5)


def test_the_loss_of_clvm_is_the_exact_likelihood(model):
    draw = torch.Generator().manual_seed(0)
    x, y = torch.randn(2, 7, 5, generator=draw, dtype=torch.float64)
    shared, target, means, noise = parameters(model)
    gaussians = [
        multivariate_normal(means[0], shared @ shared.T + target @ target.T + noise),
        multivariate_normal(means[1], shared @ shared.T + noise),
    ]
    terms = model.loss({"x": x, "background": y}, 0)
    for name, one, samples in zip(("target_surprise", "background_surprise"), gaussians, (x, y), strict=True):
        assert terms[name].item() == pytest.approx(-one.logpdf(samples.numpy()).mean(), rel=1e-10)
    assert terms["loss"] == terms["target_surprise"] + terms["background_surprise"]


def test_codes_of_clvm_are_conditioned_gaussians(model):
    x = torch.randn(4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    shared, target, means, noise = parameters(model)
    loadings = np.hstack([shared, target])
    gain = loadings.T @ np.linalg.inv(loadings @ loadings.T + noise)
    q = model.posterior(x)
    assert np.allclose(q.mean.detach(), (x.numpy() - means[0]) @ gain.T)
    spread = np.eye(3) - gain @ loadings
    assert np.allclose((q.factor[0] @ q.factor[0].T).detach(), spread)
    assert np.allclose(q.variance[2].detach(), spread.diagonal())


def test_clvm_recovers_the_two_target_directions():
    x, y, group = toy()
    torch.manual_seed(0)
    method = trained(CLVM(open_net("auto", (30,), "real")), {"x": x, "background": y}, 1500, 0.05)
    columns = np.linalg.qr(method.target.weight.detach().numpy())[0]
    cosines = np.linalg.svd(TRUE.T @ columns, compute_uv=False)
    assert cosines.min() > 0.92  # the optimum itself is 0.95 from 400 samples
    assert np.linalg.svd(TRUE.T @ contrastive_axes(covariance(x), covariance(y), 0, 2), compute_uv=False).max() < 0.5
    codes = method.encode(x).detach().numpy()
    assert four_groups(codes[:, method.blocks["salient"]], group) > 0.99
    assert method.decode(torch.from_numpy(codes)).shape == (400, 30)


def test_toy_groups_are_where_they_should_be():
    x, y, group = toy()
    assert [round(float(y[:, third * 10 : third * 10 + 10].std())) for third in range(3)] == [10, 3, 1]
    middles = [x[group == k].mean(0) for k in range(4)]
    for k, middle in enumerate(middles):
        assert middle[10:20].mean().item() == pytest.approx(6 * (k // 2), abs=0.1)
        assert middle[20:].mean().item() == pytest.approx(3 * (k % 2), abs=0.1)
    assert not open_data("linear_contrast:part=background").factors
    assert open_data("linear_contrast:gap=3").name == "linear_contrast"


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: open_data("linear_contrast:part=targets"), "did you mean 'target'"),
        (lambda: open_data("linear_contrast:gap=-1"), "gap=-1"),
        (lambda: CPCA(open_net("auto", (3,), "real"), 4), "samples of 3 numbers have at most 3 axes"),
        (lambda: contrastive_axes(np.eye(3), np.eye(4), 1.0, 2), "equal features"),
        (lambda: contrastive_axes(np.eye(3), np.eye(3), 1.0, 4), "4 axes of samples with 3 features"),
        (lambda: exemplary_alphas(np.eye(3), np.eye(3), count=1), "count=1"),
    ],
)
def test_mistakes_are_one_line(act, words):
    with pytest.raises(UserError, match=words) as error:
        act()
    assert "\n" not in str(error.value)
