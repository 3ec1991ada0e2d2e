"""Choosing among fabricated run folders: agreement of seeds, rank agreement, and what is noise."""

import itertools
import json

import numpy as np
import pytest
import yaml
from scipy import stats

from unbraid.choosing import compare, leaderboard, rank_runs
from unbraid.errors import UserError
from unbraid.metrics import udr
from unbraid.run_scores import is_supervised, scores_by_seed, titles
from unbraid.runs import IDENTITY, Run
from unbraid.significance import holm, signed_rank_p

CAUSES = np.random.default_rng(0).normal(size=(1500, 3))
OUTSIDE = {"mig": "high", "distance_to_orthogonality": "low", "ima_contrast": "low", "novel_score": "high"}


def fake_group(out, name, scores, *, mix=None, rows=None, **config):
    """A folder of seeds with given scores (name: value per seed), and codes mixed by as much per seed."""
    count = len(next(iter(scores.values())))
    for seed in range(count):
        folder = out / name / f"seed-{seed}"
        folder.mkdir(parents=True)
        told = {
            **dict.fromkeys(IDENTITY),
            "method": "beta_vae",
            "data": "sprites",
            "net": "conv",
            "options": {},
            "steps": 10,
            **config,
        }
        (folder / "config.yaml").write_text(yaml.safe_dump({**told, "seed": seed}))
        found = {
            score: {"value": values[seed], "best": OUTSIDE[score], "ceiling": None, "chance": None}
            for score, values in scores.items()
        }
        (folder / "results.json").write_text(json.dumps({"scores": found, "notes": []}))
        if mix is not None:
            rng = np.random.default_rng(seed + 5)
            mean = CAUSES @ (np.eye(3) + mix[seed] * rng.normal(size=(3, 3)))
            mean = np.hstack([mean / mean.std(axis=0), 0.01 * rng.normal(size=(1500, 1))])
            variance = np.tile([0.05, 0.05, 0.05, 0.999], (1500, 1))
            held = np.arange(1500) if rows is None else rows[seed]
            np.savez(folder / "codes.npz", mean=mean.astype("float32"), variance=variance, rows=held)
    return Run(out / name)


SEEDS = 8


@pytest.fixture
def groups(tmp_path):
    """Three betas of which the first two differ by noise, the third is worse for every seed."""
    rng = np.random.default_rng(3)
    base = 0.5 + 0.05 * rng.normal(size=SEEDS)
    return [
        fake_group(
            tmp_path,
            f"g{beta}",
            {
                "mig": (base + shift).tolist(),
                "distance_to_orthogonality": (0.6 - base - shift).tolist(),
                "ima_contrast": rng.normal(size=SEEDS).tolist(),
                "novel_score": base.tolist(),
            },
            mix=mix,
            options={"beta": beta, "latents": 4},
        )
        for beta, shift, mix in (
            (1, np.zeros(SEEDS), np.full(SEEDS, 0.1)),
            (4, 0.01 * np.array([1, -1.5, 2, -2.5, 3, -3.5, 4.9, -3.2]), np.full(SEEDS, 0.1)),
            (8, np.full(SEEDS, -0.2) + 0.01 * rng.normal(size=SEEDS), np.linspace(0.5, 1.5, SEEDS)),
        )
    ]


def test_titles_say_what_differs(tmp_path, groups):
    assert titles(groups) == ["beta_vae beta=1", "beta_vae beta=4", "beta_vae beta=8"]
    plain = fake_group(tmp_path, "ae", {"mig": [0.1]}, method="autoencoder", options={"latents": 4})
    assert titles([groups[0], plain]) == ["beta_vae beta=1", "autoencoder"]
    longer = fake_group(tmp_path, "long", {"mig": [0.1]}, options={"beta": 1, "latents": 4}, steps=20)
    assert titles([groups[0], longer]) == ["beta_vae steps=10", "beta_vae steps=20"]
    usual = fake_group(tmp_path, "usual", {"mig": [0.1]}, options={"beta": 4.0, "latents": 4})
    assert titles([usual, plain]) == ["beta_vae", "autoencoder"], "left at its default"
    assert titles([usual, plain, groups[0]]) == ["beta_vae beta=4.0", "autoencoder", "beta_vae beta=1"]
    own = fake_group(tmp_path, "own", {"mig": [0.1]}, method="/moved/away.py", options={"beta": 4.0, "latents": 4})
    assert titles([own, plain]) == ["/moved/away.py beta=4.0", "autoencoder"]
    with pytest.raises(UserError, match="given twice"):
        titles([groups[0], groups[0]])
    with pytest.raises(UserError, match="no runs given"):
        titles([])


def test_udr_of_a_group_is_that_of_its_codes(groups):
    found = scores_by_seed(groups[2], "udr")
    codes = [np.load(member.path / "codes.npz")["mean"] for member in groups[2].members]
    kl = [0.5 * (c.astype(float) ** 2).mean(0) + np.array([1.02] * 3 + [0.0]) for c in codes]
    np.testing.assert_allclose(list(found.values()), udr(codes, kl=kl).per_model, atol=1e-12)
    assert list(found) == list(range(SEEDS))
    assert np.mean(list(found.values())) < np.mean(list(scores_by_seed(groups[0], "udr").values())) - 0.1


def test_seeds_must_be_encoded_on_the_same_rows(tmp_path):
    rows = [np.arange(1500), np.arange(1500) + 1]
    run = fake_group(tmp_path, "g", {"mig": [0.1, 0.2]}, mix=[0.1, 0.1], rows=rows)
    with pytest.raises(UserError, match="other samples than seed 0: evaluate all seeds alike"):
        scores_by_seed(run, "udr")


def test_only_registered_scores_of_factors_are_supervised():
    assert is_supervised("mig") and is_supervised("disentanglement_score") and is_supervised("mcc")
    assert not any(map(is_supervised, ("udr", "distance_to_orthogonality", "ima_contrast", "novel_score")))


def test_rank_agreement_over_all_runs(groups):
    ranking = rank_runs(groups)
    assert len(ranking.rows) == 3 * SEEDS and not ranking.notes
    row = ranking.rows[SEEDS + 2]
    assert (row["group"], row["seed"]) == ("beta_vae beta=4", 2)
    assert row["mig"] == groups[1].members[2].results["scores"]["mig"]["value"]
    assert set(row) == {"group", "seed", "udr", "mig", "distance_to_orthogonality", "ima_contrast"}
    told = {a["without labels"]: a for a in ranking.agreement}
    assert set(told) == {"udr", "distance_to_orthogonality", "ima_contrast"}
    assert all(a["with labels"] == "mig" and a["runs"] == 3 * SEEDS for a in ranking.agreement)
    # DtO was made the mirror image of MIG, and small is good
    assert told["distance_to_orthogonality"]["rho"] == pytest.approx(1)
    for name, sign in (("udr", 1), ("ima_contrast", -1)):
        expected = stats.spearmanr([r[name] for r in ranking.rows], [r["mig"] for r in ranking.rows])
        assert told[name]["rho"] == pytest.approx(sign * expected.statistic, abs=1e-12)
        assert told[name]["p"] == pytest.approx(expected.pvalue)
    assert told["udr"]["rho"] > 0.4


def test_what_is_missing_is_said(tmp_path):
    one = fake_group(tmp_path, "one", {"mig": [0.3]}, mix=[0.1])
    other = fake_group(tmp_path, "other", {"mig": [0.3, None]}, data="dsprites")
    (other.members[1].path / "results.json").unlink()
    ranking = rank_runs([one, other])
    assert sum("no UDR" in note for note in ranking.notes) == 2
    assert any("different data (dsprites, sprites)" in note for note in ranking.notes)
    assert [row["mig"] for row in ranking.rows] == [0.3, 0.3, None]
    assert ranking.agreement == [{"without labels": "udr", "with labels": "mig", "rho": None, "p": None, "runs": 0}]
    assert not (other.members[1].path / "results.json").exists()  # reading does not evaluate


def test_differences_are_noise_or_not(groups):
    found = compare(groups, "mig")
    assert [row["group"] for row in found.groups] == ["beta_vae beta=4", "beta_vae beta=1", "beta_vae beta=8"]
    near, far = found.pairs
    values = [list(scores_by_seed(g, "mig").values()) for g in groups]
    assert near["p"] == pytest.approx(stats.wilcoxon(values[1], values[0], method="exact").pvalue)
    assert near["verdict"] == "noise" and near["p_holm"] == near["p"]
    assert far["p"] == 2 / 2**SEEDS == far["least_p"]
    assert far["p_holm"] == 2 * far["p"] and far["verdict"] == "differs"
    assert far["difference"] == pytest.approx(np.mean(values[1]) - np.mean(values[2]))
    assert found.groups[0]["sd"] == pytest.approx(np.std(values[1], ddof=1))
    pairs = compare(groups, "mig", "pairs").pairs
    assert [(r["better"][-1], r["worse"][-1]) for r in pairs] == [("4", "1"), ("4", "8"), ("1", "8")]
    assert pairs[1]["p_holm"] == 3 * far["p"]


def test_small_is_better_where_the_results_say_so(groups):
    found = compare(groups, "distance_to_orthogonality")
    assert found.best == "low" and found.groups[-1]["group"] == "beta_vae beta=8"
    assert found.groups[0]["mean"] < found.groups[-1]["mean"]


def test_five_seeds_cannot_differ(tmp_path):
    a = fake_group(tmp_path, "a", {"mig": [0.9, 0.91, 0.92, 0.93, 0.95]}, method="vae")
    b = fake_group(tmp_path, "b", {"mig": [0.1, 0.1, 0.1, 0.1, 0.1]})
    (row,) = compare([a, b], "mig").pairs
    assert row["p"] == row["least_p"] == 1 / 16 and row["verdict"] == "noise"


def test_only_shared_seeds_are_paired(tmp_path):
    a = fake_group(tmp_path, "a", {"mig": [0.9] * 8}, method="vae")
    b = fake_group(tmp_path, "b", {"mig": [0.1] * 5 + [None] * 3})
    found = compare([a, b], "mig")
    assert found.pairs[0]["seeds"] == 5 and [row["seeds"] for row in found.groups] == [8, 5]


def test_the_leaderboard(groups):
    rows = leaderboard(groups)
    assert [row["group"] for row in rows] == ["beta_vae beta=4", "beta_vae beta=1", "beta_vae beta=8"]
    assert list(rows[0]) == ["group", "seeds", "mig", "udr", "distance_to_orthogonality", "ima_contrast"]
    assert rows[0]["mig"].endswith(" best") and rows[1]["mig"].endswith(" noise") and rows[2]["mig"][-1].isdigit()
    mean, _, sd = rows[2]["mig"].split()
    values = list(scores_by_seed(groups[2], "mig").values())
    assert float(mean) == pytest.approx(np.mean(values), abs=6e-4)
    assert float(sd) == pytest.approx(np.std(values, ddof=1), abs=6e-4)
    chosen = leaderboard(groups, ["novel_score"])
    assert list(chosen[0]) == ["group", "seeds", "novel_score"]
    assert all(row["novel_score"].split()[-1] in ("best", "noise") for row in chosen)
    with pytest.raises(UserError, match="did you mean 'mig'"):
        leaderboard(groups, ["mgi"])
    with pytest.raises(UserError, match="did you mean 'pairs'"):
        compare(groups, "mig", "pair")


def test_one_group_is_no_contest(tmp_path):
    run = fake_group(tmp_path, "a", {"mig": [0.5]})
    assert leaderboard([run]) == [{"group": "beta_vae", "seeds": 1, "mig": "0.500"}]
    assert leaderboard([Run(run.members[0].path)])[0]["mig"] == "0.500"


@pytest.mark.parametrize("count", [1, 2, 5, 9, 20])
def test_signed_ranks_are_those_of_scipy(count):
    differences = np.random.default_rng(count).normal(0.4, 1, size=count)
    assert signed_rank_p(differences) == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)


def test_signed_ranks_with_ties_and_zeros_by_all_signs():
    differences = np.array([0.0, 1, 1, -1, 2, 2, -3])
    moved = differences[differences != 0]
    ranked = stats.rankdata(np.abs(moved))
    seen = ranked[moved > 0].sum()
    all_sums = np.array([np.dot(ranked, signs) for signs in itertools.product([0, 1], repeat=len(moved))])
    expected = 2 * min((all_sums <= seen).mean(), (all_sums >= seen).mean())
    assert signed_rank_p(differences) == pytest.approx(expected)
    assert signed_rank_p([0.0, 0.0]) == signed_rank_p([]) == 1.0
    # 0.1 + 0.2 - 0.3 is no difference, and 0.3 - 0.2 is as large as 0.1
    assert signed_rank_p([0.1 + 0.2 - 0.3, 0.1, 0.2 - 0.3, 0.7]) == signed_rank_p([1, -1, 7])


def test_holm():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.5]) == [1.0, 1.0] and holm([]) == []
