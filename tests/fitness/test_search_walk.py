"""Batches as a search asks for them: an iterate and a pair around it, moving slowly.

Kept states and sums of pairs pay here, so this is where shortcuts are taken; the answer must be
that of a fitness that takes none.
"""

from __future__ import annotations

import numpy as np
import pytest
import tables
import twin_knn
from each import each, each_isa
from sklearn.neighbors import KNeighborsClassifier

from bitsieve.fitness import compile

N, P = 49, 200


def _walk(seed: int, n_steps: int, undecided: float):
    """Triples of masks: the iterate, and two that are opposite on the undecided features."""
    rng = np.random.default_rng(seed)
    iterate = rng.random(P) < 0.5
    open_ = rng.random(P) < undecided
    for _ in range(n_steps):
        iterate[rng.integers(0, P, 1)] ^= True
        open_[rng.integers(0, P, 1)] ^= True
        plus = np.where(open_, rng.random(P) < 0.5, iterate)
        minus = np.where(open_, ~plus, iterate)
        yield np.stack([iterate, plus, minus])


@each_isa
@each("undecided", [0.05, 0.4, 1.0])
@each("k", [1, 3])
@pytest.mark.parametrize("kind", ["float64", "scales", "close", "integers", "long", "outlier"])
def test_triples(isa: str, kind: str, k: int, undecided: float) -> None:
    X, y = tables.table(kind, np.random.default_rng(1), N, P), np.arange(N) % 3
    fitness = compile(KNeighborsClassifier(k), X, y, cv=3, n_jobs=1)
    splits = fitness.splits()
    for step, masks in enumerate(_walk(2, 24, undecided)):
        got = fitness.evaluate_splits(masks)
        alone = compile(KNeighborsClassifier(k), X, y, cv=3, n_jobs=1)
        expected = np.concatenate([alone.evaluate_splits(mask) for mask in masks])
        np.testing.assert_array_equal(got, expected)
        if step == 20:
            np.testing.assert_array_equal(got, twin_knn.evaluate_splits(X, y, masks, splits, k))


@each("n_jobs", [1, 2, 3])
@each("options", [{}, {"resample": True, "n_repeats": 2}])
def test_threads_seeds_and_other_batches_between(n_jobs: int, options: dict) -> None:
    X, y = tables.table("scales", np.random.default_rng(1), N, P), np.arange(N) % 3
    fitness = compile(KNeighborsClassifier(1), X, y, cv=3, n_jobs=n_jobs, **options)
    rng = np.random.default_rng(3)
    for step, masks in enumerate(_walk(4, 40, 0.3)):
        seeds = rng.integers(0, 99, 3) if step % 2 else 7
        got = fitness.evaluate_splits(masks, seeds)
        alone = compile(KNeighborsClassifier(1), X, y, cv=3, n_jobs=1, **options)
        np.testing.assert_array_equal(got, alone.evaluate_splits(masks, seeds))
        if step % 10 == 9:
            fitness.evaluate(rng.random((5, P)) < 0.5)
        order = rng.permutation(3)
        again = np.asarray(seeds)[order] if step % 2 else 7
        np.testing.assert_array_equal(fitness.evaluate_splits(masks[order], again), got[order])


@each("n", [111, 171])
def test_wide_walk_with_threads(n: int) -> None:
    """Enough work for threads to share one matrix."""
    p = 1500
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, p)).astype(np.float32), np.arange(n) % 4
    one, two = (compile(KNeighborsClassifier(1), X, y, cv=5, n_jobs=j) for j in (1, 2))
    iterate = rng.random(p) < 0.5
    open_ = rng.random(p) < 0.2
    for _ in range(12):
        iterate[rng.integers(0, p, 3)] ^= True
        plus = np.where(open_, rng.random(p) < 0.5, iterate)
        masks = np.stack([iterate, plus, np.where(open_, ~plus, iterate)])
        expected = one.evaluate_splits(masks)
        np.testing.assert_array_equal(two.evaluate_splits(masks), expected)
    np.testing.assert_array_equal(
        expected[2:], twin_knn.evaluate_splits(X, y, masks[2:], one.splits())
    )


@each("k", [1, 3])
def test_giants_in_one_of_a_pair(k: int) -> None:
    """The second of a pair comes by subtraction from a sum whose rounding dwarfs it."""
    X, y = tables.table("float64", np.random.default_rng(6), N, P), np.arange(N) % 3
    X[:, :3] *= 1e5
    fitness = compile(KNeighborsClassifier(k), X, y, cv=3, n_jobs=1)
    rng = np.random.default_rng(7)
    iterate = np.ones(P, bool)
    open_ = rng.random(P) < 0.3
    open_[:3] = True
    plus = np.where(open_, rng.random(P) < 0.7, iterate)  # the nearer one comes first
    plus[:3] = True
    for _ in range(12):
        iterate[rng.integers(3, P)] ^= True
        masks = np.stack([iterate, plus, np.where(open_, ~plus, iterate)])
        got = fitness.evaluate_splits(masks)
        expected = twin_knn.evaluate_splits(X, y, masks, fitness.splits(), k)
        np.testing.assert_array_equal(got, expected)
