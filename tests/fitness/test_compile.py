"""Which fitness serves what, and every way to be refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from each import each
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

import bitsieve.fitness
from bitsieve import Masks
from bitsieve.data import Table
from bitsieve.fitness import KnnFitness, compile

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 6))
Y = np.arange(40) % 2
KNN = KNeighborsClassifier(1)
ALL = np.ones((1, 6), dtype=bool)


def test_a_subclass_has_no_kernel() -> None:
    class Mine(KNeighborsClassifier):
        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    assert compile(Mine(1), X, Y).evaluate(ALL) == [0.5]


@each(
    ("options", "text"),
    [
        ({}, "5-fold"),
        ({"cv": 3, "n_repeats": 4}, "4 x 3-fold"),
        ({"cv": StratifiedKFold(3)}, "StratifiedKFold"),
        ({"resample": True}, "fresh stratified 1 x 5-fold"),
        ({"resample": True, "n_repeats": 10, "cv": 4}, "fresh stratified 10 x 4-fold"),
        ({"resample": True, "cv": KFold(3)}, "fresh shuffled 1 x 3-fold"),
    ],
)
def test_repr_tells_the_splits(options: dict, text: str) -> None:
    assert f", {text}, kernel='knn'>" in repr(compile(KNN, X, Y, **options))


def test_the_name_compile_hides_no_builtin_elsewhere() -> None:
    assert bitsieve.fitness.compile is compile


PAIRS = [(np.arange(30), np.arange(30, 40))]


@each(
    ("options", "message"),
    [
        ({"cv": 1}, "cv must be at least 2 folds, got 1"),
        ({"cv": 0}, "cv must be at least 2 folds, got 0"),
        ({"cv": -3}, "cv must be at least 2 folds, got -3"),
        ({"cv": 41}, "cv=41 folds need at least as many samples, got 40; lower cv"),
        ({"cv": 2.5}, "cv"),
        ({"cv": "five"}, "cv"),
        ({"cv": []}, "cv .a list of 0 splits. gave no splits"),
        ({"cv": [([], [1, 2])]}, "split 0 of .* has an empty training set"),
        ({"cv": [*PAIRS, (np.arange(5), [])]}, "(?s)split 1 of .* has an empty test set"),
        (
            {"cv": 21},
            r"cv=21 folds are more than any class has members \(0: 20, 1: 20\); "
            "lower cv to 20 or fewer",
        ),
        ({"n_repeats": 0}, "n_repeats must be a whole number from 1 on, got 0"),
        ({"n_repeats": 2.0}, "n_repeats must be a whole number from 1 on, got 2.0"),
        ({"n_repeats": True}, "n_repeats must be a whole number from 1 on, got True"),
        (
            {"n_repeats": 3, "cv": KFold(3)},
            "n_repeats=3 repeats a number of folds; with cv=KFold "
            "use a repeated splitter, for example Repeated",
        ),
        ({"n_repeats": 3, "cv": PAIRS}, "n_repeats=3 repeats a number of folds"),
        ({"resample": True, "cv": PAIRS}, "resample=True draws fresh folds from the seed, which"),
        (
            {"resample": True, "cv": LeaveOneOut()},
            "which cv=LeaveOneOut does not allow; give cv as a number of folds",
        ),
        (
            {"resample": True, "cv": LeaveOneGroupOut(), "groups": Y},
            "which cv=LeaveOneGroupOut does not allow.*or set resample=False",
        ),
        ({"cv": GroupKFold(2)}, "groups"),
        ({"cv": [(np.arange(30), np.arange(30, 41))]}, "40|samples|index"),
        ({"cv": [(np.arange(30), np.arange(-1, 5))]}, "samples|index|negative"),
        ({"device": "cuda"}, "device must be 'cpu', got 'cuda'"),
        ({"dtype": np.int32}, "dtype must be None, numpy.float32 or numpy.float64, got"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0, got 0"),
        ({"n_jobs": 1.5}, "n_jobs must be None or a whole number other than 0, got 1.5"),
        ({"scoring": "sharpness"}, "sharpness"),
        ({"scoring": ["accuracy", "f1"]}, "scoring"),
    ],
)
def test_options_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compile(KNN, X, Y, **options)


@each(
    "options",
    [
        {"cv": [*PAIRS, (np.arange(35), [])]},
        {"cv": PAIRS, "resample": True},
        {"cv": PAIRS, "n_repeats": 2},
    ],
)
def test_messages_about_lists_of_splits_are_short(options: dict) -> None:
    with pytest.raises(ValueError, match="cv") as error:
        compile(KNN, X, Y, **options)
    assert len(str(error.value)) < 250


@each(
    ("k", "options", "message"),
    [
        (
            33,
            {},
            "n_neighbors=33 is more than the 32 training samples of the smallest split; "
            "lower n_neighbors or raise cv",
        ),
        (33, {"resample": True}, "n_neighbors=33 is more than the 32 training samples"),
        (6, {"cv": [*PAIRS, (np.arange(5), [7])]}, "n_neighbors=6 is more than the 5 training"),
    ],
)
def test_more_neighbors_than_training_samples(k: int, options: dict, message: str) -> None:
    compile(KNeighborsClassifier(k - 1), X, Y, **options).evaluate(ALL)
    with pytest.raises(ValueError, match=message):
        compile(KNeighborsClassifier(k), X, Y, **options)


@each("resample", [False, True])
def test_every_class_smaller_than_the_folds(resample: bool) -> None:
    y = np.array(["ant", "bee", "cow", "dog"])[np.arange(12) % 4]
    with pytest.raises(
        ValueError,
        match=r"cv=4 folds are more than any class has members "
        r"\(ant: 3, bee: 3, cow: 3, dog: 3\); lower cv to 3",
    ):
        compile(KNN, X[:12], y, cv=4, resample=resample)


@each("resample", [False, True])
def test_one_class_smaller_than_the_folds_only_warns(resample: bool) -> None:
    y = np.where(np.arange(40) < 3, "rare", "common")
    with pytest.warns(
        UserWarning,
        match="least populated class in y has only 3 members, which is "
        "less than n_splits=5 .*rare: 3",
    ) as caught:
        fitness = compile(KNN, X, y, cv=5, resample=resample)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitness.evaluate(ALL)


@each(
    ("masks", "message"),
    [
        (
            np.ones((2, 6), dtype=int),
            "masks must be a boolean array .* got dtype int64; use Masks.from_indices",
        ),
        ([[0, 1, 2]], "masks must be a boolean array"),
        (np.ones((2, 6)), "masks must be a boolean array"),
        (np.ones((2, 5), bool), "masks have 5 features, the table has 6"),
        (Masks.full(7), "masks have 7 features, the table has 6"),
        (np.ones((2, 2, 6), bool), "shape"),
    ],
)
def test_masks_are_refused(masks: Any, message: str) -> None:
    fitness = compile(KNN, X, Y)
    for ask in (fitness.evaluate, fitness.evaluate_splits):
        with pytest.raises(ValueError, match=message):
            ask(masks)
    assert fitness.n_evaluations == 0


@each(
    ("seeds", "message"),
    [
        (-1, r"a seed must lie in \[0, 2\*\*64\), got -1"),
        (2**64, r"a seed must lie in \[0, 2\*\*64\), got 18446744073709551616"),
        (np.array([3, -4]), "seeds must not be negative, got -4"),
        (np.array([1, 2, 3]), r"one whole number or one a mask \(2\), got int64 of shape \(3,\)"),
        (np.array([1.0, 2.0]), "whole number"),
        (0.5, "whole number"),
        ("a", "whole number"),
    ],
)
@each("resample", [False, True])
def test_seeds_are_refused(seeds: Any, message: str, resample: bool) -> None:
    fitness = compile(KNN, X, Y, resample=resample)
    with pytest.raises(ValueError, match=message):
        fitness.evaluate(np.ones((2, 6), bool), seeds)


@each("seed", [-1, 2**64])
def test_seeds_of_splits_are_refused(seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        compile(KNN, X, Y, resample=True).splits(seed)


@each(
    ("estimator", "message"),
    [
        ("knn", "estimator must be a scikit-learn estimator, got str"),
        (None, "estimator must be a scikit-learn estimator, got NoneType"),
        (KNeighborsClassifier, "estimator"),
    ],
)
def test_estimators_are_refused(estimator: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compile(estimator, X, Y)


@each(
    ("X_", "y", "message"),
    [
        (X[:30], Y, "X has 30 samples but y has 40 labels"),
        (X, None, "y is missing: give the target values"),
        (X, np.zeros(40), "classification needs two classes or more, but y has 1 class"),
        (X, X[:, 0], "Unknown label type: continuous"),
        (np.where(X > 2, np.nan, X), Y, "contains NaN"),
        (X[0], Y, "2D"),
    ],
)
def test_data_are_refused(X_: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compile(KNN, X_, y)


def test_two_samples() -> None:
    X2 = np.array([[0.0, 1.0], [1.0, 0.0]])
    fitness = compile(KNN, X2, [0, 1], cv=[([0], [1]), ([1], [0])])
    assert fitness.evaluate(np.ones((1, 2), bool)) == [0.0]
    with pytest.raises(ValueError, match="no class has two members"):
        compile(KNN, X2, [0, 1], cv=2)


def test_one_feature() -> None:
    fitness = compile(KNN, X[:, :1], Y)
    expected = cross_val_score(KNN, X[:, :1], Y).mean()
    np.testing.assert_allclose(fitness.evaluate([[True], [False]]), [expected, 0.5], rtol=1e-12)


def test_tables_and_frames() -> None:
    import pandas as pd

    names = [f"g{i}" for i in range(6)]
    expected = compile(KNN, X, Y).evaluate(ALL)
    for data, y in (
        (Table(X, Y, names=names), None),
        (Table(X, names=names), Y),
        (pd.DataFrame(X, columns=names), pd.Series(Y)),
        (X.tolist(), Y.tolist()),
    ):
        np.testing.assert_array_equal(compile(KNN, data, y).evaluate(ALL), expected)


@each("task", [None, "regression"])
def test_a_regressor_is_split_as_a_regressor(task: Any) -> None:
    """Whole numbers as target: cross_val_score does not stratify for a regressor."""
    y = np.arange(40) // 10
    expected = cross_val_score(LinearRegression(), X, y, cv=4)
    direct = compile(LinearRegression(), X, y, cv=4)
    np.testing.assert_allclose(direct.evaluate_splits(ALL)[0], expected, rtol=1e-12)
    from_table = compile(LinearRegression(), Table(X, y, task=task), None, cv=4)
    np.testing.assert_allclose(from_table.evaluate_splits(ALL)[0], expected, rtol=1e-12)


def test_a_classifier_on_a_table_of_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="class"):
        compile(KNN, Table(X, X[:, 0]), None)


@each("estimator", [Ridge(), KNeighborsRegressor(3)])
@each("scoring", [None, "neg_mean_squared_error"])
def test_empty_mask_of_a_regressor(estimator: Any, scoring: Any) -> None:
    y = X[:, 0] + RNG.normal(size=40)
    fitness = compile(estimator, X, y, scoring=scoring, n_jobs=1)
    got = fitness.evaluate_splits([[False] * 6, [True] * 6])
    expected = [cross_val_score(e, X, y, scoring=scoring) for e in (DummyRegressor(), estimator)]
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@each("scoring", [None, "balanced_accuracy", "roc_auc", "neg_log_loss"])
@each("estimator", [KNN, LogisticRegression()])
def test_empty_mask_of_a_classifier(estimator: Any, scoring: Any) -> None:
    y = (np.arange(40) % 3 > 0).astype(int)
    fitness = compile(estimator, X, y, scoring=scoring, n_jobs=1)
    expected = cross_val_score(DummyClassifier(strategy="prior"), X, y, scoring=scoring)
    np.testing.assert_allclose(fitness.evaluate_splits([[False] * 6])[0], expected, rtol=1e-12)


@each("factor", [1e30, 1e300, 1e-42])
def test_values_beyond_float32_go_the_general_way(factor: float) -> None:
    """Then scikit-learn answers, whatever it makes of them."""
    far = X * factor
    far[0, 0] += 3 * factor
    fitness = compile(KNN, far, Y, n_jobs=1)
    assert fitness.kernel is None
    with np.errstate(all="ignore"):
        expected = cross_val_score(KNN, far, Y)
        np.testing.assert_array_equal(fitness.evaluate_splits(ALL)[0], expected)


def test_one_column_beyond_float32_spoils_the_kernel_only() -> None:
    for factor in (1e25, 1e-42):
        one = X.copy()
        one[:, 2] *= factor
        fitness = compile(KNN, one, Y, n_jobs=1)
        for mask in (ALL[0], np.arange(6) == 2, np.arange(6) != 2):
            expected = cross_val_score(KNN, one[:, mask], Y)
            np.testing.assert_array_equal(fitness.evaluate_splits(mask)[0], expected)


def test_bootstrap_splits_go_the_general_way() -> None:
    rng = np.random.default_rng(1)
    cv = [(rng.integers(0, 30, 30), np.arange(30, 40)) for _ in range(3)]
    fitness = compile(KNeighborsClassifier(3), X, Y, cv=cv, n_jobs=1)
    assert fitness.kernel is None
    expected = cross_val_score(KNeighborsClassifier(3), X, Y, cv=cv)
    np.testing.assert_array_equal(fitness.evaluate_splits(ALL)[0], expected)


def test_a_long_evaluation_is_said_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 2
    assert 0 < compile(KNeighborsClassifier(1), X, y).seconds_per_evaluation() < 10
    assert compile(DecisionTreeClassifier(), X, y).seconds_per_evaluation() is None
    sparse = np.zeros((30, 300))
    sparse[:, 299] = X[:, 0]  # what a trial takes of it is constant
    assert 0 < compile(KNeighborsClassifier(1), sparse, y).seconds_per_evaluation() < 10
    monkeypatch.setattr("bitsieve.fitness.compiler._MANY_STEPS", 1)
    for seconds, text in ((12.4, "12 seconds"), (270.0, "4 minutes")):
        monkeypatch.setattr(KnnFitness, "seconds_per_evaluation", lambda self, s=seconds: s)
        with pytest.warns(UserWarning, match=f"take about {text}: all pairs of 30 samples"):
            compile(KNeighborsClassifier(1), X, y)
