"""The table of an outcome: what it says of each number, and that narrow terminals can show it."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from each import each
from rich.console import Console

from bitsieve.evaluation.interval import Interval
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
    said = "observed error 5.0 % apparent error: best inner cross-validation of it"
    assert f"{said}; optimistic" in " ".join(_shown(_outcome(best_observed=0.95), 100).split())
    outcome = _outcome(best_observed=0.96)
    text = " ".join(_shown(outcome, 100).split())
    assert f"{said} (4.0 % of another panel);" in text
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


@each("width", [30, 40, 59, 60, 80])
def test_no_word_is_broken(width: int) -> None:
    outcome = _outcome(best_observed=0.96, n_final_evaluations=55, n_finalists=10)
    shown = _shown(outcome, width)
    assert max(len(line) for line in shown.splitlines()) <= width
    assert set(_shown(outcome, 500).replace(":", "").split()) == set(shown.replace(":", "").split())


class _Folds:
    """What the table reads of the outer folds."""

    remarks = ()

    level, score, full_score, chance_score, beats_chance = 0.95, 0.9, 0.8, 0.5, True
    interval = Interval(0.8, 1.0)
    full_comparison, full_interval = "selection", Interval(0.05, 0.15)
    remarks: tuple[str, ...] = ()

    def __init__(self, supports: Any) -> None:
        self.supports = np.asarray(supports, dtype=bool)
        self.n_folds = len(self.supports)
        self.n_features = self.supports.sum(axis=1)
        self.n_times_selected = self.supports.sum(axis=0)
        self.seconds = np.ones(self.n_folds)


def _wide(supports: Any, n_selected: int = 10, **options: Any) -> Outcome:
    """200 features, the first ones in the panel."""
    folds: Any = _Folds(supports)
    return replace(
        _outcome(**options),
        names=[f"g{i}" for i in range(200)],
        support=np.arange(200) < n_selected,
        nested=folds,
    )


def test_each_word_of_ours_has_the_fields_beside_it() -> None:
    text = " ".join(_shown(_wide(np.ones((5, 200)), seed=1), 200).split())
    for ours, theirs in (
        ("observed error 5.0 %", "apparent error: best inner cross-validation"),
        ("re-measured error 7.0 %", "inner cross-validation on fresh folds of the same samples"),
        ("honest error 10.0 %", "nested cross-validation: 5 outer folds"),
        ("full-set error 20.0 %", "all 200 features with the same estimator"),
        ("chance error 50.0 %", "no-information rate"),
        ("seed 1", "another seed gives another panel and another honest error"),
    ):
        assert f"{ours} {theirs}" in text
    scored = replace(_wide(np.ones((5, 200))), scoring="roc_auc")
    assert "observed roc auc 0.950 apparent roc auc: best" in " ".join(_shown(scored, 200).split())


def test_a_panel_of_no_features_is_not_for_publication() -> None:
    doubts = {"egfr": "counts the samples", "brca1": "has one value for each class"}
    assert _outcome(doubts=doubts).sentences()[-1] == (
        "The panel holds brca1, evidently no feature (has one value for each class): publish "
        "nothing of this run, and repeat it without."
    )
    both = _wide(np.ones((5, 200)), doubts={"g1": "counts the samples", "g3": "counts them too"})
    assert "The panel holds g1 and 1 more, evidently no feature" in both.sentences()[-1]
    assert "publish nothing" not in " ".join(_outcome(doubts={"egfr": "x"}).sentences())


def test_a_panel_that_recurs_is_counted() -> None:
    supports = np.tile(np.arange(200) < 8, (5, 1))
    supports[0, 7] = False
    outcome = _wide(supports)
    assert outcome.recurrence == (7, 1, 2)
    assert outcome.recurs_by_chance is False
    text = " ".join(_shown(outcome, 200).split())
    assert "stability 7 of 10" in text
    assert "(all 5: 7, some: 1, none: 2)" in text
    assert "markers" not in " ".join(outcome.sentences())


def test_panels_drawn_at_random_are_no_markers() -> None:
    rng = np.random.default_rng(0)
    drawn = [_wide([rng.permutation(200) < 10 for _ in range(5)]) for _ in range(100)]
    by_chance = [outcome for outcome in drawn if outcome.recurs_by_chance]
    assert len(by_chance) >= 95
    assert "do not read these features as markers." in by_chance[0].sentences()[0]


def test_a_panel_that_mostly_does_not_recur_is_no_marker_either() -> None:
    outcome = _wide(np.tile(np.arange(200) < 4, (5, 1)))
    assert outcome.recurs_by_chance is False
    assert outcome.sentences()[0] == (
        "No outer fold selected 6 of the panel's 10 features. Other samples would give another "
        "panel: do not read these features as markers."
    )


@each("value", [False, True])
def test_folds_that_keep_all_or_nothing_tell_nothing(value: bool) -> None:
    assert _wide(np.full((5, 200), value)).recurs_by_chance is None
    assert _outcome().recurs_by_chance is None
    assert _outcome().recurrence is None


def test_a_large_free_panel_is_remarked_on() -> None:
    supports = np.tile(np.arange(200) < 60, (5, 1))
    note = "The panel holds 60 features; --n-features 20 asks for a small one."
    sentences = _wide(supports, 60).sentences()
    assert note in sentences
    assert "Panels this large recur in many outer folds even on noise." in sentences
    assert note not in _wide(supports, 60, is_sized=True).sentences()
    assert "--n-features" not in " ".join(_wide(supports, 50).sentences())


def test_a_search_cut_short_says_so() -> None:
    cut = {"stop_reason": {"max_time": 1.0}}
    assert _outcome(max_iter=3000, **cut).sentences()[0] == (
        "Stopped by --max-time after 1,000 of 3,000 iterations."
    )
    assert _outcome(**cut).sentences()[0] == "Stopped by --max-time after 1,000 iterations."
    assert "Stopped" not in " ".join(_outcome(max_iter=3000).sentences())


def test_the_seed_is_shown() -> None:
    text = " ".join(_shown(_outcome(seed=1701417056), 200).split())
    assert "seed 1701417056 another seed gives another panel and another error" in text
    assert "choose it before you look" in text
    assert "seed" not in _shown(_outcome(), 200)


def test_the_full_set_is_called_better_only_where_that_is_shown() -> None:
    outcome = _wide(np.tile(np.arange(200) < 8, (5, 1)))
    folds: Any = outcome.nested
    said = " ".join(outcome.sentences())
    assert "the selection predicts better than the full set of 200 features does (20.0 %" in said
    assert "95 % interval of its lead 5.0 to 15.0 points" in said
    folds.full_comparison, folds.score, folds.full_score = "full set", 0.7, 0.8
    folds.full_interval = Interval(-0.15, -0.05)
    said = " ".join(outcome.sentences())
    assert "full set of 200 features predicts better than the selection does (20.0 %" in said
    for score, comparison in ((0.7, "no difference shown"), (0.79999, "full set")):
        folds.score, folds.full_comparison = score, comparison
        said = " ".join(outcome.sentences())
        assert "better than" not in said
        assert f"no difference is shown between the selection ({outcome.shown(score)}) and" in said
        assert "the full set of 200 features (20.0 %)" in said
