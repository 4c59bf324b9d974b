"""The kernel against the twin: every instruction set, odd sizes, tables with troubles.

The expected scores are exact: a comparison of distances that the kernel leaves to rounding shows
here as a difference. No tolerance anywhere.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tables
import twin_knn
from each import each, each_isa
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import Masks, _core
from bitsieve.fitness import compile

N = (2, 3, 5, 15, 16, 17, 31, 33, 63, 64, 65, 111, 171)
P = (1, 2, 63, 64, 65, 130, 1000)
K = (1, 3, 1, 5, 2)
Case = tuple[str, int, int, int, int]


def _case(kind: str, n: int, i: int) -> Case:
    """Spread features, neighbors and classes over the cases."""
    k = K[i % len(K)] if n > 10 else 1
    return kind, n, P[i % len(P)], k, 2 + i % 9


CASES = [
    *(
        _case(kind, n, 5 * a + 3 * b)
        for a, kind in enumerate(tables.KINDS)
        for b, n in enumerate(N)
        if ((a + b) % 2 == 0 or n in (17, 65)) and not (kind == "close" and n == 2)
    ),
    *(("float64", n, p, k, 3) for n in (31, 65) for p in P for k in (1, 3)),
    *(("integers", 33, 65, 1, classes) for classes in range(2, 11)),
    *(("float32", 64, 130, 5, classes) for classes in range(2, 11)),
]


@functools.cache
def _setup(case: Case):
    kind, n, p, k, n_classes = case
    rng = np.random.default_rng([n, p, k, n_classes, *kind.encode()])
    X, y = tables.table(kind, rng, n, p), tables.labels(rng, n, n_classes)
    splits, masks = tables.splits(rng, n, k), tables.masks(rng, p)
    expected = {
        scoring: twin_knn.evaluate_splits(X, y, masks, splits, k, scoring)
        for scoring in ("accuracy", "balanced_accuracy")
    }
    return X, y, splits, masks, expected


@pytest.mark.parametrize("kind", tables.KINDS)
def test_scores(kind: str) -> None:
    each("case", [case for case in CASES if case[0] == kind])(each_isa(_same_as_twin))()


def _same_as_twin(isa: str, case: Case) -> None:
    X, y, splits, masks, expected = _setup(case)
    for scoring, scores in expected.items():
        fitness = compile(KNeighborsClassifier(case[3]), X, y, scoring=scoring, cv=splits, n_jobs=1)
        assert fitness.kernel == "knn"
        np.testing.assert_array_equal(fitness.evaluate_splits(masks), scores)
        # Now from states that are kept, one by one and backwards.
        again = np.concatenate([fitness.evaluate_splits(mask) for mask in masks[::-1]])
        np.testing.assert_array_equal(again[::-1], scores)


@each("case", CASES[::5])
@each_isa
def test_votes(isa: str, case: Case) -> None:
    X, y, splits, masks, _ = _setup(case)
    k = case[3]
    fitness = compile(KNeighborsClassifier(k), X, y, cv=splits, n_jobs=1)
    masks = masks[masks.any(axis=1)]
    codes, n_classes = np.unique(y, return_inverse=True)[1], len(np.unique(y))
    words, seeds = Masks.from_bool(masks).words, np.zeros(len(masks), np.uint64)
    given, got = fitness._core.outputs(words, seeds, 1)
    for m, mask in enumerate(masks):
        d = twin_knn.distances(X, mask)
        parts = [twin_knn.votes(d, codes, n_classes, split, k) for split in splits]
        np.testing.assert_array_equal(got[m], np.concatenate(parts) / k)
        # A tied vote goes to the lowest class.
        np.testing.assert_array_equal(given[m], np.concatenate(parts).argmax(axis=1))


@pytest.mark.parametrize("kind", ["float64", "integers", "scales", "close"])
@each("n", [_core.matrix_samples - 1, _core.matrix_samples, 1537, 1601])
@each("k", [1, 3])
def test_many_samples(kind: str, k: int, n: int) -> None:
    """Beyond some number of samples no matrix is kept: rows come block by block."""
    rng = np.random.default_rng(n)
    X, y = tables.table(kind, rng, n, 9), tables.labels(rng, n, 3)
    test = rng.permutation(n)[:60]
    splits = [(np.setdiff1d(np.arange(n), test), test), (test, np.setdiff1d(np.arange(n), test))]
    masks = np.array([[False] * 9, [True] * 9, [True] * 4 + [False] * 5])
    fitness = compile(KNeighborsClassifier(k), X, y, cv=splits, n_jobs=2)
    expected = twin_knn.evaluate_splits(X, y, masks, splits, k)
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)
    np.testing.assert_array_equal(
        fitness.evaluate_splits(Masks.neighbors(masks[2], 9, [4, 0])),
        twin_knn.evaluate_splits(X, y, masks[[2, 2]] ^ np.eye(9, dtype=bool)[[4, 0]], splits, k),
    )


def test_one_distance_of_three_roads() -> None:
    """A sample whose neighbors differ in the last bit: any other sum would choose another."""
    rng = np.random.default_rng(5)
    p = 41
    target = rng.normal(size=p)
    direction = rng.normal(size=p)
    # Many samples at one distance from the target, apart from rounding.
    X = np.concatenate([[target], target + direction * rng.choice([-1, 1], (200, p))])
    y = rng.integers(0, 2, 201)
    splits = [(np.arange(1, 201), np.array([0])), (np.arange(0, 201, 2), np.arange(1, 201, 2))]
    masks = rng.random((60, p)) < 0.7
    fitness = compile(KNeighborsClassifier(1), X, y, cv=splits, n_jobs=1)
    expected = twin_knn.evaluate_splits(X, y, masks, splits)
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)
    assert 0.1 < expected[:, 0].mean() < 0.9


def test_every_road_is_taken() -> None:
    """Close distances ask the exact re-check, close masks a kept state: both are reached."""
    X, y, splits, masks, _ = _setup(("close", 65, 130, 1, 3))
    fitness = compile(KNeighborsClassifier(1), X, y, cv=splits, n_jobs=1)
    fitness.evaluate(masks)
    assert fitness._core.counters()["rechecked"] > 0
    fitness.evaluate(Masks.neighbors(masks[4], 130))
    assert fitness._core.counters()["flips_open"] > 0
    before = fitness._core.counters()["fixed_features"]
    near = masks[4] ^ np.eye(130, dtype=bool)[:60]
    for _ in range(3):
        fitness.evaluate(near)
        fitness.evaluate(~near)
    assert fitness._core.counters()["fixed_features"] > before


def test_ties_go_to_the_lowest_index() -> None:
    X = np.array([[0.0], [1.0], [-1.0], [1.0], [-1.0]])
    masks = np.array([[True]])
    for y, expected in (([1, 1, 0, 0, 0], 1.0), ([1, 0, 1, 1, 1], 0.0)):
        fitness = compile(KNeighborsClassifier(1), X, y, cv=[([4, 3, 2, 1], [0])])
        assert fitness.evaluate(masks) == expected


def test_tied_votes_go_to_the_lowest_class() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    masks = np.array([[True]])
    for y, expected in ((["a", "b", "a", "b", "a"], 1.0), (["b", "b", "a", "a", "b"], 0.0)):
        fitness = compile(KNeighborsClassifier(4), X, y, cv=[([1, 2, 3, 4], [0])])
        assert fitness.evaluate(masks) == expected


def test_a_sample_that_trains_on_itself_is_its_own_neighbor() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), np.arange(20) % 2
    everything = np.arange(20)
    splits = [(everything, everything), (everything[:15], everything[10:])]
    masks = rng.random((10, 4)) < 0.6
    masks[:, 0] = True
    for k in (1, 3):
        fitness = compile(KNeighborsClassifier(k), X, y, cv=splits, n_jobs=1)
        expected = twin_knn.evaluate_splits(X, y, masks, splits, k)
        np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)


@each("exponent", [-60, -100, -200, -400])
def test_columns_that_float32_cannot_hold(exponent: int) -> None:
    """Either the general way or the kernel, but never a column taken for constant."""
    rng = np.random.default_rng(6)
    X = rng.permuted(np.tile(np.arange(40.0), (4, 1)), axis=1).T
    X[:, 0] *= 2.0**exponent
    X[:, 1] = rng.normal(size=40)
    y = np.arange(40) % 2
    splits = [(np.arange(30), np.arange(30, 40)), (np.arange(10, 40), np.arange(10))]
    for columns in ([0, 1, 2, 3], [0, 2, 3]):
        part = np.ascontiguousarray(X[:, columns])
        masks = np.eye(len(columns), dtype=bool)
        fitness = compile(KNeighborsClassifier(1), part, y, cv=splits, n_jobs=1)
        expected = twin_knn.evaluate_splits(part, y, masks, splits)
        assert 0 < expected[0].mean() < 1
        if fitness.kernel == "knn":
            np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)
            near = Masks.neighbors(np.zeros(len(columns), bool), len(columns))
            np.testing.assert_array_equal(fitness.evaluate_splits(near), expected)


def test_hot_copies_of_either_type_answer_alike() -> None:
    rng = np.random.default_rng(3)
    X, y = tables.table("scales", rng, 60, 40), tables.labels(rng, 60, 4)
    masks = tables.masks(rng, 40)
    answers = [
        compile(
            KNeighborsClassifier(3),
            X,
            y,
            cv=tables.splits(np.random.default_rng(1), 60, 3),
            dtype=dtype,
        ).evaluate_splits(masks)
        for dtype in (None, np.float32, np.float64)
    ]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])
