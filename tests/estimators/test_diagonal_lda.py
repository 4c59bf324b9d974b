"""DiagonalLDA: scikit-learn's contract, what it equals, and what it refuses."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid
from sklearn.utils.estimator_checks import check_estimator

from bitsieve import DiagonalLDA

RNG = np.random.default_rng(0)


def test_check_estimator() -> None:
    check_estimator(DiagonalLDA(), on_skip=None)


def test_it_is_lda_of_uncorrelated_features_and_nearest_centroids_with_priors() -> None:
    for n_classes, seed in ((2, 0), (3, 1), (5, 2)):
        rng = np.random.default_rng(seed)
        y = rng.choice(n_classes, 60, p=np.arange(1, n_classes + 1) / sum(range(n_classes + 1)))
        X = rng.normal(size=(60, 9)) * rng.lognormal(size=9) + 0.5 * (y[:, None] == np.arange(9))
        test = rng.normal(size=(40, 9))
        found = DiagonalLDA(var_smoothing=1e-15).fit(X, y)
        centroids = NearestCentroid(priors="empirical").fit(X, y)
        np.testing.assert_array_equal(found.predict(test), centroids.predict(test))
        np.testing.assert_allclose(
            found.decision_function(test), centroids.decision_function(test) / 2, atol=1e-10
        )
        # Within the classes the features are made uncorrelated.
        within = X - found.means_[np.searchsorted(found.classes_, y)]
        values, vectors = np.linalg.eigh(within.T @ within)
        turned, theirs = X @ vectors, LinearDiscriminantAnalysis()
        of_turned = DiagonalLDA(var_smoothing=1e-15).fit(turned, y)
        np.testing.assert_allclose(of_turned.variances_, values / (60 - n_classes), rtol=1e-9)
        theirs.fit(turned, y)
        ratio = 60 / (60 - n_classes)  # scikit-learn divides by n
        coef = (of_turned.means_ - theirs.xbar_) / of_turned.variances_
        if n_classes > 2:
            np.testing.assert_allclose(coef * ratio, theirs.coef_, atol=1e-9)


def test_probabilities_and_decisions_agree() -> None:
    X, y = load_iris(return_X_y=True)
    for rows in (slice(None), slice(0, 100)):
        names = np.array(["c", "a", "b"])[y[rows]]
        model = DiagonalLDA(priors=[0.2, 0.8] if rows.stop else [0.2, 0.3, 0.5])
        model.fit(X[rows], names)
        proba, decisions = model.predict_proba(X), model.decision_function(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        np.testing.assert_allclose(np.log(proba), model.predict_log_proba(X), atol=1e-9)
        np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
        if rows.stop:
            np.testing.assert_allclose(proba[:, 1], 1 / (1 + np.exp(-decisions)), atol=1e-12)
        else:
            np.testing.assert_allclose(
                proba[:, 0] / proba[:, 1], np.exp(decisions[:, 0] - decisions[:, 1])
            )


def test_scales_do_not_matter_and_constants_say_nothing() -> None:
    X, y = RNG.normal(size=(30, 4)), np.arange(30) % 3
    X[:, 1] = 0.1  # constant
    X[:, 2] = 0.1 * (y == 1)  # constant within each class
    model = DiagonalLDA().fit(X, y)
    assert model.variances_[1] == 0
    assert model.variances_[2] > 0
    np.testing.assert_array_equal(model.predict(X) == 1, y == 1)
    other = X.copy()
    other[:, 1] = RNG.normal(size=30)
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(X))
    scaled = DiagonalLDA().fit(1e3 * X, y)
    np.testing.assert_allclose(scaled.predict_proba(1e3 * X), model.predict_proba(X), rtol=1e-6)


def test_bad_input_is_told() -> None:
    X, y = RNG.normal(size=(8, 2)), np.arange(8) % 2
    cases: list[tuple[dict[str, Any], Any, str]] = [
        ({"var_smoothing": 0}, y, "var_smoothing must be"),
        ({"var_smoothing": "much"}, y, "var_smoothing must be"),
        ({"priors": [0.5, 0.6]}, y, "priors must be above 0 and sum to 1, got"),
        ({"priors": [1.0, 0.0]}, y, "priors must be above 0 and sum to 1, got"),
        ({"priors": [1.0]}, y, "priors must be 2 numbers, one a class in sorted order, got"),
        ({}, np.zeros(8), "y must have two classes or more, got one class: 0.0"),
        ({}, np.arange(8), "X must have more samples than classes, got 8 samples of 8 classes"),
    ]
    for parameters, target, message in cases:
        with pytest.raises(ValueError, match=message):
            DiagonalLDA(**parameters).fit(X, target)


def test_it_is_cloned_and_pickled() -> None:
    X, y = load_iris(return_X_y=True)
    model = clone(DiagonalLDA(var_smoothing=0.1)).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
