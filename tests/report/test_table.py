"""The table of an outcome: what it says of each number, and that narrow terminals can show it."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from bitsieve.report import STACKED_BELOW, Outcome, outcome_table


def _outcome(**options: Any) -> Outcome:
    options = {"observed": 0.95, "remeasured": 0.93, **options}
    return Outcome(
        source="genes.csv",
        method="bspsa",
        estimator="1nn",
        scoring="accuracy",
        names=["tp53", "egfr", "brca1"],
        n_samples=40,
        support=np.array([True, False, True]),
        n_evaluations=3000,
        n_iterations=1000,
        seconds=1.0,
        **options,
    )


def _shown(outcome: Outcome, width: int) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, markup=False, highlight=False)
    console.print(outcome_table(outcome, stacked=width < STACKED_BELOW))
    return file.getvalue()


def test_the_observed_score_is_the_panels() -> None:
    assert "observed error 5.0 % best the search saw of it; optimistic" in " ".join(
        _shown(_outcome(best_observed=0.95), 100).split()
    )
    outcome = _outcome(best_observed=0.96)
    text = " ".join(_shown(outcome, 100).split())
    assert "observed error 5.0 % best the search saw of it (4.0 % of another panel);" in text
    results = outcome.results()
    assert (results["observed_score"], results["best_observed_score"]) == (0.95, 0.96)
    assert results["best_observed_error"] == pytest.approx(0.04)
    assert _outcome().results()["best_observed_score"] == 0.95


def test_the_final_measurement_is_shown() -> None:
    outcome = _outcome(n_final_evaluations=55, n_finalists=10)
    text = " ".join(_shown(outcome, 100).split())
    assert "(3,000 evaluations, 1,000 iterations + 55 to measure the best 10 again)" in text
    assert outcome.results()["n_final_evaluations"] == 55
    assert "again" not in _shown(_outcome(), 100)


@pytest.mark.parametrize("width", [30, 40, 59, 60, 80])
def test_no_word_is_broken(width: int) -> None:
    outcome = _outcome(best_observed=0.96, n_final_evaluations=55, n_finalists=10)
    shown = _shown(outcome, width)
    assert max(len(line) for line in shown.splitlines()) <= width
    assert set(_shown(outcome, 500).replace(":", "").split()) == set(shown.replace(":", "").split())
