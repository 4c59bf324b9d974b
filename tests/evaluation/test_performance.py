"""Confusion, recalls, AUC and calibration, against scikit-learn and formulas written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from scipy import special, stats
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import (
    balanced_accuracy_score,
    brier_score_loss,
    confusion_matrix,
    recall_score,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB
from toy_panels import PanelSelector

from bitsieve.evaluation import class_performance, nested_cross_validate
from bitsieve.evaluation.calibration import calibration_of
from bitsieve.evaluation.interval import binomial_interval, corrected_t_interval


def _cancer(n: int = 120) -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    X = (X[:n, :8] - X[:n, :8].mean(axis=0)) / X[:n, :8].std(axis=0)
    X += 2 * np.random.default_rng(0).normal(size=X.shape)
    return X, np.where(y[:n] == 1, "benign", "malignant")


def test_one_round_is_what_scikit_learn_counts() -> None:
    X, y = _cancer()
    result = nested_cross_validate(PanelSelector(3), None, X, y)
    kept = result.predictions
    found = result.performance(positive="malignant")
    truth, said = kept.truth, kept.predicted
    np.testing.assert_array_equal(found.confusion, confusion_matrix(truth, said))
    assert found.accuracy.value == np.mean(truth == said)
    assert found.accuracy.interval == result.interval
    assert found.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(truth, said))
    sensitivity = recall_score(truth, said, pos_label="malignant")
    specificity = recall_score(truth, said, pos_label="benign")
    assert found.sensitivity.value == pytest.approx(sensitivity)
    assert found.specificity.value == pytest.approx(specificity)
    assert [one.value for one in found.recalls] == [
        found.specificity.value,
        found.sensitivity.value,
    ]
    areas = [
        roc_auc_score(truth[kept.fold == f] == "malignant", kept.outputs[kept.fold == f, 1])
        for f in range(5)
    ]
    assert found.auc.value == pytest.approx(np.mean(areas))
    brier = brier_score_loss(truth, kept.outputs[:, 1], pos_label="malignant")
    assert found.brier == pytest.approx(brier)
    assert found.n_rounds == 1.0
    # The other class is found as well from its own side.
    other = result.performance(positive="benign")
    assert other.sensitivity == found.specificity
    assert other.auc.value == pytest.approx(found.auc.value)
    assert other.calibration.intercept == pytest.approx(-found.calibration.intercept)
    assert other.calibration.slope == pytest.approx(found.calibration.slope)
    # And of an alternative.
    alone = result.performance("limit 1")
    np.testing.assert_array_equal(
        alone.confusion, confusion_matrix(truth, result.alternatives["limit 1"].predicted)
    )


def test_an_interval_is_the_union_of_the_folds_and_the_exact_one() -> None:
    X, y = _cancer()
    result = nested_cross_validate(PanelSelector(3), None, X, y, n_repeats=3, random_state=0)
    kept, found = result.predictions, result.performance(positive="malignant")
    rows = kept.truth == "malignant"
    right = kept.predicted == kept.truth
    n = len(np.unique(kept.sample[rows]))
    exact = binomial_interval(right[rows].sum() / 3, n)
    recalls = [right[rows & (kept.fold == f)].mean() for f in range(15)]
    sizes = [len(test) for _, test in result.folds], [len(train) for train, _ in result.folds]
    folds = corrected_t_interval(recalls, *sizes)
    assert found.sensitivity.value == pytest.approx(right[rows].mean())
    assert found.sensitivity.interval == pytest.approx(
        (max(0, min(exact.low, folds.low)), min(1, max(exact.high, folds.high)))
    )
    assert found.n_rounds == 3.0
    assert found.confusion.sum() == pytest.approx(len(y))
    np.testing.assert_allclose(found.confusion, confusion_matrix(kept.truth, kept.predicted) / 3)


@each("groups", [None, np.arange(120) // 4])
@each("scoring", ["accuracy", "balanced_accuracy", "roc_auc"])
def test_the_interval_of_a_score_is_that_of_the_result(scoring: str, groups: Any) -> None:
    X, y = _cancer()
    result = nested_cross_validate(
        PanelSelector(3), None, X, y, n_repeats=2, scoring=scoring, groups=groups, random_state=0
    )
    found = class_performance(result.predictions, result.folds, groups=groups)
    measure = found.auc if scoring == "roc_auc" else getattr(found, scoring)
    if scoring == "roc_auc" and groups is not None:  # whole groups count, the more cautious way
        assert measure.interval.low < result.interval.low
        assert measure.interval.high > result.interval.high - 1e-12
    else:
        assert tuple(measure.interval) == pytest.approx(tuple(result.interval))


def test_several_classes() -> None:
    X, y = load_iris(return_X_y=True)
    X = X + np.random.default_rng(0).normal(size=X.shape)
    found = nested_cross_validate(PanelSelector(2), None, X, y, n_repeats=2, random_state=0)
    kept, measured = found.predictions, found.performance()
    assert measured.positive is None
    assert measured.sensitivity is None
    assert measured.calibration is None
    recalls = recall_score(kept.truth, kept.predicted, average=None)
    np.testing.assert_allclose([one.value for one in measured.recalls], recalls)
    areas = [
        np.mean(
            [
                roc_auc_score(kept.truth[rows] == c, kept.outputs[rows, c])
                for rows in (kept.fold == f for f in range(10))
            ]
        )
        for c in range(3)
    ]
    np.testing.assert_allclose([one.value for one in measured.aucs], areas)
    assert measured.auc.value == pytest.approx(np.mean(areas))
    lows = [one.interval.low for one in measured.aucs]
    assert measured.auc.interval.low == pytest.approx(np.mean(lows))
    likely = ((kept.outputs - np.eye(3)[kept.truth]) ** 2).sum(axis=1).mean()
    assert measured.brier == pytest.approx(likely)
    assert measured.brier_chance == pytest.approx(2 / 3)
    assert [one.label for one in measured.calibrations] == [0, 1, 2]


def test_groups_are_worth_less() -> None:
    X, y = _cancer()
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    X += 1e-3 * np.random.default_rng(1).normal(size=X.shape)
    pairs = np.arange(240) // 2
    found = nested_cross_validate(PanelSelector(3), None, X, y, groups=pairs)
    together = found.performance()
    apart = class_performance(found.predictions, found.folds)
    assert together.auc.interval.low <= apart.auc.interval.low
    for one, other in (
        (together.balanced_accuracy, apart.balanced_accuracy),
        (together.sensitivity, apart.sensitivity),
    ):
        assert one.value == other.value
        assert one.interval.low <= other.interval.low
        assert one.interval.high >= other.interval.high
    exact = [binomial_interval(n * 0.9, n) for n in (120, 60)]
    assert exact[1].low < exact[0].low


def test_no_outputs_no_auc_and_no_numbers() -> None:
    X, y = _cancer()
    found = nested_cross_validate(SelectKBest(k=2), GaussianNB(), X, y, scoring="accuracy")
    measured = found.performance()
    assert measured.auc is None
    assert measured.calibrations == ()
    assert np.isnan(measured.brier)
    with pytest.raises(ValueError, match="positive must be one of two classes, got 'malign': did"):
        found.performance(positive="malign")
    numbers = nested_cross_validate(
        SelectKBest(f_regression, k=2), LinearRegression(), X, np.arange(120.0)
    )
    with pytest.raises(ValueError, match="needs predictions of classes"):
        numbers.performance()


@each("seed", range(3))
def test_recalibration_is_the_logistic_regression_of_the_logits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random(200)
    y = rng.random(200) < truth
    p = special.expit(2.0 * special.logit(np.clip(truth, 0.01, 0.99)) - 0.7)  # too extreme
    found = calibration_of(p, y, np.ones(200))
    logit = special.logit(p)
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(logit[:, None], y)
    assert found.slope == pytest.approx(model.coef_[0, 0], abs=1e-4)
    # With the slope at 1 the mean probability is made right.
    assert special.expit(logit + found.intercept).mean() == pytest.approx(y.mean(), abs=1e-9)
    assert found.slope < 0.8
    assert found.intercept > 0.2
    # Standard errors by Fisher's information, written out.
    fitted = special.expit(model.intercept_[0] + found.slope * logit)
    weight = fitted * (1 - fitted)
    center = np.average(logit, weights=weight)
    error = 1 / np.sqrt(np.sum(weight * (logit - center) ** 2))
    half = stats.norm.ppf(0.975) * error
    assert found.slope_interval == pytest.approx((found.slope - half, found.slope + half), abs=1e-4)
    # A sample that was predicted three times counts once.
    thrice = calibration_of(np.tile(p, 3), np.tile(y, 3), np.full(600, 1 / 3))
    assert thrice.slope_interval == pytest.approx(found.slope_interval)
    assert thrice.intercept_interval == pytest.approx(found.intercept_interval)
    assert thrice.brier == pytest.approx(found.brier)
    assert [bin_.n for bin_ in thrice.bins] == pytest.approx([bin_.n for bin_ in found.bins])


def test_bins_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(200)
    y = rng.random(200) < p
    found = calibration_of(p, y, np.ones(200))
    assert [one.n for one in found.bins] == [20.0] * 10
    observed, predicted = calibration_curve(y, p, n_bins=10, strategy="quantile")
    np.testing.assert_allclose([one.observed for one in found.bins], observed)
    np.testing.assert_allclose([one.predicted for one in found.bins], predicted)
    for one in found.bins:
        assert one.interval == binomial_interval(one.observed * 20, 20)
    # Equal probabilities stay together, and few samples make few bins.
    few = calibration_of(np.repeat([0.2, 0.7], 30), np.arange(60) % 2 == 0, np.ones(60))
    assert [one.n for one in few.bins] == [30.0, 30.0]
    assert len(calibration_of(p[:12], y[:12], np.ones(12)).bins) == 2


def test_separated_classes_have_no_slope() -> None:
    p = np.array([0.1, 0.2, 0.3, 0.8, 0.9, 0.7])
    y = p > 0.5
    found = calibration_of(p, y, np.ones(6))
    assert np.isnan(found.slope)
    assert np.isnan(found.slope_interval.low)
    assert np.isfinite(found.intercept)
    alike = calibration_of(np.full(6, 0.4), y, np.ones(6))
    assert np.isnan(alike.slope)
    assert special.expit(special.logit(0.4) + alike.intercept) == pytest.approx(0.5)
    certain = calibration_of(y.astype(float), y, np.ones(6))
    assert certain.brier == 0.0
    assert np.isnan(certain.slope)
