"""Measures of common and salient codes on codes whose scores are known, and what they refuse."""

import inspect

import numpy as np
import pytest

from unbraid import clustering, metrics, transport
from unbraid.contrast import classes, salient_classes
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.probes import probe

BLOCKS = {"common": slice(0, 2), "salient": slice(2, 4)}
GROUPS = ("background", "cases")
DIGIT, GRASS = Factor("digit", 4, "category"), Factor("grass", 3, "category")


def world(rows=1200, leak=0.0, loud=0.0, shift=0.0, seed=0):
    """Salient codes of targets are four blobs; background is silent. Each option breaks one of the aims."""
    draw = np.random.default_rng(seed)
    targets = np.arange(rows) < rows // 2
    digit, grass = draw.integers(4, size=rows), draw.integers(3, size=rows)
    places = 4 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    common = draw.standard_normal((rows, 2)) + np.stack([grass, 0 * grass], 1)
    common += leak * places[digit] * targets[:, None] + shift * targets[:, None]
    salient = np.where(targets[:, None], places[digit], loud) + 0.3 * draw.standard_normal((rows, 2)) * np.where(targets, 1, 0.01)[:, None]  # fmt: skip
    return {
        "codes": np.hstack([common, salient]),
        "variance": np.full((rows, 4), 0.04),
        "blocks": BLOCKS,
        "group": targets.astype(int),
        "groups": GROUPS,
        "labels": {DIGIT: np.where(targets, digit, np.nan), GRASS: grass.astype(float)},
    }


def score(name, given, **options):
    metric = getattr(metrics, name)
    known = inspect.signature(metric).parameters
    return metric(**{k: v for k, v in given.items() if k in known}, **options)


def test_an_ideal_code():
    given = world()
    found = score("clustering_accuracy", given)
    assert found.value == 1.0 and found.silhouette_of_classes > 0.6 and list(found.per_label) == ["digit"]
    assert score("salient_classification", given).value == 1.0
    assert score("common_w2", given).over_floor == pytest.approx(1, abs=0.1)
    assert score("salient_silence", given).value < 1e-3
    assert score("label_leakage", given).value == pytest.approx(0.25, abs=0.1)
    assert score("label_leakage", given).from_salient == {"digit": 1.0}
    assert score("group_leakage", given).value == pytest.approx(0.5, abs=0.1)
    found = score("background_leakage", given)
    assert found.value == pytest.approx(found.chance, abs=0.12) and found.from_common["grass"] > 0.5


def test_what_is_broken_is_seen():
    assert score("label_leakage", world(leak=1.0)).value > 0.95
    shifted = world(shift=2.0)
    assert score("group_leakage", shifted).value > 0.85
    apart = score("common_w2", shifted)
    assert apart.value > 4 and any("lambda_z" in warning for warning in apart.warnings)
    loud = score("salient_silence", world(loud=5.0))
    assert loud.value > 0.5 and any("lambda_s" in warning for warning in loud.warnings)


def test_clusters_of_common_codes():
    found, leaking = (score("common_clustering", world(leak=leak), samples=300) for leak in (0.0, 1.0))
    assert found.value == pytest.approx(found.chance, abs=0.1) and found.best == "low" and leaking.value > 0.9


# from simulations of their own: classes of equal size, clusters at random
@pytest.mark.parametrize(("kinds", "rows", "expected"), [(10, 2000, 13.1), (10, 10_000, 11.3), (7, 2000, 16.8), (2, 2000, 50.7)])  # fmt: skip
def test_matching_by_chance(kinds, rows, expected):
    draw = np.random.default_rng(1)
    truth, found = draw.integers(kinds, size=(2, rows))
    assert 100 * clustering.matched_chance(found, truth, kinds) == pytest.approx(expected, abs=0.35)


def test_the_best_naming_of_clusters():
    truth = np.repeat([0, 1, 2], 10)
    assert clustering.matched_accuracy((truth + 1) % 3, truth, 3) == 1.0
    assert clustering.matched_accuracy(np.zeros(30, dtype=int), truth, 3) == pytest.approx(1 / 3)


def test_w2_is_that_of_the_batches_and_stands_beside_its_floor():
    """N(0, I) against N(1, I): the squared shift and the floor, 8 + 4.4 in 8 latents; drawn codes have the spread of both."""
    draw = np.random.default_rng(0)
    targets = np.arange(4000) < 2000
    codes = draw.standard_normal((4000, 8)) + targets[:, None]
    given = {"codes": codes, "group": targets.astype(int), "groups": GROUPS, "blocks": {"common": slice(None)}}
    found = metrics.common_w2(**given)
    floor = transport.normal_floor(8, 128).mean()
    assert found.ceiling == pytest.approx(floor, rel=0.03) and found.floor_of_normal == pytest.approx(floor, rel=0.03)
    assert 8 < found.value < 8 + 1.3 * floor
    assert found.settings["batch"] == 128 and found.settings["latents"] == 8
    half = codes * 0.5**0.5
    drawn = metrics.common_w2(**{**given, "codes": half, "variance": np.full(codes.shape, 0.5)})
    assert drawn.ceiling == pytest.approx(floor, rel=0.04)
    assert drawn.floor_of_means == pytest.approx(floor / 2, rel=0.04)
    few = metrics.common_w2(**{**given, "codes": codes[1900:2150], "group": given["group"][1900:2150]})
    assert few.settings["batch"] == 50 and any("batches of 50" in warning for warning in few.warnings)


def test_silence_counts_both_moments():
    given = world(loud=2.0)
    given["variance"][given["group"] == 0] *= 0.5
    found = score("salient_silence", given)
    assert found.value == pytest.approx((2 * 4) / 32.18, rel=0.02)
    assert found.facets["variance"] == pytest.approx(0.5)
    assert found.background_mean_square == pytest.approx(8, rel=0.01)


def test_a_collapsed_salient_code_is_named():
    given = world()
    given["codes"][:, BLOCKS["salient"]] = 0
    for name in ("clustering_accuracy", "salient_silence", "salient_classification", "background_leakage"):
        assert any("collapsed" in warning for warning in score(name, given).warnings), name
    assert score("clustering_accuracy", given).value == pytest.approx(score("clustering_accuracy", given).chance)


def test_labels_of_targets_alone_are_salient():
    given = world()
    wanted = salient_classes(given["labels"], given["group"], given["groups"], 1200)
    assert list(wanted) == ["digit"]
    named = classes(np.array(["cat", "dog", None, "cat"], dtype=object), 4)["label"]
    assert named[[0, 1, 3]].tolist() == [0, 1, 0] and np.isnan(named[2])


def test_a_user_needs_no_groups():
    """An array of codes and their classes is enough where the code is the salient one."""
    given = world()
    targets = given["group"] == 1
    codes, digits = given["codes"][targets, 2:], given["labels"][DIGIT][targets]
    assert metrics.clustering_accuracy(codes, digits, samples=200).value == 1.0
    assert metrics.salient_classification(codes, digits, hidden=16).value > 0.95


def test_a_probe_counts_classes_alike():
    draw = np.random.default_rng(0)
    wanted = (np.arange(3000) < 2700).astype(float)
    found = probe(draw.standard_normal((3000, 2)), wanted, balanced=True)
    assert found.balanced == pytest.approx(0.5, abs=0.08) and found.frequent == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("common_w2", {"blocks": {"code": slice(0, 4)}}, "the code has no block 'common': it has code"),
        ("salient_silence", {"groups": ("controls", "cases")}, "no group is called 'background'"),
        ("group_leakage", {"group": np.ones(1200, dtype=int)}, "0 rows of background are too few"),
        ("group_leakage", {"group": np.ones(3, dtype=int)}, "one number per row"),
        ("label_leakage", {"labels": np.zeros(3)}, "one label per row"),
        (
            "label_leakage",
            {"labels": {Factor("x", 0, "continuous"): np.zeros(1200)}},
            r"no label is a category: .*\(x is continuous: head a column factor:NAME:category\)",
        ),
        ("clustering_accuracy", {"labels": {GRASS: np.zeros(1200)}}, "no label belongs to targets alone"),
        ("background_leakage", {"labels": {DIGIT: world()["labels"][DIGIT]}}, "known of targets and of background"),
    ],
)
def test_mistakes_are_one_line(name, change, words):
    with pytest.raises(UserError, match=words) as error:
        score(name, {**world(), **change})
    assert "\n" not in str(error.value)
