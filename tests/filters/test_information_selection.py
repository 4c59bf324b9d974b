"""Greedy selection by information: a twin that recomputes everything, laziness, ties, refusals."""

from __future__ import annotations

import functools
from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse
import twin_information as twin
from each import each, each_isa

from bitsieve import _core
from bitsieve.filters import information_selection, mutual_information
from bitsieve.filters.information.selection import Criterion

CRITERIA = get_args(Criterion)
LAZY = ["mifs", "mid", "miq", "icap", "cmim", "jmim", "njmim"]


def made(n: int, p: int, most: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Columns of two to `most` levels that say something about y, and about each other."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    hidden = rng.standard_normal((n, 4)) + y[:, None] * rng.random(4)
    values = hidden[:, rng.integers(0, 4, p)] * rng.random(p) + rng.standard_normal((n, p))
    levels = rng.integers(2, most + 1, p)
    rank = values.argsort(axis=0).argsort(axis=0)
    return np.floor(rank * levels / n), y


@functools.cache
def known_selection(shape: tuple[int, int, int], n_select: int, criterion: str) -> Any:
    return twin.selection(*made(*shape, seed=shape[1]), n_select, criterion, beta=0.7)


@pytest.mark.parametrize("criterion", CRITERIA)
@each("shape", [(61, 17, 3), (128, 25, 5), (150, 14, 11)])
@each_isa
def test_selection_is_that_of_the_twin(
    criterion: Any, shape: tuple[int, int, int], isa: str
) -> None:
    X, y = made(*shape, seed=shape[1])
    n_select = 4 if criterion == "jmi3" else 6
    expected, values = known_selection(shape, n_select, criterion)
    order, scores = information_selection(
        X, y, n_select, criterion=criterion, beta=0.7, return_scores=True
    )
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_allclose(scores, values, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("criterion", ["mid", "miq", "jmi", "cmim", "cife"])
@each("correction", ["miller_madow", "dirichlet"])
def test_selection_with_a_correction(criterion: Any, correction: Any) -> None:
    X, y = made(70, 15, 4, seed=1)
    expected, values = twin.selection(X, y, 5, criterion, correction=correction, prior=2.0)
    order, scores = information_selection(
        X, y, 5, criterion=criterion, correction=correction, prior=2.0, return_scores=True
    )
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_allclose(scores, values, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("criterion", LAZY)
@each("n_threads", [1, 2, 5])
def test_what_is_not_looked_at_changes_nothing(criterion: str, n_threads: int) -> None:
    X, y = made(90, 1400, 4, seed=2)  # three chunks
    table = _core.DiscreteTable(X.astype(np.uint8), np.full(1400, 4, np.int32), n_threads)
    how: dict[str, Any] = {"criterion": criterion, "n_select": 25, "n_threads": n_threads}
    codes = y.astype(np.int32)
    order, scores, looked_at = _core.greedy_information(table, codes, 3, **how)
    plain_order, plain, all_of_them = _core.greedy_information(table, codes, 3, lazy=False, **how)
    np.testing.assert_array_equal(order, plain_order)
    np.testing.assert_array_equal(scores, plain)
    assert looked_at < all_of_them


@each_isa
def test_the_order_of_the_table_does_not_matter(isa: str) -> None:
    X, y = made(100, 30, 4, seed=3)
    rng = np.random.default_rng(3)
    samples, features = rng.permutation(100), rng.permutation(30)
    for criterion in CRITERIA:
        order, scores = information_selection(X, y, 5, criterion=criterion, return_scores=True)
        again, other = information_selection(
            5 - 3 * X[samples], y[samples], 5, criterion=criterion, return_scores=True, n_jobs=3
        )
        np.testing.assert_array_equal(again, order)
        np.testing.assert_array_equal(other, scores)
        moved = information_selection(X[:, features], y, 5, criterion=criterion)
        np.testing.assert_array_equal(features[moved], order)


@each("criterion", CRITERIA)
def test_ties_go_to_the_lowest_index(criterion: Any) -> None:
    X, y = made(80, 6, 3, seed=4)
    doubled = np.column_stack([X, X, X[:, :3]])
    order = information_selection(doubled, y, 3, criterion=criterion)
    assert order[0] < 6
    # Equal columns get equal scores, so of two that are free the first is taken first.
    full = information_selection(doubled, y, criterion=criterion).tolist()
    assert sorted(full) == list(range(15))
    for j in range(6):
        assert full.index(j) < full.index(j + 6)
        assert j >= 3 or full.index(j + 6) < full.index(j + 12)


@each("criterion", [c for c in CRITERIA if c != "mim"])
def test_ties_of_features_far_apart(criterion: Any) -> None:
    """Not before the second is looked at shows that it is no better than its copy far behind."""
    y = np.arange(32) % 8
    X = np.zeros((32, 700))
    X[:, 0] = y // 2  # two of three bits
    X[:, 1] = y // 4  # one of these two
    X[:, 2] = X[:, 650] = y % 2  # the third
    assert information_selection(X, y, 2, criterion=criterion).tolist() == [0, 2]


@each("criterion", CRITERIA)
def test_all_constant_columns_are_taken_from_the_first_on(criterion: Any) -> None:
    y = np.arange(20) % 2
    order, scores = information_selection(
        np.ones((20, 5)), y, criterion=criterion, return_scores=True
    )
    np.testing.assert_array_equal(order, np.arange(5))
    np.testing.assert_array_equal(scores, np.zeros(5))


def test_the_first_score_is_the_information_and_mim_ranks_by_it() -> None:
    X, y = made(75, 40, 5, seed=5)
    information = mutual_information(X, y)
    for criterion in CRITERIA:
        order, scores = information_selection(X, y, 1, criterion=criterion, return_scores=True)
        assert order[0] == information.argmax()
        assert scores[0] == information.max()
    order, scores = information_selection(X, y, criterion="mim", return_scores=True)
    np.testing.assert_array_equal(order, np.argsort(-information, kind="stable"))
    np.testing.assert_array_equal(scores, information[order])


def test_beta_weighs_the_redundancy() -> None:
    X, y = made(75, 20, 4, seed=6)
    mim = information_selection(X, y, 6, criterion="mim")
    mifs = information_selection(X, y, 6, criterion="mifs", beta=0)
    np.testing.assert_array_equal(mifs, mim)
    heavy = information_selection(X, y, 6, criterion="mifs", beta=10)
    assert heavy.tolist() != mim.tolist()


def test_joint_criteria_see_an_interaction() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 2, (2, 300))
    y = 2 * (a ^ b) + (rng.random(300) < 0.3)
    noise = rng.integers(0, 2, (300, 20))
    X = np.column_stack([noise, a, b])
    y = np.where(rng.random(300) < 0.2, 2 * a, y)  # so that a shows by itself
    for criterion in ("jmi", "cife", "disr", "jmim", "njmim", "jmi3"):
        assert information_selection(X, y, 2, criterion=criterion).tolist() == [20, 21], criterion


@each("criterion", ["mid", "jmi"])
def test_sparse_tables(criterion: Any) -> None:
    rng = np.random.default_rng(8)
    X = rng.poisson(0.5, (90, 50)).astype(float)
    y = np.minimum(X[:, 7] + (rng.random(90) < 0.2), 2).astype(int)
    order, scores = information_selection(X, y, 6, criterion=criterion, return_scores=True)
    again, other = information_selection(
        scipy.sparse.csr_array(X), y, 6, criterion=criterion, return_scores=True
    )
    assert order[0] == 7
    np.testing.assert_array_equal(again, order)
    np.testing.assert_array_equal(other, scores)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "mrmr"}, r"criterion must be one of 'mim', 'mifs', .*, got 'mrmr'"),
        ({"criterion": 3}, r"criterion must be one of"),
        ({"beta": -0.1, "criterion": "mifs"}, r"beta must be a finite number from 0 on, got -0.1"),
        ({"n_features": 0}, r"n_features must be a whole number from 1 on or None, got 0"),
        ({"n_features": 2.0}, r"n_features must be a whole number"),
        ({"n_features": 9}, r"n_features is 9, but X has 8 features; ask for at most as many"),
        ({"discretization": None}, r"whole numbers"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    X, y = made(30, 8)
    X[3, 2] += 0.5 if "discretization" in options else 0
    with pytest.raises(ValueError, match=message):
        information_selection(X, y, **options)


def test_one_feature_and_two_samples() -> None:
    for criterion in CRITERIA:
        order = information_selection([[0.0], [1.0]], ["b", "a"], criterion=criterion)
        np.testing.assert_array_equal(order, [0])
        assert order.dtype == np.int64


@pytest.mark.parametrize("criterion", CRITERIA)
def test_ties_of_other_counts(criterion: Any) -> None:
    """Few samples: equal sums of k log k that have other terms are ties too."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        n = int(rng.choice([5, 8, 12, 20, 64]))
        X, y = rng.integers(0, rng.choice([2, 3, 9]), (n, 7)), rng.integers(0, 3, n)
        if len(np.unique(y)) < 2:
            continue
        n_select = 4 if criterion == "jmi3" else 7
        expected, _ = twin.selection(X, y, n_select, criterion)
        order = information_selection(X, y, n_select, criterion=criterion, discretization=None)
        np.testing.assert_array_equal(order, expected)
