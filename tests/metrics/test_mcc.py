"""MCC: closed forms of its correlations, the matching, linear read-outs, and the published variant."""

import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.cross_decomposition import CCA
from sklearn.linear_model import LinearRegression

from unbraid.correlation import best_readouts, correlations, image, ranks
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.metrics import mcc

N = 4000


@pytest.fixture(scope="module")
def factors():
    return np.random.default_rng(0).uniform(size=(N, 3))


@pytest.fixture(scope="module")
def codes(factors):
    rng = np.random.default_rng(1)
    return np.exp(factors @ rng.normal(size=(3, 5))) + 0.2 * rng.normal(size=(N, 5))


def best_mean(table):
    """The best one-to-one matching by trying all."""
    d, k = table.shape
    return max(np.mean([table[i, j] for j, i in enumerate(p)]) for p in itertools.permutations(range(d), k))


def test_equals_its_definition(codes, factors):
    score = mcc(codes, factors)
    pearson = np.abs(np.corrcoef(codes.T, factors.T)[:5, 5:])
    spearman = np.abs(stats.spearmanr(codes, factors).statistic[:5, 5:])
    np.testing.assert_allclose(score.pearson_correlations, pearson, atol=1e-12)
    np.testing.assert_allclose(score.spearman_correlations, spearman, atol=1e-12)
    assert score.value == score.spearman == pytest.approx(best_mean(spearman), abs=1e-12)
    assert score.pearson == pytest.approx(best_mean(pearson), abs=1e-12)
    assert mcc(codes, factors, correlation="pearson").value == score.pearson


def test_the_reference_is_the_padded_square(codes, factors):
    padding = np.random.RandomState(7)
    padded = np.column_stack([factors, *[padding.normal(size=N) for _ in range(2)]])
    square = np.abs(stats.spearmanr(codes, padded).statistic[:5, 5:])
    best = max(itertools.permutations(range(5)), key=lambda p: sum(square[i, j] for j, i in enumerate(p)))
    score = mcc(codes, factors, reference=True, seed=7)
    assert score.value == pytest.approx(np.mean([square[best[j], j] for j in range(3)]), abs=1e-12)
    assert score.settings["padding"] == 2
    with pytest.raises(UserError, match="2 latents for 3 factors"):
        mcc(codes[:, :2], factors, reference=True)


def test_a_turn_by_45_degrees(factors):
    pair = factors[:, :2]
    turned = pair @ np.array([[1, 1], [-1, 1]]) / 2**0.5
    score = mcc(turned, pair)
    assert score.pearson == pytest.approx(0.5**0.5, abs=0.02)
    assert score.spearman == pytest.approx(0.5**0.5, abs=0.03)
    assert score.weak == pytest.approx(1, abs=1e-9)


def test_a_monotone_warp_costs_pearson_only(factors):
    score = mcc(np.exp(6 * factors), factors)
    assert score.spearman == pytest.approx(1, abs=1e-12)
    assert score.pearson < 0.85 and score.weak < 0.85


def test_weak_is_regression_on_the_held_out_part(codes, factors):
    score = mcc(codes[:2000], factors[:2000], test_codes=codes[2000:], test_factors=factors[2000:], correlation="weak")
    predicted = LinearRegression().fit(codes[:2000], factors[:2000]).predict(codes[2000:])
    expected = [np.corrcoef(predicted[:, j], factors[2000:, j])[0, 1] for j in range(3)]
    np.testing.assert_allclose(score.per_factor, expected, atol=1e-10)
    assert score.value == score.weak == pytest.approx(np.mean(expected))
    assert (score.settings["fitted"], score.settings["scored"]) == (2000, 2000)


def test_read_outs_of_classes_and_angles_are_canonical(codes):
    rng = np.random.default_rng(2)
    classes = (codes[:, 0] > 1).astype(float) + (codes[:, 1] + rng.normal(size=N) > 2)
    angle = np.arctan2(codes[:, 2] - 2, codes[:, 3] - 2)
    for factor, kind, shown in (
        (classes, "category", np.eye(3)[classes.astype(int)][:, 1:]),
        (angle, "cycle", np.column_stack([np.cos(angle), np.sin(angle)])),
    ):
        images = [image(factor, kind, 2 * np.pi, False)]
        found = correlations(codes @ best_readouts(codes, images), images)[0, 0]
        left, right = CCA(1, max_iter=5000, tol=1e-12).fit_transform(codes, shown)
        assert found == pytest.approx(np.corrcoef(left[:, 0], right[:, 0])[0, 1], abs=1e-6)
        assert found > correlations(codes, images).max() + 1e-3


def test_a_category_is_no_number():
    classes = np.random.default_rng(0).integers(3, size=N)
    code = np.array([0.0, 5.0, 1.0])[classes]  # classes 0, 2, 1 in order of the code
    score = mcc(code, classes, kinds=["category"])
    assert score.value == pytest.approx(1) and score.pearson == pytest.approx(1)
    assert score.settings["estimator"] == ["eta"]
    assert mcc(code, classes, kinds=["order"]).value < 0.6
    published = mcc(code, classes, kinds=[Factor("shape", 3, "category")], reference=True)
    assert published.value < 0.6
    assert any("category 'shape' is correlated as if it were a number" in w for w in published.warnings)


def test_eta_is_that_of_the_analysis_of_variance():
    rng = np.random.default_rng(0)
    classes = rng.integers(4, size=500)
    code = rng.normal(size=500) + np.array([0, 0.5, 0.1, 0.3])[classes]
    f = stats.f_oneway(*[code[classes == c] for c in range(4)]).statistic
    eta = np.sqrt(f * 3 / (f * 3 + 496))
    assert correlations(code[:, None], [image(classes, "category", 0, False)])[0, 0] == pytest.approx(eta, abs=1e-12)


def test_a_cycle_is_closed():
    angle = np.random.default_rng(0).integers(40, size=N)
    kinds = [Factor("orientation", 40, "cycle")]
    start = [mcc((angle + shift) % 40, angle, kinds=kinds).pearson for shift in (0, 13)]
    assert start[0] == pytest.approx(start[1], abs=0.02) == pytest.approx(6**0.5 / np.pi, abs=0.02)
    cosine = mcc(np.cos(2 * np.pi * angle / 40 + 0.7), angle, kinds=kinds)
    assert cosine.pearson == pytest.approx(1)
    assert any("'orientation'" in w and "0.78" in w for w in cosine.warnings)
    # R of a multiple regression
    code = angle + np.random.default_rng(1).normal(size=N)
    waves = np.column_stack([np.cos(2 * np.pi * angle / 40), np.sin(2 * np.pi * angle / 40)])
    r2 = LinearRegression().fit(waves, code).score(waves, code)
    assert mcc(code, angle, kinds=kinds).pearson == pytest.approx(r2**0.5, abs=1e-12)
    radians = mcc(code, 2 * np.pi * angle / 40, kinds=["cycle"])
    assert radians.pearson == pytest.approx(r2**0.5, abs=1e-12)


def test_factors_without_a_latent_count_as_nothing(factors):
    score = mcc(factors[:, :2], factors)
    assert score.value == pytest.approx(2 / 3, abs=1e-9)
    assert score.spearman_latents.tolist() == [0, 1, -1]
    assert any("2 latents for 3 factors: 1 of them count as 0" in w for w in score.warnings)


def test_chance_is_not_zero_where_classes_are_many():
    rng = np.random.default_rng(0)
    classes, code = rng.integers(183, size=N), rng.normal(size=(N, 4))
    for facet in ("spearman", "weak"):
        score = mcc(code, classes, kinds=["category"], correlation=facet)
        assert score.chance > 0.15
        assert score.value == pytest.approx(score.chance, abs=0.05)


def test_ranks_are_those_of_scipy():
    columns = np.random.default_rng(0).integers(9, size=(50, 3)).astype(float)
    np.testing.assert_array_equal(ranks(columns), stats.rankdata(columns, axis=0) - 1)


def test_mistakes(codes, factors):
    with pytest.raises(UserError, match="did you mean 'spearman'"):
        mcc(codes, factors, correlation="spearmen")
    with pytest.raises(UserError, match="no factor column varies"):
        mcc(codes, np.ones(N))
