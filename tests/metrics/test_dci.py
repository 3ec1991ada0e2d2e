"""DCI: disentanglement_lib's values, scikit-learn's very trees, and what the default changes."""

import numpy as np
import pytest
from dlib_values import ARRAYS, dlib_values, uniform
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

from unbraid.boosting import boost_classes, boost_values
from unbraid.boosting_reference import boost_classes_reference
from unbraid.errors import UserError
from unbraid.metrics import dci

FACETS = {
    "disentanglement": "dci.disentanglement",
    "completeness": "dci.completeness",
    "informativeness": "dci.informativeness_test",
    "informativeness_fitted": "dci.informativeness_train",
}


def of_reference(name, **options):
    codes, factors, expected = dlib_values(name)
    held = {"test_codes": codes[5000:6000], "test_factors": factors[5000:6000]}
    return dci(codes[:2000], factors[:2000], **held, **options), expected


@pytest.mark.parametrize("name", ARRAYS)
def test_equals_disentanglement_lib(name):
    score, expected = of_reference(name, reference=True)
    for facet, published in FACETS.items():
        assert getattr(score, facet) == pytest.approx(expected[published], abs=1e-6), facet
    assert score.value == score.disentanglement
    assert (score.settings["fitted"], score.settings["scored"]) == (2000, 1000)


@pytest.mark.parametrize("name", ARRAYS)
def test_the_default_is_within_a_hundredth_of_it(name):
    score, expected = of_reference(name)
    for facet, published in list(FACETS.items())[:3]:
        assert getattr(score, facet) == pytest.approx(expected[published], abs=0.01), facet


@pytest.fixture(scope="module")
def codes():
    return np.random.default_rng(0).normal(size=(600, 4)).astype(np.float32).astype(float)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_the_reference_trees_are_those_of_scikit_learn(codes, classes):
    rng = np.random.default_rng(classes)
    target = np.digitize(codes[:, 0] + codes[:, 1] ** 2 + 0.5 * rng.normal(size=600), np.linspace(0, 2, classes - 1))
    theirs = GradientBoostingClassifier(n_estimators=30, random_state=np.random.RandomState(5)).fit(codes, target)
    other = rng.normal(size=(200, 4))
    ours = boost_classes_reference(codes, target, other, np.random.RandomState(5), stages=30)
    np.testing.assert_allclose(ours.importances, theirs.feature_importances_, atol=1e-12)
    np.testing.assert_array_equal(ours.fitted, theirs.predict(codes))
    np.testing.assert_array_equal(ours.predicted, theirs.predict(other))


def test_equal_codes_cost_a_thousandth(codes):
    """Sums of equal codes are added in another order, so that other splits of equal gain may be taken."""
    rounded = np.repeat(codes, 3, axis=0).round(1)
    target = np.digitize(rounded[:, 0] + 0.5 * np.random.default_rng(1).normal(size=1800), [-0.5, 0.5])
    theirs = GradientBoostingClassifier(random_state=0).fit(rounded, target).feature_importances_
    ours = boost_classes_reference(rounded, target, rounded, np.random.RandomState(0)).importances
    np.testing.assert_allclose(ours, theirs, atol=2e-3)


def test_the_default_trees_split_where_scikit_learn_does(codes):
    """With so few and shallow trees no two splits have equal gain."""
    rng = np.random.default_rng(3)
    wanted = np.sin(2 * codes[:, 0]) + codes[:, 1] + 0.1 * rng.normal(size=600)
    few = {"n_estimators": 20, "max_depth": 2}
    trees = {"stages": 20, "depth": 2}
    theirs = GradientBoostingRegressor(**few).fit(codes, wanted)
    ours = boost_values(codes, wanted, codes[:50], **trees)
    np.testing.assert_allclose(ours.importances, theirs.feature_importances_, atol=1e-6)
    np.testing.assert_allclose(ours.predicted, theirs.predict(codes[:50]), atol=1e-6)
    classified = GradientBoostingClassifier(**few).fit(codes, wanted > 0)
    ours = boost_classes(codes, wanted > 0, codes[:50], **trees)
    np.testing.assert_allclose(ours.importances, classified.feature_importances_, atol=1e-6)


def test_a_seeded_split_is_made():
    factors = uniform((3, 5), samples=900)
    codes = factors + 0.4 * np.random.default_rng(1).normal(size=factors.shape)
    for reference in (False, True):
        score = dci(codes, factors, reference=reference, seed=4)
        assert (score.settings["fitted"], score.settings["scored"]) == (600, 300)
        assert score.value == dci(codes, factors, reference=reference, seed=4).value
        assert score.informativeness != dci(codes, factors, reference=reference, seed=5).informativeness


def test_the_reference_is_not_what_options_make_of_it():
    factors = uniform((3, 4), samples=400)
    score = dci(factors, factors, reference=True, stages=3, depth=1)
    assert (score.settings["stages"], score.settings["depth"]) == (100, 3)


def test_continuous_factors_are_regressed_by_default_only():
    factors = np.random.default_rng(0).uniform(size=(600, 2))
    score = dci(factors, factors)
    assert score.settings["estimator"] == ["boosted regression, R²"] * 2
    assert score.informativeness > 0.98 and score.value > 0.95
    with pytest.raises(UserError, match="every value as a class, but factor column 0 has 400"):
        dci(factors, factors, reference=True)


def test_mistakes():
    factors = uniform((3, 4), samples=200)
    with pytest.raises(UserError, match="stages=0"):
        dci(factors, factors, stages=0)
    with pytest.raises(UserError, match="both, or neither"):
        dci(factors, factors, test_codes=factors)
    with pytest.raises(UserError, match="test_codes have 1 columns but codes 2"):
        dci(factors, factors, test_codes=factors[:, :1], test_factors=factors)
    with pytest.raises(UserError, match="no factor column varies"):
        dci(factors, np.zeros(200))
    with pytest.raises(UserError, match="too large"):
        dci(factors * 1e100, factors, reference=True)
