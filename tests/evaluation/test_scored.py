"""Out-of-fold predictions, the interval of every kind of score, and the two sets compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, fbeta_score, get_scorer, make_scorer
from sklearn.model_selection import (
    GroupKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from bitsieve.evaluation import (
    corrected_t_interval,
    nested_cross_validate,
    resampling,
    scored,
)
from bitsieve.evaluation.interval import binomial_interval, effective_size, mean_interval
from bitsieve.evaluation.predictions import Predictions
from bitsieve.evaluation.scored import ScoredFolds


@pytest.fixture
def few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "N_RESAMPLES", 10)


def _perfect(n: int = 10, n_classes: int = 2) -> tuple[Any, Any]:
    """One column that tells the classes apart and three of noise."""
    y = np.arange(n) % n_classes
    X = np.random.default_rng(0).normal(size=(n, 4))
    X[:, 0] = 20 * y + 0.1 * X[:, 0]
    return X, y


@pytest.mark.usefixtures("few_resamples")
def test_predictions_are_those_of_cross_val_predict() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.random.default_rng(0).normal(scale=0.5, size=X.shape) + X
    text = np.array(["set", "ver", "vir"])[y]
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    found = nested_cross_validate(
        SelectKBest(k=2), GaussianNB(), X, text, cv=cv, scoring="neg_log_loss"
    )
    kept = found.predictions
    assert kept is not None
    whole = make_pipeline(SelectKBest(k=2), GaussianNB())
    np.testing.assert_array_equal(
        kept.predicted, cross_val_predict(whole, X, text, cv=cv)[kept.sample]
    )
    np.testing.assert_allclose(
        kept.outputs, cross_val_predict(whole, X, text, cv=cv, method="predict_proba")[kept.sample]
    )
    np.testing.assert_array_equal(
        kept.full_predicted, cross_val_predict(GaussianNB(), X, text, cv=cv)[kept.sample]
    )
    np.testing.assert_array_equal(kept.truth, text[kept.sample])
    assert sorted(kept.sample) == list(range(150))
    for fold, (_, test) in enumerate(found.folds):
        np.testing.assert_array_equal(kept.sample[kept.fold == fold], test)
    assert kept.responses == ("predict_proba",) * 5
    assert list(kept.classes) == ["set", "ver", "vir"]


def test_decision_values_of_two_classes_get_two_columns() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    found = nested_cross_validate(SelectKBest(k=3), LinearSVC(), X, y, cv=3, scoring="roc_auc")
    kept = found.predictions
    assert kept is not None
    assert kept.responses == ("decision_function",) * 3
    np.testing.assert_array_equal(kept.outputs[:, 0], -kept.outputs[:, 1])
    np.testing.assert_array_equal(kept.predicted, (kept.outputs[:, 1] > 0).astype(int))
    plain = nested_cross_validate(SelectKBest(k=3), LinearSVC(), X, y, cv=3)
    assert plain.predictions.outputs is None


@pytest.mark.usefixtures("few_resamples")
def test_scores_of_stored_outputs_are_those_of_the_models() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::4], np.where(y[::4] == 1, "no", "yes")
    selector, model = SelectKBest(k=3), GaussianNB()
    for scoring in (
        "accuracy",
        "balanced_accuracy",
        "roc_auc",
        "neg_log_loss",
        "f1_macro",
        make_scorer(fbeta_score, beta=2, pos_label="yes"),
        make_scorer(lambda truth, said: float(np.mean(truth != said)), greater_is_better=False),
        lambda fitted, X, y: float(fitted.predict_proba(X)[y == "yes", 1].mean()),
        None,
    ):
        found = nested_cross_validate(selector, model, X, y, scoring=scoring)
        expected = cross_val_score(make_pipeline(selector, model), X, y, cv=5, scoring=scoring)
        np.testing.assert_allclose(found.scores, expected, rtol=1e-12)
        assert found.interval.low < found.score < found.interval.high


def test_accuracy_gets_the_union_of_the_t_and_the_exact_interval() -> None:
    rng = np.random.default_rng(1)
    for seed in range(4):
        n = 30
        y = np.arange(n) % 2
        X = rng.normal(size=(n, 6)) + seed * y[:, None]
        cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=seed)
        found = nested_cross_validate(SelectKBest(k=2), GaussianNB(), X, y, cv=cv)
        sizes = [len(b) for _, b in found.folds], [len(a) for a, _ in found.folds]
        t = corrected_t_interval(found.scores, *sizes, bounds=(0.0, 1.0))
        kept = found.predictions
        # Each sample once: three rounds of folds are still 30 samples.
        exact = binomial_interval(np.sum(kept.predicted == kept.truth) / 3, n)
        assert found.interval.low == pytest.approx(min(t.low, exact.low))
        assert found.interval.high == pytest.approx(max(t.high, exact.high))


def test_samples_that_no_fold_tests_do_not_count() -> None:
    X, y = _perfect(40)
    cv = ShuffleSplit(2, test_size=6, random_state=0)
    found = nested_cross_validate(SelectKBest(k=1), GaussianNB(), X, y, cv=cv)
    n = len(np.unique(found.predictions.sample))
    assert n < 13
    assert tuple(found.interval) == pytest.approx((0.025 ** (1 / n), 1.0))


def test_balanced_accuracy_combines_the_exact_intervals_of_the_classes() -> None:
    X, y = _perfect(30, 3)
    found = nested_cross_validate(SelectKBest(k=1), GaussianNB(), X, y, scoring="balanced_accuracy")
    assert found.score == 1.0
    expected = mean_interval([1.0] * 3, [binomial_interval(10, 10)] * 3)
    assert tuple(found.interval) == pytest.approx((expected.low, 1.0))
    # Ten times as many samples of one class do not make up for the few of another.
    few = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:5], np.flatnonzero(y == 2)[:5]]
    less = nested_cross_validate(
        SelectKBest(k=1), GaussianNB(), X[few], y[few], scoring="balanced_accuracy"
    )
    assert less.interval.low < found.interval.low


@pytest.mark.usefixtures("few_resamples")
def test_no_score_gets_an_interval_of_no_width() -> None:
    def opaque(fitted: Any, X: Any, y: Any) -> float:
        assert X.shape[1] == 4  # looks at the samples, so it cannot be asked about stored outputs
        return float(np.mean(fitted.predict(X) == y))

    for n_classes in (2, 3):
        X, y = _perfect(10 * n_classes, n_classes)
        cv = StratifiedKFold(3)
        for scoring in (
            "accuracy",
            "balanced_accuracy",
            "roc_auc" if n_classes == 2 else "roc_auc_ovr",
            "f1_macro",
            "matthews_corrcoef",
            "neg_log_loss",
            opaque,
            lambda fitted, X, y: float(np.mean(fitted.predict(X) == y) ** 2),
        ):
            found = nested_cross_validate(
                SelectKBest(k=1), GaussianNB(), X, y, cv=cv, scoring=scoring, random_state=1
            )
            low, high = found.interval
            assert low + 0.01 < high, scoring
            assert low <= found.score <= high
            low, high = found.full_interval
            assert low + 0.01 < high, scoring
            assert found.full_comparison == "no difference shown"
    X = np.random.default_rng(0).normal(size=(20, 4))
    for scoring in ("r2", "neg_mean_absolute_error", "neg_median_absolute_error"):
        found = nested_cross_validate(
            SelectKBest(f_regression, k=1), LinearRegression(), X, X[:, 0], scoring=scoring
        )
        low, high = found.interval
        assert low + 0.01 < high, scoring


class _Wrong(ClassifierMixin, BaseEstimator):
    """Always the other class."""

    def fit(self, X: Any, y: Any) -> _Wrong:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return (np.asarray(X)[:, 0] < 10).astype(int)

    def predict_proba(self, X: Any) -> Any:
        return np.eye(2)[self.predict(X)]


@pytest.mark.usefixtures("few_resamples")
def test_all_wrong_is_no_certainty_either() -> None:
    X, y = _perfect(20)
    for scoring in ("accuracy", "balanced_accuracy", "roc_auc", "f1_macro", "average_precision"):
        found = nested_cross_validate(SelectKBest(k=1), _Wrong(), X, y, scoring=scoring)
        assert found.score <= 0.5
        low, high = found.interval
        assert high > low + 0.05, scoring
        # Average precision of ties cannot fall below the prevalence.
        assert high > found.score + 0.05 or scoring == "average_precision"


def test_when_there_is_no_interval() -> None:
    X, y = _perfect(20)
    selector, model = SelectKBest(k=1), GaussianNB()

    def same(*_: Any) -> float:
        return 3.0

    constant = nested_cross_validate(selector, model, X, y, scoring=same)
    assert np.isnan(constant.interval).all()
    assert constant.beats_chance is None
    assert "no interval" in constant.summary()

    def undefined(*_: Any) -> float:
        return float("nan")

    assert np.isnan(nested_cross_validate(selector, model, X, y, scoring=undefined).interval).all()


@pytest.mark.usefixtures("few_resamples")
def test_the_bootstrap_repeats_itself() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    options: Any = {"scoring": "f1", "random_state": 2**64 - 1}
    one, two = (
        nested_cross_validate(SelectKBest(k=2), GaussianNB(), X[:90], y[:90], **options)
        for _ in range(2)
    )
    assert one.interval == two.interval


def test_resamples_hold_whole_groups_of_several_classes() -> None:
    y, groups = np.arange(12) % 2, np.arange(12) // 4
    kept = Predictions(
        np.arange(12), np.zeros(12, int), y, y, y, None, (None,), np.array([0, 1])
    )  # fmt: skip
    drawn = resampling._Drawn(kept, groups)
    draw = resampling.resampling_integers(0)
    seen = set()
    for _ in range(50):
        rows = drawn(draw)
        counts = np.bincount(rows, minlength=14)
        for group in range(3):
            assert len(set(counts[:12][groups == group])) == 1
        # Three groups and two pseudo-samples, five draws of any of them.
        assert counts[:12].sum() // 4 + counts[12:].sum() == 5
        seen.update(rows.tolist())
    assert seen == set(range(14))


def test_groups_make_the_interval_wider() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = np.repeat(X[:60], 2, axis=0), np.repeat(y[:60], 2)
    groups = np.repeat(np.arange(60), 2)
    for scoring in ("accuracy", "roc_auc"):
        options: Any = {"cv": list(GroupKFold(4).split(X, y, groups)), "scoring": scoring}
        apart = nested_cross_validate(SelectKBest(k=3), GaussianNB(), X, y, **options)
        together = nested_cross_validate(
            SelectKBest(k=3), GaussianNB(), X, y, groups=groups, **options
        )
        np.testing.assert_array_equal(apart.scores, together.scores)
        if scoring == "accuracy":
            kept = together.predictions
            right = (kept.predicted == kept.truth)[np.argsort(kept.sample)]
            size = effective_size(right, groups)
            assert size == pytest.approx(60, rel=0.05)
            exact = binomial_interval(right.mean() * size, size)
            assert together.interval.low <= exact.low
            assert together.interval.high >= exact.high
        assert together.interval.low <= apart.interval.low


def test_folds_repeats_and_groups_reach_the_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def keep(name: str) -> Any:
        own = getattr(scored, name)

        def call(*args: Any, **options: Any) -> Any:
            given.update(options)
            return own(*args, **options)

        return call

    for name in ("auc_interval", "resampled_interval"):
        monkeypatch.setattr(scored, name, keep(name))
    monkeypatch.setattr(resampling, "N_RESAMPLES", 10)
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:60], y[:60]
    for n_repeats in (1, 3):
        cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=n_repeats, random_state=0)
        nested_cross_validate(SelectKBest(k=2), GaussianNB(), X, y, cv=cv, scoring="roc_auc")
        assert given["n_tests"] == n_repeats
        assert given["excess"] == pytest.approx(1.25)  # five folds, a fifth against four fifths
    twice, groups = np.repeat(np.arange(60), 2), np.repeat(np.arange(60), 2)
    cv = list(GroupKFold(4).split(X[twice], y[twice], groups))
    options: Any = {"cv": cv, "scoring": "roc_auc", "groups": groups}
    nested_cross_validate(SelectKBest(k=2), GaussianNB(), X[twice], y[twice], **options)
    assert given["n_tests"] == pytest.approx(2, rel=0.1)  # each sample is worth half of one
    # Between chance and the best, the folds err alike in part.
    found = nested_cross_validate(SelectKBest(k=2), GaussianNB(), X, y, scoring="f1", cv=5)
    share = (1 - found.score) / (1 - found.chance_score)
    assert 0 < share < 1
    assert given["spread"] == pytest.approx(np.sqrt(1 + 1.25 * share))


def test_two_sets_that_predict_alike_are_not_told_apart() -> None:
    X, y = _perfect(30)
    X = np.column_stack([X[:, 0]] * 3)  # any column will do
    found = nested_cross_validate(SelectKBest(k=1), KNeighborsClassifier(1), X, y)
    assert found.full_difference == 0.0
    assert found.full_comparison == "no difference shown"
    upper = 1 - 0.025 ** (1 / 30)
    assert tuple(found.full_interval) == pytest.approx((-upper, upper))
    assert "no difference shown" in found.summary()
    # Of groups in which all agree each counts once.
    groups = np.arange(30) // 2
    found = nested_cross_validate(SelectKBest(k=1), KNeighborsClassifier(1), X, y, groups=groups)
    upper = 1 - 0.025 ** (1 / 15)
    assert tuple(found.full_interval) == pytest.approx((-upper, upper))


def test_a_difference_is_within_the_range_of_differences() -> None:
    X, y = _perfect(20)
    one = [np.flatnonzero(y == 1)[at] for at in ([0, 1], [2, 3])]
    cv = [(np.setdiff1d(np.arange(20), test), test) for test in one]
    folds = [[1.0, 0.0], [0.0, 1.0]]
    kept = nested_cross_validate(SelectKBest(k=1), GaussianNB(), X, y, cv=cv).predictions
    found = ScoredFolds(cv, kept, get_scorer("balanced_accuracy"), "balanced_accuracy")
    assert tuple(found.difference(*folds, kept.full_predicted, chance=0.5)) == (-1.0, 1.0)


def test_a_score_of_the_estimators_own_is_not_taken_for_the_accuracy() -> None:
    class Percent(GaussianNB):
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            return 100.0 * float(np.mean(self.predict(X) == y))

    def accuracy(fitted: Any, X: Any, y: Any) -> float:
        return float(fitted.score(X, y))

    X, y = _perfect(20)
    y[0] = 1
    for scoring in (None, accuracy):
        found = nested_cross_validate(SelectKBest(k=1), Percent(), X, y, scoring=scoring)
        assert 50 < found.score < 100
        assert found.score in found.interval
        assert found.interval.high > found.score + 1
        assert found.full_interval.high > 1.0


def test_a_count_of_right_answers_is_no_accuracy() -> None:
    X, y = _perfect(20)
    counted = make_scorer(accuracy_score, normalize=False)
    found = nested_cross_validate(SelectKBest(k=1), GaussianNB(), X, y, scoring=counted)
    assert found.score == 4.0
    assert found.interval.high > 4.0  # no proportion of samples


def test_two_sets_that_differ_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    noise = rng.normal(size=(60, 1))
    signal = 4.0 * y[:, None] + rng.normal(size=(60, 1))

    class Last(SelectKBest):
        def _get_support_mask(self) -> Any:
            return np.arange(self.n_features_in_) == self.n_features_in_ - 1

    one = KNeighborsClassifier(5)
    for scoring in ("accuracy", "balanced_accuracy", "roc_auc"):
        worse = nested_cross_validate(
            Last(k=1), one, np.hstack([signal, noise]), y, scoring=scoring
        )
        assert worse.full_comparison == "full set"
        assert worse.full_interval.high < 0.0
        assert "the full set predicts better" in worse.summary()
        better = nested_cross_validate(
            Last(k=1), one, np.hstack([50 * noise, 50 * noise[::-1], signal]), y, scoring=scoring
        )
        assert better.full_comparison == "selection"
        assert better.full_interval.low > 0.0


def test_the_interval_covers_where_folds_agree() -> None:
    """Nearest class means of 20 samples, 98.5 % right in truth: few t-intervals hold that."""
    rng, n, n_sets = np.random.default_rng(5), 20, 150
    y = np.arange(n) % 2
    fold = np.arange(n) // 4
    folds = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(5)]
    hits = dict.fromkeys(("t", "accuracy", "balanced_accuracy", "roc_auc"), 0)
    for _ in range(n_sets):
        X = rng.normal(size=(n, 3))
        X[y == 1, 0] += 4.4
        values, truths, aucs = np.empty(n), [], []
        for train, test in folds:
            zero, one = (X[train[y[train] == c]].mean(axis=0) for c in (0, 1))
            weights = (one - zero) / np.linalg.norm(one - zero)
            limit = weights @ (zero + one) / 2
            values[test] = X[test] @ weights - limit
            apart = 4.4 * weights[0]
            truths.append((special.ndtr(limit) + special.ndtr(apart - limit)) / 2)
            aucs.append(special.ndtr(apart / np.sqrt(2)))
        said = (values > 0).astype(int)
        right = np.array([np.mean(said[test] == y[test]) for _, test in folds])
        pairs = [
            np.mean(values[test][y[test] == 1][:, None] > values[test][y[test] == 0])
            for _, test in folds
        ]
        kept = Predictions(
            np.arange(n), fold, y, said, said,
            np.column_stack([-values, values]), ("decision_function",) * 5, np.array([0, 1]),
        )  # fmt: skip
        truth, auc = float(np.mean(truths)), float(np.mean(aucs))
        hits["t"] += truth in corrected_t_interval(right, [4] * 5, [16] * 5)
        for name in ("accuracy", "balanced_accuracy", "roc_auc"):
            scored = ScoredFolds(folds, kept, get_scorer(name), name)
            scores = pairs if name == "roc_auc" else right
            held = scored.interval(scores, chance=0.5, random_state=0)
            hits[name] += (auc if name == "roc_auc" else truth) in held
    assert hits.pop("t") < 0.6 * n_sets
    assert min(hits.values()) >= 0.95 * n_sets
