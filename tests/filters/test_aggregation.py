"""One ranking out of several, against the formulas written out and SciPy's order statistics."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from each import each
from scipy import stats
from sklearn.feature_selection import SelectKBest

from bitsieve.filters import rank_aggregation
from bitsieve.filters.aggregation import METHODS, combine, positions_of

_LISTS = np.array([[0.9, 0.5, 0.1, 0.3], [7.0, 9.0, 2.0, 1.0], [1.0, -2.0, 0.0, -5.0]])
_POSITIONS = np.array([[1, 2, 4, 3], [2, 1, 3, 4], [1, 3, 2, 4]])


def _tied(n_lists: int = 7, n_features: int = 40, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 12, size=(n_lists, n_features)).astype(float)


# -- positions ---------------------------------------------------------------------------------


def test_positions_are_ranks() -> None:
    np.testing.assert_array_equal(positions_of(_LISTS), _POSITIONS)
    np.testing.assert_array_equal(positions_of(_POSITIONS, given="rankings"), _POSITIONS)
    lists = _tied()
    np.testing.assert_array_equal(positions_of(lists), stats.rankdata(-lists, axis=1))
    np.testing.assert_array_equal(
        positions_of(lists, ties="index"), stats.rankdata(-lists, method="ordinal", axis=1)
    )


def test_features_that_a_list_lacks() -> None:
    lists = [[np.nan, 5.0, np.nan, 7.0, np.nan]]
    assert positions_of(lists).tolist() == [[4, 2, 4, 1, 4]]  # the mean of 3, 4, 5
    assert positions_of(lists, lacking="last").tolist() == [[5, 2, 5, 1, 5]]
    # ranking_ of a greedy selector: all that were not taken share the next position
    assert positions_of([[3, 2, 3, 1, 3]], given="rankings").tolist() == [[4, 2, 4, 1, 4]]


def test_infinite_scores_are_in_order() -> None:
    assert positions_of([[0.0, np.inf, -np.inf, np.inf]]).tolist() == [[3, 1.5, 4, 1.5]]


# -- methods -----------------------------------------------------------------------------------


def test_mean_is_equation_2() -> None:
    np.testing.assert_array_equal(rank_aggregation(_LISTS), [1 / 4, 1 / 6, 1 / 9, 1 / 11])


def test_borda_and_median_by_hand() -> None:
    np.testing.assert_allclose(
        rank_aggregation(_LISTS, method="borda"), [8 / 3, 6 / 3, 3 / 3, 1 / 3]
    )
    np.testing.assert_array_equal(rank_aggregation(_LISTS, method="median"), [4, 3, 2, 1])
    np.testing.assert_array_equal(  # an even number of lists: between the middle ones
        rank_aggregation(_LISTS[:2], method="median"), [3.5, 3.5, 1.5, 1.5]
    )


@each("n_lists", [1, 2, 5, 8])
def test_methods_equal_their_twins(n_lists: int) -> None:
    lists = _tied(n_lists)
    ranks = stats.rankdata(-lists, axis=1)
    p = lists.shape[1]
    np.testing.assert_allclose(rank_aggregation(lists), 1 / ranks.sum(axis=0))
    np.testing.assert_allclose(
        rank_aggregation(lists, method="borda"), (p - ranks).sum(axis=0) / n_lists
    )
    np.testing.assert_allclose(
        rank_aggregation(lists, method="median"), p + 1 - np.median(ranks, axis=0)
    )
    statistics = [
        min(stats.beta.cdf(r, k, n_lists - k + 1) for k, r in enumerate(np.sort(column), 1))
        for column in ranks.T / p
    ]
    scores, p_values = rank_aggregation(lists, method="rra", p_values=True)
    np.testing.assert_allclose(scores, -np.log10(statistics), atol=1e-12)
    np.testing.assert_allclose(p_values, np.minimum(1, n_lists * np.array(statistics)))


def test_rra_by_hand() -> None:
    """Three lists of four features; P(B(k, 4 - k) <= r) is the chance of k or more of 3 below r."""

    def at_least(k: int, r: float) -> float:
        return sum(comb(3, i) * r**i * (1 - r) ** (3 - i) for i in range(k, 4))

    scores, p_values = rank_aggregation(_LISTS, method="rra", p_values=True)
    # Feature 0: normalised positions 1/4, 1/4, 1/2.
    rho = min(at_least(1, 0.25), at_least(2, 0.25), at_least(3, 0.5))
    assert rho == at_least(3, 0.5) == 0.125
    assert scores[0] == pytest.approx(-np.log10(0.125))
    assert p_values[0] == pytest.approx(0.375)
    # Feature 3: 3/4, 1, 1.
    assert scores[3] == pytest.approx(-np.log10(at_least(1, 0.75)))
    assert p_values[3] == 1.0


def test_rra_does_not_underflow() -> None:
    p = 20_000
    lists = np.tile(np.arange(p, 0, -1.0), (100, 1))
    scores = rank_aggregation(lists, method="rra")
    # The first of all in all lists: P = (1 / p)^100.
    assert scores[0] == pytest.approx(100 * np.log10(p))
    assert (np.diff(scores) < 0).sum() >= p - 2
    assert np.isfinite(scores).all()
    assert scores[2] == pytest.approx(-100 * np.log10(3 / p))
    moderate = rank_aggregation(lists[:, ::100], method="rra")  # both ways of computing it
    logs = [min(stats.beta.logcdf(i / 200, k, 101 - k) for k in (1, 100)) for i in range(1, 20)]
    np.testing.assert_allclose(moderate[:19], -np.array(logs) / np.log(10), rtol=1e-9)


def test_rra_puts_what_is_missing_last() -> None:
    lists = [[3.0, 2.0, np.nan, np.nan], [np.nan, 3.0, 2.0, np.nan]]
    scores = rank_aggregation(lists, method="rra")
    assert scores[3] == pytest.approx(0.0)
    assert np.argmax(scores) == 1


def test_rra_finds_what_a_minority_of_lists_knows() -> None:
    rng = np.random.default_rng(0)
    lists = rng.normal(size=(10, 500))
    lists[:5, 123] = 10.0
    assert np.argmax(rank_aggregation(lists, method="rra")) == 123
    assert rank_aggregation(lists, method="rra", p_values=True)[1][123] < 1e-6


def test_p_values_of_random_lists_are_no_smaller_than_they_should_be() -> None:
    rng = np.random.default_rng(1)
    _, p_values = rank_aggregation(rng.normal(size=(6, 4000)), method="rra", p_values=True)
    for level in (0.01, 0.05, 0.2):
        assert (p_values <= level).mean() <= level + 3 * np.sqrt(level / 4000)


# -- weights -----------------------------------------------------------------------------------


@each("method", ["mean", "borda", "median"])
def test_a_weight_of_two_is_a_list_twice(method: Any) -> None:
    lists = _tied(4)
    twice = np.vstack([lists, lists[1:2]])
    weighted = rank_aggregation(lists, method=method, weights=[1, 2, 1, 1])
    again = rank_aggregation(twice, method=method)
    factor = 5 / 4 if method == "mean" else 1.0  # equation 2 is a sum
    np.testing.assert_allclose(weighted, factor * again)
    alone = rank_aggregation(lists, method=method, weights=[0, 0, 3, 0])
    only = rank_aggregation(lists[2:3], method=method)
    np.testing.assert_allclose(alone, only / 4 if method == "mean" else only)


# -- identities --------------------------------------------------------------------------------


@each("method", METHODS)
def test_identities(method: Any) -> None:
    lists = _tied()
    scores = rank_aggregation(lists, method=method)
    assert scores.dtype == np.float64
    assert scores.shape == (40,)
    shuffled = np.random.default_rng(2).permutation(40)
    np.testing.assert_allclose(
        rank_aggregation(lists[:, shuffled], method=method), scores[shuffled]
    )
    np.testing.assert_allclose(rank_aggregation(lists[::-1], method=method), scores)
    np.testing.assert_array_equal(rank_aggregation(np.exp(lists), method=method), scores)
    np.testing.assert_array_equal(rank_aggregation(-lists, method=method, given="rankings"), scores)
    doubled = rank_aggregation(np.hstack([lists, lists[:, :1]]), method=method)
    assert doubled[0] == doubled[-1]


@each("method", METHODS)
def test_better_everywhere_is_better(method: Any) -> None:
    for seed in range(20):
        lists = np.random.default_rng(seed).normal(size=(5, 12))
        positions, scores = positions_of(lists), rank_aggregation(lists, method=method)
        for a, b in combinations(range(12), 2):
            if (positions[:, a] < positions[:, b]).all():
                assert scores[a] > scores[b]


@pytest.mark.parametrize("method", METHODS)
def test_blocks_of_features_change_nothing(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lists = _tied()
    whole = rank_aggregation(lists, method=method)
    monkeypatch.setattr("bitsieve.filters.aggregation._BLOCK", 7 * 3)
    np.testing.assert_allclose(rank_aggregation(lists, method=method), whole, rtol=1e-15)
    small = positions_of(lists, lacking="last").astype(np.float32)
    np.testing.assert_allclose(combine(small, method), whole, rtol=1e-12)


def test_as_a_score_function_of_scikit_learn() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 8)), np.arange(30) % 2
    X[y == 1, 5] += 3
    chosen = SelectKBest(lambda X, y: rank_aggregation([X[y == 1].mean(0), X.std(0)]), k=1)
    assert chosen.fit(X, y).get_support(indices=True).tolist() == [5]


# -- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lists", "options", "message"),
    [
        ([1.0, 2.0], {}, r"shape \(n_lists, n_features\).*got \(2,\); a single list goes in"),
        ([[]], {}, r"at least one of each, got \(1, 0\)"),
        ([[1.0, 2.0], [1.0]], {}, "lists must hold numbers, one row a list, all of one length"),
        ([["a", "b"]], {}, "lists must hold numbers"),
        (
            [[1.0, 2.0], [np.nan, np.nan]],
            {},
            r"1 list \(number 1\) ranks no feature at all: every value is NaN; leave it out",
        ),
        ([[1.0]], {"method": "bordo"}, "unknown method 'bordo': did you mean 'borda'?"),
        ([[1.0]], {"given": "score"}, "given must be 'scores' or 'rankings', got 'score'"),
        ([[1.0]], {"ties": "min"}, "ties must be 'average' or 'index', got 'min'"),
        ([[1.0]], {"weights": [1, 2]}, r"expected 1 weight, one a list, got .* shape \(2,\)"),
        ([[1.0]], {"weights": [-1]}, "weights must be numbers from 0 on, not all of them 0"),
        ([[1.0]], {"weights": [0]}, "not all of them 0, got 0.0"),
        ([[1.0]], {"method": "rra", "weights": [1]}, "weights cannot be used with method='rra'"),
        ([[1.0]], {"p_values": True}, "p_values need method='rra'; 'mean' combines positions"),
    ],
)
def test_bad_input(lists: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rank_aggregation(lists, **options)
