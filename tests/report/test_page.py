"""The page of a panel: the number to quote first, what bears on it below, on any terminal."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from each import each
from rich.console import Console

from bitsieve.report import Compared, PanelOutcome, panel_page
from bitsieve.report.measure import Measure
from bitsieve.report.record import jsonable

sys.path.insert(0, str(Path(__file__).parent))
from panel_example import CHANCE, FULL, HONEST, LIMITS, outcome, without_folds


def _shown(found: PanelOutcome, width: int = 100) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, markup=False, highlight=False, emoji=False)
    for part in panel_page(found, width=width):
        console.print(part)
    return file.getvalue()


def _said(found: PanelOutcome) -> str:
    return " ".join(_shown(found).split())


def test_the_number_to_quote_comes_first() -> None:
    lines = _shown(outcome()).splitlines()
    assert lines[0] == "HONEST ERROR 5.9 % (95 % interval 2.2 % to 12.4 %)"
    assert lines[1].startswith("This is the number to quote: nested cross-validation, 2 x 5 outer")
    text = _said(outcome())
    assert "made anew in each of the 10 training parts" in text
    assert (
        "Not to be quoted: the panel's inner error of 1.5 %, optimistic, since it was chosen among "
        "345 candidates on the very samples that it is measured on." in text
    )
    assert text.index("HONEST") < text.index("PANEL") < text.index("SAME FOLDS")


def test_it_is_no_longer_than_a_screen_or_two() -> None:
    shown = _shown(outcome())
    assert len(shown.splitlines()) <= 60
    assert max(map(len, shown.splitlines())) <= 100


@each("width", [30, 45, 59, 60, 80, 100])
def test_no_word_is_broken(width: int) -> None:
    shown = _shown(outcome(), width)
    assert max(map(len, shown.splitlines())) <= width
    if width >= 60:
        assert "(-1.0" in shown
        return
    # The same words in a list, but for what heads each value.
    for word in ("singh.npz", "g0", "Normal", "12,600", "sensitivity:", "Boston"):
        assert word in shown or word == "singh.npz"


def test_the_panel_says_direction_recurrence_and_substitutes() -> None:
    text = _said(outcome())
    assert (
        "PANEL 20 of 12,600 features are needed to predict: linear SVM on the 50 first by the F "
        "test." in text
    )
    assert "feature higher in selected again, of 10 could be replaced by" in text
    assert "g1 Tumor 10 h1 (0.91)" in text
    assert "h1 (0.91), h1 (0.91), h1 (0.91) and 4 more and 12 more in selection.csv" in text


def test_everything_stands_on_the_same_folds() -> None:
    text = _said(outcome())
    assert "SAME FOLDS error 95 % interval features panel better by, points" in text
    assert "this panel's procedure 5.9 % 2.2 to 12.4 % 20 to 100 at most 10 features" in text
    assert "at most 10 features 10.0 % 5.0 to 18.0 % 10 +4.1 (-1.0 to +9.0)" in text
    assert "all features, same classifier 7.0 % 3.0 to 15.0 % 12,600 +1.1 (-3.0 to +5.0)" in text
    assert "chance, no feature 49.0 % +43.1" in text


def test_whether_selecting_helped_is_said_by_the_paired_interval() -> None:
    for lead, interval, verdict in (
        (0.011, (-0.03, 0.05), "Selecting neither helped nor hurt, as far as these folds can "
         "tell: the panel's error is 1.1 points lower than that of all 12,600 features with the "
         "same classifier (95 % interval of the difference -3.0 to +5.0)."),
        (0.05, (0.01, 0.09), "Selecting helped: the panel's error is 5.0 points lower than"),
        (-0.05, (-0.09, -0.01), "Selecting cost: the panel's error is 5.0 points higher than"),
        (0.0, (-0.04, 0.04), "the panel's error is the same as that of all 12,600 features"),
    ):  # fmt: skip
        full = replace(FULL, lead=lead, lead_interval=interval)
        assert verdict in " ".join(outcome(rivals=(full, CHANCE)).comparison())
    auc = outcome(scoring="roc_auc", rivals=(replace(FULL, lead=0.05, lead_interval=(0.01, 0.09)),))
    assert "the panel's roc auc is 0.050 higher than" in auc.comparison()[0]
    kept = outcome(n_features_in=20)
    assert kept.comparison()[0] == (
        "Nothing was left out: the classifier on all features did best inside."
    )
    voted = outcome(n_features_in=20, n_members=3)
    assert voted.comparison()[0] == (
        "Nothing was left out: the classifiers that vote need all 20 features together. "
        "--max-features N makes a smaller panel."
    )


def test_a_limit_that_costs_more_than_a_standard_error_is_said() -> None:
    assert outcome().comparison()[-1] == (
        "A limit on the size costs error here, more than one standard error of the paired "
        "difference: at most 10 features costs 4.0 points (standard error 2.0 points)."
    )
    cheap = replace(LIMITS[0], cost=0.019)
    assert outcome(limits=(cheap, LIMITS[1])).comparison()[-1] == (
        "No limit on the size costs more than one standard error of the paired difference, not "
        "even at most 10 features."
    )
    assert not Compared("limit 10", "", 1.0, cost=0.0, cost_error=0.0).is_costly
    assert not Compared("limit 10", "", 1.0).is_costly


def test_a_guess_is_called_so() -> None:
    said = outcome(beats_chance=False).comparison()[0]
    assert said.startswith("The interval reaches chance (49.0 %)")
    assert "its features are no markers" in said


def test_classes_sites_and_other_samples() -> None:
    text = _said(outcome())
    assert "Tumor 252 3.5 248.5 93 % (83 to 99) 95 % (84 to 99)" in text
    assert (
        "Balanced accuracy 94 % (87 to 98), AUC 0.975 (0.930 to 0.990). Calibration: "
        "intercept 0.05, slope 0.84, Brier score 0.061." in text
    )
    assert "LEFT OUT samples error 95 % interval Boston 40 10.0 % 3.0 % to 24.0 %" in text
    assert (
        "EXTERNAL ERROR 10.0 % (95 % interval 2.0 % to 27.0 %) on the 30 samples of new.csv, "
        "opened once, after the panel was fixed." in text
    )
    many = outcome(classes=tuple(replace(outcome().classes[0], name=f"c{i}") for i in range(9)))
    assert "called" not in _said(many)


def test_without_outer_folds_nothing_may_be_quoted() -> None:
    text = _said(without_folds())
    assert text.startswith("HONEST ERROR: not measured No outer folds were asked for")
    assert "no number here may be quoted" in text
    assert "SAME FOLDS" not in text
    assert "selected again" not in text
    stopped = without_folds(stopped="Ctrl-C")
    assert "The job was stopped before the outer folds were done" in _said(stopped)


def test_a_panel_of_no_features_and_copies_is_not_to_be_quoted() -> None:
    held = outcome(doubts={"g3": "counts the samples"}).to_quote()
    assert held == (
        "Quote nothing of this run: the panel holds g3, evidently no feature (counts the "
        "samples). Repeat it without."
    )
    assert "may not be quoted: 4 are copies" in outcome(copies="4 are copies").to_quote()


def test_names_from_a_file_do_not_act_on_the_terminal() -> None:
    features = tuple(replace(one, name=f"\x1b[31m{one.name}") for one in outcome().features)
    shown = _shown(outcome(features=features, source="a\x1b[1m.csv"))
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert "\\x1b[31mg0" in shown


def test_the_record_holds_every_number() -> None:
    results = json.loads(json.dumps(jsonable(outcome().results())))
    assert results["honest_error"] == pytest.approx(0.059)
    assert results["honest_error_interval"] == pytest.approx([0.022, 0.124])
    assert results["inner_error"] == pytest.approx(0.015)
    assert results["n_selected"] == len(results["selected"]) == 20
    assert [row["key"] for row in results["limits"]] == ["limit 10", "limit 50"]
    assert results["classes"][1]["predicted"] == [3.5, 248.5]
    assert results["rivals"][1]["interval"] == [None, None]
    assert without_folds().results()["honest_error"] is None
    assert "honest_error" not in outcome(scoring="roc_auc").results()
    assert any("number to quote" in said for said in outcome().statements())


def test_differences_that_cannot_be_seen_have_no_sign() -> None:
    error = Measure("balanced_accuracy")
    assert (error.lead(-0.0001), error.lead(0.0001), error.lead(-0.001)) == (
        "0.0 points", "0.0 points", "-0.1 points",
    )  # fmt: skip
    assert error.shown(float("nan")) == "not measured"
    assert error.span((float("nan"), 1.0)) == ""
    assert error.span(HONEST.interval) == "2.2 % to 12.4 %"
