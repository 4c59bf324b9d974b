"""SequentialFeatureSelector selects what scikit-learn's and mlxtend's select."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from sklearn.feature_selection import SequentialFeatureSelector as Theirs
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from bitsieve import SequentialFeatureSelector

_Data = tuple[np.ndarray, np.ndarray]
_Load = Callable[[str], Any]

ESTIMATORS = (KNeighborsClassifier(1), KNeighborsClassifier(5), GaussianNB(), RidgeClassifier())


def _table(dataset: _Load, name: str, n_features: int) -> _Data:
    """A real table; of vehicle's whole numbers no two distances are left equal."""
    X, y, _ = dataset(name)
    X = np.array(X[:, :n_features], dtype=np.float64)
    if name == "vehicle":
        X += 1e-6 * np.random.default_rng(0).normal(size=X.shape)
    return X, y


def _same(X: np.ndarray, y: np.ndarray, estimator: Any, **options: Any) -> None:
    ours = SequentialFeatureSelector(estimator, **options).fit(X, y)
    theirs = Theirs(estimator, **options).fit(X, y)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    assert ours.n_features_to_select_ == theirs.n_features_to_select_
    assert ours.kernel_ is not None or isinstance(estimator, DecisionTreeClassifier)


@each("name", ["sonar", "khan", "vehicle"])
@each("direction", ["forward", "backward"])
def test_as_scikit_learn_on_few_features(dataset: _Load, name: str, direction: str) -> None:
    X, y = _table(dataset, name, 5)
    _same(X[::3], y[::3], GaussianNB(), n_features_to_select=2, direction=direction, cv=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sonar", "khan", "vehicle"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@each("estimator", ESTIMATORS)
def test_as_scikit_learn(dataset: _Load, name: str, direction: str, estimator: Any) -> None:
    X, y = _table(dataset, name, 200)
    p = X.shape[1]
    steps = 2 if name == "khan" else 4  # 200 fits and more a step, five times each
    size = steps if direction == "forward" else p - steps
    _same(X, y, estimator, n_features_to_select=size, direction=direction)


@pytest.mark.slow
@each(
    "options",
    [
        {},
        {"direction": "backward"},
        {"n_features_to_select": 0.3},
        {"n_features_to_select": 0.99, "direction": "backward"},
        {"tol": 0.01},
        {"tol": 0.2},
        {"tol": -0.005, "direction": "backward"},
        {"tol": 0.0, "direction": "backward"},
        {"tol": 1e-4, "n_features_to_select": 3},  # without effect
        {"cv": 3, "scoring": "balanced_accuracy", "n_features_to_select": 2},
        {"cv": StratifiedKFold(4, shuffle=True, random_state=3), "n_features_to_select": 2},
    ],
)
def test_as_scikit_learn_by_every_option(dataset: _Load, options: dict[str, Any]) -> None:
    X, y = _table(dataset, "vehicle", 9)
    _same(X[::2], y[::2], GaussianNB(), **options)
    _same(X[::2, :8], y[::2], KNeighborsClassifier(3), **options)


@pytest.mark.slow
def test_as_scikit_learn_without_a_kernel(dataset: _Load) -> None:
    X, y = _table(dataset, "sonar", 7)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    for options in ({"n_features_to_select": 3}, {"tol": 0.01}):
        _same(X, y, tree, **options)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_floating_as_mlxtend(dataset: _Load, direction: Any) -> None:
    peers = pytest.importorskip("mlxtend.feature_selection")
    adds = direction == "forward"
    size = 6 if adds else 2
    n_back = 0
    for name, n_features in (("vehicle", 10), ("sonar", 10), ("khan", 11)):
        X, labels = _table(dataset, name, n_features)
        for estimator, scoring in (
            (GaussianNB(), "accuracy"),
            (GaussianNB(), "neg_log_loss"),
            (Ridge(), "r2"),
            (KNeighborsRegressor(5), "neg_mean_squared_error"),
        ):
            y = np.unique(labels, return_inverse=True)[1]
            y = y if scoring in ("accuracy", "neg_log_loss") else y.astype(float)
            theirs = peers.SequentialFeatureSelector(
                estimator, k_features=size, forward=adds, floating=True, scoring=scoring, cv=5
            ).fit(X, y)
            ours = SequentialFeatureSelector(
                estimator,
                n_features_to_select=size,
                direction=direction,
                floating="mlxtend",
                scoring=scoring,
            ).fit(X, y)
            assert ours.get_support(indices=True).tolist() == list(theirs.k_feature_idx_)
            results = ours.cv_results_
            assert len(results["features"]) == len(theirs.subsets_)
            for row, features in enumerate(results["features"]):
                known = theirs.subsets_[len(features)]
                assert features.tolist() == sorted(known["feature_idx"])
                splits = [results[f"split{k}_test_score"][row] for k in range(5)]
                np.testing.assert_allclose(splits, known["cv_scores"], rtol=1e-9, atol=1e-12)
            sizes = ours.history_["n_selected"]
            n_back += int((np.diff(sizes) < 0).sum() if adds else (np.diff(sizes) > 0).sum())
    assert n_back >= 3  # it did float


@pytest.mark.slow
@each("direction", ["forward", "backward"])
def test_groups_and_fixed_features_as_mlxtend(dataset: _Load, direction: Any) -> None:
    peers = pytest.importorskip("mlxtend.feature_selection")
    X, y = _table(dataset, "vehicle", 9)
    units = [[0], [1, 5], [2, 8], [3], [4], [6], [7]]
    for floating in (False, True):
        theirs = peers.SequentialFeatureSelector(
            GaussianNB(),
            k_features=4,
            forward=direction == "forward",
            floating=floating,
            scoring="neg_log_loss",
            fixed_features=(3,),
            feature_groups=units,
            cv=5,
        ).fit(X, y)
        ours = SequentialFeatureSelector(
            GaussianNB(),
            n_features_to_select=4,
            direction=direction,
            floating="mlxtend" if floating else False,
            scoring="neg_log_loss",
            forced_features=[3],
            feature_groups=[unit for unit in units if len(unit) > 1],
        ).fit(X, y)
        assert ours.get_support(indices=True).tolist() == list(theirs.k_feature_idx_)
