"""FactorVAE score: equal to its definition on the same batches, and what it does not see."""

import numpy as np
import pytest

from unbraid.errors import UserError
from unbraid.fixed_factor import FixedFactor
from unbraid.metrics import factor_vae_score
from unbraid.metrics.factor_vae_score import local_variances

SIZES = (3, 6, 8, 5)
KINDS = ["order"] * len(SIZES)


@pytest.fixture(scope="module")
def factors():
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(n, size=3000) for n in SIZES], axis=1)


@pytest.fixture(scope="module")
def codes(factors):
    rng = np.random.default_rng(1)
    return factors @ rng.normal(size=(4, 6)) + 2 * rng.normal(size=(3000, 6))


def votes_of(codes, spread, fixed, held, rows):
    """The definition, one vote after another."""
    table = np.zeros((len(SIZES), codes.shape[1]), dtype=int)
    for j, batch in zip(held, rows, strict=True):
        assert len(np.unique(fixed.levels[batch, j])) == 1
        table[j, np.argmin(np.var(codes[batch], axis=0, ddof=1) / spread**2)] += 1
    return table


@pytest.mark.parametrize("reference", [False, True])
def test_equals_its_definition_on_the_same_batches(codes, factors, reference):
    score = factor_vae_score(codes, factors, votes=400, scored=200, seed=3, reference=reference)
    fixed = FixedFactor(factors, KINDS, 20)
    draw = np.random.RandomState(3) if reference else np.random.default_rng(3)
    batches = fixed.batches_one_by_one if reference else fixed.batches
    spread = codes.std(axis=0, ddof=1)
    fitted, scored = (votes_of(codes, spread, fixed, *batches(draw, n, 64)) for n in (400, 200))
    np.testing.assert_array_equal(score.votes, fitted)
    np.testing.assert_array_equal(score.scored_votes, scored)
    majority = fitted.argmax(axis=0)
    assert score.value == sum(scored[majority[i], i] for i in range(6)) / 200
    assert score.train_accuracy == sum(fitted[majority[i], i] for i in range(6)) / 400


def test_variances_survive_a_large_mean():
    rng = np.random.default_rng(0)
    values = rng.integers(5, size=500)
    codes = 1e6 * values[:, None] + rng.normal(size=(500, 3))
    rows = np.stack([rng.choice(np.flatnonzero(values == v), 16) for v in (0, 3, 4)])
    expected = np.var(codes[rows], axis=1, ddof=1)
    np.testing.assert_allclose(local_variances(codes, values, rows), expected, rtol=1e-8)


def test_reference_draws_have_the_same_distribution(codes, factors):
    ours, theirs = (factor_vae_score(codes, factors, reference=r).value for r in (False, True))
    assert ours == pytest.approx(theirs, abs=0.03)  # 5,000 votes: sd 0.007 each
    assert 0.3 < ours < 0.95


def test_perfect_codes_reach_one_and_spread_ones_too(factors):
    assert factor_vae_score(factors, factors).value == 1.0
    assert not factor_vae_score(factors, factors).warnings
    copies = factors[:, [2, 2]] + 0.1 * np.random.default_rng(1).normal(size=(3000, 2))
    twice = factor_vae_score(np.hstack([factors[:, [0, 1, 3]], copies]), factors)
    assert twice.value == 1.0
    assert any("latents [3, 4] all stand for factor in column 2" in w for w in twice.warnings)


def test_a_factor_that_is_not_encoded_costs_its_share(factors):
    noise = np.random.default_rng(0).normal(size=(3000, 1))
    score = factor_vae_score(np.hstack([factors[:, :3], noise]), factors)
    assert 0.75 < score.value < 0.95  # the noise latent wins some of the votes for the missing factor
    assert factor_vae_score(factors[:, :2], factors[:, :3]).value == pytest.approx(2 / 3, abs=0.03)


def test_the_threshold_has_no_unit_but_in_reference(factors):
    codes = np.hstack([factors, 1e-3 * np.random.default_rng(0).normal(size=(3000, 1))]) * 0.02
    score = factor_vae_score(codes, factors)
    assert score.value == 1.0 and score.kept.tolist() == [True] * 4 + [False]
    assert any("latents [4] have a standard deviation under 0.05 of the largest" in w for w in score.warnings)
    assert score.settings["threshold"] == "std >= 0.05 of the largest"
    published = factor_vae_score(codes, factors, reference=True)
    assert (
        published.kept.tolist() == (codes.std(axis=0, ddof=1) >= 0.05).tolist() == [False, False, False, False, False]
    )
    assert published.value == 0.0 and published.chance == 0.25
    assert any("no latent varies enough" in w for w in published.warnings)


def test_continuous_factors_are_binned_and_say_so():
    rng = np.random.default_rng(0)
    factors = rng.uniform(size=(4000, 2))
    score = factor_vae_score(factors, factors, kinds=["continuous", "continuous"])
    assert score.value == 1.0 and score.settings["binned_factors"] == [0, 1]
    assert sum("within 20 equal-width bins" in w for w in score.warnings) == 2


def test_few_rows_per_value_are_said(factors):
    identity = np.arange(3000) // 2  # two rows each
    alone = np.arange(3000)
    score = factor_vae_score(factors, np.column_stack([factors, identity, alone]))
    assert any("column 4 has only 2 rows per value" in w for w in score.warnings)
    assert any("column 5 has no value that two rows share" in w for w in score.warnings)
    assert score.chance == 1 / 5
    with pytest.raises(UserError, match="shared by two rows"):
        factor_vae_score(alone, alone)


def test_an_incomplete_grid_is_no_obstacle(factors):
    held = (factors[:, 0] != 1) | (factors[:, 1] > 2)
    assert factor_vae_score(factors[held], factors[held]).value == 1.0


def test_a_value_that_one_row_has_is_never_held_fixed():
    factors = np.array([0, 1, 1, 2, 2, 2])[:, None]
    fixed = FixedFactor(factors, ["order"], 20)
    _, rows = fixed.batches(np.random.default_rng(0), 200, 8)
    assert set(np.unique(rows)) == {1, 2, 3, 4, 5}
    _, left, right = fixed.pairs(np.random.default_rng(0), 200, 8)
    assert (left != right).all() and (factors[left] == factors[right]).all()
    assert set(np.unique(left)) == set(np.unique(right)) == {1, 2, 3, 4, 5}


def test_mistakes(codes, factors):
    with pytest.raises(UserError, match="batch=1"):
        factor_vae_score(codes, factors, batch=1)
    with pytest.raises(UserError, match="bins=1"):
        factor_vae_score(codes, factors, bins=1)
