"""Scores computed the way disentanglement_lib computes them, from the description of its procedure: a loop at a time.

Codes are at hand, so what its own functions spend on rendering and encoding is not counted.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score
from sklearn.svm import LinearSVC

BATCH, TRAIN_VOTES, TEST_VOTES = 64, 10_000, 5_000


def binned(codes: np.ndarray, bins: int = 20) -> np.ndarray:
    found = np.zeros_like(codes)
    for j in range(codes.shape[1]):
        found[:, j] = np.digitize(codes[:, j], np.histogram(codes[:, j], bins)[1][:-1])
    return found


def information(codes: np.ndarray, factors: np.ndarray) -> np.ndarray:
    cut = binned(codes)
    found = np.zeros((codes.shape[1], factors.shape[1]))
    for i in range(codes.shape[1]):
        for j in range(factors.shape[1]):
            found[i, j] = mutual_info_score(factors[:, j], cut[:, i])
    return found


def mig(codes: np.ndarray, factors: np.ndarray) -> float:
    shared = information(codes, factors)
    entropies = np.array([mutual_info_score(column, column) for column in factors.T])
    ordered = np.sort(shared, axis=0)[::-1]
    return float(np.mean((ordered[0] - ordered[1]) / entropies))


def modularity(codes: np.ndarray, factors: np.ndarray) -> float:
    squared = information(codes, factors) ** 2
    best = squared.max(axis=1)
    rest = squared.sum(axis=1) - best
    return float(np.mean(np.where(best == 0, 0.0, 1 - rest / (np.maximum(best, 1e-30) * (factors.shape[1] - 1)))))


def sap(codes: np.ndarray, factors: np.ndarray, test_codes: np.ndarray, test_factors: np.ndarray) -> float:
    scores = np.zeros((codes.shape[1], factors.shape[1]))
    for i in range(codes.shape[1]):
        for j in range(factors.shape[1]):
            machine = LinearSVC(C=0.01, class_weight="balanced")
            machine.fit(codes[:, i, None], factors[:, j])
            scores[i, j] = np.mean(machine.predict(test_codes[:, i, None]) == test_factors[:, j])
    ordered = np.sort(scores, axis=0)
    return float(np.mean(ordered[-1] - ordered[-2]))


def dci(codes: np.ndarray, factors: np.ndarray, test_codes: np.ndarray, test_factors: np.ndarray) -> float:
    np.random.seed(0)  # noqa: NPY002  scikit-learn's own default generator
    importance = np.zeros((codes.shape[1], factors.shape[1]))
    for j in range(factors.shape[1]):
        model = GradientBoostingClassifier()
        model.fit(codes, factors[:, j])
        importance[:, j] = np.abs(model.feature_importances_)
        model.score(codes, factors[:, j])
        model.score(test_codes, test_factors[:, j])
    shares = importance / importance.sum(axis=1, keepdims=True) + 1e-11
    each = 1 + (shares * np.log(shares)).sum(axis=1) / np.log(factors.shape[1])
    return float((each * importance.sum(axis=1) / importance.sum()).sum())


def rows_by_value(factors: np.ndarray) -> list[dict[int, np.ndarray]]:
    return [{value: np.flatnonzero(column == value) for value in np.unique(column)} for column in factors.T]


def factor_vae_score(codes: np.ndarray, factors: np.ndarray) -> float:
    draw, rows = np.random.RandomState(0), rows_by_value(factors)
    variances = np.var(codes, axis=0, ddof=1)
    active = np.sqrt(variances) >= 0.05
    tables = []
    for votes in (TRAIN_VOTES, TEST_VOTES):
        table = np.zeros((factors.shape[1], codes.shape[1]), dtype=np.int64)
        for _ in range(votes):
            j = draw.randint(factors.shape[1])
            group = list(rows[j].values())[draw.randint(len(rows[j]))]
            some = codes[group[draw.randint(len(group), size=BATCH)]]
            local = np.var(some, axis=0, ddof=1)
            table[j, np.argmin(local[active] / variances[active])] += 1
        tables.append(table)
    winner = np.argmax(tables[0], axis=0)
    return float(tables[1][winner, np.arange(codes.shape[1])].sum() / TEST_VOTES)


def beta_vae_score(codes: np.ndarray, factors: np.ndarray) -> float:
    draw, rows = np.random.RandomState(0), rows_by_value(factors)
    features, labels = [], []
    for _ in range(TRAIN_VOTES + TEST_VOTES):
        j = draw.randint(factors.shape[1])
        first = draw.randint(len(factors), size=BATCH)
        groups = [rows[j][value] for value in factors[first, j]]
        second = np.array([group[draw.randint(len(group))] for group in groups])
        features.append(np.mean(np.abs(codes[first] - codes[second]), axis=0))
        labels.append(j)
    model = LogisticRegression()
    model.fit(np.array(features[:TRAIN_VOTES]), labels[:TRAIN_VOTES])
    return float(model.score(np.array(features[TRAIN_VOTES:]), labels[TRAIN_VOTES:]))
