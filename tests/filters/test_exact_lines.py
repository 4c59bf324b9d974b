"""Features on a line with the target, sums beyond float64, levels that merge, constant targets."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from each import each, each_isa

from bitsieve import EnsembleRanker, RankAggregation, filters
from bitsieve.selectors import UnivariateSelector


@each_isa
def test_a_line_has_an_infinite_f(isa: str) -> None:
    """By rounding F was 1.1e15 for the first, and infinite for columns that leave the line."""
    y = [2.0, 14.0, 18.0]
    X = np.array([[2.0, 1.0, 3.0], [38.0, 1.0, -3.0], [50.0, 1.0, -5.0]])
    for table in (X, sp.csr_array(X)):
        f, p = filters.f_test(table, y, task="regression", p_values=True)
        assert f.tolist() == [np.inf, 0.0, np.inf]
        assert p.tolist() == [0.0, 1.0, 0.0]
        r, p = filters.pearson(table, y, signed=True, p_values=True)
        assert r.tolist() == [1.0, 0.0, -1.0]
        assert p.tolist() == [0.0, 1.0, 0.0]


def test_lines_and_what_is_beside_them() -> None:
    """F of columns a little off a line, to the last digits; 0.3 of float64 is off too."""
    rng = np.random.default_rng(0)
    y = rng.integers(-50, 50, 12) / 4.0
    line = y[:, None] * rng.integers(1, 99, 40)
    off = np.tile(line, 2)
    off[3, 40:] += rng.choice([1e-9, 1e-7], 40)
    found = filters.f_test(off, y, task="regression")
    assert np.isinf(found[:40]).all()
    for f in range(40, 80):
        xs, ys = [[Fraction(v) for v in vector.tolist()] for vector in (off[:, f], y)]
        mx, my = sum(xs) / 12, sum(ys) / 12
        xy = sum((v - mx) * (w - my) for v, w in zip(xs, ys, strict=True))
        square = xy**2 / sum((v - mx) ** 2 for v in xs) / sum((v - my) ** 2 for v in ys)
        assert found[f] == pytest.approx(float(square / (1 - square) * 10), rel=1e-3)
    tenths = filters.f_test([[0.1], [0.2], [0.30000000000000004]], [1.0, 2.5, 3.0])
    assert np.isfinite(tenths).all()


def test_chi2_of_sums_beyond_float64() -> None:
    X = np.array([[1.0, 2.0]] + [[1.7e308, 2.0]] * 6)
    y = [0, 0, 0, 1, 1, 1, 1]
    score, p = filters.chi2(X, y, p_values=True)
    sparse, _ = filters.chi2(sp.csr_array(X), y, p_values=True)
    np.testing.assert_allclose(score, sparse, rtol=1e-12)
    assert score[0] == pytest.approx(1.7e308 / 4.5, rel=1e-12)
    assert p.tolist() == [0.0, 1.0]


def test_wrappers_say_that_a_ranker_refuses_negative_values() -> None:
    def refuses(selector: Any) -> bool:
        return bool(selector.__sklearn_tags__().input_tags.positive_only)

    assert refuses(EnsembleRanker("chi2"))
    assert refuses(EnsembleRanker(UnivariateSelector("chi2")))
    assert refuses(RankAggregation(["f", "chi2"]))
    assert not refuses(RankAggregation(["f", "welch"]))
    assert not refuses(EnsembleRanker("f"))
    X, y = [[1.0, -2.0], [3.0, 4.0], [0.0, 1.0], [2.0, 2.0]], [0, 0, 1, 1]
    for selector in (
        EnsembleRanker("chi2", n_bootstraps=2, random_state=0),
        RankAggregation(["f", "chi2"]),
    ):
        with pytest.raises(ValueError, match="chi2 is for counts, but X has negative values"):
            selector.fit(X, y)


LONG = np.array([[2**53, 1], [2**53 + 1, 2], [2**53, 3], [2**53 + 1, 4]])


@each(
    "X",
    [LONG, LONG.astype(np.uint64), LONG.tolist(), LONG.astype(object), pd.DataFrame(LONG)],
)
def test_levels_that_float64_merges_are_refused(X: Any) -> None:
    y = [0, 1, 0, 1]
    for score in (
        filters.mutual_information,
        filters.entropy,
        filters.information_gain,
        lambda X, y: filters.gini(X, y, discretization=None),
        lambda X, y: filters.mrmr(X, y, 1),
        lambda X, y: filters.as_codes(X),
        lambda X, y: filters.discretize(X, y),
        lambda X, y: filters.relieff(X, y, discrete_features=[0]),
        filters.auc,
        filters.kruskal_wallis,
        filters.spearman,
    ):
        with pytest.raises(
            ValueError, match=r"whole numbers from 2\^53 on merge .*9007199254740993"
        ):
            score(X, y)


def test_a_target_that_would_merge_is_refused() -> None:
    X = np.arange(6.0)[:, None]
    y = np.arange(6) + 2**53
    for score in (filters.spearman, filters.pearson):
        with pytest.raises(ValueError, match=r"y holds whole numbers from 2\^53 on that merge"):
            score(X, y)
        np.testing.assert_allclose(score(X, 2 * y - 2**53), [1.0])


def test_great_levels_that_stay_apart_are_fine() -> None:
    y = [0, 1, 0, 1]
    assert filters.mutual_information(2 * LONG - 2**53, y, discretization=None)[0] == pytest.approx(
        np.log(2)
    )
    with pytest.raises(ValueError, match=r"whole numbers from 2\^53 on merge"):
        filters.mutual_information(sp.csr_array(LONG), y)
    # Labels are never floats.
    np.testing.assert_allclose(
        filters.mutual_information([[0], [1], [0], [1]], LONG[:, 0]), [np.log(2)]
    )


def test_a_constant_numeric_target_is_refused_everywhere() -> None:
    X = np.arange(12.0).reshape(4, 3)[[0, 2, 1, 3]]
    y = np.full(4, 0.5)
    for score in (
        filters.mutual_information,
        lambda X, y: filters.mutual_information(X, y, estimator="knn", n_neighbors=1),
        lambda X, y: filters.conditional_mutual_information(X, y, [0, 0, 1, 1]),
        lambda X, y: filters.joint_mutual_information(X, y, [0, 0, 1, 1]),
        lambda X, y: filters.mrmr(X, y, 1),
        lambda X, y: filters.mrmr(X, y, 1, criterion="FCD"),
        lambda X, y: filters.information_selection(X, y, 1),
        lambda X, y: filters.gram_schmidt(X, y, 1),
        filters.rrelieff,
        lambda X, y: filters.turf(X, y, scorer="rrelieff"),
        filters.f_test,
        filters.pearson,
        filters.spearman,
    ):
        with pytest.raises(ValueError, match=r"^y is 0\.5 for all 4 samples: nothing varies"):
            score(X, y)


def test_information_of_the_greatest_numbers() -> None:
    """The deviation of y and of the column is a number though its square is none."""
    big = np.array([1e308, -1e308, 1e308, 5e307])
    small = big / 1e308
    for X, y in ((big[:, None], [0, 1, 0, 1]), ([[1.0], [2.5], [3.5], [5.5]], big)):
        scaled = small if y is big else y
        column = small[:, None] if y is not big else X
        cut = {"discretization": "mean_sd", "task": "regression" if y is big else None}
        np.testing.assert_array_equal(
            filters.mutual_information(X, y, **cut),
            filters.mutual_information(column, scaled, **cut),
        )


@each_isa
def test_whole_numbers_beyond_int32_are_levels(isa: str) -> None:
    X = np.array([[0, 7], [1, 7], [0, 8], [1, 9]])
    y = [0, 1, 0, 1]
    wanted = filters.mutual_information(X, y)
    for far in (X * 2**40, -X * 3 * 10**9, (X * 2**40).astype(np.float64)):
        np.testing.assert_array_equal(filters.mutual_information(far, y), wanted)
