"""Folds drawn from the seed of an evaluation."""

from __future__ import annotations

import numpy as np
import pytest
import tables
import twin_knn
from each import each
from sklearn.model_selection import (
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bitsieve import Masks
from bitsieve.fitness import compile

RNG = np.random.default_rng(4)
N, P = 63, 40
X = RNG.normal(size=(N, P))
Y = np.digitize(X[:, 0] + RNG.normal(size=N), [-1.0, 0.5])
MASKS = tables.masks(RNG, P)
SEEDS = RNG.integers(0, 2**63, len(MASKS)).astype(np.uint64)


@pytest.mark.usefixtures("one_blas_thread")
@pytest.mark.parametrize("k", [1, 3])
@each(
    ("cv", "n_repeats", "scoring"),
    [
        (5, 1, "accuracy"),
        (5, 1, "balanced_accuracy"),
        (3, 4, "accuracy"),
        (3, 4, "balanced_accuracy"),
        (3, 2, "f1_macro"),
        (KFold(4), 1, "accuracy"),
        (KFold(4), 1, "balanced_accuracy"),
        (2, 40, "accuracy"),
    ],
)
def test_equals_scikit_learn_on_the_splits_of_the_seed(cv, n_repeats: int, scoring, k: int) -> None:
    estimator = KNeighborsClassifier(k)
    fitness = compile(
        estimator, X, Y, scoring=scoring, cv=cv, n_repeats=n_repeats, resample=True, n_jobs=1
    )
    assert (fitness.kernel, fitness.resample) == ("knn", True)
    got = fitness.evaluate_splits(MASKS, SEEDS)
    for m in (1, 5, 8):
        splits = fitness.splits(int(SEEDS[m]))
        assert len(splits) == fitness.n_splits
        view = X[:, MASKS[m]]
        if n_repeats < 10:
            expected = cross_val_score(estimator, view, Y, scoring=scoring, cv=splits)
            np.testing.assert_allclose(got[m], expected, rtol=1e-12)
        if scoring != "f1_macro":
            twin = twin_knn.evaluate_splits(X, Y, MASKS[m : m + 1], splits, k, scoring)
            np.testing.assert_array_equal(got[m], twin[0])
    empty = twin_knn.evaluate_splits(X, Y, MASKS[:1], fitness.splits(int(SEEDS[0])), k, "accuracy")
    if scoring == "accuracy":
        np.testing.assert_array_equal(got[0], empty[0])


def test_seeds_at_both_ends() -> None:
    fitness = compile(KNeighborsClassifier(1), X, Y, resample=True)
    for seed in (0, 1, 2**63, 2**64 - 1):
        splits = fitness.splits(seed)
        expected = twin_knn.evaluate_splits(X, Y, MASKS, splits)
        np.testing.assert_array_equal(fitness.evaluate_splits(MASKS, seed), expected)
        covered = np.sort(np.concatenate([test for _, test in splits]))
        np.testing.assert_array_equal(covered, np.arange(N))


def test_the_splits_given_out_are_copies() -> None:
    for resample in (False, True):
        fitness = compile(KNeighborsClassifier(1), X, Y, resample=resample)
        expected = fitness.evaluate_splits(MASKS)
        for train, test in fitness.splits():
            train[:] = 0
            test[:] = 0
        np.testing.assert_array_equal(fitness.evaluate_splits(MASKS), expected)


@each(
    ("cv", "n_splits"),
    [
        (5, 5),
        (None, 5),
        (StratifiedKFold(3), 3),
        (RepeatedStratifiedKFold(n_splits=3, n_repeats=4), 12),
    ],
)
def test_resampled_gives_the_same_kind_of_folds(cv, n_splits: int) -> None:
    fixed = compile(KNeighborsClassifier(1), X, Y, cv=cv)
    fresh = fixed.resampled()
    assert fresh is not None
    assert fresh.resample
    assert fresh.n_splits == fixed.n_splits == n_splits
    assert fresh.resampled() is fresh
    direct = compile(KNeighborsClassifier(1), X, Y, cv=cv, resample=True)
    np.testing.assert_array_equal(
        fresh.evaluate_splits(MASKS, SEEDS), direct.evaluate_splits(MASKS, SEEDS)
    )


def test_resampled_has_no_meaning_for_given_pairs() -> None:
    pairs = [(np.arange(40), np.arange(40, N))]
    assert compile(KNeighborsClassifier(1), X, Y, cv=pairs).resampled() is None


def test_general_fitness_draws_the_same_folds() -> None:
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    general = compile(tree, X, Y, cv=4, resample=True, n_jobs=1)
    assert general.kernel is None
    kernel = compile(KNeighborsClassifier(1), X, Y, cv=4, resample=True)
    for a, b in zip(general.splits(3), kernel.splits(3), strict=True):
        np.testing.assert_array_equal(a[0], b[0])
        np.testing.assert_array_equal(a[1], b[1])
    got = general.evaluate_splits(MASKS[4:6], np.array([3, 8]))
    for row, mask, seed in zip(got, MASKS[4:6], (3, 8), strict=True):
        expected = cross_val_score(tree, X[:, mask], Y, cv=general.splits(seed))
        np.testing.assert_array_equal(row, expected)


def test_a_long_list_of_flips_meets_each_mask_with_its_own_seed() -> None:
    """It is written down in parts of 1,024 masks."""
    n, p, m = 24, 6, 1100
    X, y = np.random.default_rng(4).normal(size=(n, p)), np.arange(n) % 2
    fitness = compile(KNeighborsClassifier(1), X, y, cv=3, resample=True)
    near = Masks.from_flips(np.arange(p) < 3, np.arange(m + 1), np.arange(m) % p)
    seeds = np.arange(m, dtype=np.uint64)
    expected = fitness.evaluate_splits(near.to_bool(), seeds)
    np.testing.assert_array_equal(fitness.evaluate_splits(near, seeds), expected)
