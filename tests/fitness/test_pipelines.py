"""Pipelines of a scaler and a compiled model: the scores of scikit-learn, whatever the scaler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each_isa
from sklearn.base import clone, is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from bitsieve import KernelRidgeClassifier, Masks, _core
from bitsieve.fitness import compile

# Name of the kernel, model, scoring.
MODELS: list[tuple[str, Any, str]] = [
    ("knn", KNeighborsClassifier(1), "accuracy"),
    ("knn", KNeighborsClassifier(3), "roc_auc_ovr"),
    ("ridge", RidgeClassifier(), "accuracy"),
    ("ridge", RidgeClassifier(class_weight="balanced"), "balanced_accuracy"),
    ("ridge", Ridge(0.1), "neg_max_error"),
    ("ridge", Ridge(fit_intercept=False), "r2"),
    ("ridge", LinearRegression(), "neg_max_error"),
    ("ridge", KernelRidge(kernel="rbf", alpha=0.3), "r2"),
    ("ridge", KernelRidge(kernel="poly", degree=2, gamma=0.01), "r2"),
    ("ridge", KernelRidgeClassifier(kernel="rbf", class_weight="balanced"), "accuracy"),
    ("lda", LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3), "neg_log_loss"),
    ("gaussian_bayes", GaussianNB(), "accuracy"),
    ("gaussian_bayes", GaussianNB(var_smoothing=0.1), "neg_log_loss"),
    ("gaussian_bayes", GaussianNB(var_smoothing=1e-3), "f1_macro"),
    ("centroid", NearestCentroid(), "accuracy"),
    ("centroid", NearestCentroid(shrink_threshold=0.5), "accuracy"),
    ("centroid", NearestCentroid(shrink_threshold=0.3, priors="empirical"), "neg_log_loss"),
]
SCALERS = (
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    MinMaxScaler(),
    MinMaxScaler((-1, 3)),
    MaxAbsScaler(),
    RobustScaler(),
    RobustScaler(quantile_range=(10, 60), unit_variance=True),
    RobustScaler(with_centering=False),
    RobustScaler(with_scaling=False),
)
ROUGH = [SCALERS[2], SCALERS[-1]]  # which scale nothing


def _ids(case: Any) -> str:
    return f"{case[1]} {case[2]}"


def _table(n: int, p: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    X = rng.normal(size=(n, p)) + 0.5 * (y[:, None] == np.arange(p) % 3)
    return (X + rng.uniform(-20, 20, p)) * 10.0 ** rng.uniform(-3, 3, p), y


def _masks(p: int, m: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    masks = rng.random((m, p)) < rng.uniform(0.1, 0.9, (m, 1))
    masks[~masks.any(axis=1), 0] = True
    return masks


def _expected(estimator: Any, X: Any, y: Any, masks: Any, splits: Any, scoring: str) -> Any:
    return [cross_val_score(estimator, X[:, mask], y, cv=splits, scoring=scoring) for mask in masks]


def _target(model: Any, X: Any, y: Any) -> Any:
    """Classes, or numbers that a linear model half explains."""
    if is_classifier(model):
        return y
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    return z[:, : X.shape[1] // 2].sum(axis=1) + np.random.default_rng(1).normal(size=len(X)) + y


@pytest.mark.parametrize("case", MODELS, ids=_ids)
def test_it_is_scikit_learns_whatever_the_scaler(case: Any, one_blas_thread: None) -> None:
    kernel, model, scoring = case
    for n, p, cv, scalers in (
        (45, 12, RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0), SCALERS),
        (76, 99, RepeatedStratifiedKFold(n_splits=4, n_repeats=1, random_state=0), SCALERS[::3]),
        (240, 9, ShuffleSplit(2, test_size=0.3, random_state=0), SCALERS[::2]),
        (40, 90, ShuffleSplit(2, train_size=0.5, test_size=0.3, random_state=0), SCALERS[1::4]),
    ):
        X, y = _table(n, p)
        target, masks = _target(model, X, y), _masks(p, 2)
        splits = list(cv.split(X, y))
        for scaler in scalers:
            estimator = make_pipeline(scaler, model)
            fitness = compile(estimator, X, target, cv=splits, scoring=scoring, n_jobs=1)
            assert fitness.kernel == kernel, fitness.fallback_reason
            expected = _expected(estimator, X, target, masks, splits, scoring)
            # scikit-learn's own rounding, of least squares and of features of all sizes.
            is_rough = isinstance(model, LinearRegression) or scaler in ROUGH
            rtol = 1e-6 if is_rough else 1e-9
            np.testing.assert_allclose(fitness.evaluate_splits(masks), expected, rtol=rtol)


@pytest.mark.parametrize("case", MODELS, ids=_ids)
def test_features_that_are_constant_or_far_away(case: Any, one_blas_thread: None) -> None:
    """Constant ones, constant in one training part, nearly so, and large offsets."""
    kernel, model, scoring = case
    X, y = _table(42, 14)
    rng = np.random.default_rng(3)
    target = _target(model, X, y)
    X[:, 0] = 0.1
    X[:, 1] = 7.0
    X[11, 1] = 7.5  # constant where this sample tests
    X[:, 2] = 1e9 + 1e-9 * rng.integers(0, 2, 42)  # rounds to a constant
    X[:, 3] = 1e6 + rng.normal(size=42)
    X[:, 4] = np.where(np.arange(42) == 5, 1e6, rng.normal(size=42))
    X[:, 5] = 1e-18 * rng.normal(size=42)
    X[:, 6] = rng.integers(0, 2, 42)
    masks = _masks(14, 3)
    splits = list(RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0).split(X, y))
    # Of values far from zero its distances, and the decisions of its LDA, are rounding alone.
    kernel_ridge = (KernelRidge, KernelRidgeClassifier)
    is_rough = isinstance(model, (*kernel_ridge, LinearDiscriminantAnalysis, NearestCentroid))
    for scaler in SCALERS[:4:3] if is_rough else SCALERS[::2]:
        estimator = make_pipeline(scaler, model)
        fitness = compile(estimator, X, target, cv=splits, scoring=scoring, n_jobs=1)
        assert fitness.kernel == kernel, fitness.fallback_reason
        expected = _expected(estimator, X, target, masks, splits, scoring)
        np.testing.assert_allclose(fitness.evaluate_splits(masks), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("case", MODELS, ids=_ids)
def test_no_bit_depends_on_the_way(case: Any) -> None:
    """Batches, order, threads, seeds and neighborhoods."""
    _, model, scoring = case
    X, y = _table(40, 66)
    target = _target(model, X, y)
    masks = _masks(66, 8)
    masks[5] = masks[4] ^ (np.arange(66) == 9)
    for scaler in (StandardScaler(), RobustScaler(with_centering=False)):
        estimator = make_pipeline(scaler, model)
        for options in ({"cv": 3}, {"cv": 3, "n_repeats": 2, "resample": True}):
            seeds = np.arange(8, dtype=np.uint64) % 3 if "resample" in options else 0

            def make(n_jobs: int, estimator: Any = estimator, options: Any = options) -> Any:
                return compile(
                    clone(estimator), X, target, scoring=scoring, n_jobs=n_jobs, **options
                )

            fitness = make(1)
            scores = fitness.evaluate_splits(masks, seeds)
            order = np.random.default_rng(0).permutation(8)
            keys = seeds if isinstance(seeds, int) else seeds[order]
            for other in (fitness, make(3)):
                again = other.evaluate_splits(masks[order], keys)
                np.testing.assert_array_equal(again, scores[order])
                one = [
                    other.evaluate_splits(masks[[i]], seeds if isinstance(seeds, int) else seeds[i])
                    for i in order[:4]
                ]
                np.testing.assert_array_equal(np.concatenate(one), scores[order[:4]])
                near = Masks.neighbors(masks[0], 66)
                each = other.evaluate_splits(near.to_bool()[::-1], 1)[::-1]
                np.testing.assert_array_equal(other.evaluate_splits(near, 1), each)


def test_decisions_of_ridge_have_nine_digits_and_the_same_bits_everywhere(
    one_blas_thread: None,
) -> None:
    """Of all splits side by side, and of a matrix a split where a feature stands far away."""
    n, p = 84, 150
    X, y = _table(n, p)
    far = X.copy()
    far[7, 3] = 1e8
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0)
    splits = list(cv.split(X, y))
    masks = np.random.default_rng(0).random((3, p)) < 0.8
    words, seeds = Masks.from_bool(masks).words, np.zeros(3, np.uint64)
    for data, targets in ((X, y), (X, y > 0), (far, y)):
        first: list[Any] = []
        for model in (RidgeClassifier(0.5), RidgeClassifier(class_weight="balanced")):
            estimator = make_pipeline(StandardScaler(), model)

            def outputs(estimator: Any = estimator, data: Any = data, y: Any = targets) -> Any:
                core = compile(estimator, data, y, cv=splits, n_jobs=1)._core
                return core.outputs(words, seeds, 1, np.zeros(3, bool))[1]

            values = outputs()
            for m, mask in enumerate(masks):
                theirs = [
                    clone(estimator)
                    .fit(data[train][:, mask], targets[train])
                    .decision_function(data[test][:, mask])
                    .reshape(len(test), -1)
                    for train, test in splits
                ]
                expected = np.concatenate(theirs)
                atol = 1e-9 * np.abs(expected).max()
                np.testing.assert_allclose(values[m], expected, rtol=0, atol=atol)

            @each_isa
            def the_same(isa: str, outputs: Any = outputs, values: Any = values) -> None:
                if _core.has_fma():
                    np.testing.assert_array_equal(outputs(), values)

            the_same()
            first.append(values)
        assert not np.array_equal(*first)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sonar", "vehicle", "khan"])
@pytest.mark.parametrize("case", MODELS, ids=_ids)
def test_it_is_scikit_learns_on_real_data(
    dataset: Any, name: str, case: Any, one_blas_thread: None
) -> None:
    kernel, model, scoring = case
    X, y, _ = dataset(name)
    rng = np.random.default_rng(0)
    X = X + 1e-6 * X.std(axis=0) * rng.normal(size=X.shape)  # no exact ties
    y = np.unique(y, return_inverse=True)[1]
    if len(np.unique(y)) == 2 and scoring == "roc_auc_ovr":
        scoring = "roc_auc"
    target, masks = _target(model, X, y), _masks(X.shape[1], 3)
    for scaler in (StandardScaler(), MinMaxScaler(), RobustScaler()):
        estimator = make_pipeline(scaler, model)
        fitness = compile(estimator, X, target, cv=4, scoring=scoring, n_jobs=1)
        assert fitness.kernel == kernel, fitness.fallback_reason
        expected = _expected(estimator, X, target, masks, fitness.splits(), scoring)
        np.testing.assert_allclose(fitness.evaluate_splits(masks), expected, rtol=1e-9, atol=1e-13)
