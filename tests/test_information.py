"""Binning against NumPy's own, information and dependence against their definitions."""

import numpy as np
import pytest

from unbraid.information import (
    constant_columns,
    dependence_in,
    dependent_pairs,
    distinct,
    entropy,
    equal_mass,
    equal_width,
    joint_counts,
    mutual_information,
)


@pytest.mark.parametrize("bins", [2, 3, 7, 20, 64])
def test_bins_are_those_of_digitize(bins):
    """Also where values lie on edges, or so far from zero that a bin is a few steps of floating point."""
    rng = np.random.default_rng(bins)
    for trial in range(200):
        column = rng.normal(size=(int(rng.integers(2, 200)), 1)) * 10.0 ** rng.integers(-10, 10)
        column += rng.choice([0, 1, -5, 1e3, 1e8])
        if trial % 2:
            column = rng.integers(0, 50, size=column.shape) / rng.choice([1, 3, 7, 40.0])
        binned = equal_width(column, bins)[:, 0]
        if constant_columns(column, bins)[0]:
            assert not binned.any()
        else:
            edges = np.histogram_bin_edges(column[:, 0], bins)[:-1]
            np.testing.assert_array_equal(binned, np.digitize(column[:, 0], edges) - 1)


def test_bins_of_equal_mass():
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.normal(size=1000), rng.integers(5, size=1000) ** 3, np.zeros(1000)])
    codes[0, 0] = 1e9
    binned = equal_mass(codes, 10)
    assert np.bincount(binned[:, 0]).tolist() == [100] * 10
    np.testing.assert_array_equal(binned[:, 1], np.cbrt(codes[:, 1]).round())
    assert not binned[:, 2].any()
    np.testing.assert_array_equal(equal_mass(np.exp(codes[1:, :1]), 7), equal_mass(codes[1:, :1], 7))
    tied = np.repeat([0.0, *range(100)], [900, *[1] * 100])[:, None]
    assert len(np.unique(equal_mass(tied, 10)[tied[:, 0] == 0])) == 1


def test_distinct_values_are_ranked():
    rng = np.random.default_rng(0)
    for column in (rng.integers(-5, 30, size=99), rng.integers(9, size=99) / 3, rng.normal(size=99), np.full(9, 1e20)):
        np.testing.assert_array_equal(distinct(column * 1.0), np.unique(column, return_inverse=True)[1])


def test_dependence_has_mean_0_and_deviation_1_over_shuffles():
    """The moments are exact even in a sparse table, where chi-squared with its degrees of freedom is not."""
    rng = np.random.default_rng(0)
    left = np.column_stack([rng.integers(0, 5, size=200) ** 2 % 7, rng.integers(20, size=200)])
    right = np.minimum(rng.geometric(0.2, size=(200, 1)), 25)
    z = np.array([dependence_in(joint_counts(left, rng.permutation(right)))[:, 0] for _ in range(2000)])
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=0.08)
    np.testing.assert_allclose(z.std(axis=0), 1, atol=0.08)
    assert dependence_in(joint_counts(right, right)) > 40
    assert dependence_in(joint_counts(np.zeros_like(right), right)) == 0


@pytest.mark.parametrize("correction", ["miller_madow", "shuffled"])
def test_corrections_take_the_bias_away(correction):
    rng = np.random.default_rng(0)
    left, right = rng.integers(8, size=(2000, 6)), rng.integers(8, size=(2000, 6))
    plain = mutual_information(left, right).mean()
    assert plain == pytest.approx(7 * 7 / 4000, rel=0.1)
    assert mutual_information(left, right, correction).mean() < 0.25 * plain


def test_miller_madow_entropy():
    rng = np.random.default_rng(0)
    few = np.stack([rng.integers(16, size=100) for _ in range(200)], axis=1)
    assert np.log(16) - entropy(few).mean() == pytest.approx(15 / 200, rel=0.1)
    assert np.log(16) - entropy(few, "miller_madow").mean() == pytest.approx(0, abs=0.01)


def test_columns_that_depend_on_each_other_and_how_much():
    rng = np.random.default_rng(0)
    apart = np.stack([rng.integers(n, size=3000) for n in (3, 40, 1000)], axis=1).astype(float)
    assert dependent_pairs(apart) == []
    copied = np.column_stack([apart[:, 0], rng.normal(size=3000), (apart[:, 0] + 1) % 3])
    ((i, j, v),) = dependent_pairs(copied)
    assert (i, j) == (0, 2) and v == pytest.approx(1, abs=0.005)
    half = np.where(rng.random(3000) < 0.5, apart[:, 0], rng.integers(3, size=3000))
    ((_, _, v),) = dependent_pairs(np.column_stack([apart[:, 0], half]))
    assert v == pytest.approx(0.5, abs=0.08)
    assert dependent_pairs(apart[:60]) == []
