"""Plans: what an effort and a limit of time leave, and the work that is expected of it."""

from __future__ import annotations

import numpy as np
import pytest

from bitsieve.panels import RANKERS, make_plan
from bitsieve.panels.plan import sizes_for


def test_sizes_by_the_width_of_the_table():
    assert sizes_for(51) == (5, 10, 20, 50)
    assert sizes_for(50) == (1, 2, 3, 5, 10, 20)
    assert sizes_for(10) == (1, 2, 3, 5)
    assert sizes_for(1000, 3) == (1, 2, 3, 5, 10, 20, 50, 100, 200)
    assert sizes_for(1000, 5) == (1, 2, 3, 5, 10, 20, 50, 100, 200)
    assert sizes_for(1000, 30) == (5, 10, 20, 30, 50, 100, 200)
    assert sizes_for(20, 30) == (1, 2, 3, 5, 10)


def test_efforts():
    quick, standard, thorough = (
        make_plan(100, 2000, 2, effort=effort, outer_folds=5)
        for effort in ("quick", "standard", "thorough")
    )
    assert (quick.selectors, quick.estimators) == (("f",), ("lda", "svm"))
    assert (quick.n_repeats, quick.outer_repeats) == (3, 1)
    for plan, repeats in ((standard, (3, 2)), (thorough, (10, 4))):
        assert plan.selectors == ("relieff", "mrmr", "rfe")
        assert plan.estimators == ("lda", "svm", "ridge")
        assert (plan.n_repeats, plan.outer_repeats) == repeats
        assert plan.n_candidates == (3 * 6 + 1) * 3
    assert quick.units < standard.units < thorough.units
    assert not quick.shortened + standard.shortened + thorough.shortened
    assert make_plan(100, 2000, 2).outer_repeats == 0


def test_a_limit_of_time_takes_the_richest_plan_that_keeps_it():
    whole = make_plan(100, 5000, 2, effort="thorough", outer_folds=5)
    before, seen = whole.seconds(), {whole.shortened}
    for _ in range(4):
        plan = make_plan(100, 5000, 2, effort="thorough", outer_folds=5, max_time=0.999 * before)
        if plan.shortened in seen:
            break
        assert plan.seconds() < before
        before = plan.seconds()
        seen.add(plan.shortened)
    assert len(seen) == 4
    # Below the poorest there is nothing: it is taken, and says what is lacking.
    assert plan.seconds() > 0.999 * before
    assert plan.selectors == ("f",)
    assert plan.shortened == (
        "the selectors relieff, mrmr, rfe",
        "the classifiers ridge",
        "7 inner repeats",
        "3 outer repeats",
    )
    assert "took away the selectors relieff, mrmr, rfe and the classifiers ridge" in plan.text()
    same = make_plan(100, 5000, 2, effort="thorough", outer_folds=5, max_time=whole.seconds())
    assert same == whole
    held = make_plan(100, 5000, 2, n_repeats=7, estimators=["knn"], outer_folds=5, max_time=1e-9)
    assert (held.n_repeats, held.estimators) == (7, ("knn",))


def test_the_work_is_that_of_the_parts():
    n, p = 100, 3000
    given = {"estimators": ["svm"], "sizes": [10, 20]}
    plan, other = (
        make_plan(n, p, 2, selectors=names, **given) for names in (["f"] * 2, ["f", "rfe"])
    )
    # The inner training parts, of 80 samples, and all samples.
    apart = RANKERS["rfe"].cost(80, p, 2, 20) - RANKERS["f"].cost(80, p, 2, 20)
    assert other.units - plan.units == pytest.approx((3 * 5 + 1) * apart)
    given["selectors"] = ["f"]
    plan = make_plan(n, p, 2, **given)
    more = make_plan(n, p, 2, **given, n_repeats=6)
    assert more.units == pytest.approx(plan.units * 31 / 16)
    outer = [make_plan(n, p, 2, **given, outer_folds=5, outer_repeats=k).units for k in (1, 2, 4)]
    # Each round adds five times the work of four fifths of the samples, and a fifth for stability.
    assert np.diff(outer) == pytest.approx(np.array([1, 2]) * 1.2 * plan.units * 5 * 0.8)
    assert outer[0] == pytest.approx(1.2 * plan.units * (1 + 5 * 0.8) + 5000)
    both = make_plan(n, p, 2, **given, n_logs=2)
    assert both.units == pytest.approx(2 * plan.units)
    assert both.n_candidates == 2 * plan.n_candidates == 6
    assert "x logged or not" in both.text()
    assert "logged" not in plan.text()
    assert plan.seconds(4) == pytest.approx(plan.units / 4000)
    assert plan.seconds() == plan.seconds(2)
