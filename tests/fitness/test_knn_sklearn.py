"""The contract: what ``cross_val_score`` gives on the same splits.

Run with ``-s`` to see a line a data set with the number of mismatches.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
import pytest
from each import each
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier

from bitsieve.fitness import compile

REAL = ["sonar", "ionosphere", "tox_171", "warpAR10P", "khan", "vehicle"]


@functools.cache
def _jitter(name: str, shape: tuple[int, int]) -> np.ndarray:
    return np.random.default_rng([*name.encode()]).normal(size=shape)


def _of_all_sizes(rng: np.random.Generator, n_masks: int, p: int) -> np.ndarray:
    masks = np.zeros((n_masks, p), dtype=bool)
    for mask, size in zip(masks, rng.integers(1, p + 1, n_masks), strict=True):
        mask[rng.choice(p, size, replace=False)] = True
    return masks


@pytest.mark.slow
@pytest.mark.usefixtures("one_blas_thread")
@pytest.mark.parametrize("name", REAL)
@each("k", [1, 3, 5])
def test_real_data(dataset: Any, name: str, k: int) -> None:
    _compare(dataset, name, k, 200)


@pytest.mark.usefixtures("one_blas_thread")
def test_some_masks_of_real_data(dataset: Any) -> None:
    _compare(dataset, "sonar", 1, 20)
    _compare(dataset, "khan", 3, 20)


def _compare(dataset: Any, name: str, k: int, n_masks: int) -> None:
    X, y, _ = dataset(name)
    X = X.astype(np.float64)
    # Tied distances are broken alike on both sides: scikit-learn's own choice depends on its
    # algorithm.
    X = X + 1e-6 * X.std() * _jitter(name, X.shape)
    masks = _of_all_sizes(np.random.default_rng(k), n_masks, X.shape[1])
    estimator = KNeighborsClassifier(k)
    cv = StratifiedKFold(5, shuffle=True, random_state=k)
    got = compile(estimator, X, y, cv=cv).evaluate_splits(masks)
    folds = list(cv.split(X, y))
    expected = np.array([cross_val_score(estimator, X[:, mask], y, cv=folds) for mask in masks])
    mismatches = int((got != expected).any(axis=1).sum())
    print(f"\n{name}, {X.shape[0]} x {X.shape[1]}, k = {k}: {mismatches} of {n_masks} masks differ")
    assert mismatches == 0


RNG = np.random.default_rng(7)
N, P = 61, 12
X = RNG.normal(size=(N, P))
BINARY = (X[:, 0] + X[:, 1] + RNG.normal(size=N) > 0.4).astype(int)
MULTI = np.digitize(X[:, 0] + 0.5 * RNG.normal(size=N), [-0.8, 0.0, 0.8])
GROUPS = RNG.integers(0, 9, N)
MASKS = np.concatenate([np.zeros((1, P), bool), np.ones((1, P), bool), _of_all_sizes(RNG, 7, P)])


def _expected(estimator, y, masks=MASKS, **options) -> np.ndarray:
    rows = []
    for mask in masks:
        used = estimator if mask.any() else DummyClassifier(strategy="prior")
        view = X[:, mask] if mask.any() else X
        rows.append(cross_val_score(used, view, y, error_score="raise", **options))
    return np.array(rows)


@pytest.mark.usefixtures("one_blas_thread")
@pytest.mark.parametrize("k", [1, 2, 5])
@each(
    ("scoring", "y"),
    [
        ("accuracy", BINARY),
        ("balanced_accuracy", BINARY),
        ("balanced_accuracy", MULTI),
        ("roc_auc", BINARY),
        ("roc_auc_ovr", MULTI),
        ("neg_log_loss", BINARY),
        ("neg_log_loss", MULTI),
        ("f1_macro", MULTI),
        ("matthews_corrcoef", BINARY),
        ("neg_brier_score", BINARY),
        (None, MULTI),
    ],
)
def test_scorers(scoring: Any, y: np.ndarray, k: int) -> None:
    estimator = KNeighborsClassifier(k)
    fitness = compile(estimator, X, y, scoring=scoring, cv=4)
    assert fitness.kernel == "knn"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scorers, about an empty mask's constant answer
        expected = _expected(estimator, y, scoring=scoring, cv=4)
        np.testing.assert_allclose(fitness.evaluate_splits(MASKS), expected, rtol=1e-12)
    np.testing.assert_allclose(fitness.evaluate(MASKS), expected.mean(axis=1), rtol=1e-12)


def _first_letters(estimator, X, y) -> float:
    return float(np.mean([p[0] == t[0] for p, t in zip(estimator.predict(X), y, strict=True)]))


@pytest.mark.usefixtures("one_blas_thread")
def test_callable_scorer_sees_the_labels() -> None:
    y = np.array(["ant", "ape", "bee", "cow"])[MULTI]
    # In this process: a worker of another could not import this module.
    fitness = compile(KNeighborsClassifier(3), X, y, scoring=_first_letters, cv=3, n_jobs=1)
    expected = _expected(KNeighborsClassifier(3), y, scoring=_first_letters, cv=3)
    np.testing.assert_allclose(fitness.evaluate_splits(MASKS), expected, rtol=1e-12)


PAIRS = [(np.arange(20, 61), np.arange(20)), (np.arange(40)[::-1], np.array([50, 45, 60]))]


@pytest.mark.usefixtures("one_blas_thread")
@pytest.mark.parametrize("k", [1, 3])
@each(
    ("cv", "groups"),
    [
        (None, None),
        (7, None),
        (KFold(4), None),
        (StratifiedKFold(3, shuffle=True, random_state=1), None),
        (RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=2), None),
        (RepeatedStratifiedKFold(n_splits=2, n_repeats=40, random_state=2), None),
        (GroupKFold(3), GROUPS),
        (StratifiedGroupKFold(2), GROUPS),
        (LeaveOneOut(), None),
        (ShuffleSplit(6, test_size=0.3, train_size=0.4, random_state=3), None),
        (PredefinedSplit(np.arange(61) % 4 - 1), None),
        (TimeSeriesSplit(4), None),
        (PAIRS, None),
    ],
)
def test_splitters(cv: Any, groups: Any, k: int) -> None:
    estimator = KNeighborsClassifier(k)
    masks = MASKS[::4]  # the empty mask is among them
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitness = compile(estimator, X, MULTI, cv=cv, groups=groups)
        expected = _expected(estimator, MULTI, masks, cv=cv, groups=groups)
    assert fitness.kernel == "knn"
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)
    assert len(fitness.splits()) == fitness.n_splits == expected.shape[1]


@pytest.mark.usefixtures("one_blas_thread")
@each("scoring", ["accuracy", "balanced_accuracy", "f1_macro"])
def test_a_training_set_without_a_class(scoring: str) -> None:
    known = np.flatnonzero(MULTI != 0)
    cv = [(known[::2], np.setdiff1d(np.arange(N), known[::2])), (known[:30], known[30:])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitness = compile(KNeighborsClassifier(3), X, MULTI, scoring=scoring, cv=cv)
        expected = _expected(KNeighborsClassifier(3), MULTI, scoring=scoring, cv=cv)
        np.testing.assert_allclose(fitness.evaluate_splits(MASKS), expected, rtol=1e-12)


@each(
    "names",
    [np.array(["d", "c", "a", "b"]), np.array([7, -3, 100, 0]), np.array([0.0, 3.0, 2.0, -1.0])],
)
def test_any_labels(names: np.ndarray) -> None:
    y = names[MULTI]
    fitness = compile(KNeighborsClassifier(4), X, y, cv=5)
    np.testing.assert_array_equal(
        fitness.evaluate_splits(MASKS), _expected(KNeighborsClassifier(4), y, cv=5)
    )


@each("y", [BINARY.astype(bool), np.array(["-", "+"], object)[BINARY]])
def test_two_classes(y: np.ndarray) -> None:
    fitness = compile(KNeighborsClassifier(2), X, y, cv=5)
    np.testing.assert_array_equal(
        fitness.evaluate_splits(MASKS), _expected(KNeighborsClassifier(2), y, cv=5)
    )
