"""Races in which costly selectors must earn their repeats."""

from __future__ import annotations

import numpy as np
import pytest

from bitsieve import AutoSelector
from bitsieve.fitness.splits import FreshFolds
from bitsieve.panels.choice import score_candidates
from bitsieve.panels.design import ALL, Design
from bitsieve.panels.race import run_race
from bitsieve.panels.racing import costly_selectors, run_racing


def _many_weak(n=100, p=1000, seed=0):
    """Each feature tells a little: all of them predict far better than any five."""
    rng = np.random.default_rng(seed)
    codes = (np.arange(n) % 2).astype(np.int32)
    return rng.normal(size=(n, p)) + 0.18 * (2 * codes[:, None] - 1), codes


def _folds(codes, n_repeats=3):
    return FreshFolds(len(codes), 5, n_repeats, codes).folds(0)


def test_costly_is_what_costs_more_than_all_filters_together():
    sizes = (5, 200)
    of = {
        ("f", "rfe"): ("rfe",),
        ("f", "relieff", "mrmr", "rfe"): (),
        ("f", "lars", "rfe"): ("lars", "rfe"),
        ("rfe",): (),  # with no filter beside them none can be left out
        ("lars", "rfe"): (),
        ("f",): (),
    }
    for names, costly in of.items():
        assert costly_selectors(Design(names, ("lda",), sizes, 12_600), 80, 2) == costly, names
    assert costly_selectors(Design(("f", "rfe"), ("lda",), (), 12_600), 80, 2) == ()


def test_a_costly_selector_that_is_behind_goes_no_further():
    X, codes = _many_weak()
    folds = _folds(codes)
    design = Design(("f", "rfe"), ("lda",), (5,), X.shape[1])
    raced, dropped = run_racing(X, codes, 2, design, folds)
    assert dropped == ("rfe",)
    whole = run_race(X, codes, 2, design, folds)
    first = score_candidates(run_race(X, codes, 2, design, folds[:1]))
    best = int(first.score.argmax())
    assert whole.candidates[best].selector == ALL
    assert first.score[best] - first.score[1] > 2 * first.standard_error(best, 1)
    # What is left is what it would be without the other.
    assert [one.selector for one in raced.candidates] == ["f", ALL]
    assert raced.decisions.tobytes() == whole.decisions[[0, 2]].tobytes()
    assert len(raced.orders) == 15
    assert all(list(part) == [(False, "f")] for part in raced.orders)
    one = run_racing(X, codes, 2, design, folds[:1])
    assert one[1] == ()
    assert len(one[0].candidates) == 3


def test_what_is_only_compared_with_drives_nobody_out():
    X, codes = _many_weak()
    design = Design(("f", "rfe"), ("1nn",), (5,), X.shape[1], has_all=False, beside=("lda",))
    raced, dropped = run_racing(X, codes, 2, design, _folds(codes))
    scores = score_candidates(raced).score
    assert raced.candidates[scores.argmax()].classifier == "lda"
    assert dropped == ()


@pytest.mark.parametrize("limit", [None, 5])
def test_costly_selectors_alone_make_a_panel(limit):
    X, codes = _many_weak()
    auto = AutoSelector(
        selectors=["rfe"], estimators=["lda"], sizes=[5], max_features=limit, random_state=0,
        n_jobs=1,
    ).fit(X, codes)  # fmt: skip
    assert auto.dropped_selectors_ == ()
    assert auto.alternatives_["limit 10"].n_features <= 10
    assert limit is None or auto.n_features_ <= limit
