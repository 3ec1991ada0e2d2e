"""Beta-VAE score: equal to its definition on the same pairs, its classifier, and what it does not see."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from unbraid import fixed_factor, logistic
from unbraid.errors import UserError
from unbraid.fixed_factor import FixedFactor
from unbraid.metrics import beta_vae_score

SIZES = (3, 6, 8, 5)
KINDS = ["order"] * len(SIZES)


@pytest.fixture(scope="module")
def factors():
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(n, size=3000) for n in SIZES], axis=1)


@pytest.fixture(scope="module")
def codes(factors):
    rng = np.random.default_rng(1)
    return factors / np.array(SIZES) @ rng.normal(size=(4, 6)) + rng.normal(size=(3000, 6))


def points_of(codes, fixed, held, left, right):
    """The definition, one point after another."""
    points = np.empty((len(held), codes.shape[1]))
    for place, (j, a, b) in enumerate(zip(held, left, right, strict=True)):
        assert (fixed.levels[a, j] == fixed.levels[b, j]).all()
        points[place] = np.mean(np.abs(codes[a] - codes[b]), axis=0)
    return points


@pytest.mark.parametrize("reference", [False, True])
def test_equals_its_definition_on_the_same_pairs(codes, factors, reference):
    score = beta_vae_score(codes, factors, votes=600, scored=300, seed=3, reference=reference)
    fixed = FixedFactor(factors, KINDS, 20)
    draw = np.random.RandomState(3) if reference else np.random.default_rng(3)
    pairs = fixed.pairs_one_by_one if reference else fixed.pairs
    codes = codes if reference else codes / codes.std(axis=0).max()
    held, left, right = pairs(draw, 600, 64)
    model = LogisticRegression(**({} if reference else {"tol": 1e-10, "max_iter": 10_000}))
    points = points_of(codes, fixed, held, left, right)
    model.fit(points, held)
    assert score.train_accuracy == model.score(points, held)
    held, left, right = pairs(draw, 300, 64)
    assert score.value == model.score(points_of(codes, fixed, held, left, right), held)
    assert 0.3 < score.value < 0.98
    assert score.confusion.sum() == 300 and score.confusion.trace() == 300 * score.value


def test_reference_draws_have_the_same_distribution(codes, factors):
    ours, theirs = (beta_vae_score(codes, factors, reference=r).value for r in (False, True))
    assert ours == pytest.approx(theirs, abs=0.03)


@pytest.mark.parametrize("reference", [False, True])
def test_a_row_does_not_meet_itself(factors, reference):
    """Among few rows of a value that would make all latents closer, and tell the factor even from noise."""
    many = np.column_stack([np.arange(3000) // 2, factors[:, 0]])
    noise = np.random.default_rng(5).normal(size=(3000, 4))
    assert beta_vae_score(noise, many, reference=reference).value == pytest.approx(0.5, abs=0.06)
    fixed = FixedFactor(many, ["order", "order"], 20)
    draw = np.random.RandomState(0) if reference else np.random.default_rng(0)
    _, left, right = (fixed.pairs_one_by_one if reference else fixed.pairs)(draw, 300, 64)
    assert (left != right).all()


def test_one_factor_may_be_missing_and_two_may_not(factors):
    """The pitfall of Kim & Mnih: what is shared in no latent is the factor that is not encoded."""
    missing = np.hstack([factors[:, :3], np.random.default_rng(0).normal(size=(3000, 1))])
    score = beta_vae_score(missing, factors)
    assert score.value > 0.99 and any("does not see a factor that is missing" in w for w in score.warnings)
    assert beta_vae_score(factors[:, :2], factors).value == pytest.approx(0.75, abs=0.03)


def test_turned_factors_are_told_apart_unless_they_mix_evenly():
    factors = np.random.default_rng(0).normal(size=(5000, 2)).round(1)
    angles = np.array([0, 30, 45]) * np.pi / 180
    turned = [factors @ np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in angles]
    values = [beta_vae_score(codes, factors, kinds=["order", "order"]).value for codes in turned]
    assert values[0] == 1.0 and values[1] > 0.98  # entangled, and the score does not mind
    assert values[2] == pytest.approx(0.5, abs=0.1)


def test_a_single_factor_says_that_it_means_nothing(codes, factors):
    for reference in (False, True):
        score = beta_vae_score(codes, factors[:, 0], reference=reference, votes=100, scored=100)
        assert score.value == score.chance == 1.0
        assert any("nothing to tell apart" in w for w in score.warnings)


def test_a_reference_that_stops_early_says_so(codes, factors):
    score = beta_vae_score(codes * [1e3, 1e2, 10, 1, 1, 1], factors, reference=True, votes=1000)
    assert any("stopped after 100 steps" in w for w in score.warnings)


def test_memory_is_bounded_by_portions(codes, factors, monkeypatch):
    monkeypatch.setattr(fixed_factor, "AT_ONCE", 100)
    assert fixed_factor.portions(250) == [100, 100, 50]
    assert beta_vae_score(codes, factors, votes=250, scored=100).confusion.sum() == 100


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("strength", [1.0, 100.0])
def test_the_classifier_is_that_of_scikit_learn(classes, strength):
    rng = np.random.default_rng(classes)
    labels = rng.integers(classes, size=4000) * 3 + 1
    columns = np.abs(rng.normal(size=(4000, 7)) + labels[:, None] * rng.normal(size=7) * 0.1)
    weights, present = logistic.fit(columns, labels, strength)
    theirs = LogisticRegression(C=strength, tol=1e-12, max_iter=10_000).fit(columns, labels)
    np.testing.assert_array_equal(present, theirs.classes_)
    share = columns @ weights[:-1] + weights[-1]
    share = np.exp(share - share.max(axis=1, keepdims=True))
    np.testing.assert_allclose(share / share.sum(axis=1, keepdims=True), theirs.predict_proba(columns), atol=2e-5)
    np.testing.assert_array_equal(logistic.predict(weights, present, columns), theirs.predict(columns))


def test_the_classifier_is_at_its_minimum_even_where_classes_part():
    """The gradient of the penalised likelihood vanishes, with classes that a plane separates."""
    rng = np.random.default_rng(0)
    labels = np.arange(5000) % 3
    columns = 50 * np.eye(3)[labels] + rng.uniform(size=(5000, 3))
    weights, _ = logistic.fit(columns, labels)
    share = columns @ weights[:-1] + weights[-1]
    share = np.exp(share - share.max(axis=1, keepdims=True))
    error = share / share.sum(axis=1, keepdims=True) - np.eye(3)[labels]
    assert np.abs(columns.T @ error + weights[:-1]).max() < 1e-6
    assert np.abs(error.sum(axis=0)).max() < 1e-6


def test_mistakes(codes, factors):
    with pytest.raises(UserError, match="votes=0"):
        beta_vae_score(codes, factors, votes=0)
    with pytest.raises(UserError, match="bins=1"):
        beta_vae_score(codes, factors, bins=1)
    with pytest.raises(UserError, match="no factor column has two values"):
        beta_vae_score(codes, np.ones(len(codes)))
