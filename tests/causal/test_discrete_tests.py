"""G-squared and chi-squared tests: the twin's and SciPy's numbers, and the same bits on any way."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from each import each, each_isa
from scipy import stats
from twin_independence import TwinDiscrete

from bitsieve.causal import ChiSquared, GSquared, Independence, IndependenceTest
from bitsieve.discrete import DiscreteTable


def _codes(seed: int, n: int, most_levels: int = 6) -> np.ndarray:
    """Ten variables, each depending on the one before; the last three are special."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, most_levels + 1, 10)
    X = rng.integers(0, levels, (n, 10))
    for f in range(1, 7):
        X[:, f] = np.where(rng.random(n) < 0.5, X[:, f - 1] % levels[f], X[:, f])
    X[:, 7] = 3  # constant
    X[:, 8] = X[:, 0]  # duplicate
    X[:, 9] = (X[:, 0] + 2 * X[:, 1]) % 5  # deterministic
    return X


def _agree(ours: Independence, twin: Independence) -> None:
    assert (ours.dof, ours.reliable) == (twin.dof, twin.reliable)
    assert ours.statistic == pytest.approx(twin.statistic, rel=1e-10, abs=1e-9)
    if np.isfinite(twin.log_p) and twin.log_p > -700:
        assert ours.log_p == pytest.approx(twin.log_p, rel=1e-10, abs=1e-10)


@each_isa
@each("n, most_levels", [(7, 3), (63, 3), (200, 4), (1000, 2), (1001, 13), (3000, 5)])
def test_twin(n: int, most_levels: int, isa: str) -> None:
    X = _codes(n, n, most_levels)
    rng = np.random.default_rng(n)
    for least in (0.0, 5.0):
        for ours, is_chi in ((GSquared, False), (ChiSquared, True)):
            test = ours(X, min_samples_per_cell=least)
            twin = TwinDiscrete(X, min_samples_per_cell=least, chi_squared=is_chi)
            for size in (0, 1, 2, 3, 5):
                for _ in range(3):
                    x, y, *given = rng.permutation(10)[: size + 2].tolist()
                    _agree(test.test(x, y, given), twin.test(x, y, given))


def test_scipy() -> None:
    """p-values of random tables to 1e-10."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(20, 5000))
        shape = rng.integers(2, 7, 2)
        X = rng.integers(0, shape, (n, 2))
        X[:, 1] = np.where(rng.random(n) < rng.random() / 3, X[:, 0] % shape[1], X[:, 1])
        table = np.zeros(shape)
        np.add.at(table, (X[:, 0], X[:, 1]), 1)
        table = table[table.sum(1) > 0][:, table.sum(0) > 0]
        for ours, kind in ((GSquared, "log-likelihood"), (ChiSquared, "pearson")):
            theirs = stats.chi2_contingency(table, correction=False, lambda_=kind)
            found = ours(X, min_samples_per_cell=0).test(0, 1)
            assert found.dof == theirs.dof
            if theirs.pvalue > 1e-300:
                assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-10)


def test_order_changes_no_bit() -> None:
    X = _codes(5, 2000, 3)
    for ours in (GSquared, ChiSquared):
        test = ours(X, cache_size=0, min_samples_per_cell=1)
        shuffled = ours(
            np.random.default_rng(0).permutation(X), cache_size=0, min_samples_per_cell=1
        )
        found = test.test(1, 4, [0, 2, 3])
        assert found.statistic > 0
        assert found == test.test(4, 1, [3, 0, 2]) == shuffled.test(1, 4, [2, 3, 0])
        assert found == test.test_many(np.array([5, 1]), 4, [2, 3, 0])[1]


@each("n", [50, 2000])
def test_separate_is_the_contracts(n: int) -> None:
    """The loop of the abstract class, which asks for one test after the other."""
    rng = np.random.default_rng(n)
    X = _codes(n, n, 3)
    separators = []
    for ours in (GSquared, ChiSquared):
        for least in (0.0, 5.0):
            test = ours(X, min_samples_per_cell=least)
            for _ in range(25):
                x, y, *pool = rng.permutation(10)[:8].tolist()
                settings: dict[str, Any] = {
                    "alpha": float(rng.choice([0.001, 0.2, 0.9])),
                    "max_size": int(rng.integers(0, 5)),
                    "min_size": int(rng.integers(0, 2)),
                    "among": pool[: int(rng.integers(0, 3))],
                }
                pool = pool[2:]
                settings["among"] = [v for v in settings["among"] if v not in pool]
                found = test.separate(x, y, pool, **settings)
                assert found == IndependenceTest.separate(test, x, y, pool, **settings)
                separators.append(found.separator)
    assert None in separators
    assert any(separator for separator in separators)


def test_threads_and_cache_change_no_bit() -> None:
    X = _codes(1, 1500, 3)
    many = np.array([0, 2, 3, 5, 6, 7, 8] * 20)
    one = GSquared(X, n_jobs=1, cache_size=0)
    several = GSquared(X, n_jobs=3)
    found = one.test_many(many, 1, [9, 4])
    assert found == several.test_many(many, 1, [9, 4])
    assert found == [one.test(int(x), 1, [4, 9]) for x in many]
    pool = [2, 3, 4, 5, 6]
    plain = one.separate(0, 1, pool, alpha=0.9, max_size=3)
    for _ in range(2):
        assert several.separate(0, 1, pool, alpha=0.9, max_size=3) == plain


def test_results_are_remembered() -> None:
    X = _codes(1, 1500, 3)
    test = GSquared(X)
    first = test.test(0, 1, [2, 3])
    assert test.n_tests == 1
    assert test.test(1, 0, [3, 2]) == first
    assert test.n_tests == 1
    assert test.test(1, 0, [3]) != first
    assert test.n_tests == 2
    forgetful = GSquared(X, cache_size=0)
    assert [forgetful.test(0, 1, [2, 3]) for _ in range(3)] == [first] * 3
    assert forgetful.n_tests == 3
    crowded = GSquared(X, cache_size=2)  # nearly every result is pushed out by the next
    pairs = [(x, y) for x in range(7) for y in range(x)] * 2
    assert [crowded.test(x, y) for x, y in pairs] == [forgetful.test(x, y) for x, y in pairs]


def test_reliability() -> None:
    """Five samples a cell, cells of levels that meet nowhere included."""
    X = np.repeat([[0, 0], [1, 1]], 10, axis=0)
    assert GSquared(X).test(0, 1).reliable
    assert not GSquared(X[1:]).test(0, 1).reliable
    assert GSquared(X[1:]).test(0, 1) == Independence(0.0, 0.0, 0, False)
    assert GSquared(X[1:], min_samples_per_cell=4.75).test(0, 1).reliable
    found = GSquared(X[1:]).separate(0, 1, [], alpha=0.05, max_size=2)
    assert found.separator is None
    assert not found.weakest.reliable
    assert found.n_tests == 1


def test_degenerate_variables() -> None:
    X = _codes(3, 400, 4)
    test = GSquared(X, min_samples_per_cell=0)
    constant = test.test(7, 0)
    assert (constant.statistic, constant.log_p, constant.dof) == (0.0, 0.0, 0)
    given_its_copy = test.test(0, 1, [8])
    assert (given_its_copy.log_p, given_its_copy.dof) == (0.0, 0)
    assert test.test(9, 2, [0, 1]).log_p == 0.0  # what is given determines it
    assert test.test(0, 8).log_p < -100
    assert test.test(0, 1, [7]) == test.test(0, 1)


def test_more_levels_than_samples() -> None:
    codes = np.column_stack([np.arange(40), np.arange(40) % 2, np.arange(40)[::-1] // 2])
    test = GSquared(codes, min_samples_per_cell=0)
    assert test.test(0, 1).dof == 39
    assert test.test(0, 1).statistic == pytest.approx(2 * 40 * np.log(2))
    assert test.test(1, 2, [0]).dof == 0
    assert not GSquared(codes).test(0, 1).reliable


def test_tables_that_are_too_large_to_count() -> None:
    """Many levels of many variables, asked for all the same: cells are numbered by sorting."""
    rng = np.random.default_rng(0)
    n = 18_000
    X = rng.integers(0, 250, (n, 4))
    X[:, 3] = X[:, 0] // 2 + rng.integers(0, 9, n)
    X[:, 2] //= 3
    for ours, is_chi in ((GSquared, False), (ChiSquared, True)):
        test = ours(X, min_samples_per_cell=0)
        twin = TwinDiscrete(X, min_samples_per_cell=0, chi_squared=is_chi)
        found = test.test(0, 1, [2])
        # The order of the set decides which cells are kept and which are counted last.
        for x, y, given in ((0, 3, [2, 1]), (3, 0, [1, 2])):
            deep = test.test(x, y, given)
            assert deep == test.test_many(np.array([x]), y, given)[0]
        strata = X[:, 2]
        expected = [
            twin.statistic(iter([twin.table(X[strata == s, 0], X[strata == s, 1])]))
            for s in np.unique(strata)
        ]
        assert found.dof == sum(dof for _, dof in expected)
        assert found.statistic == pytest.approx(sum(s for s, _ in expected), rel=1e-9)


def test_input() -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(["u", "v"], 300), "b": rng.choice(["p", "q", "r"], 300)})
    codes = np.column_stack([frame["a"] == "v", frame["b"].map({"p": 0, "q": 1, "r": 2})])
    test = GSquared(frame)
    assert test.names == ["a", "b"]
    assert test.test(0, 1) == GSquared(codes.astype(int)).test(0, 1)
    assert test.test(0, 1) == GSquared(DiscreteTable(codes.astype(int))).test(0, 1)
    sparse = np.zeros((3000, 3), dtype=int)
    sparse[rng.integers(0, 3000, 60), rng.integers(0, 2, 60)] = 1
    sparse[:, 2] = rng.integers(0, 2, 3000)
    import scipy.sparse

    few = GSquared(scipy.sparse.csc_array(sparse.astype(float)))
    for x, y, given in ((0, 1, []), (0, 2, [1]), (2, 0, [1])):
        assert few.test(x, y, given) == GSquared(sparse).test(x, y, given)


def test_pickle() -> None:
    test = GSquared(_codes(1, 300, 3), min_samples_per_cell=2)
    again = pickle.loads(pickle.dumps(test))
    assert again.test(0, 1, [2]) == test.test(0, 1, [2])
    assert again.min_samples_per_cell == 2


@each(
    "call, message",
    [
        (lambda t: t.test(0, 10), "y must be the position of a variable, from 0 to 9, got 10"),
        (lambda t: t.test("a", 1), "x must be the position of a variable, from 0 to 9, got 'a'"),
        (
            lambda t: t.test(0, 1, [12]),
            "given must hold positions of variables, from 0 to 9",
        ),
        (lambda t: t.test(0, 1, [0.5]), "given must be a list of positions of variables"),
        (lambda t: t.test(0, 0), "variable 0 stands in both x and y"),
        (lambda t: t.test(0, 1, [2, 2]), "variable 2 stands twice in given"),
        (lambda t: t.test(0, 1, [1]), "variable 1 stands in both y and given"),
        (lambda t: t.test_many([3, 2], 1, [2]), "variable 2 stands in both xs and given"),
        (
            lambda t: t.separate(0, 1, [2, 3], among=[3], alpha=0.1, max_size=2),
            "variable 3 stands in both pool and among",
        ),
        (
            lambda t: t.separate(0, 1, [2], alpha=5, max_size=2),
            r"alpha must be a number in \(0, 1\), got 5",
        ),
        (
            lambda t: t.separate(0, 1, [2], alpha=0.1, max_size=-1),
            "max_size must be a whole number from 0 on, got -1",
        ),
        (lambda t: GSquared([[0.5, 1], [1, 2]]), "0.5"),
        (
            lambda t: GSquared([[0, 1], [1, 1]], min_samples_per_cell=-1),
            "min_samples_per_cell must be a finite number from 0 on, got -1",
        ),
        (lambda t: GSquared([[0, 1], [1, 1]], cache_size=0.5), "cache_size must be a whole number"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(GSquared(_codes(0, 60, 2)))
