"""Survival targets in all their forms, the concordance index, baseline hazards and folds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from each import each
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from bitsieve.gates.survival import (
    EventKFold,
    Survival,
    baseline_hazard,
    check_survival,
    concordance_index,
)

EVENT = np.array([True, False, True, True])
TIME = np.array([5.0, 3.5, 0.0, 7.0])


def structured(event: Any, time: Any, names: tuple[str, str] = ("event", "time")) -> Any:
    kind = bool if np.asarray(event).dtype == bool else float
    y = np.empty(len(time), dtype=[(names[0], kind), (names[1], float)])
    y[names[0]], y[names[1]] = event, time
    return y


def survival_of(seed: int, n: int, n_times: int) -> Survival:
    rng = np.random.default_rng(seed)
    event = rng.random(n) < 0.6
    event[0] = True
    return Survival(event, rng.integers(0, n_times, n).astype(float))


def test_all_forms_are_one_target() -> None:
    y = structured(EVENT, TIME)
    for form in (
        y,
        y.tolist(),
        y[["time", "event"]],
        structured(EVENT, TIME, ("dead", "months")),
        structured(EVENT.astype(float), TIME, ("Event", "Time")),
        structured(EVENT.astype(float), TIME, ("status", "months")),
        np.column_stack((EVENT, TIME)),
        np.column_stack((TIME, EVENT)),
        np.column_stack((EVENT, TIME)).astype(object),
        np.column_stack((EVENT, TIME)).astype(np.float32),
        pd.DataFrame({"event": EVENT, "time": TIME}),
        pd.DataFrame({"Time": TIME, "Event": EVENT.astype(int)}, index=list("abcd")),
        pd.DataFrame({"months": TIME, "dead": EVENT.astype(int)}),
        pl.DataFrame({"event": EVENT, "time": TIME}),
        Survival(EVENT, TIME),
    ):
        found = check_survival(form, 4)
        assert found.event.dtype == bool
        assert found.time.dtype == np.float64
        assert found.event.tolist() == EVENT.tolist()
        assert found.time.tolist() == TIME.tolist()
        assert found.columns().tolist() == np.column_stack((EVENT, TIME)).tolist()


def test_names_and_booleans_tell_times_of_0_and_1_apart() -> None:
    ones = np.array([1.0, 1.0, 0.0, 1.0])
    for form in (
        structured(EVENT, ones),
        structured(EVENT, ones, ("dead", "years")),
        structured(EVENT.astype(float), ones)[["time", "event"]],
        pd.DataFrame({"time": ones, "event": EVENT.astype(int)}),
        pd.DataFrame({"years": ones, "dead": EVENT}),
    ):
        found = check_survival(form)
        assert found.event.tolist() == EVENT.tolist()
        assert found.time.tolist() == ones.tolist()


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([[1, 1], [0, 1]], "y is ambiguous: both columns hold nothing but 0 and 1"),
        ([[2, 3.0], [1, 4.0]], "neither column 0 nor column 1 of y is an event"),
        ([[1, 3.0], [0, np.nan]], r"column 1 is not known for 1 sample \(sample 1\)"),
        ([[1, 3.0], [0, -2.0]], r"times must be finite numbers from 0 on, got -2 \(sample 1\)"),
        ([[1, 3.0], [0, np.inf]], "from 0 on, got inf"),
        ([[0, 3.0], [0, 2.0]], "y has no event: all 2 times are censored"),
        ([1.0, 2.0], r"y must hold an event and a time a sample, got shape \(2,\); pass a struct"),
        ([[1, 2.0, 3.0], [0, 1.0, 3.0]], r"got shape \(2, 3\)"),
        ([[1, 2.0], [0]], "y is no survival target"),
        ([["dead", 2.0], ["alive", 3.0]], "column 0 holds 'dead'; events are 0"),
        ([[1, 2.0], [0, 3.0], [1, 4.0]], "X has 2 samples but y has 3 times"),
        (structured(np.array([2.0, 1.0]), [1.0, 2.0]), r"events must be 0 \(censored\) or 1, got"),
        (structured(np.array([np.nan, 1.0]), [1.0, 2.0]), "event is not known for 1 sample"),
        (np.zeros(2, dtype=[("event", bool)]), "got fields event"),
        (pd.DataFrame({"event": [1, 0], "time": [1, 2], "age": [3, 4]}), "a frame of 3 columns"),
        (pd.DataFrame({"event": [1, None], "time": [1, 2]}), "event is not known for 1 sample"),
        (np.array([[1, 2j], [0, 1]]), "y must hold numbers"),
        (np.array([[1, None], [0, 2.0]], dtype=object), "column 1 is not known"),
        (Survival(np.array([True, True]), np.array([1.0, -1.0])), "from 0 on, got -1"),
        (Survival(EVENT, TIME), "X has 2 samples but y has 4 times"),
    ],
)
def test_what_is_no_target_is_refused_in_words(y: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_survival(y, 2)


def slow_concordance(y: Survival, risk: NDArray[Any]) -> float:
    """All pairs, one after the other."""
    right, pairs = 0.0, 0
    for i in np.flatnonzero(y.event):
        for j in range(len(y)):
            if y.time[j] > y.time[i] or (y.time[j] == y.time[i] and not y.event[j]):
                pairs += 1
                right += 1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0
    return right / pairs


@each("seed", range(30))
@each("n, n_times, n_risks", [(3, 3, 2), (20, 6, 4), (41, 1000, 3), (70, 9, 1000), (64, 5, 5)])
def test_concordance_is_its_slow_twin_and_that_of_lifelines(
    seed: int, n: int, n_times: int, n_risks: int
) -> None:
    y = survival_of(seed, n, n_times)
    risk = np.random.default_rng(seed).integers(0, n_risks, n) / 8
    if not any((y.time > t).any() or (~y.event[y.time == t]).any() for t in y.time[y.event]):
        return
    found = concordance_index(y, risk)
    assert found == slow_concordance(y, risk)
    assert np.isclose(found + concordance_index(y, -risk), 1.0)
    lifelines = pytest.importorskip("lifelines.utils")
    assert np.isclose(found, lifelines.concordance_index(y.time, -risk, y.event), rtol=1e-13)


def test_concordance_of_many_samples() -> None:
    # A twin of pairs would take 4e10 comparisons.
    rng = np.random.default_rng(0)
    time = rng.permutation(200_000).astype(float)
    y = Survival(np.ones(200_000, dtype=bool), time)
    assert concordance_index(y, -time) == 1.0
    assert concordance_index(y, time) == 0.0
    assert concordance_index(y, np.zeros(200_000)) == 0.5
    assert abs(concordance_index(y, rng.normal(size=200_000)) - 0.5) < 0.01


@pytest.mark.parametrize(
    ("y", "risk", "words"),
    [
        ([[1, 2.0], [1, 2.0]], [1, 2], "has no value: no event has a sample with a longer time"),
        ([[1, 2.0], [1, 3.0]], [1, np.nan], "risk is NaN for 1 sample"),
        ([[1, 2.0], [1, 3.0]], [1, 2, 3], "X has 3 samples but y has 2 times"),
    ],
)
def test_concordance_without_a_value_is_refused(y: Any, risk: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        concordance_index(y, risk)


@each("seed", range(5))
def test_baseline_hazard_is_a_sum_over_times_and_that_of_lifelines(seed: int) -> None:
    y = survival_of(seed, 60, 12)
    rng = np.random.default_rng(seed)
    log_risk, weight = rng.normal(size=60), rng.uniform(0.5, 2, 60)
    times, hazard = baseline_hazard(y, log_risk, weight)
    total = 0.0
    for t, h in zip(times, hazard, strict=True):
        at_risk = y.time >= t
        total += weight[(y.time == t) & y.event].sum() / (weight * np.exp(log_risk))[at_risk].sum()
        assert np.isclose(h, total)
    assert times.tolist() == sorted(set(y.time[y.event].tolist()))
    shifted = baseline_hazard(y, log_risk + 900.0, weight)[1]  # exp(900) is no float64
    assert np.allclose(shifted * np.exp(700), hazard * np.exp(-200), rtol=1e-9)
    lifelines = pytest.importorskip("lifelines")
    fitted = lifelines.NelsonAalenFitter(nelson_aalen_smoothing=False).fit(y.time, y.event)
    theirs = fitted.cumulative_hazard_.loc[times].to_numpy()[:, 0]
    assert np.allclose(baseline_hazard(y, np.zeros(60))[1], theirs)


def test_folds_share_the_events() -> None:
    y = survival_of(0, 100, 50)
    target = structured(y.event, y.time)
    share = int(y.event.sum()) / 5
    for folds in (EventKFold(), EventKFold(5, shuffle=True, random_state=0)):
        assert check_cv(folds) is folds
        assert folds.get_n_splits() == 5
        parts = [test for _, test in folds.split(np.zeros((100, 2)), target)]
        assert sorted(np.concatenate(parts)) == list(range(100))
        counts = [int(y.event[test].sum()) for test in parts]
        assert all(abs(count - share) < 1 for count in counts)
    first = [test.tolist() for _, test in EventKFold(5, shuffle=True, random_state=0).split(y, y)]
    other = [test.tolist() for _, test in EventKFold(5, shuffle=True, random_state=1).split(y, y)]
    assert first == [test.tolist() for test in parts]
    assert first != other
