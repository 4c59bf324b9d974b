"""Weights by distance, and numbers: against the twin, and against ``cross_val_score``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tables
import twin_knn
from each import each, each_isa
from sklearn.metrics import make_scorer, max_error
from sklearn.model_selection import RepeatedKFold, ShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bitsieve import Masks, _core
from bitsieve.fitness import compile

RNG = np.random.default_rng(11)
N = 61


def _outputs(fitness: Any, masks: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    words = Masks.from_bool(masks).words
    return fitness._core.outputs(words, np.zeros(len(masks), np.uint64), 1)


@pytest.mark.parametrize("kind", tables.KINDS)
@each_isa
def test_the_twin_in_every_bit(isa: str, kind: str) -> None:
    for n, p, k in [(17, 3, 3), (33, 65, 2), (65, 130, 5), (31, 16, 1)]:
        rng = np.random.default_rng([n, p, *kind.encode()])
        X, codes = tables.table(kind, rng, n, p), tables.labels(rng, n, 3)
        numbers = rng.normal(size=n)
        masks, splits = tables.masks(rng, p), tables.splits(rng, n, k)
        masks = masks[masks.any(axis=1)]
        for weights in ("uniform", "distance"):
            voter = compile(KNeighborsClassifier(k, weights=weights), X, codes, cv=splits)
            mean = compile(KNeighborsRegressor(k, weights=weights), X, numbers, cv=splits)
            assert voter.kernel == mean.kernel == "knn"
            given, shares = _outputs(voter, masks)
            none, means = _outputs(mean, masks)
            assert none is None
            for m, mask in enumerate(masks):
                d = twin_knn.distances(X, mask)
                rows = [twin_knn.weighed(d, codes, 3, split, k, weights) for split in splits]
                np.testing.assert_array_equal(shares[m], np.concatenate(rows))
                np.testing.assert_array_equal(given[m], shares[m].argmax(axis=1))
                rows = [twin_knn.weighed(d, numbers, 0, split, k, weights) for split in splits]
                np.testing.assert_array_equal(means[m], np.concatenate(rows))


@pytest.mark.usefixtures("one_blas_thread")
@each("k", [1, 5])
@each("weights", ["uniform", "distance"])
@each("p", [12, 40])  # scikit-learn takes a tree for few features and products for many
def test_sklearn(k: int, weights: str, p: int) -> None:
    rng = np.random.default_rng(p)
    X = rng.normal(size=(N, p))
    codes = (X[:, 0] + rng.normal(size=N) > 0.3).astype(int)
    numbers = X[:, 0] - X[:, 1] + rng.normal(size=N)
    masks = np.concatenate([rng.random((2, p)) < 0.5, np.ones((1, p), bool)])
    masks[:, 0] = True
    cases: list[tuple[Any, np.ndarray, Any]] = [
        *(
            (KNeighborsClassifier(k, weights=weights), codes, s)
            for s in ("accuracy", "neg_log_loss", "roc_auc")
        ),
        *(
            (KNeighborsRegressor(k, weights=weights), numbers, s)
            for s in ("r2", "neg_mean_absolute_error", make_scorer(max_error))
        ),
    ]
    for estimator, y, scoring in cases:
        cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
        fitness = compile(estimator, X, y, scoring=scoring, cv=cv)
        assert fitness.kernel == "knn"
        expected = [
            cross_val_score(estimator, X[:, mask], y, scoring=scoring, cv=cv) for mask in masks
        ]
        np.testing.assert_allclose(fitness.evaluate_splits(masks), expected, rtol=1e-9)


def test_equal_samples_take_all_the_weight() -> None:
    X = np.array([[0.0], [0.0], [1.0], [1.0], [0.0]])
    y, numbers = np.array([1, 0, 1, 1, 0]), np.array([0.0, 3.0, 100.0, 100.0, 6.0])
    cv = [([1, 2, 3, 4], [0])]
    masks = np.array([[True]])
    expected = {"uniform": [0.5, 0.5], "distance": [1.0, 0.0]}
    for weights, shares in expected.items():
        fitness = compile(KNeighborsClassifier(4, weights=weights), X, y, cv=cv)
        assert _outputs(fitness, masks)[1].tolist() == [[shares]]
        theirs = KNeighborsClassifier(4, weights=weights).fit(X[1:], y[1:]).predict_proba(X[:1])
        assert theirs.tolist() == [shares]
    fitness = compile(KNeighborsRegressor(4, weights="distance"), X, numbers, cv=cv)
    assert _outputs(fitness, masks)[1].tolist() == [[[4.5]]]


@each("n", [_core.matrix_samples + 65])
def test_many_samples(n: int) -> None:
    rng = np.random.default_rng(n)
    X, numbers = tables.table("close", rng, n, 9), rng.normal(size=n)
    cv = ShuffleSplit(2, test_size=0.05, random_state=0)
    mask = np.arange(9) < 6
    d = twin_knn.distances(X, mask)
    for weights in ("uniform", "distance"):
        fitness = compile(KNeighborsRegressor(3, weights=weights), X, numbers, cv=cv, n_jobs=2)
        expected = [twin_knn.weighed(d, numbers, 0, s, 3, weights) for s in fitness.splits()]
        given = _outputs(fitness, mask[None])[1][0]
        np.testing.assert_array_equal(given, np.concatenate(expected))


def test_many_samples_of_few_features_are_left_to_trees() -> None:
    X, y = np.zeros((50_001, 2), np.float32), np.arange(50_001) % 2
    X[:, 0] = y
    cv = [(np.arange(9), np.arange(9, 18))]
    for estimator in (
        KNeighborsRegressor(2),
        KNeighborsClassifier(2, weights="distance"),
        make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
    ):
        scoring = "r2" if isinstance(estimator, KNeighborsRegressor) else "accuracy"
        reason = str(compile(estimator, X, y, cv=cv, scoring=scoring).fallback_reason)
        assert "more than 50,000 samples of at most 30 features have no kernel" in reason
        few = compile(estimator, X[:-1], y[:-1], cv=cv, scoring=scoring)
        assert few.kernel == "knn"
    assert compile(KNeighborsClassifier(2), X, y, cv=cv).kernel == "knn"


@each(
    ("options", "kernel"),
    [
        ({"metric": "l2"}, "knn"),
        ({"metric": "euclidean", "algorithm": "ball_tree"}, "knn"),
        ({"metric": "sqeuclidean"}, "knn"),
        ({"metric": "minkowski", "p": 2, "weights": None}, "knn"),
        ({"metric": "sqeuclidean", "weights": "distance"}, None),
        ({"metric": "sqeuclidean", "algorithm": "kd_tree"}, None),
        ({"metric": "minkowski", "p": 1}, None),
        ({"metric": "cosine"}, None),
        ({"metric": np.dot}, None),
        ({"weights": np.ones_like}, None),
        ({"metric_params": {"w": np.ones(4)}}, None),
    ],
)
def test_what_has_a_kernel(options: dict[str, Any], kernel: str | None) -> None:
    X, y = RNG.normal(size=(20, 4)), RNG.normal(size=20)
    for estimator, target in (
        (KNeighborsClassifier(2, **options), y > 0),
        (KNeighborsRegressor(2, **options), y),
    ):
        fitness = compile(estimator, X, target, cv=2)
        assert fitness.kernel == kernel
        assert kernel is not None or "has no kernel" in fitness.fallback_reason
        if kernel is not None:
            expected = cross_val_score(estimator, X, target, cv=2)
            np.testing.assert_allclose(fitness.evaluate_splits([[True] * 4])[0], expected)
