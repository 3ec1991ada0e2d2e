"""DS: its three forms, its predictors against scikit-learn, and where its terms leave (0, 1)."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.metrics import disentanglement_score

N = 5000


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(0)


def test_three_balanced_classes_reach_two():
    classes = np.arange(N) % 3
    codes = np.column_stack([classes, np.random.default_rng(0).normal(size=N)])
    score = disentanglement_score(codes, classes, kinds=["category"])
    # 1/3 is what the noise latent gets as well, so the gap is (1 - 1/3) / (1/3).
    assert score.value == pytest.approx(2, abs=0.1)
    assert score.parts["clipped"] == score.parts["raw"] == score.value
    assert score.parts["normalised"] == pytest.approx(1, abs=0.02)
    assert any("can reach 1.9" in w or "can reach 2.0" in w for w in score.warnings)
    assert not disentanglement_score(codes, classes, kinds=["category"], form="normalised").warnings


def test_noise_regresses_worse_than_a_constant():
    rng = np.random.default_rng(0)
    factor = rng.uniform(size=20_000)
    codes = np.column_stack([factor, rng.normal(size=20_000)])
    score = disentanglement_score(codes, factor, kinds=["continuous"])
    good, noise = score.parts["accuracies"][:, 0] / score.parts["M"][0]
    assert noise == pytest.approx(1 - np.sqrt(1.2), abs=0.015)
    assert good == pytest.approx(1, abs=0.005)
    assert score.value == pytest.approx(1, abs=0.01)
    assert score.parts["raw"] == pytest.approx(np.sqrt(1.2), abs=0.02)
    assert score.parts["M"][0] == pytest.approx(1 / np.sqrt(12), abs=0.01)


def test_equals_scikit_learn():
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.integers(4, size=N), rng.uniform(size=N), rng.integers(9, size=N)])
    codes = factors @ rng.normal(size=(3, 4)) + 0.3 * rng.normal(size=(N, 4))
    score = disentanglement_score(codes, factors, kinds=["category", "continuous", "order"], seed=3)
    order = np.random.default_rng(3).permutation(N)
    fit, held = order[:4000], order[4000:]
    for j in range(4):
        train, test = codes[fit, j : j + 1], codes[held, j : j + 1]
        classifier = KNeighborsClassifier(5).fit(train, factors[fit, 0])
        assert score.parts["accuracies"][j, 0] == pytest.approx(classifier.score(test, factors[held, 0]), abs=1e-12)
        for i in (1, 2):
            predicted = KNeighborsRegressor(5).fit(train, factors[fit, i]).predict(test)
            rmse = np.sqrt(((predicted - factors[held, i]) ** 2).mean())
            assert score.parts["accuracies"][j, i] == pytest.approx(factors[held, i].std() - rmse, abs=1e-12)
    assert score.settings["estimator"] == ["classifier", "regressor", "regressor"]
    assert (score.settings["fitted"], score.settings["scored"]) == (4000, 1000)


def test_perfect_and_mixed_codes(rng):
    factors = rng.uniform(size=(N, 2))
    perfect = disentanglement_score(factors, factors)
    mixed = disentanglement_score(factors @ np.array([[1, 1], [1, -1]]), factors)
    assert perfect.value == pytest.approx(perfect.ceiling) == pytest.approx(1, abs=0.01)
    assert mixed.value < 0.05


def test_a_cycle_is_closed(rng):
    angle = rng.integers(40, size=N)
    # A code cut at half a turn: continuous where the numbers of the factor jump from 39 to 0.
    turned = ((angle + 20) % 40 + rng.uniform(size=N)) / 40
    codes = np.column_stack([turned, rng.normal(size=N)])
    value = {k: disentanglement_score(codes, angle, kinds=[k]).value for k in ("cycle", "order")}
    assert value["cycle"] > 0.9
    sized = disentanglement_score(codes, angle, kinds=[Factor("orientation", 40, "cycle")])
    assert sized.value == pytest.approx(value["cycle"])
    assert sized.parts["M"][0] == pytest.approx(1, abs=0.01)
    radians = disentanglement_score(codes, 2 * np.pi * angle / 40, kinds=["cycle"])
    assert radians.value == pytest.approx(value["cycle"])


def test_mistakes_and_pitfalls(rng):
    factors = np.column_stack([np.arange(100) % 5, np.ones(100)])
    codes = rng.normal(size=(100, 2))
    with pytest.raises(UserError, match="did you mean 'normalised'"):
        disentanglement_score(codes, factors, form="normalized")
    with pytest.raises(UserError, match="neighbours=81: must be from 1 to the 80"):
        disentanglement_score(codes, factors, neighbours=81)
    with pytest.raises(UserError, match="no factor column varies"):
        disentanglement_score(codes, factors[:, 1])
    score = disentanglement_score(codes, factors)
    assert any("column 1 never varies" in w for w in score.warnings)
    assert np.isnan(score.parts["per_factor"][1])
