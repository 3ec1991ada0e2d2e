"""Every metric in the folder: what it declares in HOLDS is tested, and it must declare something."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

import unbraid.metrics
from unbraid import catalog
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.metrics import Score

SIZES = (3, 6, 10, 8)
KINDS = ("category", "order", "order", "order")
NAMES = catalog.names("metrics")


def declared(name):
    module = importlib.import_module(f"unbraid.metrics.{name}")
    return getattr(module, "HOLDS", None)


def measure(name, codes, factors):
    return getattr(unbraid.metrics, name)(codes, factors, kinds=KINDS)


@pytest.fixture(scope="module")
def factors():
    rng = np.random.default_rng(0)
    return np.stack([rng.integers(n, size=2000) for n in SIZES], axis=1)


@pytest.fixture(scope="module")
def codes(factors):
    """An entangled, noisy code: two factors mixed, one written twice, one latent of noise."""
    rng = np.random.default_rng(1)
    mixing = np.array([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0.7, 1, 0, 1], [0, 0, 0, 0, 0.4]])
    return factors / np.array(SIZES) @ mixing + 0.05 * rng.standard_normal((2000, 5))


def same(score, other):
    assert score.value == pytest.approx(other.value, abs=1e-9)


def permuted_codes(name, codes, factors):
    same(measure(name, codes[:, [3, 1, 4, 0, 2]], factors), measure(name, codes, factors))


def flipped_codes(name, codes, factors):
    same(measure(name, codes * [1, -1, -1, 1, -1], factors), measure(name, codes, factors))


def rescaled_codes(name, codes, factors):
    same(measure(name, 4.0 * codes, factors), measure(name, codes, factors))


def sample_order(name, codes, factors):
    order = np.random.default_rng(2).permutation(len(codes))
    same(measure(name, codes[order], factors[order]), measure(name, codes, factors))


def perfect_codes_reach_ceiling(name, codes, factors):
    score = measure(name, factors, factors)
    assert score.value == pytest.approx(1.0 if score.ceiling is None else score.ceiling, abs=0.02)
    assert score.value > measure(name, codes, factors).value + 0.1


def noise_scores_low(name, codes, factors):
    noise = np.random.default_rng(3).standard_normal(codes.shape)
    assert abs(measure(name, noise, factors).value) < 0.05


def constant_code_is_zero(name, codes, factors):
    score = measure(name, np.full(codes.shape, 0.1), factors)
    assert score.value == 0
    assert any("constant" in warning for warning in score.warnings)


BATTERY = {
    test.__name__: test
    for test in (
        permuted_codes,
        flipped_codes,
        rescaled_codes,
        sample_order,
        perfect_codes_reach_ceiling,
        noise_scores_low,
        constant_code_is_zero,
    )
}


@pytest.mark.parametrize("name", NAMES)
def test_says_what_holds(name):
    holds = declared(name)
    assert holds, f"metrics/{name}.py must declare HOLDS, a set of names out of {sorted(BATTERY)}"
    assert set(holds) <= set(BATTERY)


@pytest.mark.parametrize(("name", "held"), [(n, p) for n in NAMES for p in sorted(declared(n) or ())])
def test_holds(name, held, codes, factors):
    BATTERY[held](name, codes, factors)


@pytest.mark.parametrize("name", NAMES)
def test_a_score_is_complete(name, codes, factors):
    score = measure(name, codes, factors)
    assert isinstance(score, Score)
    assert np.isfinite(score.value) and type(score.value) is float
    assert score.parts and score.settings
    again = measure(name, codes, factors)
    assert again.value == score.value


@pytest.mark.parametrize("name", NAMES)
def test_one_latent_is_no_error(name, codes, factors):
    assert np.isfinite(measure(name, codes[:, 0], factors).value)


@pytest.mark.parametrize("name", NAMES)
def test_mistakes_are_one_line(name, codes, factors):
    metric = getattr(unbraid.metrics, name)
    with pytest.raises(UserError, match="2000 rows but factors 1999"):
        metric(codes, factors[:-1])
    with pytest.raises(UserError, match="3 factor kinds given for 4"):
        metric(codes, factors, kinds=KINDS[:3])
    with pytest.raises(UserError, match="did you mean 'category'"):
        metric(codes, factors, kinds=["categry", *KINDS[1:]])


@pytest.mark.parametrize("name", NAMES)
def test_factors_may_say_their_kind(name, codes, factors):
    named = [Factor(f"f{i}", n, kind) for i, (n, kind) in enumerate(zip(SIZES, KINDS, strict=True))]
    same(getattr(unbraid.metrics, name)(codes, factors, kinds=named), measure(name, codes, factors))


def test_a_name_stays_a_function():
    importlib.import_module("unbraid.metrics.mig")
    assert unbraid.metrics.mig is sys.modules["unbraid.metrics.mig"].mig


def test_scoring_does_not_load_torch():
    program = f"import sys, unbraid.metrics as m; [getattr(m, n) for n in {NAMES}]"
    program += "; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
