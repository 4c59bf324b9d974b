"""Compiled ridge regression beside scikit-learn, a twin, and itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import twin_ridge
from each import each, each_isa
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import (
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    cross_val_score,
)

import bitsieve
from bitsieve import KernelRidgeClassifier, Masks, _core
from bitsieve.fitness import compile
from bitsieve.fitness.ridge import KERNEL, _refusal_of_linear

Floats = NDArray[np.float64]

pytestmark = [
    pytest.mark.skipif(not _core.has_fma(), reason="needs a fused multiply-add"),
    pytest.mark.usefixtures("one_blas_thread"),
]

WEIGHTS = np.random.default_rng(5).integers(0, 3, 200).astype(np.float64)


def data(n: int, p: int, seed: int = 0, n_classes: int = 3) -> tuple[Floats, Any, Floats]:
    """Correlated z-scored columns, classes, and numbers far from zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 3)) @ rng.normal(size=(3, p))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    codes = rng.permutation(np.arange(n) % n_classes)
    return X, codes, 2 * X[:, 0] + rng.normal(size=n) + 50


def outputs(fitness: Any, masks: NDArray[np.bool_]) -> Any:
    """Classes and values of the test samples, and which masks are declined."""
    declined = np.zeros(len(masks), dtype=bool)
    seeds = np.zeros(len(masks), np.uint64)
    classes, values = fitness._core.outputs(Masks.from_bool(masks).words, seeds, 1, declined)
    return classes, values, declined


def check_equal(
    estimator: Any,
    X: Floats,
    y: Any,
    cv: Any,
    masks: NDArray[np.bool_],
    weights: Floats | None = None,
    may_decline: bool = False,
) -> None:
    """Decision values of every split to 1e-9 of the largest, and the same classes."""
    fitness = compile(estimator, X, y, cv=cv, n_jobs=1, sample_weight=weights)
    assert fitness.kernel == "ridge"
    classes, values, declined = outputs(fitness, masks)
    assert may_decline or not declined.any()
    for m in np.flatnonzero(~declined):
        begin = 0
        for train, test in fitness.splits(0):
            given = {} if weights is None else {"sample_weight": weights[train]}
            fitted = clone(estimator).fit(X[train][:, masks[m]], y[train], **given)
            inside = X[test][:, masks[m]]
            rows = slice(begin, begin + len(test))
            begin += len(test)
            if classes is None:
                wanted = fitted.predict(inside)
            else:
                assert (fitness.table.classes[classes[m, rows]] == fitted.predict(inside)).all()
                if len(fitted.classes_) != len(fitness.table.classes):
                    continue
                wanted = fitted.decision_function(inside)
            wanted = wanted.reshape(len(test), -1)
            np.testing.assert_allclose(
                values[m, rows], wanted, rtol=0, atol=1e-9 * np.abs(wanted).max()
            )


SPLITTERS = [
    5,
    RepeatedKFold(n_splits=4, n_repeats=3, random_state=0),
    ShuffleSplit(3, train_size=0.3, test_size=0.2, random_state=0),
    ShuffleSplit(3, train_size=0.7, test_size=0.2, random_state=0),
]


@each("cv", SPLITTERS)
def test_classifiers_equal_sklearn(cv: Any) -> None:
    models = [
        RidgeClassifier(),
        RidgeClassifier(alpha=1e-3, solver="svd"),
        RidgeClassifier(alpha=1e6),
        RidgeClassifier(class_weight="balanced"),
        RidgeClassifier(class_weight={0: 1, 1: 2.5, 2: 0.5}, fit_intercept=False),
        KernelRidgeClassifier(),
        KernelRidgeClassifier(kernel="rbf", class_weight={0: 1, 1: 2.5, 2: 0.5}),
        KernelRidgeClassifier(kernel="poly", degree=2, coef0=0.5, class_weight="balanced"),
    ]
    for n, p in ((40, 12), (41, 91)):
        X, y, _ = data(n, p)
        masks = np.random.default_rng(1).random((2, p)) < 0.5
        for k, model in enumerate(models):
            check_equal(model, X, y, cv, masks[k % 2 :][:1], WEIGHTS[:n] if (p + k) % 2 else None)
        check_equal(RidgeClassifier(), X, np.where(y > 0, "a", "b"), cv, masks, WEIGHTS[:n])


@each("cv", SPLITTERS)
def test_regressors_equal_sklearn(cv: Any) -> None:
    models = [
        Ridge(),
        Ridge(alpha=1e6),
        Ridge(fit_intercept=False),
        KernelRidge(),
        KernelRidge(kernel="rbf"),
        KernelRidge(kernel="rbf", gamma=0.01, alpha=0.1),
        KernelRidge(kernel="poly", degree=2),
        KernelRidge(kernel="polynomial", gamma=0.1, coef0=0.5),
    ]
    for n, p in ((40, 12), (41, 91)):
        X, _, y = data(n, p)
        masks = np.random.default_rng(1).random((2, p)) < 0.5
        for k, model in enumerate(models):
            weights = WEIGHTS[:n] if (p // 2 + k) % 2 else None
            check_equal(model, X + 0.5, y, cv, masks[k % 2 :][:1], weights)


@each("fit_intercept", [True, False])
def test_least_squares_equal_sklearn(fit_intercept: bool) -> None:
    model = LinearRegression(fit_intercept=fit_intercept)
    free = Ridge(alpha=0.0, fit_intercept=fit_intercept)
    for cv in SPLITTERS:
        for n, p in ((60, 16), (41, 200)):
            X, _, y = data(n, p)
            masks = np.random.default_rng(1).random((1, p)) < 0.5
            for weights in (None, WEIGHTS[:n] + 1):
                check_equal(model, X, y, cv, masks, weights)
                check_equal(free, X, y, cv, masks, weights, may_decline=p > n)
    # From fewer features than training samples to more of them than samples.
    X, _, y = data(30, 50)
    walk = np.arange(50) < np.arange(20, 36)[:, None]
    check_equal(model, X, y, 5, walk, may_decline=True)


def test_the_twin_agrees() -> None:
    X, _, y = data(37, 60)
    mask = np.random.default_rng(0).random(60) < 0.5
    fitness = compile(Ridge(alpha=0.3), X, y, cv=ShuffleSplit(4, random_state=0), n_jobs=1)
    splits = fitness.splits(0)
    Z, Y, ones = X[:, mask], y[:, None], np.ones(37)
    values = outputs(fitness, mask[None])[1][0]
    direct = [
        twin_ridge.fit_split(Z, Y, split, alpha=0.3, fit_intercept=True, weights=ones)
        for split in splits
    ]
    at_once = twin_ridge.left_out(Z @ Z.T, Y, splits, alpha=0.3, weights=ones)
    np.testing.assert_allclose(np.vstack(direct), values, rtol=1e-11)
    np.testing.assert_allclose(np.vstack(at_once), values, rtol=1e-11)


def test_every_score_and_leaving_one_out() -> None:
    X, y, numbers = data(45, 70)
    mask = np.random.default_rng(0).random(70) < 0.5
    cases: list[tuple[Any, Any, Any, Any]] = [
        (RidgeClassifier(), y > 0, "roc_auc", 5),
        (RidgeClassifier(), y > 0, "average_precision", 5),
        (RidgeClassifier(), y, "f1_macro", 5),
        (RidgeClassifier(class_weight="balanced"), y, "balanced_accuracy", 5),
        (KernelRidgeClassifier(kernel="rbf", gamma=0.1), y > 0, "roc_auc", 5),
        (Ridge(), numbers, "neg_median_absolute_error", 5),
        (Ridge(), numbers, "neg_mean_squared_error", LeaveOneOut()),
        (KernelRidge(kernel="rbf"), numbers, None, 5),
    ]
    for estimator, target, scoring, cv in cases:
        fitness = compile(estimator, X, target, cv=cv, scoring=scoring, n_jobs=1)
        assert fitness.kernel == "ridge"
        expected = cross_val_score(estimator, X[:, mask], target, cv=cv, scoring=scoring)
        np.testing.assert_allclose(fitness.evaluate_splits(mask[None])[0], expected, atol=1e-9)


def test_a_training_part_may_lack_a_class() -> None:
    X, y, _ = data(30, 40)
    order = np.arange(30)
    alone, pair = order[y == 1], order[y < 2]
    cv = [(alone[:5], order[y == 0]), (pair, order[y == 2]), (order[5:], order[:5])]
    masks = np.random.default_rng(0).random((4, 40)) < 0.5
    for model in (RidgeClassifier(), RidgeClassifier(class_weight="balanced")):
        check_equal(model, X, y, cv, masks)
        check_equal(model, X, y > 0, [(alone[:5], order[y == 0]), (order[5:], order[:5])], masks)
    for kernel in ("linear", "rbf"):
        for weights in (None, "balanced"):
            of_kernel = KernelRidgeClassifier(kernel=kernel, class_weight=weights)
            check_equal(of_kernel, X, y, cv[1:], masks)
            with pytest.raises(
                ValueError, match="KernelRidgeClassifier trains on at least 2 class"
            ):
                compile(of_kernel, X, y, cv=cv, n_jobs=1)


def test_singular_masks_are_sklearns() -> None:
    X, _, y = data(60, 12)
    X = np.column_stack([X, X[:, 0], X[:, 1] * (1 + 1e-10), np.ones(60)])
    masks = np.zeros((4, 15), dtype=bool)
    masks[0, [0, 2, 3]] = True
    masks[1, [0, 2, 12]] = True  # a copy
    masks[2, [1, 2, 13]] = True  # nearly one
    masks[3, [1, 2, 14]] = True  # a constant
    fitness = compile(LinearRegression(), X, y, cv=5, n_jobs=1)
    expected = [cross_val_score(LinearRegression(), X[:, mask], y, cv=5) for mask in masks]
    np.testing.assert_allclose(fitness.evaluate_splits(masks), expected, rtol=1e-9)
    assert fitness.n_declined == 3
    assert outputs(fitness, masks)[2].tolist() == [False, True, True, True]
    # A penalty holds them apart.
    check_equal(Ridge(), X, y, 5, masks)


def test_singular_values_that_would_be_cut_are_sklearns() -> None:
    X, _, y = data(60, 6)
    X[:, 3] *= 1e-7
    mask = np.ones((1, 6), dtype=bool)
    fitness = compile(LinearRegression(), X, y, cv=5, n_jobs=1)
    expected = cross_val_score(LinearRegression(), X, y, cv=5)
    np.testing.assert_allclose(fitness.evaluate_splits(mask)[0], expected, rtol=1e-9)
    assert fitness.n_declined == 1


def test_raw_tables_as_near_as_sklearns_solvers_are() -> None:
    rng = np.random.default_rng(3)
    for n, p in ((80, 10), (40, 120)):
        X = rng.gamma(2.0, size=(n, p)) * np.logspace(-1, 2, p) + 100
        y = X[:, 0] + rng.normal(size=n)
        masks = rng.random((4, p)) < 0.5
        fitness = compile(Ridge(), X, y, cv=5, n_jobs=1)
        _, values, declined = outputs(fitness, masks)
        assert not declined.any()
        for m, mask in enumerate(masks):
            found = []
            for solver in ("cholesky", "svd"):
                model = Ridge(solver=solver)
                parts = [
                    clone(model).fit(X[train][:, mask], y[train]).predict(X[test][:, mask])
                    for train, test in fitness.splits(0)
                ]
                found.append(np.concatenate(parts))
            apart = np.abs(found[0] - found[1]).max()
            ours = min(np.abs(values[m, :, 0] - one).max() for one in found)
            assert ours <= 100 * apart + 1e-12 * np.abs(found[1]).max()


def test_more_samples_than_matrices() -> None:
    rng = np.random.default_rng(0)
    n = _core.matrix_samples + 200
    X = rng.normal(size=(n, 9))
    y = X[:, 0] + rng.normal(size=n)
    masks = np.vstack([np.arange(9) == 2, rng.random((2, 9)) < 0.6])
    for model in (Ridge(), LinearRegression(), Ridge(fit_intercept=False)):
        check_equal(model, X, y, 3, masks)
    check_equal(RidgeClassifier(class_weight="balanced"), X, y > 0, 3, masks)


@each_isa
def test_same_bits_whatever_is_beside_a_mask(isa: str) -> None:
    if not _core.has_fma():
        return
    X, y, _ = data(43, 130)
    masks = np.random.default_rng(2).random((9, 130)) < np.linspace(0.05, 0.95, 9)[:, None]
    of_kernel = KernelRidgeClassifier(kernel="rbf", gamma=0.01)
    for model in (RidgeClassifier(), RidgeClassifier(class_weight="balanced"), of_kernel):
        fitness = compile(model, X, y, cv=4, n_jobs=1)
        together = outputs(fitness, masks)[1]
        for m in range(9):
            alone = outputs(compile(model, X, y, cv=4, n_jobs=2), masks[m : m + 1])[1]
            assert np.array_equal(alone[0], together[m])
        bitsieve.set_isa(bitsieve.available_isas()[-1])
        assert np.array_equal(outputs(fitness, masks)[1], together)
        bitsieve.set_isa(isa)


def test_what_a_kernel_function_does_not_read_may_be_anything() -> None:
    X, _, numbers = data(40, 12)
    masks = np.random.default_rng(0).random((4, 12)) < 0.6
    for kernel, unread in (("rbf", {"degree": 100}), ("linear", {"degree": 100, "gamma": 1e9})):
        plain = compile(KernelRidge(kernel=kernel), X, numbers, cv=4)
        fitness = compile(KernelRidge(kernel=kernel, **unread), X, numbers, cv=4)
        assert fitness.kernel == "ridge"
        assert np.array_equal(fitness.evaluate(masks), plain.evaluate(masks))


def test_least_squares_of_older_versions_have_no_tolerance() -> None:
    class Older(LinearRegression):
        def __init__(self) -> None:
            self.fit_intercept, self.positive = True, False

    Older.__name__ = "LinearRegression"
    assert _refusal_of_linear(Older()) is None


def test_what_has_no_kernel_is_refused() -> None:
    X, y, numbers = data(40, 30)

    def refusal(model: Any, X: Any, target: Any) -> str:
        return KERNEL.refusal(compile(model, X, target, n_jobs=1).problem) or ""

    cases = [
        (Ridge(positive=True), "positive=True has no kernel"),
        (Ridge(solver="lsqr"), "solver 'lsqr' has no kernel, since it stops short of the solution"),
        (Ridge(alpha=[1.0]), "alpha that is not one number has no kernel"),
        (LinearRegression(positive=True), "positive=True has no kernel"),
        (LinearRegression(tol=1e-3), "tol=0.001 has no kernel (at most 1e-06 has)"),
        (KernelRidge(kernel="laplacian"), "kernel 'laplacian' has no kernel"),
        (KernelRidge(kernel=np.dot), "kernel of your own has no kernel"),
        (KernelRidge(kernel="rbf", gamma=0.0), "gamma=0 has no kernel"),
        (KernelRidge(kernel="poly", degree=2.5), "degree=2.5 has no kernel"),
        (KernelRidge(alpha=0), "alpha=0 has no kernel in KernelRidge"),
        (KernelRidgeClassifier(kernel="laplacian"), "kernel 'laplacian' has no kernel"),
        (KernelRidgeClassifier(alpha=0), "alpha=0 has no kernel in KernelRidgeClassifier"),
        (
            KernelRidgeClassifier(class_weight={0: 1.0}),
            "class_weight that does not weigh every class has no kernel",
        ),
        (RidgeClassifier(solver="sag"), "solver 'sag' has no kernel"),
        (
            RidgeClassifier(class_weight={0: 1.0}),
            "class_weight that does not weigh every class has no kernel",
        ),
    ]
    for model, reason in cases:
        target = y if is_classifier(model) else numbers
        assert refusal(model, X, target).startswith(reason)
    assert refusal(Ridge(), X.astype(np.float32), numbers).startswith("values in float32")
    many = np.random.default_rng(0).normal(size=(_core.matrix_samples + 1, 3))
    reason = "more than 1,536 samples have no kernel"
    assert refusal(KernelRidge(kernel="rbf"), many, many[:, 0]) == reason
