"""Random small tables with many ties: the kernel equals the twin, always."""

from __future__ import annotations

import numpy as np
import twin_knn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from bitsieve import Masks
from bitsieve.fitness import compile


@st.composite
def problems(draw):
    """Integers from a narrow range, perhaps scaled or moved, under any splits that hold k."""
    n, p = draw(st.integers(2, 24)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.integers(0, draw(st.integers(2, 6)), (n, p)).astype(draw(st.sampled_from("fd")))
    if draw(st.booleans()):
        X = X * rng.choice([1e-3, 1 / 3, 1.0, 7.0, 1e4], p) + rng.choice([0.0, 0.1, 1e5], p)
    y = rng.integers(0, draw(st.integers(2, 5)), n)
    y[:2] = 0, 1
    X[0, 0] = X[1, 0] + 1  # something varies
    splits = []
    for _ in range(draw(st.integers(1, 70))):
        order = rng.permutation(n)
        cut = int(rng.integers(1, n))
        splits.append((order[:cut], order[cut : int(rng.integers(cut + 1, n + 1))]))
    k = draw(st.integers(1, min(len(train) for train, _ in splits)))
    masks = rng.random((draw(st.integers(1, 6)), p)) < rng.random()
    return X, y, splits, k, masks


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(problems(), st.sampled_from(["accuracy", "balanced_accuracy"]))
def test_kernel_equals_twin(problem, scoring: str) -> None:
    X, y, splits, k, masks = problem
    fitness = compile(KNeighborsClassifier(k), X, y, scoring=scoring, cv=splits, n_jobs=1)
    assert fitness.kernel == "knn"
    expected = twin_knn.evaluate_splits(X, y, masks, splits, k, scoring)
    np.testing.assert_array_equal(fitness.evaluate_splits(masks), expected)
    p = X.shape[1]
    near = masks[0] ^ np.eye(p, dtype=bool)
    np.testing.assert_array_equal(
        fitness.evaluate_splits(Masks.neighbors(masks[0], p)),
        twin_knn.evaluate_splits(X, y, near, splits, k, scoring),
    )


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.integers(0, 2**64 - 1), st.integers(2, 6), st.integers(1, 3), st.integers(0, 2**32))
def test_fresh_folds_equal_twin(seed: int, cv: int, n_repeats: int, data: int) -> None:
    rng = np.random.default_rng(data)
    n, p = int(rng.integers(14, 40)), int(rng.integers(1, 9))
    X, y = rng.integers(0, 3, (n, p)).astype(float), np.arange(n) % 2
    X[0, 0] = 7
    fitness = compile(
        KNeighborsClassifier(1), X, y, cv=cv, n_repeats=n_repeats, resample=True, n_jobs=1
    )
    masks = rng.random((3, p)) < 0.6
    expected = twin_knn.evaluate_splits(X, y, masks, fitness.splits(seed))
    np.testing.assert_array_equal(fitness.evaluate_splits(masks, seed), expected)
