"""KernelRidgeClassifier: scikit-learn's contract, what it equals, and what it refuses."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifier
from sklearn.utils.estimator_checks import check_estimator

from bitsieve import KernelRidgeClassifier

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["c", "a", "b"])[Y]


def test_check_estimator() -> None:
    check_estimator(KernelRidgeClassifier(kernel="poly"), on_skip=None)
    # Without an intercept a weight alone does not move all predictions to a class.
    no_intercept = {"check_class_weight_classifiers": "there is no intercept"}
    check_estimator(
        KernelRidgeClassifier(), on_skip=None, on_fail="raise", expected_failed_checks=no_intercept
    )


def test_it_is_kernel_ridge_of_each_class_against_the_others() -> None:
    for parameters in (
        {"alpha": 0.1},
        {"kernel": "rbf", "gamma": 0.3},
        {"kernel": "poly", "degree": 2, "coef0": 0.5},
    ):
        model = KernelRidgeClassifier(**parameters).fit(X, NAMES)
        decisions = model.decision_function(X)
        assert model.classes_.tolist() == ["a", "b", "c"]
        for c, name in enumerate(model.classes_):
            target = np.where(name == NAMES, 1.0, -1.0)
            alone = KernelRidge(**parameters).fit(X, target).predict(X)
            np.testing.assert_allclose(decisions[:, c], alone, atol=1e-9)
        np.testing.assert_array_equal(model.predict(X), model.classes_[decisions.argmax(axis=1)])
        two = Y < 2
        model.fit(X[two], NAMES[two])
        target = np.where(NAMES[two] == "c", 1.0, -1.0)
        alone = KernelRidge(**parameters).fit(X[two], target).predict(X)
        np.testing.assert_allclose(model.decision_function(X), alone, atol=1e-9)
        assert set(model.predict(X[two])) == {"a", "c"}
        np.testing.assert_array_equal(model.predict(X) == "c", alone > 0)


def test_the_linear_one_is_ridge_without_an_intercept() -> None:
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2, len(Y))
    for of_classes in (None, "balanced", {0: 1.0, 1: 3.0, 2: 0.5}):
        for target in (Y, Y == 1):
            if isinstance(of_classes, dict) and target.dtype == bool:
                continue
            given = {"alpha": 0.7, "class_weight": of_classes}
            theirs = RidgeClassifier(fit_intercept=False, solver="cholesky", **given)
            model = KernelRidgeClassifier(**given).fit(X, target, weights)
            theirs.fit(X, target, weights)
            np.testing.assert_allclose(
                model.decision_function(X), theirs.decision_function(X), atol=1e-9
            )


def test_sparse_and_precomputed_are_the_same_model() -> None:
    model = KernelRidgeClassifier().fit(X, Y)
    sparse = KernelRidgeClassifier().fit(csr_matrix(X), Y)
    np.testing.assert_allclose(sparse.decision_function(csr_matrix(X)), model.decision_function(X))
    products = KernelRidgeClassifier(kernel="precomputed").fit(X @ X.T, Y)
    np.testing.assert_allclose(products.decision_function(X @ X.T), model.decision_function(X))


def test_bad_input_is_told() -> None:
    cases: list[tuple[dict[str, Any], Any, str]] = [
        ({}, np.zeros(len(Y)), "y must have two classes or more, got one class: 0.0"),
        ({"alpha": -1.0}, Y, "'alpha' parameter of KernelRidge must be"),
        ({"kernel": "nothing"}, Y, "'kernel' parameter of KernelRidge must be"),
        ({"class_weight": "heavy"}, Y, "'class_weight' parameter of compute_sample_weight"),
    ]
    for parameters, target, message in cases:
        with pytest.raises(ValueError, match=message):
            KernelRidgeClassifier(**parameters).fit(X, target)


def test_it_is_cloned_and_pickled() -> None:
    model = clone(KernelRidgeClassifier(kernel="rbf", class_weight="balanced")).fit(X, NAMES)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
