"""Every metric in the folder: what it declares in HOLDS is tested, and it must declare something.

A metric is given what it asks for by argument name, as evaluation does: codes, factors, and for contrastive ones groups,
blocks and labels; one of several models is given three.
"""

import importlib
import inspect
import subprocess
import sys

import numpy as np
import pytest

import unbraid.metrics
from unbraid import catalog
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.metrics import Score, bootstrap

SIZES = (3, 6, 8, 8)
KINDS = ("category", "order", "order", "order")
NAMES = catalog.names("metrics")


def wants(name):
    """The arguments that a metric cannot do without."""
    parameters = inspect.signature(getattr(unbraid.metrics, name)).parameters.values()
    return [p.name for p in parameters if p.default is p.empty]


SUPERVISED = [name for name in NAMES if wants(name) == ["codes", "factors"]]


def declared(name):
    module = importlib.import_module(f"unbraid.metrics.{name}")
    return getattr(module, "HOLDS", None)


QUICK = {"clustering_accuracy": {"samples": 400}, "common_clustering": {"samples": 400}}  # slow otherwise


def offered(codes, factors):
    """Half of the rows are background; every block is all of the code; one label is of targets alone, one of all."""
    background = factors[:, 3] % 2 == 1
    shape = np.where(background, np.nan, factors[:, 0])
    labels = {Factor("shape", SIZES[0], "category"): shape, Factor("place", SIZES[1], "category"): factors[:, 1]}
    return {
        "codes": codes,
        "factors": factors,
        "kinds": KINDS,
        "labels": labels,
        "group": background.astype(int),
        "groups": ("target", "background"),
        "blocks": dict.fromkeys(("common", "salient", "private/target", "private/background", "shared"), slice(None)),
    }


def measure(name, codes, factors):
    metric = getattr(unbraid.metrics, name)
    if wants(name) == ["models"]:
        draw = np.random.default_rng(9)
        codes = codes.reshape(len(codes), -1)
        return metric([codes, codes[:, ::-1], codes + 0.1 * draw.standard_normal(codes.shape)])
    known = inspect.signature(metric).parameters
    given = {argument: value for argument, value in offered(codes, factors).items() if argument in known}
    return metric(**given, **QUICK.get(name, {}))


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


def perfect(factors):
    return factors / np.array(SIZES)


def turned(factors):
    """The two factors of equal size, turned into each other by 45 degrees."""
    turn = np.eye(4)
    turn[2:, 2:] = np.array([[1, -1], [1, 1]]) / 2**0.5
    return perfect(factors) @ turn


def noise(rows, columns):
    return np.random.default_rng(3).standard_normal((rows, columns))


def perfect_codes_reach_ceiling(name, codes, factors):
    score = measure(name, factors, factors)
    assert score.value == pytest.approx(1.0 if score.ceiling is None else score.ceiling, abs=0.02)
    assert score.value > measure(name, codes, factors).value + 0.1


def noise_scores_chance(name, codes, factors):
    score = measure(name, noise(*codes.shape), factors)
    assert score.value == pytest.approx(score.chance or 0.0, abs=0.06)


def constant_code_scores_chance(name, codes, factors):
    score = measure(name, np.full(codes.shape, 0.1), factors)
    assert score.value == pytest.approx(score.chance or 0.0, abs=0.03)
    assert any("constant" in warning for warning in score.warnings)


def rotation_lowers(name, codes, factors):
    assert measure(name, turned(factors), factors).value < measure(name, perfect(factors), factors).value - 0.1


def rotation_keeps(name, codes, factors):
    keeps(name, turned(factors), perfect(factors), factors, 0.05)


def duplicates_lower(name, codes, factors):
    twice = np.hstack([perfect(factors), perfect(factors)])
    assert measure(name, twice, factors).value < measure(name, perfect(factors), factors).value - 0.1


def duplicates_keep(name, codes, factors):
    keeps(name, np.hstack([perfect(factors), perfect(factors)]), perfect(factors), factors, 0.03)


def monotone_warp_keeps(name, codes, factors):
    keeps(name, np.exp(1.5 * perfect(factors)), perfect(factors), factors, 0.05)


def relabelled_category_keeps(name, codes, factors):
    relabelled = factors.copy()
    relabelled[:, 0] = np.array([1, 2, 0])[factors[:, 0]]
    assert measure(name, codes, relabelled).value == pytest.approx(measure(name, codes, factors).value, abs=0.02)


def dead_latents_keep(name, codes, factors):
    keeps(name, np.hstack([codes, np.full((len(codes), 2), 0.3)]), codes, factors, 0.02)


def noise_latents_keep(name, codes, factors):
    keeps(name, np.hstack([codes, noise(len(codes), 2)]), codes, factors, 0.05)


def keeps(name, changed, codes, factors, within):
    assert measure(name, changed, factors).value == pytest.approx(measure(name, codes, factors).value, abs=within)


BATTERY = {
    test.__name__: test
    for test in (
        permuted_codes,
        flipped_codes,
        rescaled_codes,
        sample_order,
        perfect_codes_reach_ceiling,
        noise_scores_chance,
        constant_code_scores_chance,
        rotation_lowers,
        rotation_keeps,
        duplicates_lower,
        duplicates_keep,
        monotone_warp_keeps,
        relabelled_category_keeps,
        dead_latents_keep,
        noise_latents_keep,
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


DATA = {"codes", "factors", "test_codes", "test_factors", "variance", "active", "models", "kl", "names"}
DATA |= {"labels", "blocks", "group", "groups"}
SAID_AS = {"sampled": "codes"}


@pytest.mark.parametrize("name", NAMES)
def test_a_score_says_what_made_it(name, codes, factors):
    """The estimator, how many samples, and every option there is."""
    settings = measure(name, codes, factors).settings
    options = set(inspect.signature(getattr(unbraid.metrics, name)).parameters) - DATA
    assert {SAID_AS.get(option, option) for option in options} <= settings.keys()
    assert settings["estimator"]
    assert settings.get("samples") == 2000 or 0 < settings["scored"] <= 2000 >= settings["fitted"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_one_latent_is_no_error(name, codes, factors):
    assert np.isfinite(measure(name, codes[:, 0], factors).value)


@pytest.mark.parametrize("name", SUPERVISED)
def test_mistakes_are_one_line(name, codes, factors):
    metric = getattr(unbraid.metrics, name)
    with pytest.raises(UserError, match="2000 rows but factors 1999"):
        metric(codes, factors[:-1])
    with pytest.raises(UserError, match="3 factor kinds given for 4"):
        metric(codes, factors, kinds=KINDS[:3])
    with pytest.raises(UserError, match="did you mean 'category'"):
        metric(codes, factors, kinds=["categry", *KINDS[1:]])


@pytest.mark.parametrize("name", NAMES)
def test_pitfalls_of_every_score(name, codes, factors):
    """Dead latents, few samples; where there are factors, one that never varies, and two that go together."""
    dead = np.hstack([codes[:400], np.full((400, 1), 0.3)])
    told = " ".join(measure(name, dead, factors[:400]).warnings)
    assert "constant code columns" in told and "samples are few" in told
    if name in SUPERVISED:
        tied = factors.copy()
        tied[:1000, 3] = tied[:1000, 2]
        tied[:, 1] = 4
        told = " ".join(measure(name, codes, tied).warnings)
        assert "factors in column 2 and in column 3 depend on each other" in told and "in column 1 never varies" in told


@pytest.mark.parametrize("name", SUPERVISED)
def test_independent_factors_and_live_codes_have_no_common_pitfall(name, codes, factors):
    told = " ".join(measure(name, codes, factors).warnings)
    assert not any(word in told for word in ("constant code", "are few", "never varies", "depend on each other"))


@pytest.mark.parametrize("name", ["mig", "modularity", "irs", "code_information"])
def test_an_outlier_sets_the_range_of_bins(name, codes, factors):
    codes = codes.copy()
    codes[0, 2] = 1e6
    assert any("code columns [2]" in w and "outliers" in w for w in measure(name, codes, factors).warnings)


@pytest.mark.parametrize("name", ["mig", "modularity"])
def test_bins_coarser_than_a_factor(name, codes, factors):
    score = getattr(unbraid.metrics, name)(codes, factors, bins=6)
    assert [w for w in score.warnings if "coarser" in w] == [
        f"6 bins are coarser than factor in column {j} (8 values): compare with the ceiling" for j in (2, 3)
    ]


@pytest.mark.parametrize("name", ["mcc", "disentanglement_score", "dci_es"])
def test_a_category_scored_as_an_order(name, factors):
    """A latent that tells the classes apart, but not in the order of their numbers."""
    codes = np.column_stack([np.array([0.0, 2.0, 1.0])[factors[:, 0]], factors[:, 1:]])
    told = getattr(unbraid.metrics, name)(codes, factors, kinds=["order"] * 4).warnings
    assert [w for w in told if "is it a category" in w] == [
        "factor in column 0 is scored as an order, but latent 0 tells its values apart in another one: "
        "is it a category, or a cycle?"
    ]
    assert not any("is it a category" in w for w in measure(name, codes, factors).warnings)


@pytest.mark.parametrize("name", SUPERVISED)
def test_factors_may_say_their_kind(name, codes, factors):
    named = [Factor(f"f{i}", n, kind) for i, (n, kind) in enumerate(zip(SIZES, KINDS, strict=True))]
    same(getattr(unbraid.metrics, name)(codes, factors, kinds=named), measure(name, codes, factors))


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_factor_that_never_varies_is_left_out(name, codes, factors):
    still = np.hstack([factors, np.full((len(factors), 1), 2)])
    score = getattr(unbraid.metrics, name)(codes, still, kinds=[*KINDS, "order"])
    assert score.value == pytest.approx(measure(name, codes, factors).value, abs=0.02)
    assert any("never varies" in warning for warning in score.warnings)


def test_bootstrap_finds_the_spread_of_new_samples():
    """Half samples of one draw spread as much as fresh draws do."""

    def mean(codes, factors):
        return Score(float(codes.mean()))

    draw = np.random.default_rng(0)
    codes = draw.standard_normal((400, 1))
    low, high = bootstrap(mean, codes, codes, repeats=400).interval
    assert low < codes.mean() < high
    assert high - low == pytest.approx(2 * 1.96 / 400**0.5, rel=0.15)
    by_name = bootstrap("mig", codes, codes > 0, repeats=5, bins=10)
    assert by_name.settings["bins"] == 10 and by_name.settings["bootstrap"] == 5
    with pytest.raises(UserError, match="at least 2 repeats"):
        bootstrap(mean, codes, codes, repeats=1)


def test_facets_and_parts_are_attributes():
    score = Score(0.5, {"matrix": 3}, facets={"completeness": 0.25})
    assert score.completeness == 0.25 and score.matrix == 3
    with pytest.raises(AttributeError, match="it has completeness, matrix"):
        _ = score.informativeness


def test_a_name_stays_a_function():
    importlib.import_module("unbraid.metrics.mig")
    assert unbraid.metrics.mig is sys.modules["unbraid.metrics.mig"].mig


def test_scoring_does_not_load_torch():
    program = f"import sys, unbraid.metrics as m; [getattr(m, n) for n in {NAMES}]"
    program += "; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
