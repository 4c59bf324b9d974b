"""A scaler and k nearest neighbors: against the twin, and against ``cross_val_score``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tables
import twin_knn
from each import each, each_isa
from sklearn.model_selection import LeaveOneOut, RepeatedKFold, ShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from bitsieve import Masks, _core
from bitsieve.fitness import compile
from bitsieve.fitness.pipelines import scaler_options

SCALERS = (
    StandardScaler(),
    MinMaxScaler((-1, 3)),
    MaxAbsScaler(),
    RobustScaler(quantile_range=(10, 80), unit_variance=True),
)


def _outputs(fitness: Any, masks: np.ndarray, seed: int = 0) -> tuple[Any, np.ndarray]:
    words = Masks.from_bool(masks).words
    return fitness._core.outputs(words, np.full(len(masks), seed, np.uint64), 1)


def _inverses(fitness: Any, scaler: Any, seed: int = 0) -> np.ndarray:
    """Return the inverse scales (n_splits, n_features), as the core measures them."""
    pairs = fitness.splits(seed)
    parts: dict[str, np.ndarray] = {}
    for k, name in enumerate(("train", "test")):
        lists = [pair[k] for pair in pairs]
        parts[name] = np.concatenate(lists).astype(np.int64)
        parts[f"{name}_begin"] = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    core = _core.FoldScaler(fitness.table.core, scaler_options(scaler))
    features = np.arange(fitness.n_features, dtype=np.int32)
    return 1.0 / core.measure(features=features, **parts)[1].T


def _twin(fitness: Any, scaler: Any, mask: np.ndarray, k: int, weights: str, seed: int = 0) -> Any:
    table = fitness.table
    n_classes = 0 if table.codes is None else len(table.classes)
    target = table.y if table.codes is None else table.codes
    rows = []
    inverses = _inverses(fitness, scaler, seed)
    for split, inverse in zip(fitness.splits(seed), inverses, strict=True):
        d = twin_knn.scaled_distances(table.X, mask, inverse)
        rows.append(twin_knn.weighed(d, target, n_classes, split, k, weights))
    return np.concatenate(rows)


@pytest.mark.parametrize("kind", tables.KINDS)
@each_isa
def test_the_twin_in_every_bit(isa: str, kind: str) -> None:
    for number, (n, p, k) in enumerate([(17, 3, 3), (33, 65, 1), (65, 130, 5), (31, 200, 2)]):
        rng = np.random.default_rng([n, p, *kind.encode()])
        X, codes = tables.table(kind, rng, n, p), tables.labels(rng, n, 3)
        masks, splits = tables.masks(rng, p), tables.splits(rng, n, k)
        masks = masks[masks.any(axis=1)][::2]
        scaler = SCALERS[number]
        for weights in ("uniform", "distance"):
            voter = make_pipeline(scaler, KNeighborsClassifier(k, weights=weights))
            mean = make_pipeline(scaler, KNeighborsRegressor(k, weights=weights))
            for model, y in ((voter, codes), (mean, rng.normal(size=n))):
                fitness = compile(model, X, y, cv=splits)
                assert fitness.kernel == "knn"
                given, values = _outputs(fitness, masks)
                for m, mask in enumerate(masks):
                    expected = _twin(fitness, scaler, mask, k, weights)
                    np.testing.assert_array_equal(values[m], expected)
                    if given is not None:
                        np.testing.assert_array_equal(given[m], expected.argmax(axis=1))


@pytest.mark.usefixtures("one_blas_thread")
@each("scaler", SCALERS)
@each("p", [12, 60])
def test_sklearn(scaler: Any, p: int) -> None:
    rng = np.random.default_rng(p)
    X = rng.normal(size=(61, p)) * 10.0 ** rng.uniform(-3, 3, p) + 50.0
    codes = (X[:, 0] > 50).astype(int)
    numbers = rng.normal(size=61)
    masks = np.concatenate([rng.random((2, p)) < 0.5, np.ones((1, p), bool)])
    masks[:, 0] = True
    cases: list[tuple[Any, np.ndarray, Any]] = [
        (KNeighborsClassifier(1), codes, None),
        (KNeighborsClassifier(5), codes, "roc_auc"),
        (KNeighborsClassifier(5, weights="distance"), codes, "neg_log_loss"),
        (KNeighborsRegressor(3), numbers, None),
        (KNeighborsRegressor(3, weights="distance"), numbers, "neg_mean_absolute_error"),
    ]
    for last, y, scoring in cases:
        estimator = make_pipeline(scaler, last)
        cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
        fitness = compile(estimator, X, y, scoring=scoring, cv=cv)
        assert fitness.kernel == "knn"
        expected = [
            cross_val_score(estimator, X[:, mask], y, scoring=scoring, cv=cv) for mask in masks
        ]
        np.testing.assert_allclose(fitness.evaluate_splits(masks), expected, rtol=1e-9)


def test_fresh_folds_and_several_seeds_in_a_batch() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 30)), np.arange(40) % 3
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    fitness = compile(model, X, y, cv=4, n_repeats=2, resample=True, n_jobs=2)
    masks, seeds = rng.random((6, 30)) < 0.5, np.array([3, 1, 3, 2, 1, 3], np.uint64)
    together = fitness.evaluate_splits(masks, seeds=seeds)
    for mask, seed, got in zip(masks, seeds.tolist(), together, strict=True):
        np.testing.assert_array_equal(got, fitness.evaluate_splits(mask[None], seeds=seed)[0])
        expected = cross_val_score(model, X[:, mask], y, cv=fitness.splits(seed))
        np.testing.assert_array_equal(got, expected)


@each("cv", [LeaveOneOut(), ShuffleSplit(3, test_size=0.3, train_size=0.4, random_state=3)])
def test_any_splits(cv: Any) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(37, 20)), np.arange(37) % 2
    model = make_pipeline(MinMaxScaler(), KNeighborsClassifier(3))
    fitness = compile(model, X, y, cv=cv)
    masks = rng.random((4, 20)) < 0.5
    expected = [cross_val_score(model, X[:, mask], y, cv=cv) for mask in masks]
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)


def test_scales_beyond_float32() -> None:
    """What float32 cannot hold once scaled is left to float64."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 8)), np.arange(30) % 2
    X[:, 3] *= 1e-25
    X[:, 5] = 0.0
    X[7, 5] = 1e17  # where it is tested, the others are constant: a scale of 1
    X[:, 6] = 1e-12 * (np.arange(30) == 9)
    splits = [
        (np.setdiff1d(np.arange(30), test), test) for test in (np.arange(8), np.arange(8, 20))
    ]
    for scaler in SCALERS[:3]:
        model = make_pipeline(scaler, KNeighborsClassifier(3))
        fitness = compile(model, X, y, cv=splits)
        assert fitness.kernel == "knn"
        masks = np.array([[True] * 8, [True] * 5 + [False] * 3, [False] * 4 + [True] * 4])
        values = _outputs(fitness, masks)[1]
        for m, mask in enumerate(masks):
            np.testing.assert_array_equal(values[m], _twin(fitness, scaler, mask, 3, "uniform"))


@each("n", [_core.matrix_samples + 65])
@each("n_jobs", [1, 3])
def test_many_samples(n_jobs: int, n: int) -> None:
    rng = np.random.default_rng(n)
    X, y = tables.table("scales", rng, n, 9), tables.labels(rng, n, 3)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    cv = ShuffleSplit(2, test_size=0.4, random_state=0)
    fitness = compile(model, X, y, cv=cv, n_jobs=n_jobs)
    masks = np.array([[True] * 9, [True] * 4 + [False] * 5])
    expected = [cross_val_score(model, X[:, mask], y, cv=cv) for mask in masks]
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)


def test_a_scaler_that_only_centers_changes_nothing() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(30, 6)), np.arange(30) % 2
    masks = rng.random((5, 6)) < 0.7
    bare = compile(KNeighborsClassifier(3), X, y)
    for scaler in (StandardScaler(with_std=False), RobustScaler(with_scaling=False)):
        fitness = compile(make_pipeline(scaler, KNeighborsClassifier(3)), X, y)
        assert type(fitness) is type(bare)
        np.testing.assert_array_equal(fitness.evaluate(masks), bare.evaluate(masks))
