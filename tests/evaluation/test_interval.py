"""The corrected resampled t-interval, against the formula written out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bitsieve.evaluation import Interval, corrected_t_interval
from bitsieve.evaluation.interval import score_range


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


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_refuses_a_level_outside_0_and_1(level: float) -> None:
    with pytest.raises(ValueError, match=r"level must be strictly between 0 and 1, got"):
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
        ("max_error", (-math.inf, math.inf)),
        (None, (-math.inf, math.inf)),
    ],
)
def test_knows_the_range_of_scorers(scoring: str | None, bounds: tuple[float, float]) -> None:
    assert score_range(scoring) == bounds
