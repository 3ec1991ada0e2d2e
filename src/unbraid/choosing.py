"""Choosing among runs: by seeds that agree, without labels; by scores, with an eye on what is noise between seeds.

Reads run folders (`results.json`, `codes.npz`) and nothing else. A group is the folder of several seeds of one
configuration.

- `rank_runs`: label-free scores of every run (UDR among the seeds of its group, distance to orthogonality, IMA
  contrast), and how far they order the runs as the scores do that need factors.
- `compare`: mean and spread of a score over seeds, and which differences between groups are noise.
- `leaderboard`: the same for many scores, as rows to print.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbraid.correlation import ranks, unit
from unbraid.errors import unknown
from unbraid.run_scores import direction, is_supervised, scores_by_seed, scores_of, seeds_of, titles
from unbraid.runs import Run
from unbraid.significance import holm, signed_rank_p

Row = dict[str, Any]
LABEL_FREE = ("udr", "distance_to_orthogonality", "ima_contrast")
LEVEL = 0.05  # a difference with a larger p is noise
AGAINST = ("best", "pairs")


@dataclass(frozen=True)
class Ranking:
    """Runs and their scores, and how far scores without labels agree with those that need them.

    Arguments:
        rows: per run its group, seed and scores.
        agreement: per pair of scores Spearman's rho over runs; positive if both prefer the same runs.
        notes: what was missing.
    """

    rows: list[Row]
    agreement: list[Row]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """One score of several groups.

    Arguments:
        score: its name.
        best: whether large or small is better.
        groups: per group mean, standard deviation (ddof 1) and number of seeds, the best first.
        pairs: per pair of groups the mean difference over shared seeds, p, p after Holm, the smallest p that so many
            seeds can give, and the verdict.
    """

    score: str
    best: str
    groups: list[Row]
    pairs: list[Row]


def rank_runs(runs: Sequence[Run]) -> Ranking:
    """Label-free and supervised scores of every run, and their rank agreement over all runs.

    Arguments:
        runs: folders of seeds, all on the same data.
    """
    names, notes = titles(runs), []
    known = sorted({name for run in runs for name in scores_of(run)})
    free = [name for name in LABEL_FREE if name == "udr" or name in known]
    labelled = [name for name in known if is_supervised(name)]
    best = {name: direction(runs, name) for name in (*free, *labelled)}
    rows = []
    for run, title in zip(runs, names, strict=True):
        values = {name: scores_by_seed(run, name) for name in (*free, *labelled)}
        if not values["udr"]:
            notes.append(f"{title}: no UDR, which needs the stored codes of at least two seeds")
        for seed in seeds_of(run):
            rows.append({"group": title, "seed": seed, **{name: values[name].get(seed) for name in values}})
    if len(data := sorted({str(run.config["data"]) for run in runs})) > 1:
        notes.append(f"runs on different data ({', '.join(data)}) are ranked together: the agreement means little")
    agreement = [_agreement(rows, a, b, best) for a in free for b in labelled]
    return Ranking(rows, agreement, tuple(notes))


def compare(groups: Sequence[Run], score: str, against: str = "best") -> Comparison:
    """Which differences of a score between groups are more than noise between seeds.

    Seeds share their batches and noise across groups, so differences are taken seed by seed: Wilcoxon's signed-rank
    test, exact, two-sided, Holm's correction over all pairs. Five seeds cannot reach p = 0.05 (the smallest is 1/16).

    Arguments:
        groups: folders of seeds.
        score: name of a score, or udr.
        against: best (every group against the one with the best mean) or pairs.
    """
    if against not in AGAINST:
        raise unknown("comparison", against, AGAINST)
    names = titles(groups)
    values = dict(zip(names, (scores_by_seed(run, score) for run in groups), strict=True))
    if not any(values.values()):
        known = sorted({name for run in groups for name in scores_of(run)} | {"udr"})
        raise unknown("score of these runs", score, known)
    best = direction(groups, score)
    sign = -1 if best == "low" else 1
    told = [_spread(title, list(found.values())) for title, found in values.items() if found]
    told.sort(key=lambda row: -sign * row["mean"])
    order = [row["group"] for row in told]
    chosen = itertools.combinations(order, 2) if against == "pairs" else ((order[0], other) for other in order[1:])
    pairs = [_pair(values, better, worse) for better, worse in chosen]
    for row, p in zip(pairs, holm([row["p"] for row in pairs]), strict=True):
        row |= {"p_holm": p, "verdict": "noise" if p > LEVEL else "differs"}
    return Comparison(score, best, told, pairs)


def leaderboard(groups: Sequence[Run], scores: Sequence[str] | None = None) -> list[Row]:
    """A row per group, the best by the first score on top: mean and spread of every score.

    "best" marks the best mean of a column, "noise" those that differ from it by no more than noise.

    Arguments:
        groups: folders of seeds.
        scores: names of scores; by default those that need factors, then those that need none.
    """
    names = titles(groups)
    scores = names_of(groups) if scores is None else scores
    rows = {title: {"group": title, "seeds": len(seeds_of(run))} for title, run in zip(names, groups, strict=True)}
    order: list[str] = []
    for score in scores:
        found = compare(groups, score)
        order += [row["group"] for row in found.groups if row["group"] not in order]
        noise = {row["worse"] for row in found.pairs if row["verdict"] == "noise"}
        for place, row in enumerate(found.groups):
            mark = " best" if place == 0 and len(groups) > 1 else " noise" if row["group"] in noise else ""
            spread = f" ± {row['sd']:.3f}" if row["sd"] is not None else ""
            rows[row["group"]][score] = f"{row['mean']:.3f}{spread}{mark}"
    return [{**rows[t], **{s: rows[t].get(s) for s in scores}} for t in dict.fromkeys([*order, *names])]


def names_of(groups: Sequence[Run]) -> list[str]:
    """The scores of these runs: those that need factors, then those that need none."""
    known = {name for run in groups for name in scores_of(run)}
    free = [name for name in LABEL_FREE if any(scores_by_seed(run, name) for run in groups)]
    return [*sorted(name for name in known if is_supervised(name)), *free]


def standings(groups: Sequence[Run]) -> list[Row]:
    """A row per score: the groups in its order, with mean and spread; those no worse than noise are said to be so."""
    rows = []
    for score in names_of(groups):
        found = compare(groups, score)
        noise = {pair["worse"] for pair in found.pairs if pair["verdict"] == "noise"}
        said = []
        for group in found.groups:
            spread = f" ± {group['sd']:.3f}" if group["sd"] is not None else ""
            said.append(f"{group['group']} {group['mean']:.3f}{spread}{' (noise)' * (group['group'] in noise)}")
        rows.append({"score": score, "better": found.best, "order, the best first": " · ".join(said)})
    return rows


def _pair(values: dict[str, dict[int, float]], better: str, worse: str) -> Row:
    shared = sorted(values[better].keys() & values[worse].keys())
    differences = np.array([values[better][seed] - values[worse][seed] for seed in shared])
    return {
        "better": better,
        "worse": worse,
        "difference": float(differences.mean()) if shared else None,
        "seeds": len(shared),
        "p": signed_rank_p(differences),
        "least_p": min(1.0, 2.0 ** (1 - len(shared))),
    }


def _spread(title: str, values: list[float]) -> Row:
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return {"group": title, "mean": float(np.mean(values)), "sd": sd, "seeds": len(values)}


def _agreement(rows: list[Row], free: str, labelled: str, best: dict[str, str]) -> Row:
    """Spearman's rho over the runs that have both scores, signed so that 1 means the same preference."""
    both = np.array([[r[free], r[labelled]] for r in rows if r[free] is not None and r[labelled] is not None])
    rho, p = None, None
    if len(both) > 2 and np.ptp(both, axis=0).all():
        from scipy.stats import spearmanr

        flip = 1 if best[free] == best[labelled] else -1
        aligned = unit(ranks(both))
        rho, p = flip * float(aligned[:, 0] @ aligned[:, 1]), float(spearmanr(both).pvalue)
    return {"without labels": free, "with labels": labelled, "rho": rho, "p": p, "runs": len(both)}
