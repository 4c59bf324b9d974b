"""Discrete tables: what they count is what pandas counts, whatever way they are held."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.stats

import bitsieve
from bitsieve.data import Table
from bitsieve.discrete import DiscreteTable, Variable


def counted(index: Any, column: Any, shape: tuple[int, ...]) -> Any:
    """Twin: a table of counts by pandas, with the levels that do not occur."""
    found = pd.crosstab(index, column)
    levels = pd.MultiIndex.from_product([range(k) for k in shape[:-1]])
    rows = range(shape[0]) if len(shape) == 2 else levels
    filled = found.reindex(index=rows, columns=range(shape[-1]), fill_value=0)
    return filled.to_numpy().reshape(shape)


def tables(seed: int) -> tuple[Any, Any, Any]:
    """Codes of 1 to 40 levels, some of which occur nowhere; a target; what is given."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 300))
    n_levels = rng.choice([1, 2, 3, 8, 9, 40], 17)
    X = rng.integers(0, n_levels, (n, 17))
    X[:, rng.random(17) < 0.3] //= 2  # leaves the upper levels out
    X[:, :4] *= rng.random((n, 4)) < 0.01  # few entries
    y = rng.choice([0, 2, 3, 7], n)
    return np.maximum(X, 0), y, rng.integers(0, 5, (n, 2))


@pytest.fixture(autouse=True)
def _same_isa() -> Iterator[None]:
    before = bitsieve.get_isa()
    yield
    bitsieve.set_isa(before)


def test_counts_are_those_of_pandas() -> None:
    for seed in range(3):
        X, y, Z = tables(seed)
        n_levels = X.max(axis=0) + 1 + seed % 3
        given = DiscreteTable(Z).variable([0, 1])
        assert given.n_levels == len(np.unique(Z, axis=0))
        shape = (int(n_levels.max()), int(y.max()) + 1)
        wanted = [counted(X[:, f], y, shape) for f in range(17)]
        apart = [
            counted([given.codes, X[:, f]], y, (given.n_levels, *shape)) for f in range(3, 17, 4)
        ]
        pair = counted(X[:, 9], X[:, 3], (n_levels[9], n_levels[3]))
        for isa in bitsieve.available_isas():
            bitsieve.set_isa(isa)
            table = DiscreteTable(X, n_levels, n_jobs=1 + seed % 2)
            np.testing.assert_array_equal(table.contingency(y), wanted)
            found = table.contingency(y, given=given)
            np.testing.assert_array_equal(found.sum(axis=1), wanted)
            np.testing.assert_array_equal(found[3::4], apart)
            found = table.contingency(table.variable(3), features=9)[0]
            np.testing.assert_array_equal(found, pair)


def test_a_sparse_table_counts_as_its_dense_form() -> None:
    for seed in range(4):
        X, y, _ = tables(seed)
        X = X.astype(float) - (X == 1)  # a gap between levels
        for how in ("auto", "equal_width"):
            options: Any = {"discretization": how, "max_levels": 200 if how == "auto" else None}
            dense = DiscreteTable.of(X, **options)
            sparse = DiscreteTable.of(scipy.sparse.csr_array(X), **options)
            assert sparse.is_sparse
            assert not dense.is_sparse
            np.testing.assert_array_equal(sparse.codes, dense.codes)
            np.testing.assert_array_equal(sparse.contingency(y), dense.contingency(y))
            for f in (0, 16):
                np.testing.assert_array_equal(sparse.variable(f).codes, dense.codes[:, f])


def test_g_of_a_conditional_table_is_scipys() -> None:
    """What a test of independence needs: G summed over the levels of what is given."""
    rng = np.random.default_rng(3)
    table = DiscreteTable(rng.integers(0, 3, (500, 6)))
    counts = table.contingency(table.variable(5), features=[0, 1], given=table.variable([3, 4]))
    for f in (0, 1):
        found = wanted = 0.0
        for cell in counts[f]:
            expected = np.outer(cell.sum(axis=1), cell.sum(axis=0)) / cell.sum()
            there = cell > 0
            found += 2.0 * float((cell[there] * np.log(cell[there] / expected[there])).sum())
            wanted += scipy.stats.chi2_contingency(
                cell, correction=False, lambda_="log-likelihood"
            ).statistic
        assert found == pytest.approx(wanted, rel=1e-12)


def test_missing_values_are_a_level_that_is_known() -> None:
    X = np.array([[1.0, 5.0], [np.nan, 6.0], [2.0, 5.0]])
    table = DiscreteTable.of(X, missing="level")
    assert table.codes.tolist() == [[0, 0], [2, 1], [1, 0]]
    assert table.n_levels.tolist() == [3, 2]
    assert table.missing_level.tolist() == [2, -1]
    with pytest.raises(ValueError, match="Input X contains NaN"):
        DiscreteTable.of(X)


def test_frames_tables_and_arrays_are_one_table() -> None:
    frame = pd.DataFrame({"age": [3, 4, 3, 9], "grade": ["low", "high", "low", "mid"]})
    codes = [[0, 1], [1, 0], [0, 1], [2, 2]]
    numbers = np.array([[3, 1], [4, 0], [3, 1], [9, 2]])
    for X in (frame, Table(numbers, names=["age", "grade"]), numbers, numbers.astype(np.float32)):
        table = DiscreteTable.of(X, discretization=None)
        assert table.codes.tolist() == codes
        assert table.names in (["age", "grade"], None)
    assert table.names is None
    assert repr(table) == "DiscreteTable(4 samples x 2 features, up to 3 levels)"


def test_samples_of_a_table_keep_its_levels() -> None:
    X, y, _ = tables(1)
    for table in (DiscreteTable.of(X), DiscreteTable.of(scipy.sparse.csr_array(X))):
        rows = np.arange(len(X))[::2]
        part = table.take(rows)
        np.testing.assert_array_equal(part.n_levels, table.n_levels)
        np.testing.assert_array_equal(part.codes, table.codes[::2])
        rest = table.take(np.arange(len(X)) % 2 == 1)
        both = part.contingency(Variable(y[::2].astype(np.int32), 8))
        both += rest.contingency(Variable(y[1::2].astype(np.int32), 8))
        np.testing.assert_array_equal(both, table.contingency(y))
        twin = pickle.loads(pickle.dumps(table))
        np.testing.assert_array_equal(twin.contingency(y), table.contingency(y))
    with pytest.raises(ValueError, match="read-only"):
        DiscreteTable(X).codes[0, 0] = 1


def test_nothing_given_is_one_level() -> None:
    table = DiscreteTable([[0], [1], [1]])
    nothing = table.variable([])
    assert nothing.n_levels == 1
    np.testing.assert_array_equal(
        table.contingency([0, 1, 0], given=nothing)[:, 0], table.contingency([0, 1, 0])
    )


def test_refusals() -> None:
    table = DiscreteTable([[0, 1], [1, 1], [0, 0]])
    y = [0, 1, 1]
    for call, said in (
        (lambda: DiscreteTable([[0.5]]), "codes must be whole numbers of shape"),
        (lambda: DiscreteTable([[255]]), r"codes must lie in \[0, 255\), got 255 to 255"),
        (lambda: DiscreteTable([[3]], [3]), "n_levels must lie above all codes"),
        (lambda: DiscreteTable([[3]], [5, 5]), "n_levels must hold one whole number a feature"),
        (lambda: DiscreteTable([[0]], missing_level=[1]), "missing_level must be a level"),
        (lambda: DiscreteTable([[0, 1]], names=["a"]), "expected 2 feature names"),
        (lambda: table.contingency([0, 1]), "3 samples but target has 2"),
        (lambda: table.contingency(["a", "b", "a"]), "target must be codes from 0 on"),
        (lambda: table.contingency([0, -1, 0]), "target must be codes from 0 on"),
        (lambda: table.contingency([0, 2**24, 0]), r"target must have codes below 2\^24"),
        (lambda: table.contingency(y, given=[0]), "3 samples but given has 1"),
        (lambda: table.contingency([0, 0, 9999], given=[0, 0, 9999]), "give fewer variables"),
        (lambda: table.contingency(y, features=[2]), r"positions in \[0, 2\), got 2"),
        (lambda: DiscreteTable([[9] * 2, [0] * 2]).contingency([0, 2**24 - 1]), r"at most 2\^27"),
        (lambda: table.contingency(y, features=1.0), r"positions in \[0, 2\), got 1.0"),
        (lambda: table.take([]), "samples must be positions or flags, one at least, got none"),
        (lambda: table.take([False] * 3), "one at least, got none"),
        (lambda: table.take([[0, 1]]), "samples must be a list of positions or flags, got 2D"),
        (lambda: table.take([3]), r"samples must be positions in \[0, 3\)"),
        (lambda: DiscreteTable.of([[1], [2]], discretization="mld"), "discretization must be one"),
        (lambda: DiscreteTable.of([[1], [2]], max_levels=0), "max_levels must be a whole number"),
        (lambda: DiscreteTable.of([[1], [2]], discretization="mdl"), "needs y, the class labels"),
        (lambda: Variable.of([[1]]), "labels must have shape"),
        (lambda: Variable.of(np.array([1, "a"], dtype=object)), "labels must be numbers or text"),
    ):
        with pytest.raises(ValueError, match=said):
            call()
