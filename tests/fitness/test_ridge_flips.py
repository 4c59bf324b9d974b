"""One-flip neighborhoods of compiled ridge classifiers: the bits of each mask by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import twin_ridge
from each import each, each_isa
from numpy.typing import NDArray
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import bitsieve
from bitsieve import Masks, _core
from bitsieve.fitness import compile

pytestmark = [
    pytest.mark.skipif(not _core.has_fma(), reason="needs a fused multiply-add"),
    pytest.mark.usefixtures("one_blas_thread"),
]

WEIGHTS = np.random.default_rng(5).integers(0, 3, 200).astype(np.float64)


def data(n: int, p: int, n_classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Correlated columns, a copy, a constant, one far above the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 3)) @ rng.normal(size=(3, p))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X[:, 5] = X[:, 4]
    X[:, 6] = 0
    X[:, 7] *= 1e4  # too far from the others for the bound
    return X, rng.permutation(np.arange(n) % n_classes)


def check_bits(model: Any, X: Any, y: Any, sizes: tuple[int, ...], **options: Any) -> int:
    """Compare neighborhoods with their masks written out; return how many were answered alone."""
    p = X.shape[1]
    rng = np.random.default_rng(1)
    fitness = compile(model, X, y, **{"n_jobs": 2, **options})
    alone = compile(model, X, y, **{"n_jobs": 1, **options})
    assert fitness.kernel == "ridge"
    for size in sizes:
        base = np.isin(np.arange(p), rng.choice(p, size, replace=False))
        near = Masks.neighbors(base, p)
        expected = alone.evaluate_splits(Masks.from_bool(near.to_bool()), seeds=3)
        np.testing.assert_array_equal(fitness.evaluate_splits(near, seeds=3), expected)
    assert fitness.n_declined == alone.n_declined
    return int(fitness._core.counters()["flips_open"])


@each("scoring", ["accuracy", "f1_macro", "balanced_accuracy"])
def test_neighbors_have_the_bits_of_masks_alone(scoring: str) -> None:
    half = ShuffleSplit(2, train_size=0.5, test_size=0.3, random_state=1)
    for n, p, n_classes in ((40, 90, 2), (43, 70, 3), (60, 20, 4)):
        X, y = data(n, p, n_classes)
        for model, options in (
            (RidgeClassifier(), {}),
            (RidgeClassifier(fit_intercept=False, alpha=0.3), {"sample_weight": WEIGHTS[:n]}),
            (RidgeClassifier(alpha=1e-9), {}),
        ):
            for cv in (4, half):
                check_bits(model, X, y, (0, 1, 12), cv=cv, scoring=scoring, **options)
        plain = compile(RidgeClassifier(), X, y, cv=4, n_jobs=1, scoring=scoring)
        plain.evaluate(Masks.neighbors(np.arange(p) % 9 == 1, p))
        assert 1 <= plain._core.counters()["flips_open"] <= 3


BALANCED = RidgeClassifier(class_weight="balanced")
BY_FOLD = [
    BALANCED,
    RidgeClassifier(class_weight="balanced", fit_intercept=False),
    RidgeClassifier(class_weight="balanced", alpha=1e-9),
    make_pipeline(StandardScaler(), RidgeClassifier()),
    make_pipeline(StandardScaler(with_mean=False), RidgeClassifier(fit_intercept=False)),
    make_pipeline(RobustScaler(), RidgeClassifier(class_weight="balanced", alpha=0.1)),
    make_pipeline(MinMaxScaler(), RidgeClassifier(fit_intercept=False)),
    make_pipeline(MaxAbsScaler(), RidgeClassifier(class_weight={0: 1.0, 1: 3.0, 2: 0.5})),
]


@each_isa
def test_systems_of_each_training_part(isa: str) -> None:
    if not _core.has_fma():
        return
    options: list[dict[str, Any]] = [
        {"cv": 4, "scoring": "balanced_accuracy"},
        {"cv": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), "scoring": "f1_macro"},
        {"cv": ShuffleSplit(2, train_size=0.5, test_size=0.3, random_state=1)},
        {"cv": 3, "resample": True},
    ]
    for k, model in enumerate(BY_FOLD):
        for j, (n, p) in enumerate(((43, 70), (60, 40))):
            X, y = data(n, p, 3)
            some = options[(k + j) % len(options)]
            weights = WEIGHTS[:n] if (k + j) % 3 == 1 else None
            check_bits(model, X + 5.0, y, (0, 1, 12), sample_weight=weights, **some)


def test_of_tables_without_a_trap_only_what_leaves_is_answered_alone() -> None:
    for n, p, n_classes in ((60, 200, 2), (90, 150, 4)):
        rng = np.random.default_rng(n)
        X, y = rng.normal(size=(n, p)), np.arange(n) % n_classes
        X[:, 0] += y
        for model in [*BY_FOLD[:2], *BY_FOLD[3:7]]:
            n_open = check_bits(model, X, y, (0, 10, 25), cv=4)
            assert 35 <= n_open <= 45, model


def test_what_is_as_likely_as_not_is_answered_alone() -> None:
    # Opposite samples of opposite classes, and test samples amid them: every value is zero.
    rng = np.random.default_rng(2)
    half = rng.integers(-2, 3, (20, 40)).astype(float)
    X, y = np.vstack([half, -half, np.zeros((6, 40))]), np.repeat([0, 1, 0], [20, 20, 6])
    cv = [(np.arange(40), np.arange(40, 46))]
    for model in (BALANCED, make_pipeline(StandardScaler(), RidgeClassifier())):
        assert check_bits(model, X, y, (0, 5), cv=cv) == 80


@each("scale", [1e-5, 1.0, 1e5])
def test_columns_near_the_span_of_others(scale: float) -> None:
    # Those that add next to nothing to the base, and those of one sample.
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(50, 6)), np.arange(50) % 3
    near = X @ rng.normal(size=(6, 20)) + rng.normal(size=(50, 20)) * np.logspace(-14, 0, 20)
    far = rng.normal(size=(50, 10))
    far[np.arange(10), np.arange(10)] += np.logspace(0, 9, 10)
    X = scale * np.hstack([X, near, far])
    for model in [*BY_FOLD[:2], *BY_FOLD[3:]]:
        for base in (np.arange(36) < 6, np.arange(36) % 7 == 0):
            fitness = compile(model, X, y, cv=4, n_jobs=1)
            masks = Masks.neighbors(base, 36)
            expected = fitness.evaluate_splits(Masks.from_bool(masks.to_bool()))
            np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)


def test_threads_and_instruction_sets_agree() -> None:
    X, y = data(47, 120, 3)
    base = np.arange(120) % 8 == 1
    best = bitsieve.get_isa()
    for model in (BALANCED, BY_FOLD[3]):
        found = []
        for isa in bitsieve.available_isas():
            bitsieve.set_isa(isa)
            if not _core.has_fma():
                continue
            for n_jobs in (1, 3):
                fitness = compile(model, X, y, cv=4, n_jobs=n_jobs)
                found.append(fitness.evaluate_splits(Masks.neighbors(base, 120)))
        bitsieve.set_isa(best)
        for other in found[1:]:
            np.testing.assert_array_equal(found[0], other)


def test_the_twin_of_a_feature_that_joins() -> None:
    rng = np.random.default_rng(0)
    X, Y, weights = rng.normal(size=(30, 9)), rng.normal(size=(30, 2)), rng.uniform(0.2, 3, 30)
    split = np.arange(22), np.arange(22, 30)
    for fit_intercept in (True, False):
        options = {"alpha": 0.7, "fit_intercept": fit_intercept, "weights": weights}
        for scale in (1.0, 0.03):
            joined = twin_ridge.joined(X[:, :8], X[:, 8], scale, Y, split, **options)
            whole = np.column_stack([X[:, :8], scale * X[:, 8]])
            np.testing.assert_allclose(
                joined, twin_ridge.fit_split(whole, Y, split, **options), rtol=1e-10
            )


def test_neighbors_of_as_many_features_as_samples_are_answered_alone() -> None:
    # One feature far above the others: samples decline what features would have answered.
    declined = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 16))
        X = rng.normal(size=(n, n + 19))
        X[:, 0] *= 10 ** rng.uniform(2, 5)
        base = np.arange(n + 19) < n - 1
        near = Masks.neighbors(base, n + 19)
        fitness = compile(RidgeClassifier(), X, np.arange(n) % 2, cv=2, n_jobs=1)
        alone = compile(RidgeClassifier(), X, np.arange(n) % 2, cv=2, n_jobs=1)
        expected = alone.evaluate_splits(Masks.from_bool(near.to_bool()))
        assert np.array_equal(fitness.evaluate_splits(near), expected)
        assert fitness.n_declined == alone.n_declined
        declined += alone.n_declined
    assert declined > 0
