"""The intervals, against SciPy, polynomials and formulas written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from each import each

from bitsieve.evaluation import Interval, corrected_t_interval
from bitsieve.evaluation.interval import (
    auc_interval,
    binomial_interval,
    difference_interval,
    effective_size,
    joined,
    mean_interval,
    score_range,
)


def test_equals_the_formula_of_nadeau_and_bengio() -> None:
    scores = [0.81, 0.86, 0.79, 0.9, 0.84]
    mean = sum(scores) / 5
    variance = sum((s - mean) ** 2 for s in scores) / 4
    t = 2.7764451051977987  # 97.5 % of Student's t with 4 degrees of freedom, from a table
    half = t * math.sqrt((1 / 5 + 20 / 80) * variance)
    found = corrected_t_interval(scores, [20] * 5, [80] * 5)
    assert found.low == pytest.approx(mean - half, rel=1e-12)
    assert found.high == pytest.approx(mean + half, rel=1e-12)
    low, high = found
    assert (low, high) == (found.low, found.high)


def test_is_wider_than_the_uncorrected_interval() -> None:
    from scipy import stats

    scores = np.array([0.6, 0.7, 0.65, 0.72])
    plain = stats.t.interval(0.9, 3, scores.mean(), stats.sem(scores))
    found = corrected_t_interval(scores, [25] * 4, [75] * 4, level=0.9)
    assert found.low < plain[0]
    assert found.high > plain[1]
    assert (found.high - found.low) / (plain[1] - plain[0]) == pytest.approx(math.sqrt(1 + 4 / 3))


def test_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):  # independent folds: the correction can only be on the safe side
        scores = rng.normal(0.7, 0.05, 5)
        hits += 0.7 in corrected_t_interval(scores, [20] * 5, [80] * 5)
    assert hits >= 0.95 * 400


def test_is_clipped_to_the_range_of_the_scorer() -> None:
    found = corrected_t_interval([1.0, 0.9, 1.0], [10] * 3, [20] * 3, bounds=(0.0, 1.0))
    assert found.high == 1.0
    assert 0.0 < found.low < 0.97


def test_needs_two_folds() -> None:
    found = corrected_t_interval([0.5], [10], [20])
    assert math.isnan(found.low)
    assert math.isnan(found.high)


@each("level", [0.0, 1.0, 95])
def test_refuses_a_level_outside_0_and_1(level: float) -> None:
    with pytest.raises(ValueError, match=r"level must be a number in \(0, 1\), got .*; 0.95 asks"):
        corrected_t_interval([0.1, 0.2], [1, 1], [2, 2], level=level)


def test_refuses_lengths_that_differ() -> None:
    with pytest.raises(ValueError, match=r"2 scores, 1 test size and 2 training sizes"):
        corrected_t_interval([0.1, 0.2], [1], [2, 2])


def test_membership_includes_the_ends() -> None:
    assert 0.5 in Interval(0.5, 0.6)
    assert 0.6 in Interval(0.5, 0.6)
    assert 0.61 not in Interval(0.5, 0.6)


@pytest.mark.parametrize(
    ("scoring", "bounds"),
    [
        ("accuracy", (0.0, 1.0)),
        ("roc_auc_ovr", (0.0, 1.0)),
        ("f1_macro", (0.0, 1.0)),
        ("r2", (-math.inf, 1.0)),
        ("matthews_corrcoef", (-1.0, 1.0)),
        ("neg_log_loss", (-math.inf, 0.0)),
        ("rand_score", (0.0, 1.0)),
        ("fowlkes_mallows_score", (0.0, 1.0)),
        ("adjusted_rand_score", (-0.5, 1.0)),
        ("adjusted_mutual_info_score", (-math.inf, 1.0)),
        ("mutual_info_score", (0.0, math.inf)),
        ("positive_likelihood_ratio", (0.0, math.inf)),
        ("d2_brier_score", (-math.inf, 1.0)),
        ("d2_log_loss_score", (-math.inf, 1.0)),
        ("max_error", (-math.inf, math.inf)),
        (None, (-math.inf, math.inf)),
    ],
)
def test_knows_the_range_of_scorers(scoring: str | None, bounds: tuple[float, float]) -> None:
    assert score_range(scoring) == bounds


def test_binomial_intervals_are_those_of_scipy() -> None:
    from scipy import stats

    for n in (1, 2, 13):
        for k in range(n + 1):
            for level in (0.9, 0.95):
                expected = stats.binomtest(k, n).proportion_ci(level, "exact")
                assert tuple(binomial_interval(k, n, level=level)) == pytest.approx(
                    tuple(expected), abs=1e-12
                )


def test_binomial_intervals_of_counts_that_are_not_whole_lie_between_their_neighbors() -> None:
    lows, highs = zip(*(binomial_interval(k / 4, 10) for k in range(41)), strict=True)
    assert np.all(np.diff(lows) > 0)
    assert np.all(np.diff(highs[:37]) > 0)
    # Ten times a mean of fractions may miss 10 by rounding.
    assert binomial_interval(10 - 1e-12, 10).high == 1.0
    assert binomial_interval(1e-12, 10).low == 0.0


def test_the_interval_of_a_mean_is_recovered_from_its_parts() -> None:
    one = Interval(0.5, 0.9)
    assert tuple(mean_interval([0.8], [one])) == pytest.approx(tuple(one))
    low, high = mean_interval([0.8] * 4, [one] * 4)
    assert (low, high) == pytest.approx((0.8 - 0.3 / 2, 0.8 + 0.1 / 2))


def test_the_interval_of_a_paired_difference() -> None:
    upper = 1 - 0.025 ** (1 / 20)  # of no discordant sample among 20
    assert tuple(difference_interval(0, 0, 20)) == pytest.approx((-upper, upper))
    low, high = difference_interval(7, 2, 40)
    assert tuple(difference_interval(2, 7, 40)) == pytest.approx((-high, -low))
    p, q = 7 / 40, 2 / 40
    first, second = binomial_interval(7, 40), binomial_interval(2, 40)
    r = -math.sqrt(p * q / ((1 - p) * (1 - q)))
    a, b = p - first.low, second.high - q
    assert low == pytest.approx(p - q - math.sqrt(a**2 + b**2 - 2 * r * a * b))
    assert difference_interval(20, 0, 20).low > 0.5
    assert 0.0 not in difference_interval(0, 8, 30)


def test_auc_intervals_are_roots_of_the_quartic() -> None:
    """Newcombe's equation multiplied out: no search for a root, no variance written twice."""
    t = np.polynomial.Polynomial([0, 1])
    z2 = 1.959963984540054**2
    for m, n in ((5, 5), (3, 17), (40, 60)):
        more = (m + n) / 2 - 1
        inner = (2 - t) * (1 + t) + more * (1 - t) * (1 + t) + more * t * (2 - t)
        for auc in (0.0, 0.3, 0.5, 0.93, 1.0):
            roots = (m * n * (t - auc) ** 2 * (2 - t) * (1 + t) - z2 * t * (1 - t) * inner).roots()
            real = np.sort(roots[np.abs(roots.imag) < 1e-9].real)
            inside = real[(real > -1e-9) & (real < 1 + 1e-9)]
            found = auc_interval(auc, [[m, n]])
            assert tuple(found) == pytest.approx((inside[0], inside[-1]), abs=1e-7)
            assert found.high - found.low > 0.03


def test_auc_intervals_of_folds() -> None:
    one = auc_interval(0.9, [[20, 20]])
    folds = auc_interval(0.9, [[5, 5]] * 4)  # fewer pairs can be compared
    assert folds.low < one.low
    # Two rounds of the same samples know no more; models that err alike know less.
    assert auc_interval(0.9, [[5, 5]] * 8, n_tests=2.0) == pytest.approx(folds)
    alike = auc_interval(0.9, [[5, 5]] * 4, excess=4 / 3)
    assert alike.low < folds.low
    assert alike.high > folds.high
    for end in alike:  # as much further as the variance grows: in full up to 0.5, not at all at 1
        variance = end * (1 - end) * (1 + 4 * ((1 - end) / (2 - end) + end / (1 + end))) / 100
        more = 1 + 4 / 3 * min(1.0, 2 - 2 * end) ** 2
        assert (end - 0.9) ** 2 == pytest.approx(1.959963984540054**2 * variance * more, rel=1e-6)


def test_samples_in_groups_are_worth_fewer() -> None:
    rng = np.random.default_rng(0)
    right = rng.random(200) < 0.8
    assert effective_size(right, np.arange(200)) == 200
    assert effective_size(right, np.zeros(200)) == 1
    twice, pairs = np.repeat(right, 2), np.repeat(np.arange(200), 2)
    assert effective_size(twice, pairs) == pytest.approx(200, rel=0.02)
    # 40 samples in 20 pairs that agree: half of them, and Student's t of 39 and 19 degrees.
    agree = effective_size(np.repeat(np.arange(20) % 2, 2), np.arange(40) // 2)
    effect = (4 * 20 * 0.25 * 20 / 19) / (40 * 0.25 * 40 / 39)
    assert agree == pytest.approx(40 / effect * (2.0226909 / 2.0930241) ** 2, rel=1e-6)
    # Groups that say nothing about their members cost little, and nothing is gained.
    assert 150 < effective_size(right, np.arange(200) // 2) <= 200
    # Where all are right nothing says how much groups agree: each counts once.
    assert effective_size(np.ones(200), np.arange(200) // 2) == 100


def test_a_union_holds_the_estimate_and_has_width() -> None:
    nothing = Interval(math.nan, math.nan)
    assert joined(0.5, nothing, Interval(0.6, 0.7)) == (0.5, 0.7)
    assert np.isnan(joined(0.5, nothing)).all()
    assert np.isnan(joined(0.5, Interval(0.5, 0.5))).all()
