"""Estimators without a kernel: scikit-learn on masked views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bitsieve.fitness import compile

RNG = np.random.default_rng(3)
X = RNG.normal(size=(50, 8)) * 2.0 ** np.arange(-4, 4)
Y = np.array(["no", "yes"])[(X[:, 4] + RNG.normal(size=50) > 0).astype(int)]
MASKS = RNG.random((5, 8)) < 0.5
MASKS[0] = False
MASKS[1] = True
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


def _expected(estimator: Any, y: np.ndarray = Y, **options: Any) -> np.ndarray:
    rows = []
    for mask in MASKS:
        used, view = (estimator, X[:, mask]) if mask.any() else (DummyClassifier(), X)
        rows.append(cross_val_score(used, view, y, error_score="raise", **options))
    return np.array(rows)


@pytest.mark.usefixtures("one_blas_thread")
@each(
    "estimator",
    [
        make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)),
        make_pipeline(StandardScaler(), SVC()),
        SVC(kernel="linear", C=0.1),
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(5, random_state=1),
        KNeighborsClassifier(3, metric="manhattan"),
        make_pipeline(PCA(), LogisticRegression()),
    ],
)
def test_equals_cross_val_score(estimator: Any) -> None:
    fitness = compile(estimator, X, Y, cv=4, n_jobs=1)
    assert fitness.kernel is None
    np.testing.assert_array_equal(fitness.evaluate_splits(MASKS), _expected(estimator, cv=4))
    # A function of the mask alone: order and batch do not matter.
    np.testing.assert_array_equal(
        fitness.evaluate(MASKS[::-1]), fitness.evaluate_splits(MASKS).mean(axis=1)[::-1]
    )


@each("scoring", ["balanced_accuracy", "f1_macro", "neg_log_loss", "roc_auc"])
def test_scorers(scoring: str) -> None:
    y = (Y == "yes").astype(int)
    estimator = TREE
    fitness = compile(estimator, X, y, cv=4, scoring=scoring, n_jobs=1)
    np.testing.assert_array_equal(
        fitness.evaluate_splits(MASKS), _expected(estimator, y, cv=4, scoring=scoring)
    )


def test_groups_and_splitters() -> None:
    groups = np.arange(50) // 5
    for options in (
        {"cv": GroupKFold(4), "groups": groups},
        {"cv": StratifiedKFold(3, shuffle=True, random_state=0)},
    ):
        fitness = compile(TREE, X, Y, **options, n_jobs=1)
        expected = _expected(TREE, **options)
        np.testing.assert_array_equal(fitness.evaluate_splits(MASKS), expected)


def test_two_jobs_equal_one() -> None:
    tree = DecisionTreeClassifier(random_state=0)
    one, two = (compile(tree, X, Y, cv=4, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.evaluate_splits(MASKS), two.evaluate_splits(MASKS))


def test_sample_weight_is_given_to_fit() -> None:
    weights = np.where(Y == "yes", 20.0, 0.05)
    estimator = TREE
    fitness = compile(estimator, X, Y, cv=4, sample_weight=weights, n_jobs=1)
    expected = _expected(estimator, cv=4, params={"sample_weight": weights})
    np.testing.assert_array_equal(fitness.evaluate_splits(MASKS), expected)
    assert (expected != _expected(estimator, cv=4)).any()


def test_sample_weight_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match=r"sample_weight.*50|50.*sample_weight"):
        compile(TREE, X, Y, sample_weight=np.ones(49), n_jobs=1).evaluate(MASKS)


def test_an_estimator_that_fails_says_so() -> None:
    class Broken(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("no luck")

    with pytest.raises(RuntimeError, match="no luck"):
        compile(Broken(), X, Y, n_jobs=1).evaluate(MASKS)


def test_an_estimator_changed_later_changes_nothing() -> None:
    """What was compiled is the estimator as it was."""
    estimator = KNeighborsClassifier(1, weights="distance")
    fitness = compile(estimator, X, Y, cv=4, n_jobs=1)
    expected = fitness.evaluate(MASKS)
    estimator.set_params(n_neighbors=9)
    np.testing.assert_array_equal(fitness.evaluate(MASKS), expected)


def test_a_scorer_of_ones_own_sees_the_masked_columns_and_the_estimator() -> None:
    def sparing(estimator, X, y):
        return estimator.score(X, y) - 0.01 * estimator.n_features_in_ - 0.001 * X.shape[1]

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), np.arange(40) % 2
    fitness = compile(KNeighborsClassifier(1), X, y, scoring=sparing, cv=3, n_jobs=1)
    assert fitness.kernel is None
    for mask in (rng.random((5, 6)) < 0.5) | np.eye(6, dtype=bool)[:5]:
        expected = cross_val_score(KNeighborsClassifier(1), X[:, mask], y, scoring=sparing, cv=3)
        np.testing.assert_allclose(fitness.evaluate_splits(mask[None])[0], expected)


def test_no_features_are_scored_as_a_grid_search_scores() -> None:
    grid = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, scoring="neg_log_loss", cv=2)
    none = np.zeros((1, X.shape[1]), dtype=bool)
    expected = cross_val_score(DummyClassifier(strategy="prior"), X, Y, scoring="neg_log_loss")
    found = compile(grid, X, Y).evaluate(none)
    np.testing.assert_allclose(found, expected.mean())
