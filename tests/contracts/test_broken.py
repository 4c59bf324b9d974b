"""The suites can fail: for every clause there is a toy that breaks it, and the clause finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from broken_filters import BROKEN_FILTERS, means
from broken_fitnesses import BROKEN_FITNESSES, KeepsItsFolds
from broken_searches import BROKEN_SEARCHES, Flip
from broken_selectors import BROKEN_SELECTORS, Grouped, Spread
from sklearn.neighbors import KNeighborsClassifier

from bitsieve.filters import f_test
from bitsieve.fitness import KnnFitness, compile
from bitsieve.testing import (
    check_filter,
    filter_checks,
    fitness_checks,
    search_checks,
    selector_checks,
)
from bitsieve.testing._contract import Check
from bitsieve.testing._draws import table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "testing.md"
Checks = Callable[[Any], Iterable[tuple[str, Check]]]


def _said(check: Check) -> str:
    try:
        check()
    except AssertionError as error:
        return str(error)
    return "nothing"


def _found_out(checks: Checks, sound: Any, broken: dict[str, list[Any]]) -> None:
    """The sound one passes, each broken one is found by its clause, and every clause finds one."""
    for _, check in checks(sound):
        check()
    for clause, toys in broken.items():
        for toy in toys:
            assert f"breaks the clause '{clause}'" in _said(dict(checks(toy))[clause]), toy
    assert list(broken) == [name for name, _ in checks(sound)]
    if PAGE.is_file():
        page = PAGE.read_text(encoding="utf-8")
        rows = [f"| `{name}` | {check.__doc__} |" for name, check in checks(sound)]
        assert not [row for row in rows if row not in page], "docs/testing.md lists every clause"


def test_broken_searches_are_found_out() -> None:
    def checks(kind: Any) -> Iterable[tuple[str, Check]]:
        return search_checks(kind, variants=[partial(kind, limit=100)])

    _found_out(checks, Flip, BROKEN_SEARCHES)
    for _, check in search_checks(partial(Flip, limit=3), sizes=(1,)):  # it may end before
        check()


def test_broken_fitnesses_are_found_out() -> None:
    X, y = table(40, 30)
    estimator = KNeighborsClassifier(1)

    def checks(kind: Any) -> Iterable[tuple[str, Check]]:
        def make(n_jobs: int, y: Any = y) -> Any:
            fitness = compile(estimator, X, y, cv=3, n_jobs=n_jobs)
            fitness.__class__, fitness.asked_for = kind, n_jobs
            return fitness

        others = [lambda n: make(n, y[::-1].copy())]
        return fitness_checks(make, others=others, estimator=estimator, X=X, y=y, n_masks=6)

    _found_out(checks, KnnFitness, BROKEN_FITNESSES)


def test_a_state_of_other_folds_is_found_out() -> None:
    X, y = table(40, 30)

    def make(n_jobs: int, kind: Any, resample: bool) -> Any:
        fitness = compile(KNeighborsClassifier(1), X, y, cv=3, resample=resample, n_jobs=n_jobs)
        fitness.__class__ = kind
        return fitness

    for kind, resample, said in (
        (KnnFitness, True, "nothing"),
        (KeepsItsFolds, False, "nothing"),
        (KeepsItsFolds, True, "breaks the clause 'compact_or_expanded'"),
    ):
        checks = dict(fitness_checks(partial(make, kind=kind, resample=resample), n_masks=2))
        assert said in _said(checks["compact_or_expanded"])


def test_broken_filters_are_found_out() -> None:
    _found_out(partial(filter_checks, p_values=True), means, BROKEN_FILTERS)
    for broken, message in (
        (lambda X, y=None, return_scores=False: np.array([0, 0]), "no distinct ones"),
        (lambda X, y=None, return_scores=False: np.array([0.0]), "no int64 order"),
    ):
        with pytest.raises(AssertionError, match=message):
            dict(filter_checks(broken, greedy=True))["one_score_a_feature"]()


def test_broken_selectors_are_found_out() -> None:
    _found_out(lambda kind: selector_checks(kind()), Grouped, BROKEN_SELECTORS)


def test_what_a_suite_is_told() -> None:
    with pytest.raises(ValueError, match="has no clause 'pickle': did you mean 'pickles'"):
        list(selector_checks(Spread(), skip="pickle"))
    with pytest.raises(ValueError, match=r"target must be one of 'classes', .* got 'class'"):
        check_filter(f_test, target="class")  # type: ignore[arg-type]
    names = [name for name, _ in selector_checks(Spread(), skip=["pickles"])]
    assert names == [name for name in BROKEN_SELECTORS if name != "pickles"]
