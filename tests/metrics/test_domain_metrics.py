"""Measures of private and shared blocks on codes whose scores are known, and what they refuse."""

import numpy as np
import pytest

from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.metrics import block_attribution, block_deviation

GROUPS = ("one", "two", "three")
BLOCKS = {"private/one": slice(0, 1), "private/two": slice(1, 2), "private/three": slice(2, 4), "shared": slice(4, 6)}
SHIFT, TURN, HUE = Factor("shift", 0, "continuous"), Factor("turn", 0, "continuous"), Factor("hue", 0, "cycle")
KIND, SIZE = Factor("kind", 3, "category"), Factor("size", 4, "order")


def world(rows=3000, leak=0.0, seed=0):
    """A shift of all, the turn of one, the hue of three, the size of one and two; what leaks is two's code in one."""
    draw = np.random.default_rng(seed)
    group = np.arange(rows) % 3
    shift, turn = draw.standard_normal((2, rows))
    hue = draw.uniform(0, 2 * np.pi, rows)
    kind, size = draw.integers(3, size=rows), draw.integers(4, size=rows)
    codes = 0.02 * draw.standard_normal((rows, 6))
    codes[:, 0] += np.where(group == 0, turn, 0)
    codes[:, 1] += np.where(group == 1, draw.standard_normal(rows), np.where(group == 0, leak * turn, 0))
    codes[:, 2:4] += np.where(group == 2, [np.cos(hue), np.sin(hue)], 0).T
    codes[:, 4] += shift
    codes[:, 5] += kind == 1
    labels = {SHIFT: shift, TURN: np.where(group == 0, turn, np.nan), HUE: np.where(group == 2, hue, np.nan),
              KIND: kind.astype(float), SIZE: np.where(group < 2, size, np.nan)}  # fmt: skip
    return codes, labels, group


def test_a_code_that_keeps_to_its_blocks():
    codes, _, group = world()
    found = block_deviation(codes, group, GROUPS, BLOCKS)
    assert found.value == pytest.approx(0.02, abs=0.005) and found.best == "low" and found.ceiling == 0
    assert found.active["one"] == {"private/one": 1, "private/two": 0, "private/three": 0, "shared": 1}
    assert found.active["three"]["private/three"] == 2 and found.deviation.shape == (3, 6)
    assert found.unused == pytest.approx(1 / 6)


def test_what_leaks_is_seen_where_it_leaks():
    codes, labels, group = world(leak=0.7)
    found = block_deviation(codes, group, GROUPS, BLOCKS)
    assert found.value == pytest.approx(0.7, abs=0.05) == found.per_group["one"]
    assert max(found.per_group["two"], found.per_group["three"]) < 0.03
    found = block_attribution(codes, labels, group, GROUPS, BLOCKS)
    assert found.margin["turn"] < 0.05 and found.margin["shift"] > 0.95
    assert found.explained["turn"]["private/two"] > 0.95


def test_each_factor_has_its_block():
    codes, labels, group = world()
    found = block_attribution(codes, labels, group, GROUPS, BLOCKS)
    assert found.home == {"shift": "shared", "turn": "private/one", "hue": "private/three", "kind": "shared"}
    for name, block in found.home.items():
        others = [r for other, r in found.explained[name].items() if other != block]
        assert max(others) < 0.05
        # the shared code tells one of three kinds from the others: half of the variance of the indicators
        assert found.explained[name][block] == pytest.approx(0.5 if name == "kind" else 1, abs=0.05)
    assert found.value == pytest.approx(np.mean([1, 1, 1, 0.5]), abs=0.05)
    assert set(found.explained["size"]) == set(BLOCKS), "told, though it belongs nowhere"


def test_a_factor_in_another_block_scores_below_zero():
    codes, labels, group = world()
    turned = {**BLOCKS, "shared": BLOCKS["private/one"], "private/one": BLOCKS["shared"]}
    assert block_attribution(codes, labels, group, GROUPS, turned).margin["turn"] < -0.9


def test_blocks_without_latents_are_left_out():
    codes, labels, group = world()
    none = {**BLOCKS, "private/two": slice(1, 1), "shared": slice(4, 4)}
    assert block_deviation(codes, group, GROUPS, none).value < 0.03
    assert block_attribution(codes, labels, group, GROUPS, none).home == {"turn": "private/one", "hue": "private/three"}


def test_mistakes_are_one_line():
    codes, labels, group = world(60)
    for metric in (lambda **k: block_deviation(codes, **k), lambda **k: block_attribution(codes, labels, **k)):
        with pytest.raises(UserError, match="no block private/one, or of another group: it has common, salient"):
            metric(group=group, groups=GROUPS, blocks={"common": slice(0, 3), "salient": slice(3, 6)})
        with pytest.raises(UserError, match="group has shape"):
            metric(group=group[:-1], groups=GROUPS, blocks=BLOCKS)
        with pytest.raises(UserError, match="0 rows of four are too few"):
            metric(group=group, groups=(*GROUPS, "four"), blocks=BLOCKS)
    with pytest.raises(UserError, match="no factor belongs to a block"):
        block_attribution(codes, {SIZE: labels[SIZE]}, group, GROUPS, BLOCKS)
