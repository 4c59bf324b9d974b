"""Selectors that predict themselves, their alternatives, repeated outer folds, and folds kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import (
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from toy_panels import Centroids, PanelSelector

from bitsieve._errors import CheckpointMismatch
from bitsieve.evaluation import compared, cost_of, nested_cross_validate, paired_difference
from bitsieve.evaluation.interval import Interval


def _cancer(n: int = 80) -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:n, :8]
    return X + np.random.default_rng(0).normal(size=X.shape), y[:n]


def _same(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(one.scores, other.scores)
    np.testing.assert_array_equal(one.full_scores, other.full_scores)
    np.testing.assert_array_equal(one.supports, other.supports)
    np.testing.assert_array_equal(one.predictions.predicted, other.predictions.predicted)
    assert one.predictions.predicted.dtype == other.predictions.predicted.dtype
    np.testing.assert_array_equal(one.predictions.outputs, other.predictions.outputs)
    assert one.interval == other.interval
    assert one.full_interval == other.full_interval
    assert list(one.alternatives) == list(other.alternatives)
    for name, kept in one.alternatives.items():
        np.testing.assert_array_equal(kept.scores, other.alternatives[name].scores)
        np.testing.assert_array_equal(kept.predicted, other.alternatives[name].predicted)
        np.testing.assert_array_equal(kept.n_features, other.alternatives[name].n_features)


@each("scoring", ["accuracy", "roc_auc", None])
def test_a_selector_that_predicts_is_its_own_estimator(scoring: Any) -> None:
    X, y = _cancer()
    text = np.where(y == 1, "benign", "malignant")
    found = nested_cross_validate(PanelSelector(3), None, X, text, scoring=scoring)
    expected = cross_val_score(PanelSelector(3), X, text, scoring=scoring)
    np.testing.assert_array_equal(found.scores, expected)
    assert found.n_features.tolist() == [3] * 5
    assert found.observed_scores.tolist() == [0.9] * 5
    assert np.isnan(found.remeasured_scores).all()
    assert list(found.alternatives) == ["limit 1", "all features: chosen"]
    by_name = {"accuracy": accuracy_score, None: accuracy_score, "roc_auc": roc_auc_score}
    for name, size in (("limit 1", 1), ("all features: chosen", 8)):
        other = found.alternatives[name]
        assert other.n_features.tolist() == [size] * 5
        for fold, (train, test) in enumerate(found.folds):
            fitted = clone(PanelSelector(3)).fit(X[train], text[train])
            model: Centroids = fitted.alternatives_[name]
            rows = found.predictions.fold == fold
            np.testing.assert_array_equal(other.predicted[rows], model.predict(X[test]))
            said = model.predict_proba(X[test])[:, 1] if scoring == "roc_auc" else None
            score = by_name[scoring](text[test], model.predict(X[test]) if said is None else said)
            assert other.scores[fold] == score
            kept = other.predictions.outputs[rows]
            np.testing.assert_array_equal(kept, model.predict_proba(X[test]))
        assert other.difference == pytest.approx(found.score - other.score)
        assert other.difference in other.interval
        assert other.score in other.own_interval
    everything = found.alternatives["all features: chosen"]
    np.testing.assert_array_equal(found.full_scores, everything.scores)
    np.testing.assert_array_equal(found.predictions.full_predicted, everything.predicted)
    assert found.full_interval == everything.interval
    # The outputs are kept whatever the scorer needs.
    assert found.predictions.outputs is not None


def test_a_claim_by_another_scorer_is_not_compared() -> None:
    class Choosing(PanelSelector):
        def fit(self, X: Any, y: Any) -> Any:
            self.scoring_ = "balanced_accuracy"
            return super().fit(X, y)

    X, y = _cancer()
    found = nested_cross_validate(Choosing(), None, X, y, scoring="balanced_accuracy")
    assert found.optimism == pytest.approx(0.9 - found.score)
    other = nested_cross_validate(Choosing(), None, X, y)
    assert other.observed_scores.tolist() == [0.9] * 5
    assert np.isnan(other.optimism)


def test_a_selector_without_alternatives_has_no_full_set() -> None:
    class Alone(PanelSelector):
        def fit(self, X: Any, y: Any) -> Any:
            super().fit(X, y)
            del self.alternatives_
            return self

    X, y = _cancer()
    found = nested_cross_validate(Alone(), None, X, y)
    assert found.alternatives == {}
    assert np.isnan(found.full_scores).all()
    assert found.predictions.full_predicted is None
    assert found.full_comparison == "no difference shown"
    assert "all features" not in found.summary()
    # One that wraps an estimator goes on to mean that one.
    wrapping = nested_cross_validate(RFE(SVC(kernel="linear")), None, X, y)
    assert not np.isnan(wrapping.full_scores).any()


def test_alternatives_of_the_last_step_of_a_pipeline_see_what_it_sees() -> None:
    X, y = _cancer()
    frame = pd.DataFrame(X * 100 + 7)
    scaled = make_pipeline(StandardScaler(), PanelSelector(2))
    found = nested_cross_validate(scaled, None, frame, y)
    np.testing.assert_array_equal(found.scores, cross_val_score(scaled, frame, y))
    train, test = found.folds[0]
    scaler = StandardScaler().fit(X[train] * 100 + 7)
    model = PanelSelector(2).fit(scaler.transform(X[train] * 100 + 7), y[train])
    said = model.alternatives_["limit 1"].predict(scaler.transform(X[test] * 100 + 7))
    rows = found.predictions.fold == 0
    np.testing.assert_array_equal(found.alternatives["limit 1"].predicted[rows], said)


def test_the_standard_error_of_a_difference_is_the_corrected_one() -> None:
    X, y = _cancer()
    found = nested_cross_validate(PanelSelector(3), None, X, y, n_repeats=2, random_state=0)
    other = found.alternatives["limit 1"]
    apart = found.scores - other.scores
    expected = np.sqrt(apart.var(ddof=1) * (1 / 10 + 16 / 64))
    assert other.standard_error == pytest.approx(expected)
    half = stats.t.ppf(0.975, 9) * expected
    low, high = other.interval
    assert low <= other.difference - half + 1e-12
    assert high >= other.difference + half - 1e-12


def test_sentences_say_what_the_paired_intervals_show() -> None:
    X, y = _cancer()
    found = nested_cross_validate(PanelSelector(3), None, X, y, n_repeats=2, random_state=0)
    scores = found.scores.copy()

    def with_other(shift: float, low: float, high: float, scoring: str = "accuracy") -> Any:
        other = replace(
            found.alternatives["limit 1"],
            scores=scores + shift,
            difference=-shift,
            interval=Interval(low, high),
        )
        return replace(found, scoring=scoring, alternatives={"limit 1": other})

    own = f"{100 * (1 - scores.mean()):.1f} %"
    worse = f"{100 * (1.1 - scores.mean()):.1f} %"
    assert compared(with_other(-0.1, 0.02, 0.18), "limit 1", other="a single feature") == (
        "On the same folds the selection predicts better than a single feature does "
        f"({worse}; 95 % interval of its lead 2.0 to 18.0 points)."
    )
    assert compared(with_other(0.1, -0.18, -0.02, "roc_auc"), "limit 1") == (
        "On the same folds 'limit 1' predicts better than the selection does "
        f"({scores.mean() + 0.1:.3f}; 95 % interval of the selection's lead -0.180 to -0.020)."
    )
    assert compared(with_other(-0.1, -0.02, 0.22), "limit 1") == (
        f"On the same folds no difference is shown between the selection ({own}) and 'limit 1' "
        f"({worse})."
    )
    # What is not seen in the numbers is not said.
    assert "no difference" in compared(with_other(-0.0001, 1e-5, 2e-4), "limit 1")
    assert "the full set of 8 features" in compared(found)
    with pytest.raises(ValueError, match="no alternative 'limit 2': did you mean 'limit 1'"):
        compared(found, "limit 2")
    # A limit is said to cost where it costs more than one standard error.
    apart = found.full_scores - found.alternatives["limit 1"].scores
    value, error = paired_difference(found, "all features: chosen", "limit 1")
    assert value == pytest.approx(apart.mean())
    assert error == pytest.approx(np.sqrt(apart.var(ddof=1) * (1 / 10 + 1 / 4)))
    assert cost_of(with_other(0.0, 0, 0), "limit 1", None, limit="one feature") is None
    assert cost_of(with_other(-0.1, 0, 0), "limit 1", None, limit="one feature") == (
        "With one feature the selection loses 10.0 points of error against no limit, more than "
        "one standard error of the difference on the same folds (0.0)."
    )


def test_an_alternative_that_some_folds_lack_is_left_out() -> None:
    class Fickle(PanelSelector):
        def fit(self, X: Any, y: Any) -> Any:
            super().fit(X, y)
            if X[0, 0] > 50:
                del self.alternatives_["limit 1"]
            return self

    X, y = _cancer()
    X[0, 0] = 99.0
    found = nested_cross_validate(Fickle(), None, X, y, cv=4)
    assert list(found.alternatives) == ["all features: chosen"]
    assert "the alternative 'limit 1': left out" in found.summary()


def test_rounds_are_shuffled_and_stratified() -> None:
    X, y = load_iris(return_X_y=True)
    selector, model = SelectKBest(k=1), GaussianNB()
    plain = nested_cross_validate(selector, model, X, y, random_state=4)
    once = nested_cross_validate(selector, model, X, y, n_repeats=1, random_state=4)
    thrice = nested_cross_validate(selector, model, X, y, n_repeats=3, random_state=4)
    twice = nested_cross_validate(selector, model, X, y, n_repeats=2, random_state=4)
    other = nested_cross_validate(selector, model, X, y, n_repeats=2, random_state=5)
    assert plain.n_repeats == once.n_repeats == 1
    assert plain.folds[0][1].tolist() == [*range(10), *range(50, 60), *range(100, 110)]
    assert thrice.n_repeats == 3
    assert thrice.repeats.tolist() == [0] * 5 + [1] * 5 + [2] * 5
    np.testing.assert_array_equal(thrice.scores[:5], once.scores)
    np.testing.assert_array_equal(thrice.scores[:10], twice.scores)
    tests = [test for _, test in thrice.folds]
    for round_ in range(3):
        assert sorted(np.concatenate(tests[5 * round_ : 5 * round_ + 5])) == list(range(150))
    for train, test in thrice.folds:
        assert np.bincount(y[test]).tolist() == [10] * 3
        assert len(np.intersect1d(train, test)) == 0
        assert len(train) == 120
    assert not np.array_equal(tests[0], plain.folds[0][1])
    assert not np.array_equal(tests[5], tests[0])
    assert not np.array_equal(tests[10], tests[5])
    assert not np.array_equal(other.folds[5][1], twice.folds[5][1])
    assert "3 x 5 outer folds" in thrice.summary()


def test_repeats_of_groups_and_of_numbers() -> None:
    X, y = _cancer()
    groups = np.arange(80) // 4
    found = nested_cross_validate(
        PanelSelector(), None, X, y, groups=groups, n_repeats=3, random_state=0
    )
    assert found.n_folds == 15
    for train, test in found.folds:
        assert not set(groups[train]) & set(groups[test])
    from sklearn.feature_selection import f_regression
    from sklearn.linear_model import LinearRegression

    numbers = X[:, 0] + np.arange(80)
    selector = SelectKBest(f_regression, k=2)
    found = nested_cross_validate(
        selector, LinearRegression(), X, numbers, n_repeats=2, random_state=0
    )
    assert found.repeats.tolist() == [0] * 5 + [1] * 5
    assert sorted(np.concatenate([test for _, test in found.folds[5:]])) == list(range(80))


def test_a_splitter_of_rounds_is_taken_and_told() -> None:
    X, y = _cancer()
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=1)
    found = nested_cross_validate(PanelSelector(), None, X, y, cv=cv)
    np.testing.assert_array_equal(found.scores, cross_val_score(PanelSelector(), X, y, cv=cv))
    assert found.n_repeats == 2


def test_rounds_that_are_the_same_and_splitters_to_be_repeated_are_refused() -> None:
    X, y = _cancer(40)
    folds = list(StratifiedKFold(2).split(X, y))
    with pytest.raises(ValueError, match="rounds 0 and 1 of the outer folds are the same"):
        nested_cross_validate(PanelSelector(), None, X, y, cv=[*folds, *folds[::-1]])
    with pytest.raises(
        ValueError, match=r"n_repeats=2 draws rounds of a number .* cv is a LeaveOneOut"
    ):
        nested_cross_validate(PanelSelector(), None, X, y, cv=LeaveOneOut(), n_repeats=2)
    with pytest.raises(ValueError, match="n_repeats must be a whole number from 1 on, got 0"):
        nested_cross_validate(PanelSelector(), None, X, y, n_repeats=0)


@each("labels", ["numbers", "text", "objects"])
def test_a_stopped_evaluation_goes_on_where_it_was(labels: str, tmp_path: Path) -> None:
    X, y = _cancer()
    if labels != "numbers":
        y = np.where(y == 1, "benign", "malignant").astype(object if labels == "objects" else str)
    folder = tmp_path / labels
    options: dict[str, Any] = {"n_repeats": 2, "random_state": 3}
    plain = nested_cross_validate(PanelSelector(jitter=9.0), None, X, y, **options)

    class Counted(PanelSelector):
        """Without effect on the answer: how often it fits."""

        fits = 0
        stop_at_fit = 7

        def fit(self, X: Any, y: Any) -> Any:
            if Counted.fits == Counted.stop_at_fit:
                raise KeyboardInterrupt
            Counted.fits += 1
            return super().fit(X, y)

    selector = Counted(jitter=9.0)
    with pytest.raises(KeyboardInterrupt):
        nested_cross_validate(selector, None, X, y, checkpoint=folder, **options)
    assert len(list(folder.iterdir())) == 7
    Counted.stop_at_fit = -1
    found = nested_cross_validate(selector, None, X, y, checkpoint=folder, **options)
    assert Counted.fits == 10
    _same(found, plain)
    # Nothing is left to do, and more rounds are only added; n_jobs makes no difference.
    selector.set_params(n_jobs=3)
    again = nested_cross_validate(selector, None, X, y, checkpoint=folder, **options)
    _same(again, plain)
    assert Counted.fits == 10
    options["n_repeats"] = 3
    more = nested_cross_validate(selector, None, X, y, checkpoint=folder, **options)
    assert Counted.fits == 15
    np.testing.assert_array_equal(more.scores[:10], plain.scores)
    # Anything else is another evaluation.
    options["n_repeats"] = 1
    changed = X.copy()
    changed[0, 0] += 1e-9
    for begun, other in enumerate(
        (
            {"selector": clone(selector).set_params(k=3)},
            {"X": changed},
            {"y": np.roll(y, 1)},
            {"random_state": 4},
            {"scoring": "balanced_accuracy"},
            {"cv": 4},
        ),
        start=1,
    ):
        arguments = {"selector": selector, "X": X, "y": y, **options, **other}
        before = Counted.fits
        nested_cross_validate(estimator=None, checkpoint=folder, **arguments)
        assert Counted.fits == before + arguments.get("cv", 5), begun


def test_processes_change_nothing_and_store_alike(tmp_path: Path) -> None:
    X, y = _cancer()
    options: dict[str, Any] = {"n_repeats": 2, "random_state": 3}
    one = nested_cross_validate(PanelSelector(jitter=9.0), None, X, y, **options)
    two = nested_cross_validate(
        PanelSelector(jitter=9.0), None, X, y, n_jobs=2, checkpoint=tmp_path, **options
    )
    _same(one, two)
    kept = nested_cross_validate(
        PanelSelector(jitter=9.0), None, X, y, checkpoint=tmp_path, **options
    )
    _same(kept, two)
    np.testing.assert_array_equal(kept.seconds, two.seconds)  # read, not run again


def test_a_classic_selector_is_kept_too_and_a_damaged_file_is_said(tmp_path: Path) -> None:
    X, y = _cancer()
    arguments: Any = (SelectKBest(k=2), KNeighborsClassifier(1), X, y)
    plain = nested_cross_validate(*arguments, random_state=0)
    nested_cross_validate(*arguments, random_state=0, checkpoint=tmp_path)
    found = nested_cross_validate(*arguments, random_state=0, checkpoint=tmp_path)
    np.testing.assert_array_equal(found.predictions.predicted, plain.predictions.predicted)
    np.testing.assert_array_equal(
        found.predictions.full_predicted, plain.predictions.full_predicted
    )
    assert found.interval == plain.interval
    files = sorted(tmp_path.iterdir())
    assert len(files) == 5
    assert all(file.name.startswith("fold-") for file in files)
    files[0].write_bytes(files[0].read_bytes()[:200])
    with pytest.raises(CheckpointMismatch, match=r"fold-.*\.npz is damaged .*; delete it$"):
        nested_cross_validate(*arguments, random_state=0, checkpoint=tmp_path)


def test_alternatives_behind_other_steps_see_what_these_make() -> None:
    X, y = _cancer()
    whole = make_pipeline(StandardScaler(), PanelSelector(3))
    found = nested_cross_validate(whole, None, 10.0 * X + 5.0, y)
    for name, other in found.alternatives.items():
        for fold, (train, test) in enumerate(found.folds):
            scaler = StandardScaler().fit(10.0 * X[train] + 5.0)
            model = PanelSelector(3).fit(scaler.transform(10.0 * X[train] + 5.0), y[train])
            said = model.alternatives_[name].predict(scaler.transform(10.0 * X[test] + 5.0))
            rows = found.predictions.fold == fold
            np.testing.assert_array_equal(other.predicted[rows], said)


class _Plain(PanelSelector):
    """Its alternatives do not say what they need."""

    def fit(self, X: Any, y: Any) -> _Plain:
        super().fit(X, y)
        self.alternatives_ = {"all features": GaussianNB().fit(X, y)}
        return self


def test_an_alternative_that_names_no_features_needs_all() -> None:
    X, y = _cancer()
    found = nested_cross_validate(_Plain(3), None, X, y)
    assert found.alternatives["all features"].n_features.tolist() == [8] * 5


def test_a_limit_costs_where_it_is_more_than_one_standard_error() -> None:
    X, y = _cancer()
    found = nested_cross_validate(PanelSelector(3), None, X, y)
    free = found.scores
    apart = np.array([-0.2, -0.1, 0.0, 0.1, 0.2])
    error = np.std(apart, ddof=1) * np.sqrt(1 / 5 + 1 / 4)  # of Nadeau and Bengio
    for cost, is_said in ((0.9 * error, False), (1.1 * error, True)):
        limited = replace(found.alternatives["limit 1"], scores=free - cost - apart)
        result = replace(found, alternatives={"limit 1": limited})
        assert paired_difference(result, None, "limit 1") == pytest.approx((cost, error))
        said = cost_of(result, "limit 1", None, limit="at most 1 feature")
        assert (said is not None) == is_said
