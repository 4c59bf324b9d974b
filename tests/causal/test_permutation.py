"""Tests by permutation: the twin's orders, exact p-values of small samples, uniform where null."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from each import each, each_isa
from scipy import stats
from twin_independence import TwinDiscrete, TwinFisherZ, permuted_discrete, permuted_fisher

from bitsieve.causal import ChiSquared, FisherZ, GSquared, IndependenceTest, PermutationTest


def _codes(seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, [2, 3, 2, 3, 4], (n, 5))
    X[:, 1] = np.where(rng.random(n) < 0.3, X[:, 0], X[:, 1])
    return X


@each_isa
@each("n, n_orders, most", [(9, 50, None), (40, 99, None), (130, 60, 5)])
def test_twin(n: int, n_orders: int, most: int | None, isa: str) -> None:
    rng = np.random.default_rng(n)
    settings = {"n_permutations": n_orders, "stop_after_hits": most, "random_state": 11}
    X, numbers = _codes(n, n), rng.normal(size=(n, 5))
    numbers[:, 1] += 0.5 * numbers[:, 0]
    for size in (0, 1, 2):
        x, y, *given = rng.permutation(5)[: size + 2].tolist()
        for base, is_chi in ((GSquared, False), (ChiSquared, True)):
            ours = PermutationTest(base(X, min_samples_per_cell=0), **settings)
            twin = TwinDiscrete(X, min_samples_per_cell=0, chi_squared=is_chi)
            expected = permuted_discrete(twin, x, y, given, 11, n_orders, most)
            found = ours.test(x, y, given)
            assert found.p_value == pytest.approx(expected, rel=1e-12)
            assert found.statistic == ours.base.test(x, y, given).statistic
        expected = permuted_fisher(TwinFisherZ(numbers), x, y, given, 11, n_orders, most)
        found = PermutationTest(FisherZ(numbers), **settings).test(x, y, given)
        assert found.p_value == pytest.approx(expected, rel=1e-12)


def test_exact_p_values() -> None:
    """All 720 orders of six samples."""
    n = 20_000
    x, y = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 1, 1, 1])
    twin = TwinDiscrete(np.column_stack([x, y]))
    orders = [list(order) for order in itertools.permutations(range(6))]
    statistics = np.array([twin.statistic(iter([twin.table(x[o], y)]))[0] for o in orders])
    exact = (statistics >= statistics[0] - 1e-9).mean()
    base = GSquared(np.column_stack([x, y]), min_samples_per_cell=0)
    found = PermutationTest(base, n_permutations=n).test(0, 1).p_value
    assert abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / n)

    a, b = np.array([0.1, 0.5, 2.0, 2.5, 4.0, 7.0]), np.array([0.3, 1.2, 0.8, 2.0, 5.0, 4.5])
    r = np.array([np.corrcoef(a[o], b)[0, 1] for o in orders])
    exact = (abs(r) >= abs(r[0]) - 1e-12).mean()
    base_z = FisherZ(np.column_stack([a, b]))
    found = PermutationTest(base_z, n_permutations=n).test(0, 1).p_value
    assert abs(found - exact) < 5 * np.sqrt(exact * (1 - exact) / n)


def test_uniform_under_independence() -> None:
    """Also where x and y both depend on what is given."""
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 60)
    found = []
    for k in range(200):
        noise = rng.integers(0, 2, (2, 60))
        X = np.column_stack([z, np.where(rng.random((2, 60)) < 0.5, z, noise).T])
        base = GSquared(X, min_samples_per_cell=0)
        found.append(PermutationTest(base, n_permutations=99, random_state=k).test(1, 2, [0]))
    p = np.array([one.p_value for one in found])
    assert 0.02 <= (p <= 0.1).mean() <= 0.18  # conservative: tables are few, and tie
    numbers = rng.normal(size=(60, 200))
    pairs = PermutationTest(FisherZ(numbers), n_permutations=99)
    p = np.exp(pairs.test_arrays(np.arange(1, 200), 0)[1])
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_a_function_of_seed_pair_and_set() -> None:
    X = _codes(3, 80)
    base = GSquared(X, min_samples_per_cell=0)
    test = PermutationTest(base, n_permutations=200, random_state=5)
    found = test.test(2, 3, [0, 1])
    fresh = PermutationTest(base, n_permutations=200, random_state=5, cache_size=0)
    fresh.test(0, 1)
    assert fresh.test(3, 2, [1, 0]) == found
    assert fresh.test_many(np.array([4, 3]), 2, [0, 1])[1] == found
    assert pickle.loads(pickle.dumps(test)).test(3, 2, [1, 0]) == found
    assert test.n_tests == 1
    others = [PermutationTest(base, n_permutations=200, random_state=s) for s in range(8)]
    assert len({one.test(2, 3, [0, 1]).log_p for one in others}) > 1


def test_separate_is_the_contracts() -> None:
    X = _codes(3, 80)
    test = PermutationTest(GSquared(X, min_samples_per_cell=0), n_permutations=99)
    for y in (1, 2, 3):
        pool = [v for v in range(1, 5) if v != y]
        found = test.separate(0, y, pool, alpha=0.2, max_size=2)
        assert found == IndependenceTest.separate(test, 0, y, pool, alpha=0.2, max_size=2)


def test_nothing_to_permute() -> None:
    X = np.column_stack([_codes(0, 50)[:, 0], np.zeros(50, int), _codes(0, 50)[:, 0]])
    test = PermutationTest(GSquared(X, min_samples_per_cell=0), n_permutations=19)
    assert test.test(0, 1).p_value == 1.0  # constant
    assert test.test(0, 2).p_value == pytest.approx(1 / 20)  # copies: the least that there is
    assert test.test(1, 2, [0]).p_value == 1.0
    assert not PermutationTest(GSquared(X[:9])).test(0, 2, [1]).reliable
    numbers = np.random.default_rng(0).normal(size=(50, 3))
    numbers[:, 1] = numbers[:, 0]
    assert PermutationTest(FisherZ(numbers)).test(1, 2, [0]).p_value == 1.0


@each(
    "settings, message",
    [
        ({"n_permutations": 0}, "n_permutations must be a whole number from 1 to"),
        ({"stop_after_hits": 0}, "stop_after_hits must be a whole number from 1 on or None, got 0"),
        ({"random_state": -1}, r"random_state must lie in \[0, 2\*\*64\)"),
        ({"base": np.zeros((3, 3))}, "base must be a GSquared, ChiSquared or FisherZ"),
    ],
)
def test_bad_input(settings: dict[str, object], message: str) -> None:
    base = GSquared(_codes(0, 30))
    with pytest.raises(ValueError, match=message):
        PermutationTest(**({"base": base} | settings))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="base must be"):
        PermutationTest(PermutationTest(base))
