"""Missing values and ramps of the Relief family, by hand and by what must not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each

from bitsieve import filters
from bitsieve.filters.relief._differences import Differences, feature_blocks
from bitsieve.filters.relief._problem import make_problem

NAN = float("nan")


def differences(X: Any, y: Any, **options: Any) -> Any:
    """(p, n, n) differences that the general path sees."""
    given = {
        "task": "classification",
        "n_instances": None,
        "discrete_features": "auto",
        "missing": "probabilistic",
        "diff": "linear",
        "ramp": (0.04, 0.10),
        "feature_weights": None,
        "precision": "exact",
        "random_state": None,
        "n_jobs": 1,
    }
    problem = make_problem(X, y, **{**given, **options})
    blocks = [Differences(problem, part) for part in feature_blocks(problem)]
    rows = [np.vstack([b.of(i, slice(None)) for b in blocks]) for i in range(problem.n_samples)]
    return np.stack(rows, axis=1)


def test_a_discrete_value_that_is_missing() -> None:
    # Class a holds 0, 0, 1 and one unknown; class b holds 1, 2 and one unknown.
    x = [0, 0, 1, NAN, 1, 2, NAN]
    y = list("aaaabbb")
    found = differences(np.c_[x], y, discrete_features=[0])[0]
    # One unknown: 1 - P(value | class of the unknown).
    assert found[0, 3] == pytest.approx(1 - 2 / 3)
    assert found[3, 0] == found[0, 3]
    assert found[2, 3] == pytest.approx(1 - 1 / 3)
    assert found[5, 3] == pytest.approx(1)
    assert found[4, 6] == pytest.approx(1 - 1 / 2)
    assert found[0, 6] == pytest.approx(1)
    # Both unknown: 1 - sum_v P(v | a) P(v | b) = 1 - P(1 | a) P(1 | b).
    assert found[3, 6] == pytest.approx(1 - 1 / 3 * 1 / 2)


def test_a_continuous_value_that_is_missing() -> None:
    # Range 10; class a holds 0, 2, class b holds 4, 10.
    x = [0.0, 2.0, NAN, 4.0, 10.0, NAN]
    y = list("aaabbb")
    found = differences(np.c_[x], y)[0]
    assert found[3, 2] == pytest.approx((4 + 2) / 2 / 10)
    assert found[2, 3] == found[3, 2]
    assert found[0, 5] == pytest.approx((4 + 10) / 2 / 10)
    assert found[2, 5] == pytest.approx((4 + 10 + 2 + 8) / 4 / 10)
    steep = differences(np.c_[x], y, diff="ramp", ramp=(0.2, 0.4))[0]
    assert steep[0, 1] == 0.0
    assert steep[0, 3] == 1.0
    assert steep[3, 2] == pytest.approx((1.0 + 0.0) / 2)
    assert steep[1, 5] == pytest.approx((0.0 + 1.0) / 2)


def test_a_class_that_knows_nothing_takes_all_samples() -> None:
    x = [0.0, 2.0, 10.0, NAN, NAN]
    y = list("aaabb")
    found = differences(np.c_[x], y)[0]
    assert found[0, 3] == pytest.approx((0 + 2 + 10) / 3 / 10)
    assert found[3, 4] == pytest.approx(2 * (2 + 10 + 8) / 9 / 10)


def test_ignored_pairs_and_scaled_distances() -> None:
    X = np.array([[0.0, NAN], [1.0, 0.0], [0.5, 1.0], [NAN, 0.5]])
    y = ["a", "a", "b", "b"]
    # Distances: 0-1 and 0-2 from the first feature alone, doubled; 0-3 share nothing: 2.
    found = filters.relief(X, y, missing="ignore")
    # Hits: 0-1, 1-0, 2-3, 3-2. Misses: 0-2 (1 < 2), 1-3 (1 < 1.5), 2-0 (1 < 1.5), 3-1 (1 < 2).
    first = (-1 + 0.5) + (-1 + 0) + (0 + 0.5) + (0 + 0)
    second = (0 + 0) + (0 + 0.5) + (-0.5 + 0) + (-0.5 + 0.5)
    np.testing.assert_allclose(found, [first / 4, second / 4])


@each("missing", ["probabilistic", "ignore"])
@each("name", ["relieff", "multisurf", "surf_star", "rrelieff"])
def test_a_column_without_any_value(name: str, missing: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    X[3, 1] = NAN
    y = rng.normal(size=30) if name == "rrelieff" else np.arange(30) % 3
    score = getattr(filters, name)
    alone = score(X, y, missing=missing)
    found = score(np.insert(X, 2, NAN, axis=1), y, missing=missing)
    assert found[2] == 0.0
    np.testing.assert_allclose(np.delete(found, 2), alone, rtol=0, atol=1e-12)
    # Nor does a constant column with gaps.
    constant = np.where(np.arange(30) < 9, NAN, 2.5)
    found = score(np.insert(X, 2, constant, axis=1), y, missing=missing)
    assert found[2] == 0.0
    np.testing.assert_allclose(np.delete(found, 2), alone, rtol=0, atol=1e-12)


@each("name", ["relieff", "multisurf"])
def test_few_gaps_change_little(name: str) -> None:
    rng = np.random.default_rng(1)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 20))
    X[:, :3] += y[:, None]
    score = getattr(filters, name)
    whole = score(X, y)
    X[rng.random(X.shape) < 0.02] = NAN
    for missing in ("probabilistic", "ignore"):
        found = score(X, y, missing=missing)
        np.testing.assert_allclose(found, whole, rtol=0, atol=0.03)
        assert set(np.argsort(-found)[:3]) == {0, 1, 2}


@each("missing", ["probabilistic", "ignore"])
def test_order_of_samples_and_features_with_gaps(missing: str) -> None:
    rng = np.random.default_rng(2)
    y = np.arange(50) % 3
    X = rng.normal(size=(50, 12))
    X[rng.random(X.shape) < 0.1] = NAN
    wanted = filters.relieff(X, y, missing=missing)
    rows, columns = rng.permutation(50), rng.permutation(12)
    found = filters.relieff(X[rows][:, columns], y[rows], missing=missing)
    np.testing.assert_allclose(found, wanted[columns], rtol=0, atol=1e-12)


def test_gaps_of_every_make() -> None:
    X = np.array([[1.0, 2.0], [2.0, NAN], [4.0, 3.0], [3.0, 1.0], [5.0, 2.5]])
    y = [0, 0, 1, 1, 1]
    wanted = filters.relieff(X, y)
    frame = pd.DataFrame(X).astype("Float64")
    masked = np.ma.masked_invalid(X)
    for other in (frame, masked, X.astype(np.float32), X.astype(object)):
        np.testing.assert_allclose(filters.relieff(other, y), wanted, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="contains NaN: 1 value in 1 column"):
        filters.relieff(X, y, missing="error")


def test_infinity_is_no_missing_value() -> None:
    X = np.array([[1.0, 2.0], [2.0, np.inf], [4.0, NAN], [3.0, 1.0]])
    with pytest.raises(ValueError, match="contains infinity"):
        filters.relieff(X, [0, 0, 1, 1])


def test_the_ramp_puts_numbers_on_a_par_with_categories() -> None:
    """A step of 0.1 of the range counts whole, as a change of category does."""
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    clean = y + rng.normal(scale=0.05, size=200)
    wide = np.r_[clean[:-1], 9.0]  # one outlier takes the range
    X = np.column_stack([wide, y, rng.normal(size=200)])
    linear = filters.relieff(X, y, discrete_features=[1])
    ramped = filters.relieff(X, y, discrete_features=[1], diff="ramp")
    assert linear[0] < 0.2
    assert ramped[0] > 0.8
    np.testing.assert_allclose(  # without limits to speak of the ramp is the line
        filters.relieff(X, y, discrete_features=[1], diff="ramp", ramp=(0.0, 1.0)),
        linear,
        rtol=0,
        atol=1e-9,
    )
