"""Information between latents: against scikit-learn, dependence without correlation, accident."""

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from unbraid.errors import UserError
from unbraid.information import equal_width
from unbraid.metrics import code_information


def test_is_the_mean_over_pairs():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(1500, 4)) @ rng.normal(size=(4, 4))
    binned = equal_width(codes, 20)
    pairs = [mutual_info_score(binned[:, i], binned[:, j]) for i in range(4) for j in range(4) if i != j]
    assert code_information(codes).value == pytest.approx(np.mean(pairs))


def test_sees_what_correlation_does_not():
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, size=5000)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    assert abs(np.corrcoef(circle.T)[0, 1]) < 0.05
    assert code_information(circle).value > 1
    binary = (np.column_stack([angle, angle]) > np.pi) * 1.0
    assert code_information(binary).value == pytest.approx(np.log(2), abs=0.01)


def test_accident_and_dead_latents():
    noise = np.random.default_rng(0).normal(size=(1000, 4))
    score = code_information(noise)
    assert score.value == pytest.approx(score.chance, rel=0.1) and score.value > 0.03
    assert code_information(noise, correction="shuffled").value < 0.2 * score.value
    padded = np.hstack([noise, np.zeros((1000, 4))])
    assert code_information(padded).value == pytest.approx(score.value)
    assert code_information(padded, reference=True).value == pytest.approx(score.value * 12 / 56)


def test_mistakes():
    with pytest.raises(UserError, match="did you mean 'shuffled'"):
        code_information(np.eye(9), correction="shuffle")
    with pytest.raises(UserError, match="bins=1"):
        code_information(np.eye(9), bins=1)
