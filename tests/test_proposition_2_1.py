"""Proposition 2.1 of paper 000 in exact linear algebra: what sparsity determines, and what it leaves open."""

import numpy as np
import pytest

from unbraid.claims.paper_000 import proposition_2_1 as proposition
from unbraid.claims.paper_000.proposition_2_1 import (
    all_shared,
    block_sizes,
    domains,
    explained,
    factorised,
    made_orthogonal,
    mixture,
    row_cosines,
    unexplained,
)

SEEDS = range(3)


@pytest.fixture(params=SEEDS, scope="module")
def drawn(request):
    return (*domains(request.param), request.param)


def test_ranks_give_the_sizes_of_blocks(drawn):
    x1, x2, true, _ = drawn
    assert true.error(x1, x2) < 1e-10 and block_sizes(x1, x2) == proposition.TRUE
    cosines = row_cosines(x1, x2)
    np.testing.assert_allclose(cosines[:2], 1, atol=1e-10)
    assert cosines[2] < 0.9
    for x in (x1, x2):  # what they share is the span of the shared rows
        basis = proposition.rows(x)
        np.testing.assert_allclose(true.wc @ basis.T @ basis, true.wc, atol=1e-9)


@pytest.mark.parametrize(("weight", "best"), [(0.5, {2}), (1, {2}), (1.9, {2}), (2, {0, 1, 2}), (2.1, {0}), (3, {0})])
def test_lambda_two_is_the_border(drawn, weight, best):
    x1, x2, _, _ = drawn
    found = [factorised(x1, x2, shared) for shared in range(3)]
    assert all(one.error(x1, x2) < 1e-10 for one in found)
    costs = np.array([one.cost(weight) for one in found])
    np.testing.assert_allclose(costs, [11 + (weight - 2) * shared for shared in range(3)])
    assert set(np.flatnonzero(costs < costs.min() + 1e-9)) == best


def test_below_one_more_sharing_is_cheaper_unless_estimates_must_have_the_papers_form(drawn):
    """All shared has kernels that differ; one row more than there are in common has equal ones, and is not orthogonal."""
    x1, x2, _, _ = drawn
    best, every, more = factorised(x1, x2, 2), all_shared(x1, x2), factorised(x1, x2, 3)
    for other in (every, more):
        assert other.error(x1, x2) < 1e-10
        assert other.cost(0.9) < best.cost(0.9) and other.cost(1.1) > best.cost(1.1)
    assert every.a.shape[1] == 0 and (np.abs(every.c1).max(axis=0) < 1e-12).any()
    assert np.linalg.matrix_rank(more.c1) == np.linalg.matrix_rank(more.c2) == 3
    assert np.abs(more.b.T @ more.c2).max() > 1


def test_sparsity_alone_leaves_a_mixture_that_orthogonality_undoes(drawn):
    x1, x2, true, seed = drawn
    best = factorised(x1, x2, 2)
    mixed = mixture(best, seed)
    assert mixed.error(x1, x2) < 1e-10 and mixed.cost(1) == best.cost(1)
    assert unexplained(mixed.c1, true.c1) > 0.01 and unexplained(mixed.a, true.a) < 1e-20
    restored = made_orthogonal(mixed)
    assert restored.error(x1, x2) < 1e-10 and restored.cost(1) == best.cost(1)
    for found, own in ((restored.a, true.a), (restored.b, true.b), (restored.c1, true.c1), (restored.c2, true.c2)):
        assert unexplained(found, own) < 1e-20


def test_explained_is_r_squared():
    draw = np.random.default_rng(0)
    codes = draw.standard_normal((2000, 2))
    factors = np.stack([codes[:, 0] + 3, codes[:, 1] + draw.standard_normal(2000), draw.standard_normal(2000)], 1)
    assert explained(codes, factors) == pytest.approx([1, 0.5, 0], abs=0.05)
    assert explained(codes[:, :0], factors) == pytest.approx([0, 0, 0], abs=1e-12)
