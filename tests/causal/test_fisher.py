"""Fisher's z: the twin's numbers, two-sided, and sane where variables determine each other."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from each import each, each_isa
from scipy import stats
from twin_independence import TwinFisherZ

from bitsieve.causal import FisherZ, Independence, IndependenceTest


def _numbers(seed: int, n: int, p: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for f in range(1, p):
        X[:, f] += rng.normal() * X[:, f - 1]
    return X


@each_isa
@each("n", [8, 33, 200, 1001])
def test_twin(n: int, isa: str) -> None:
    X = _numbers(n, n)
    test, twin = FisherZ(X), TwinFisherZ(X)
    rng = np.random.default_rng(n)
    for size in (0, 1, 2, 3, 5, 8):
        for _ in range(6):
            x, y, *given = rng.permutation(12)[: size + 2].tolist()
            ours, theirs = test.test(x, y, given), twin.test(x, y, given)
            assert (ours.dof, ours.reliable) == (theirs.dof, theirs.reliable)
            assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-12)
            assert ours.log_p == pytest.approx(theirs.log_p, rel=1e-8, abs=1e-12)


def test_scipy() -> None:
    X = _numbers(0, 500)
    test = FisherZ(X)
    for x in range(12):
        for y in range(x):
            r = stats.pearsonr(X[:, x], X[:, y]).statistic
            p = 2 * stats.norm.sf(abs(np.arctanh(r)) * np.sqrt(497))
            if p > 1e-280:
                assert test.test(x, y).p_value == pytest.approx(p, rel=1e-10)


def test_two_sided() -> None:
    """A parent counts as one whatever the sign of its influence."""
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, 1000))
    child = a - b + noise
    plus = FisherZ(np.column_stack([a, b, child])).test(0, 2)
    minus = FisherZ(np.column_stack([-a, b, child])).test(0, 2)
    assert plus == minus
    assert plus.log_p < -50


def test_collinear_sets() -> None:
    rng = np.random.default_rng(0)
    X = np.empty((300, 8))
    X[:, :4] = rng.normal(size=(300, 4))
    X[:, 4] = X[:, 0]  # duplicate
    X[:, 5] = 3 * X[:, 0] - X[:, 1] + 2  # deterministic
    X[:, 6] = 7.1  # constant
    X[:, 7] = X[:, 0] + X[:, 2] + rng.normal(size=300)
    test, twin = FisherZ(X), TwinFisherZ(X)
    nothing = [(0, 7, [4]), (5, 7, [0, 1]), (1, 7, [0, 5]), (6, 0, []), (0, 6, [1]), (4, 5, [0])]
    for x, y, given in nothing:
        found = test.test(x, y, given)
        assert (found.statistic, found.log_p, found.reliable) == (0.0, 0.0, True)
        assert twin.test(x, y, given).statistic == 0.0
    # What adds nothing to a set changes the degrees of freedom alone.
    for more in (4, 6):
        alone, both = test.test(2, 7, [0]), test.test(2, 7, [0, more])
        assert both.dof == alone.dof - 1
        assert both.statistic / np.sqrt(both.dof) == pytest.approx(
            alone.statistic / np.sqrt(alone.dof), rel=1e-9
        )
    copies = test.test(0, 4)
    assert np.isfinite(copies.statistic)
    assert -np.inf < copies.log_p < -1000
    every = [test.test(x, y, [z for z in range(8) if z not in (x, y)]) for x, y in ((0, 7), (2, 7))]
    assert not any(np.isnan([one.statistic, one.log_p]).any() for one in every)
    assert every[1].log_p < -20


@each("scale", [1e-310, 1e-200, 1.0, 1e150, 1e300])
def test_scale_and_offset(scale: float) -> None:
    X = _numbers(2, 100, 5)
    expected = FisherZ(X).test(0, 3, [1, 2])
    found = FisherZ(X / np.abs(X).max() * scale).test(0, 3, [1, 2])
    rel = 1e-3 if scale < 1e-300 else 1e-9  # so few digits are left
    assert found.statistic == pytest.approx(expected.statistic, rel=rel)
    shifted = FisherZ(X + 1e6).test(0, 3, [1, 2])
    assert shifted.statistic == pytest.approx(expected.statistic, rel=1e-6)


def test_separate_is_the_contracts() -> None:
    X = _numbers(4, 150)
    X[:, 11] = X[:, 3]
    test = FisherZ(X)
    rng = np.random.default_rng(0)
    separators = []
    for _ in range(60):
        x, y, *pool = rng.permutation(12)[:9].tolist()
        settings: dict[str, Any] = {
            "alpha": float(rng.choice([0.001, 0.3, 0.9])),
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


def test_every_way_has_the_same_bits() -> None:
    """One by one, many at once, by kept correlations, in threads, in any order."""
    X = _numbers(5, 120, 200)
    xs = np.array([v for v in range(200) if v not in (7, 9, 11)])
    alone = FisherZ(X, n_jobs=1)
    expected = [alone.test(int(x), 7, [9, 11]) for x in xs[:30]]
    assert [alone.test(7, int(x), [11, 9]) for x in xs[:30]] == expected
    for n_jobs in (1, 3):
        many = FisherZ(X, n_jobs=n_jobs)
        assert many.test_many(xs, 7, [9, 11])[:30] == expected
        assert many.test_many(xs[:5], 7, [11, 9]) == expected[:5]
        assert [many.test(int(x), 7, [9, 11]) for x in xs[:30]] == expected
    often = FisherZ(X)
    for _ in range(100):
        assert often.test(3, 7, [9, 11]) == alone.test(3, 7, [9, 11])
    assert np.isfinite([one.log_p for one in expected]).all()


def test_too_few_samples_for_a_set() -> None:
    test = FisherZ(_numbers(6, 6))
    assert test.test(0, 1, [2, 3]).dof == 1
    assert test.test(0, 1, [2, 3, 4]) == Independence(0.0, 0.0, 0, False)
    many = test.test_many(np.array([0, 5]), 1, [2, 3, 4])
    assert many == [Independence(0.0, 0.0, 0, False)] * 2
    found = test.separate(0, 1, [2, 3, 4], alpha=0.01, min_size=3, max_size=3)
    assert found.separator is None
    assert not found.weakest.reliable


def test_a_wide_table_needs_no_square_matrix() -> None:
    """60,000 variables: all their correlations would take 29 GB."""
    X = np.random.default_rng(0).normal(size=(20, 60_000)).astype(np.float32)
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    statistic, log_p, dof, reliable = FisherZ(X).test_arrays(np.arange(1, 60_000), 0)
    assert statistic.argmax() == 0
    assert log_p.argmin() == 0
    assert (dof == 17).all()
    assert reliable.all()
    # Uniform but for the first.
    assert stats.kstest(np.exp(log_p[1:]), "uniform").pvalue > 1e-3


def test_pickle_and_names() -> None:
    import pandas as pd

    frame = pd.DataFrame(_numbers(0, 50, 3), columns=list("abc"))
    test = FisherZ(frame)
    assert test.names == ["a", "b", "c"]
    again = pickle.loads(pickle.dumps(test))
    assert again.test(0, 1, [2]) == test.test(0, 1, [2])
    assert again.names == test.names


def test_bad_input() -> None:
    X = _numbers(0, 30, 3)
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        FisherZ(X)
    X[4, 1] = np.inf
    with pytest.raises(ValueError, match="inf"):
        FisherZ(X)
    with pytest.raises(ValueError, match="position of a variable, from 0 to 2, got 3"):
        FisherZ(X[:4]).test(0, 3)


def test_a_pool_of_thousands() -> None:
    X = np.random.default_rng(0).normal(size=(40, 20_000)).astype(np.float32)
    X[:, 1] = X[:, 0] + X[:, 1]
    test = FisherZ(X)
    pool = np.arange(2, 20_000)
    found = test.separate(0, 1, pool, alpha=0.9, max_size=1)
    assert found.separator is None
    assert found.n_tests == 1 + len(pool)
    asked = [test.test(0, 1, [int(z)]).log_p for z in pool[::500]]
    assert found.weakest.log_p >= max(asked)
    assert found.weakest == test.test(0, 1, found.weakest_given)
