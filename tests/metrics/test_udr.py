"""UDR: equal to the definition with scikit-learn's Lasso, and what agreement is and is not."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Lasso

from unbraid.errors import UserError
from unbraid.lasso import lasso, violation
from unbraid.metrics import udr

N = 2000


@pytest.fixture(scope="module")
def causes():
    return np.random.default_rng(0).normal(size=(N, 4))


@pytest.fixture(scope="module")
def models(causes):
    """Four seeds: the causes in other orders and signs, mixed a little more each time, and a dead latent."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed + 1)
        mixing = np.eye(4)[rng.permutation(4)] * rng.choice([-1, 1], 4) + 0.15 * seed * rng.normal(size=(4, 4))
        found.append(np.hstack([3 * causes @ mixing, 0.02 * rng.normal(size=(N, 1))]))
    return found


def literal(models, kl, relate):
    """The published procedure, pair by pair."""
    codes = [(c - c.mean(0)) / c.std(0) * (k > 0.01) for c, k in zip(models, kl, strict=True)]
    pairs = np.zeros((len(codes), len(codes)))
    for i, a in enumerate(codes):
        for j, b in enumerate(codes):
            if i != j:
                r = relate(a, b)[np.ix_(kl[i] > 0.01, kl[j] > 0.01)]
                with np.errstate(invalid="ignore"):
                    by_b, by_a = (np.nan_to_num(r.max(ax) ** 2 / r.sum(ax)).mean() for ax in (0, 1))
                pairs[i, j] = (by_b + by_a) / 2
    return pairs, [np.median(np.delete(pairs[:, i], i)) for i in range(len(codes))]


def by_lasso(a, b):
    return np.abs(Lasso(alpha=0.1, tol=1e-12, max_iter=100_000).fit(a, b).coef_.T)


def by_ranks(a, b):
    constant = np.zeros((a.shape[1], b.shape[1]))
    for i, x in enumerate(a.T):
        for j, y in enumerate(b.T):
            if np.ptp(x) and np.ptp(y):
                constant[i, j] = abs(stats.spearmanr(x, y).statistic)
    return constant


@pytest.mark.parametrize(("correlation", "relate"), [("lasso", by_lasso), ("spearman", by_ranks)])
def test_equals_its_definition(models, correlation, relate):
    kl = [np.array([2.0, 1.5, 1.0, 0.5, 0.005])] * 4
    pairs, scores = literal(models, kl, relate)
    score = udr(models, kl=kl, correlation=correlation)
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(score.pairwise[off], pairs[off], atol=1e-6)
    np.testing.assert_allclose(score.per_model, scores, atol=1e-6)
    assert score.value == pytest.approx(np.median(scores), abs=1e-6)
    assert 0.3 < score.value < 0.85
    # without KL the dead latent is found by its variance
    guessed = udr(models, correlation=correlation)
    assert guessed.value == score.value
    assert [k.tolist() for k in guessed.kept] == [[0, 1, 2, 3]] * 4
    assert any("latents [4] of model 2 hardly vary" in w for w in guessed.warnings)


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.5])
def test_the_lasso_is_that_of_scikit_learn(alpha):
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(300, 8)) @ rng.normal(size=(8, 8))
    targets = columns @ rng.normal(size=(8, 5)) + rng.normal(size=(300, 5))
    columns -= columns.mean(axis=0)
    columns[:, 3] = 0
    targets -= targets.mean(axis=0)
    found = lasso(columns.T @ columns / 300, columns.T @ targets / 300, alpha)
    theirs = Lasso(alpha=alpha, tol=1e-14, max_iter=1_000_000).fit(columns, targets).coef_.T
    np.testing.assert_allclose(found, theirs, atol=1e-6)
    assert (found[3] == 0).all() and ((found == 0) == (np.abs(theirs) < 1e-9)).all()
    assert violation(found, columns.T @ (targets - columns @ found) / 300, alpha) < 1e-8


def test_one_orthonormal_column_is_shrunk_by_alpha():
    np.testing.assert_allclose(lasso(np.eye(2), np.array([[0.7], [-0.05]]), 0.1), [[0.6], [0.0]])


def test_order_sign_and_scale_do_not_matter(causes):
    same = udr([causes, -2 * causes[:, ::-1], causes[:, [1, 0, 3, 2]] + 5])
    assert same.value == pytest.approx(same.ceiling, abs=0.02) and same.ceiling == 0.9
    ranked = udr([causes, causes[:, ::-1] ** 3], correlation="spearman")
    assert ranked.value == pytest.approx(0.95, abs=0.05) and ranked.ceiling is None


def test_agreeing_on_a_mixture_is_agreement(causes):
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    assert udr([causes @ turn, causes[:, :] @ turn[:, ::-1]]).value == pytest.approx(0.9, abs=0.02)
    assert udr([causes @ turn, causes]).value < 0.6


def test_dead_models_agree_with_none(causes):
    score = udr([causes, causes, np.full((N, 4), 0.1)], names=["a", "b", "c"])
    assert score.per_model[2] == 0.0 and np.isfinite(score.value)
    assert any("model c has no latent left" in w for w in score.warnings)


def test_models_may_differ_in_size(causes):
    score = udr([causes, causes[:, :2], causes[:, 1:]])
    assert score.relations[0, 1].shape == (4, 2)
    assert score.pairwise[1, 0] == pytest.approx((0.9 * 2 / 4 + 0.9) / 2, abs=0.02)


def test_mistakes(causes):
    with pytest.raises(UserError, match="at least 2 are needed, 1 given"):
        udr([causes])
    with pytest.raises(UserError, match="model b has 1999 rows but model a 2000"):
        udr([causes, causes[1:]], names="ab")
    with pytest.raises(UserError, match="kl given for 1 of 2"):
        udr([causes, causes], kl=[np.ones(4)])
    with pytest.raises(UserError, match=r"kl of model 1 has shape \(3,\), not \(4,\)"):
        udr([causes, causes], kl=[np.ones(4), np.ones(3)])
    with pytest.raises(UserError, match="3 names given for 2 models"):
        udr([causes, causes], names="abc")
    with pytest.raises(UserError, match="did you mean 'lasso'"):
        udr([causes, causes], correlation="laso")
    with pytest.raises(UserError, match="alpha=0"):
        udr([causes, causes], alpha=0)
