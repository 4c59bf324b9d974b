"""The interval by nested cross-validation, beside the algorithm of the paper written out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from toy_panels import PanelSelector

from bitsieve.evaluation import nested_cross_validate
from bitsieve.evaluation.interval import binomial_interval
from bitsieve.evaluation.pairs import nested_interval


def _cancer(n: int = 100) -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X[:n, :8] - X[:n, :8].mean(axis=0)) / X[:n, :8].std(axis=0)
    return X + 2 * np.random.default_rng(0).normal(size=X.shape), y[:n]


def twin(model: Any, X: Any, y: Any, rounds: list[list[Any]], weights: Any, level: float) -> Any:
    """Bates, Hastie and Tibshirani (2024), algorithm 1, with the bias of section 4.3."""
    a_list, b_list, es, cv = [], [], [], []
    for folds in rounds:
        k = len(folds)
        for f, test in enumerate(folds):
            train = np.setdiff1d(np.arange(len(y)), test)
            said = clone(model).fit(X[train], y[train]).predict(X[test])
            e_out = (said != y[test]) * weights[y[test]]
            cv.extend(e_out)
            e_in: list[float] = []
            for j, inner in enumerate(folds):
                if j == f:
                    continue
                rest = np.setdiff1d(train, inner)
                said = clone(model).fit(X[rest], y[rest]).predict(X[inner])
                e_in.extend((said != y[inner]) * weights[y[inner]])
            a_list.append((np.mean(e_in) - np.mean(e_out)) ** 2)
            b_list.append(np.var(e_out, ddof=1) / len(e_out))
            es.extend(e_in)
    mse = np.mean(a_list) - np.mean(b_list)
    error = np.mean(es)
    bias = (1 + ((k - 2) / k) ** 1.5) * (error - np.mean(cv))
    alone = np.std(es, ddof=1) / np.sqrt(len(y))
    root = np.sqrt((k - 1) / k * max(mse, 0.0))
    root = min(max(root, alone), np.sqrt(k) * alone)
    z = stats.norm.ppf(0.5 + level / 2)
    return error - bias - z * root, error - bias + z * root


@each("scoring, level", [("accuracy", 0.95), ("balanced_accuracy", 0.9)])
def test_the_interval_is_that_of_the_paper_joined_to_the_floor(scoring: str, level: float) -> None:
    X, y = _cancer()
    model = make_pipeline(SelectKBest(k=2), GaussianNB())
    found = nested_cross_validate(
        SelectKBest(k=2), GaussianNB(), X, y, n_repeats=3, random_state=0, scoring=scoring,
        level=level, interval="nested",
    )  # fmt: skip
    rounds = [[test for _, test in found.folds[5 * r : 5 * r + 5]] for r in range(3)]
    counts = np.bincount(y)
    weights = np.ones(2) if scoring == "accuracy" else 100 / (2 * counts)
    low, high = twin(model, X, y, rounds, weights, level)
    measured = found.performance()
    # The floor: exact, from the mean number of right answers of the samples.
    kept = found.predictions
    right = np.bincount(kept.sample, kept.predicted == kept.truth) / 3
    if scoring == "accuracy":
        floor = binomial_interval(right.sum(), 100, level=level)
    else:
        ends = [binomial_interval(right[y == c].sum(), counts[c], level=level) for c in (0, 1)]
        values = [right[y == c].mean() for c in (0, 1)]
        below = np.hypot(*[v - e.low for v, e in zip(values, ends, strict=True)]) / 2
        above = np.hypot(*[e.high - v for v, e in zip(values, ends, strict=True)]) / 2
        floor = type(found.interval)(np.mean(values) - below, np.mean(values) + above)
    assert found.interval == pytest.approx((min(1 - high, floor.low), max(1 - low, floor.high)))
    assert measured.accuracy.value in measured.accuracy.interval
    corrected = nested_cross_validate(
        SelectKBest(k=2), GaussianNB(), X, y, n_repeats=3, random_state=0, scoring=scoring,
        level=level,
    )  # fmt: skip
    np.testing.assert_array_equal(corrected.scores, found.scores)
    assert corrected.interval != found.interval


def test_the_inflation_is_kept_between_one_and_the_root_of_the_folds() -> None:
    rounds = np.zeros(4, np.int64)
    even = np.tile([0.0, 1.0], 10)
    inner = {(f, j): even for f in range(4) for j in range(4) if f != j}
    estimate, (low, high) = nested_interval([even] * 4, inner, rounds)
    error = np.std(np.tile(even, 12), ddof=1) / np.sqrt(80)
    assert estimate == 0.5
    assert high - low == pytest.approx(2 * stats.norm.ppf(0.975) * error)
    ones, zeros = np.ones(20), np.zeros(20)
    apart = [ones, zeros, ones, zeros]
    inner = {(f, j): even for f in range(4) for j in range(4) if f != j}
    _, (low, high) = nested_interval(apart, inner, rounds)
    assert high - low == pytest.approx(2 * stats.norm.ppf(0.975) * error * 2)


def test_pairs_are_stored_and_selectors_that_predict_are_taken(tmp_path: Path) -> None:
    X, y = _cancer()
    options: Any = {"n_repeats": 2, "random_state": 1, "interval": "nested"}
    plain = nested_cross_validate(PanelSelector(2, jitter=3.0), None, X, y, **options)
    options["checkpoint"] = tmp_path
    nested_cross_validate(PanelSelector(2, jitter=3.0), None, X, y, **options)
    assert len(list(tmp_path.iterdir())) == 2 * (5 + 10)
    again = nested_cross_validate(PanelSelector(2, jitter=3.0), None, X, y, **options)
    assert again.interval == plain.interval
    assert list(again.alternatives) == list(plain.alternatives)


def test_what_nested_intervals_are_not_for_is_refused() -> None:
    X, y = _cancer()
    arguments: Any = (PanelSelector(), None, X, y)
    with pytest.raises(ValueError, match=r"interval='nested' is for means of losses .* 'roc_auc'"):
        nested_cross_validate(*arguments, scoring="roc_auc", interval="nested")
    splits = ShuffleSplit(5, random_state=0)
    with pytest.raises(ValueError, match="needs outer folds in rounds"):
        nested_cross_validate(*arguments, cv=splits, interval="nested")
    with pytest.raises(ValueError, match=r"needs outer folds in rounds .* from 3 on"):
        nested_cross_validate(*arguments, cv=2, interval="nested")
    with pytest.raises(ValueError, match=r"interval must be 'corrected' or 'nested', got 'bayes'"):
        nested_cross_validate(*arguments, interval="bayes")
