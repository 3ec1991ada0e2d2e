"""The support vector machine of one number against scikit-learn's, and where it has to end."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from unbraid.linear_svm import fit, highest


@pytest.mark.parametrize("classes", [2, 3, 12])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_equals_scikit_learn(classes, scale):
    rng = np.random.default_rng(classes)
    labels = np.minimum(rng.geometric(0.3, size=600), classes) - 1
    x = scale * (labels + rng.normal(size=600) + 1)
    ((slopes, intercepts),) = fit(x, labels[:, None])
    theirs = LinearSVC(C=0.01, class_weight="balanced", tol=1e-10, max_iter=100_000).fit(x[:, None], labels)
    ours = slice(1, None) if classes == 2 else slice(None)
    np.testing.assert_allclose(slopes[ours], theirs.coef_[:, 0], atol=1e-5)
    np.testing.assert_allclose(intercepts[ours], theirs.intercept_, atol=1e-5)
    np.testing.assert_array_equal(highest(slopes, intercepts, x), theirs.predict(x[:, None]))


def test_the_gradient_is_zero():
    """Of the loss as it is written down, for two sets of classes at once."""
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=300) ** 3, np.stack([rng.integers(4, size=300), rng.integers(7, size=300)], axis=1)
    for column, (slopes, intercepts) in zip(labels.T, fit(x, labels, cost=0.5), strict=True):
        counts = np.bincount(column)
        for k, (w, b) in enumerate(zip(slopes, intercepts, strict=True)):
            y = np.where(column == k, 1, -1)
            cost = np.where(column == k, 0.5 * 300 / (len(counts) * counts[k]), 0.5)
            slack = 2 * cost * np.maximum(0, 1 - y * (w * x + b)) * y
            assert w - (slack * x).sum() == pytest.approx(0, abs=1e-9)
            assert b - slack.sum() == pytest.approx(0, abs=1e-9)


def test_highest_line_by_looking_at_all():
    rng = np.random.default_rng(0)
    for lines in (1, 2, 9, 40):
        slopes, intercepts, x = rng.normal(size=lines), rng.normal(size=lines), 3 * rng.normal(size=500)
        slopes[: lines // 3] = slopes[0]
        np.testing.assert_array_equal(highest(slopes, intercepts, x), (slopes * x[:, None] + intercepts).argmax(axis=1))


def test_a_constant_number_tells_nothing():
    labels = np.arange(90) % 3
    ((slopes, intercepts),) = fit(np.zeros(90), labels[:, None])
    assert not slopes.any() and np.ptp(intercepts) < 1e-12
