"""Steps, classifiers and the space of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from bitsieve import KernelRidgeClassifier
from bitsieve.model_selection import (
    ESTIMATORS,
    GramClassifier,
    LogIntensities,
    ModelSpace,
    RankedFeatures,
)
from bitsieve.model_selection.space import ALL
from bitsieve.panels import LinearSVM, ShrunkenLDA, ranker_by_name

X, Y = load_iris(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)


def _space(**others: Any) -> ModelSpace:
    given = {
        "preprocessing": ("none", "standard", "minmax", "log"),
        "selectors": (ALL, "f", "relieff"),
        "estimators": tuple(ESTIMATORS),
        "n_features": 30,
        "most_features": 20,
        **others,
    }
    return ModelSpace(**given)


def test_steps_keep_the_contract_of_scikit_learn() -> None:
    check_estimator(RankedFeatures(), on_skip=None)
    check_estimator(GramClassifier(), on_skip=None)
    check_estimator(GramClassifier(LinearSVM()), on_skip=None)
    # Logarithms are of intensities: its checks have values below zero.
    positive = np.exp(np.random.default_rng(0).normal(size=(20, 3)))
    logged = clone(LogIntensities()).fit(positive)
    assert logged.n_features_in_ == 3
    np.testing.assert_array_equal(
        logged.transform(positive), np.log2(np.maximum(positive, logged.floor_))
    )
    with pytest.raises(ValueError, match="needs positive values"):
        LogIntensities().fit(-positive)


def test_the_discriminant_analysis_is_scikit_learns() -> None:
    for shrinkage in (0.0, 0.01, 0.5, 1.0):
        for target in (Y, Y == 1):
            model = GramClassifier(ShrunkenLDA(shrinkage=shrinkage)).fit(X, target)
            theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, target)
            decisions = model.decision_function(X), theirs.decision_function(X)
            if target is Y:  # those of all classes may be shifted alike
                decisions = tuple(each - each[:, :1] for each in decisions)
            # At least 1e-9 of the variance is added here.
            np.testing.assert_allclose(*decisions, rtol=1e-5, atol=1e-5)
            np.testing.assert_array_equal(model.predict(X), theirs.predict(X))
    with pytest.raises(ValueError, match="shrinkage must be a number in \\[0, 1\\], got 2"):
        GramClassifier(ShrunkenLDA(shrinkage=2)).fit(X, Y)


def test_the_support_vector_machine_is_scikit_learns() -> None:
    Z = StandardScaler().fit_transform(X)
    for C in (0.01, 1.0, 30.0):
        model = GramClassifier(LinearSVM(C)).fit(Z, Y)
        theirs = OneVsRestClassifier(SVC(kernel="linear", C=C, tol=1e-6)).fit(Z, Y)
        np.testing.assert_allclose(
            model.decision_function(Z), theirs.decision_function(Z), atol=2e-3
        )
        other = GramClassifier(LinearSVM(C)).fit(1e3 * Z + 5.0, Y)  # the unit does not count
        np.testing.assert_allclose(
            other.decision_function(1e3 * Z + 5.0), model.decision_function(Z), atol=1e-4
        )
        two = Y > 0
        alone = SVC(kernel="linear", C=C, tol=1e-6).fit(Z, two)
        np.testing.assert_allclose(
            GramClassifier(LinearSVM(C)).fit(Z, two).decision_function(Z),
            alone.decision_function(Z),
            atol=2e-3,
        )


def test_ranked_features_are_those_of_the_ranker() -> None:
    values, y = CANCER
    ours = RankedFeatures("f", n_features_to_select=7).fit(values, y)
    theirs = SelectKBest(f_classif, k=7).fit(values, y)
    np.testing.assert_array_equal(ours.get_support(), theirs.get_support())
    np.testing.assert_array_equal(ours.transform(values), theirs.transform(values))
    Z = StandardScaler().fit_transform(values)
    for name in ("relieff", "mrmr", "rfe", "jmi"):
        ranked = RankedFeatures(name, n_features_to_select=3, depth=12).fit(values, y)
        order = ranker_by_name(name).rank(np.clip(Z, -20, 20), y, 12)
        np.testing.assert_array_equal(ranked.order_, order)
        assert set(np.flatnonzero(ranked.support_)) == set(order[:3])
        known = RankedFeatures(name, n_features_to_select=3, order=order).fit(values, y)
        np.testing.assert_array_equal(known.support_, ranked.support_)


def test_every_model_of_a_space_can_be_had() -> None:
    space = _space()
    values, y = CANCER
    values = values[:120] + 1.0
    y = y[:120]
    seen: dict[str, set[Any]] = {}
    rng = np.random.default_rng(0)
    for point in rng.random((150, len(space.dimensions))):
        settings = space.settings_at(point)
        model = space.pipeline(settings)
        for name, value in settings.items():
            seen.setdefault(name, set()).add(value)
        model.fit(values, y)
        columns = 30 if settings["selector"] == ALL else settings["n_features"]
        assert model[-1].n_features_in_ == columns
        kept = model[:-1].transform(values)
        if settings["preprocessing"] in ("standard", "log"):
            np.testing.assert_allclose(kept.mean(axis=0), 0, atol=1e-9)
        if settings["preprocessing"] == "minmax":
            np.testing.assert_allclose([kept.min(axis=0), kept.max(axis=0)][1], 1)
        if settings["estimator"] == "kridge" and "kridge__gamma" in settings:
            assert isinstance(model[-1], KernelRidgeClassifier)
            assert model[-1].gamma == settings["kridge__gamma"] / columns
    assert seen["preprocessing"] == {"none", "standard", "minmax", "log"}
    assert seen["selector"] == {ALL, "f", "relieff"}
    assert seen["estimator"] == set(ESTIMATORS)
    assert {1, 20} <= seen["n_features"] <= set(range(1, 21))
    assert seen["kridge__degree"] == {1, 2, 3, 4}


def test_a_model_says_what_counts_and_no_more() -> None:
    space = _space(estimators=("kridge", "knn"), most_neighbors=5)
    n = len(space.dimensions)
    first = space.settings_at(np.zeros(n))
    assert first == {
        "preprocessing": "none",
        "selector": ALL,
        "estimator": "kridge",
        "kridge__kernel": "linear",
        "kridge__alpha": 1e-4,
    }
    last = space.settings_at(np.ones(n))
    assert last == {
        "preprocessing": "log",
        "selector": "relieff",
        "n_features": 20,
        "estimator": "knn",
        "knn__n_neighbors": 5,
        "knn__weights": "distance",
    }
    only = _space(selectors=(ALL,))
    assert "n_features" not in [dimension.name for dimension in only.dimensions]
