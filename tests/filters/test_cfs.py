"""CFS: Weka's sets, a twin that tries every set in turn, and what must not matter."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import twin_cfs as twin
from each import each, each_isa
from sklearn.datasets import load_breast_cancer, load_iris

from bitsieve.filters import cfs, discretize
from bitsieve.filters.information.cfs import search_cfs
from bitsieve.filters.information.uncertainty import ClassTable, class_table


def noisy_levels(n, p, n_classes, seed):
    """Columns of 1 to 5 levels that tell more or less, some of them copies of others."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.integers(0, rng.integers(1, 6, p), (n, p))
    told = rng.random((n, p)) < rng.choice([0.0, 0.2, 0.5, 0.8], p)
    X = np.where(told, y[:, None], X)
    X[:, 1::5] = X[:, 0 : p - 1 : 5]
    return X, y


# -- against Weka ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sonar", "ionosphere", "vehicle", "segment"])
def test_selects_the_set_of_weka(name, dataset, weka):
    X, y, _ = dataset(name)
    assert sorted(cfs(X, y).tolist()) == weka[name]["cfs_bestfirst"]


def test_merit_of_iris():
    # The set and the merit that Weka prints for this table: petal length and width, 0.887.
    order, merits = cfs(*load_iris(return_X_y=True), return_scores=True)
    assert set(order) == {2, 3}
    assert merits[-1] == pytest.approx(0.887, abs=5e-4)


# -- against the twin ------------------------------------------------------------------------------


@each("seed", range(12))
@pytest.mark.parametrize(("n", "p", "n_classes"), [(40, 7, 2), (67, 20, 3), (150, 33, 5)])
def test_equals_the_twin(seed, n, p, n_classes):
    X, y = noisy_levels(n, p, n_classes, seed)
    with_class, pairs = twin.correlations(X, y)
    found = twin.best_first(with_class, pairs)
    order, merits = cfs(X, y, discretization=None, locally_predictive=False, return_scores=True)
    assert set(order.tolist()) == found
    for k in range(len(order)):
        assert merits[k] == pytest.approx(twin.merit(order[: k + 1], with_class, pairs), abs=1e-9)
    more = cfs(X, y, discretization=None)
    assert more[: len(order)].tolist() == order.tolist()
    assert set(more.tolist()) == twin.locally_predictive(found, with_class, pairs)


@each("max_stale", [1, 2, 9])
def test_a_longer_search_equals_the_twin(max_stale):
    X, y = noisy_levels(60, 15, 2, 99)
    with_class, pairs = twin.correlations(X, y)
    order = cfs(X, y, discretization=None, locally_predictive=False, max_stale=max_stale)
    assert set(order.tolist()) == twin.best_first(with_class, pairs, max_stale)


class MadeTable:
    """Correlations as they are given, of features that need not exist."""

    def __init__(self, with_class, pairs):
        self._with_class, self._pairs = with_class, pairs

    def uncertainty(self):
        return self._with_class

    def uncertainty_with(self, feature, features):
        return self._pairs[feature, features]


# In the first five a better set comes after expansions that brought none, and others follow it.
@each("seed", [547, 1161, 2483, 2677, 2805, *range(60)])
@pytest.mark.parametrize("max_stale", [1, 2, 3, 5])
def test_a_search_that_looks_back_equals_the_twin(seed, max_stale):
    rng = np.random.default_rng(seed)
    with_class = (rng.random(8) * 0.5).astype(np.float32).astype(float)
    pairs = np.triu((rng.random((8, 8)) ** 2).astype(np.float32).astype(float), 1)
    pairs += pairs.T + np.eye(8)
    found = search_cfs(
        MadeTable(with_class, pairs), max_stale=max_stale, locally_predictive=False
    ).order
    assert set(found.tolist()) == twin.best_first(with_class, pairs, max_stale)


# -- by hand ---------------------------------------------------------------------------------------


def test_two_halves_of_the_classes():
    # y has four classes; two features tell one bit each, the third is a copy of the first.
    y = np.arange(80) % 4
    X = np.column_stack([y // 2, y % 2, y // 2, np.zeros(80)])
    order, merits = cfs(X, y, discretization=None, return_scores=True)
    assert order.tolist() == [0, 1]
    su = 2 / 3  # 2 * 1 bit / (1 bit + 2 bits)
    np.testing.assert_allclose(merits, [su, 2 * su / np.sqrt(2)], rtol=1e-6)


def test_features_that_share_nothing_are_uncorrelated_and_constants_wholly():
    y = np.arange(80) % 4
    levels = np.column_stack([y // 2, y % 2, np.zeros(80)])
    table = class_table(
        levels, y, discretization=None, n_bins=10, cut_cost="distinct", missing="error",
        discrete_features="auto", n_jobs=1,
    )  # fmt: skip
    assert isinstance(table, ClassTable)
    assert table.uncertainty_with(0)[1] == 0.0
    found = search_cfs(table)
    assert found.order.tolist() == [0, 1]


def test_nothing_is_taken_where_nothing_is_told():
    X = np.tile([[0, 1, 2], [1, 1, 2], [0, 1, 2], [1, 1, 2]], (10, 1))
    y = np.repeat([0, 0, 1, 1], 10)
    order, merits = cfs(X, y, discretization=None, return_scores=True)
    assert order.size == merits.size == 0
    assert order.dtype == np.int64


def test_locally_predictive_features_join_after_the_search():
    X, y = load_breast_cancer(return_X_y=True)
    less, more = cfs(X, y, locally_predictive=False), cfs(X, y)
    assert more[: len(less)].tolist() == less.tolist()
    codes, _ = discretize(X, y, cut_cost="distinct")
    for f in more[len(less) :]:
        with_class = np.float32(twin.uncertainty(codes[:, f], y))
        earlier = more[: more.tolist().index(f)]
        assert all(
            np.float32(twin.uncertainty(codes[:, f], codes[:, g])) <= with_class for g in earlier
        )


# -- what must not matter --------------------------------------------------------------------------


@each_isa
def test_order_labels_threads_types_and_instruction_sets(isa):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:200].astype(np.float32)
    y = y[:200]
    order, merits = cfs(X, y, return_scores=True, n_jobs=1)
    permutation = np.random.default_rng(0).permutation(200)
    for other in (
        cfs(X[permutation], y[permutation], return_scores=True),
        cfs(X, np.array(["well", "sick"])[y], return_scores=True),
        cfs(X.astype(np.float64), y, return_scores=True),
        cfs(pd.DataFrame(X), y, return_scores=True),
        cfs(X, y, return_scores=True, n_jobs=3),
    ):
        assert other[0].tolist() == order.tolist()
        np.testing.assert_array_equal(other[1], merits)
    backwards = cfs(X[:, ::-1], y)
    assert set((29 - backwards).tolist()) == set(order.tolist())


def test_a_copy_of_a_feature_does_not_raise_the_merit_of_the_two():
    X, y = load_iris(return_X_y=True)
    codes, _ = discretize(X, y, cut_cost="distinct")
    for f in range(4):
        twice = codes[:, [f, f]]
        assert cfs(twice, y, discretization=None, locally_predictive=False).tolist() == [0]


def test_wide_tables_ask_for_few_correlations(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 4000))
    X[:, :20] += y[:, None]
    asked = []
    rows = ClassTable.uncertainty_with

    def counted(self, feature, features=None):
        asked.append(feature)
        return rows(self, feature, features)

    monkeypatch.setattr(ClassTable, "uncertainty_with", counted)
    order = cfs(X, y)
    assert 1 < len(order) < 400
    assert len(asked) == len(set(asked)) < 500


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_stale": 0}, "max_stale must be a whole number from 1 on, got 0"),
        ({"locally_predictive": "yes"}, "locally_predictive must be True or False, got 'yes'"),
        ({"discretization": None}, "levels must be whole numbers, but 4 columns"),
        ({"discretization": "chimerge"}, "discretization must be one of"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        cfs(*load_iris(return_X_y=True), **arguments)


def test_correlations_of_locally_predictive_features_are_not_kept():
    """Where thousands of features tell all there is to tell, thousands join."""
    X = np.random.default_rng(2).permuted(np.repeat([[0], [1]], 3, axis=0).repeat(3000, 1), axis=0)
    table = class_table(
        X,
        [0, 0, 0, 1, 1, 1],
        discretization=None,
        n_bins=10,
        cut_cost="distinct",
        missing="error",
        discrete_features="auto",
        n_jobs=1,
    )
    tracemalloc.start()
    found = search_cfs(table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.order) > 100
    assert len(found.merits) == len(found.order)
    np.testing.assert_allclose(found.merits, 1.0, atol=1e-3)
    assert peak < 2 << 20
