"""Rules of choice on races that are written down."""

from __future__ import annotations

import numpy as np
import pytest

from bitsieve.panels.choice import (
    Rule,
    Scores,
    calibration_of,
    choose,
    score_candidates,
    score_of_members,
    scoring_for,
    smooth,
    stabilities,
    thresholds_for,
)
from bitsieve.panels.design import ALL, Candidate, Design
from bitsieve.panels.race import Race
from bitsieve.panels.ranking import Ranked

N = 20
CODES = np.repeat([0, 1], N // 2).astype(np.int32)


def _race(wrong, orders=None, codes=CODES, selectors=("f", "mrmr"), sizes=(2, 4)):
    """Candidates that are wrong on the first so many samples, the same in both repeats."""
    design = Design(selectors, ("lda",), sizes, 10)
    assert len(wrong) == len(design.candidates)
    decisions = np.empty((len(wrong), 2, len(codes), 1))
    for number, count in enumerate(wrong):
        sign = np.where(codes == 1, 1.0, -1.0)
        sign[:count] *= -1
        decisions[number] = sign[:, None]
    orders = orders or {
        (False, "f"): np.array([0, 1, 2, 3]),
        (False, "mrmr"): np.array([0, 5, 6, 7]),
    }
    return Race(design, codes, 2, decisions, [orders, orders]), Ranked({}, orders)


def _chosen(race, ranked, **rule):
    scores = score_candidates(race)
    return choose(race, scores, ranked, Rule(**rule))


def test_scores_count_samples_and_classes():
    race, _ = _race([0, 5, 10, 1, 2])
    scores = score_candidates(race)
    assert scores.name == "accuracy"
    np.testing.assert_allclose(scores.score, [1.0, 0.75, 0.5, 0.95, 0.9])
    few = np.repeat([0, 1], [15, 5]).astype(np.int32)
    race, _ = _race([0, 5, 15, 20, 2], codes=few)
    scores = score_candidates(race)
    assert scores.name == "balanced_accuracy"
    np.testing.assert_allclose(scores.score, [1, (10 / 15 + 1) / 2, 0.5, 0.0, (13 / 15 + 1) / 2])
    right = scores.by_sample[1]
    assert scores.standard_error(1) == pytest.approx(right.std(ddof=1) / np.sqrt(N))


def test_a_smallest_class_under_forty_percent_of_two_is_small():
    for small, name in ((7, "balanced_accuracy"), (8, "accuracy"), (10, "accuracy")):
        assert scoring_for(np.repeat([0, 1], [N - small, small]).astype(np.int32), 2) == name
    for small, name in ((79, "balanced_accuracy"), (80, "accuracy")):
        assert scoring_for(np.repeat([0, 1], [200 - small, small]).astype(np.int32), 2) == name
    # Of three, under 0.8 of a third.
    for small, name in ((26, "balanced_accuracy"), (27, "accuracy")):
        codes = np.repeat([0, 1, 2], [small, 37, 100 - 37 - small]).astype(np.int32)
        assert scoring_for(codes, 3) == name


def test_thresholds_are_the_shares_where_classes_count_alike():
    race, _ = _race([0, 5, 15, 20, 2], codes=np.repeat([0, 1], [15, 5]).astype(np.int32))
    assert thresholds_for(race, "accuracy") is None
    found = thresholds_for(race, "balanced_accuracy")
    np.testing.assert_allclose(found, [0.75, 0.25], atol=0.03)
    # They are what a calibration says of decisions that tell nothing.
    blind = Race(race.design, race.codes, 2, 0.0 * race.decisions, race.orders)
    said = calibration_of(blind, 0).apply(np.zeros((1, 1)))
    np.testing.assert_allclose(found, said[0])


def test_a_class_without_samples_is_no_class_of_the_score():
    race, _ = _race([0, 5, 15, 20, 2], codes=np.repeat([0, 1], [15, 5]).astype(np.int32))
    decisions = np.concatenate([-race.decisions, race.decisions, race.decisions * 0 - 9], axis=3)
    absent = Race(race.design, race.codes, 3, decisions, race.orders)
    scores = [score_candidates(one, "balanced_accuracy") for one in (race, absent)]
    np.testing.assert_allclose(scores[0].score, scores[1].score)


def test_scores_that_differ_by_rounding_are_equal():
    race, ranked = _race([0, 0, 0, 0, 0])
    scores = score_candidates(race)
    apart = Scores(scores.name, scores.score + 1e-15 * np.arange(5), scores.by_sample)
    assert choose(race, apart, ranked, Rule(combine="best", smoothing=0.0)).members == (0,)


def test_what_is_only_compared_with_is_never_chosen():
    race, ranked = _race([3, 3, 3, 3, 3])
    design = Design(("f", "mrmr"), ("lda",), (2, 4), 10, beside=("svm",))
    decisions = np.concatenate([race.decisions, race.decisions[:1]])
    decisions[5, :, :, 0] = np.where(CODES == 1, 1.0, -1.0)
    race = Race(design, CODES, 2, decisions, race.orders)
    assert race.candidates[5] == Candidate(ALL, 10, "svm", False)
    assert score_candidates(race).score.argmax() == 5
    rule = {"smoothing": 0.0, "tolerance": None}
    assert set(_chosen(race, ranked, **rule).members) == {0, 1, 2, 3, 4}
    none = Race(Design(("f", "mrmr"), ("lda",), (2, 4), 10, has_all=False, beside=("lda",)), CODES,
                2, decisions[:5], race.orders)  # fmt: skip
    assert set(_chosen(none, ranked, **rule).members) == {0, 1, 2, 3}


def test_smoothing_by_hand():
    row = [Candidate("f", k, c, False) for k in (5, 10) for c in ("lda", "svm")]
    row += [Candidate(ALL, 50, c, False) for c in ("lda", "svm")]
    score = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    near = [
        (0.6 + 0.7) / 2,  # f 5 lda: f 5 svm, f 10 lda
        (0.5 + 0.8) / 2,
        (0.8 + 0.5 + 0.9) / 3,  # f 10 lda: svm, f 5 lda, all lda
        (0.7 + 0.6 + 1.0) / 3,
        1.0,  # all lda: all svm
        0.9,
    ]
    np.testing.assert_allclose(smooth(row, score, 0.5), 0.5 * score + 0.5 * np.array(near))
    np.testing.assert_allclose(smooth(row, score, 0.0), score)


def test_the_best_wins_ties_to_the_smaller_then_to_the_more_stable():
    race, ranked = _race([3, 1, 2, 4, 5])
    assert _chosen(race, ranked, combine="best", smoothing=0.0).members == (1,)
    race, ranked = _race([1, 1, 1, 1, 1])
    assert _chosen(race, ranked, combine="best", smoothing=0.0).members == (0,)
    one = {(False, "f"): np.array([0, 1, 2, 3]), (False, "mrmr"): np.array([0, 5, 6, 7])}
    other = {(False, "f"): np.array([2, 3, 4, 5]), (False, "mrmr"): np.array([0, 5, 6, 7])}
    race = Race(race.design, race.codes, 2, race.decisions, [one, other])
    assert _chosen(race, ranked, combine="best", smoothing=0.0).members == (2,)  # mrmr, 2 features


def test_parsimony_takes_the_smallest_within_standard_errors():
    race, ranked = _race([2, 1, 9, 9, 9])
    # Two features are wrong once more: a paired standard error of 1 / 20.
    rule = {"combine": "best", "smoothing": 0.0}
    assert _chosen(race, ranked, **rule).members == (1,)
    assert _chosen(race, ranked, parsimony=0.5, **rule).members == (1,)
    assert _chosen(race, ranked, parsimony=1.01, **rule).members == (0,)
    # Of equal sizes the better one; and no member of a vote is larger.
    race, ranked = _race([3, 1, 2, 9, 9])
    assert _chosen(race, ranked, parsimony=2.0, **rule).members == (2,)
    rule = {"combine": "vote", "smoothing": 0.0, "tolerance": None}
    assert _chosen(race, ranked, parsimony=2.0, **rule).members == (2, 0)


def test_a_vote_needs_no_more_features_than_its_limit():
    race, ranked = _race([1, 0, 2, 3, 4])
    rule = {"combine": "vote", "smoothing": 0.0, "tolerance": None}
    assert _chosen(race, ranked, **rule).members == (1, 0, 2, 3, 4)
    assert _chosen(race, ranked, n_members=2, **rule).members == (1, 0)
    # f's four and mrmr's two share feature 0: five in all. mrmr's four would make seven.
    assert _chosen(race, ranked, max_features=5, **rule).members == (1, 0, 2)
    assert _chosen(race, ranked, max_features=4, **rule).members == (1, 0)
    assert _chosen(race, ranked, max_features=3, **rule).members == (0, 2)
    with pytest.raises(ValueError, match="max_features=1 is below every size"):
        _chosen(race, ranked, max_features=1, **rule)


def test_members_of_a_vote_lie_near_the_best():
    race, ranked = _race([1, 0, 2, 10, 20])
    # Once wrong where the best is not: a standard error of 1 / 20, as much as the difference.
    rule = {"combine": "vote", "smoothing": 0.0}
    assert _chosen(race, ranked, tolerance=0.5, **rule).members == (1,)
    # Twice wrong: 1.45 standard errors.
    assert _chosen(race, ranked, tolerance=1.2, **rule).members == (1, 0)
    assert _chosen(race, ranked, smoothing=0.0).members == (1, 0, 2)
    half = smooth(race.candidates, score_candidates(race).score, 0.5)
    np.testing.assert_allclose(_chosen(race, ranked).smoothed, half)
    assert _chosen(race, ranked, tolerance=2.0, **rule).members == (1, 0, 2)
    assert _chosen(race, ranked, tolerance=None, **rule).members == (1, 0, 2, 3, 4)


def test_the_score_of_a_vote_is_that_of_the_mean_probability():
    race, _ = _race([1, 2, 3, 12, 20])
    scores = score_candidates(race)
    assert score_of_members(race, scores, [2]) == pytest.approx(0.85)
    assert score_of_members(race, scores, [0, 1, 2]) == pytest.approx(0.9)
    # One that is wrong on 12 of 20 is calibrated to say hardly anything.
    assert score_of_members(race, scores, [3, 0]) == pytest.approx(0.95)
    mean = (calibration_of(race, 1).apply(race.decisions[1, 0])
            + calibration_of(race, 3).apply(race.decisions[3, 0])).argmax(axis=1)  # fmt: skip
    assert score_of_members(race, scores, [1, 3]) == pytest.approx((mean == CODES).mean())


def test_the_score_of_a_vote_serves_small_classes_as_its_panel_does():
    few = np.repeat([0, 1], [15, 5]).astype(np.int32)
    race, _ = _race([0, 0, 0, 0, 0], codes=few)
    # Three levels: sure of either class, and a middle with 5 of the large and 2 of the small one.
    value = np.repeat([-1.0, 0.0, 1.0], [10, 7, 3])
    race = Race(race.design, few, 2, np.tile(value[:, None], (5, 2, 1, 1)), race.orders)
    scores = score_candidates(race)
    assert scores.name == "balanced_accuracy"
    middle = calibration_of(race, 0).apply(np.zeros((1, 1)))[0, 1]
    assert 0.25 < middle < 0.5  # above its share, below one half
    assert score_of_members(race, scores, [0]) == pytest.approx((10 / 15 + 1) / 2)
    plain = score_candidates(race, "accuracy")
    assert score_of_members(race, plain, [0]) == pytest.approx((15 + 3) / 20)


def test_stability_over_the_inner_parts_is_nogueiras():
    race, _ = _race([0, 0, 0, 0, 0])
    assert stabilities(race) == pytest.approx(np.ones(5))
    single = Race(race.design, race.codes, 2, race.decisions, race.orders[:1])
    assert stabilities(single).tolist() == [1.0] * 5
    one = {(False, "f"): np.array([0, 1, 2, 3]), (False, "mrmr"): np.array([0, 5, 6, 7])}
    other = {(False, "f"): np.array([0, 9, 2, 3]), (False, "mrmr"): np.array([1, 2, 3, 4])}
    race = Race(race.design, race.codes, 2, race.decisions, [one, other])
    # Equal sizes k, m = 2: one minus the mean sample variance over k / p (1 - k / p).
    variance = [0.5 * 2 / 10, 0.5 * 2 / 10, 0.5 * 4 / 10, 0.5 * 8 / 10]
    even = [0.2 * 0.8, 0.4 * 0.6, 0.2 * 0.8, 0.4 * 0.6]
    np.testing.assert_allclose(stabilities(race)[:4], 1 - np.divide(variance, even))
