"""Folds that are shuffled from a seed of their own and kept, beside scikit-learn on them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import SequentialFeatureSelector
from bitsieve.fitness import ShuffledFolds, compile


def test_they_are_stratified_shuffled_and_kept() -> None:
    X, y = load_wine(return_X_y=True)
    one = KNeighborsClassifier(1)
    fitness = compile(one, X, y, cv=ShuffledFolds(4, 2, random_state=3), random_state=9)
    splits = fitness.splits(0)
    assert fitness.splits_text == "shuffled stratified 2 x 4-fold"
    assert not fitness.resample
    assert len(splits) == 8
    for number in range(2):
        tested = np.concatenate([test for _, test in splits[4 * number : 4 * number + 4]])
        assert np.sort(tested).tolist() == list(range(len(y)))
    counts = np.array([np.bincount(y[test]) for _, test in splits])
    assert (np.ptp(counts, axis=0) <= 1).all()
    everything = np.ones((1, X.shape[1]), dtype=bool)
    expected = cross_val_score(one, X, y, cv=splits)
    assert fitness.evaluate_splits(everything)[0].tolist() == pytest.approx(expected.tolist())
    other = compile(one, X, y, cv=ShuffledFolds(4, 2, random_state=4)).splits(0)
    assert any(a.tolist() != b.tolist() for (_, a), (_, b) in zip(splits, other, strict=True))


def test_numbers_and_groups() -> None:
    X, y = load_diabetes(return_X_y=True)
    groups = np.arange(len(y)) // 9
    plain = compile(Ridge(), X, y, cv=ShuffledFolds(5))
    assert plain.splits_text == "shuffled 5-fold"
    grouped = compile(Ridge(), X, y, cv=ShuffledFolds(5), groups=groups)
    assert grouped.splits_text == "shuffled 5-fold of whole groups"
    for train, test in grouped.splits(0):
        assert not set(groups[train]) & set(groups[test])
    assert any(set(groups[train]) & set(groups[test]) for train, test in plain.splits(0))


def test_a_selector_takes_them() -> None:
    X, y = load_wine(return_X_y=True)
    options = {"n_features_to_select": 3, "random_state": 0, "progress": False}
    one = KNeighborsClassifier(1)
    found = SequentialFeatureSelector(one, cv=ShuffledFolds(5, random_state=1), **options).fit(X, y)
    splits = compile(one, X, y, cv=ShuffledFolds(5, random_state=1)).splits(0)
    rival = SequentialFeatureSelector(one, cv=splits, **options).fit(X, y)
    assert found.support_.tolist() == rival.support_.tolist()
    assert found.observed_score_ == pytest.approx(rival.observed_score_)
    assert not np.isnan(found.best_score_)  # measured again, on fresh folds of the same kind


def test_what_is_refused() -> None:
    X, y = load_wine(return_X_y=True)
    one = KNeighborsClassifier(1)
    for options, message in (
        ({"n_folds": 1}, "n_folds must be a whole number from 2 on, got 1"),
        ({"n_repeats": 0}, "n_repeats must be a whole number from 1 on, got 0"),
        ({"random_state": -1}, r"random_state must lie in \[0, 2\*\*64\), got -1"),
    ):
        with pytest.raises(ValueError, match=message):
            ShuffledFolds(**options)
    with pytest.raises(ValueError, match="cv=100 folds are more than any class has members"):
        compile(one, X, y, cv=ShuffledFolds(100))
    with pytest.raises(ValueError, match="n_repeats=2 repeats a number of folds"):
        compile(one, X, y, cv=ShuffledFolds(5), n_repeats=2)
