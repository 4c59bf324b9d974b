"""Covariates as predictors of their own, and errors by group."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from bitsieve.evaluation import (
    check_covariates,
    covariates_alone,
    covariates_alternative,
    expected_half_width,
    group_performance,
    nested_cross_validate,
)
from bitsieve.evaluation.interval import binomial_interval


def _table(n: int = 60, seed: int = 0) -> tuple[Any, Any, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    y = np.array(["ill", "well"])[np.arange(n) % 2]
    X = rng.normal(size=(n, 8))
    X[y == "ill", 0] += 1.5
    frame = pd.DataFrame(
        {
            "site": rng.choice(["a", "b", "c"], n),
            "plate": rng.integers(1, 5, n),
            "age": rng.normal(60, 10, n).round(1),
        }
    )
    return X, y, frame


def test_alone_is_logistic_regression_of_levels_and_numbers() -> None:
    _, y, frame = _table()
    frame.loc[3, "age"] = np.nan
    folds = [(np.arange(0, 40), np.arange(40, 60)), (np.arange(20, 60), np.arange(0, 20))]
    found = covariates_alone(frame, y, folds)
    assert np.array_equal(found.sample, [*range(40, 60), *range(20)])
    assert np.array_equal(found.truth, y[found.sample])
    for fold, (train, test) in enumerate(folds):
        age = frame["age"].fillna(frame["age"].iloc[train].median()).to_numpy()[:, None]
        levels = pd.get_dummies(frame[["site", "plate"]].astype(str)).to_numpy(dtype=float)
        twin_table = np.hstack([StandardScaler().fit(age[train]).transform(age), levels])
        twin = LogisticRegression(max_iter=1000, tol=1e-8).fit(twin_table[train], y[train])
        rows = found.fold == fold
        assert found.outputs is not None
        np.testing.assert_allclose(
            found.outputs[rows], twin.predict_proba(twin_table[test]), atol=1e-4
        )


def test_levels_that_are_new_or_missing_are_no_error() -> None:
    _, y, frame = _table(20)
    frame.loc[19, "site"] = "new"
    frame.loc[18, "site"] = None
    frame.loc[17, "age"] = np.nan
    folds = [(np.arange(16), np.arange(16, 20))]
    assert set(covariates_alone(frame, y, folds).predicted) <= {"ill", "well"}
    empty = frame.assign(age=np.nan)
    assert len(covariates_alone(empty, y, folds)) == 4


def test_test_samples_decide_nothing_of_their_own_prediction() -> None:
    _, y, frame = _table(40)
    folds = [(np.arange(30), np.arange(30, 40))]
    before = covariates_alone(frame, y, folds)
    garbage, other = frame.copy(), y.copy()
    garbage.loc[31:, "site"] = [f"x{i}" for i in range(31, 40)]
    garbage.loc[31:, "plate"] = 1000
    garbage.loc[31:, "age"] = 1e9
    other[31:] = "ill"
    after = covariates_alone(garbage, other, folds)
    assert before.outputs is not None
    assert after.outputs is not None
    assert np.array_equal(before.outputs[0], after.outputs[0])


def test_an_alternative_stands_beside_the_selection_on_its_folds() -> None:
    X, y, frame = _table()
    result = nested_cross_validate(
        SelectKBest(k=2), GaussianNB(), X, y, scoring="balanced_accuracy", n_repeats=2,
        random_state=0,
    )  # fmt: skip
    clear = frame.assign(batch=np.where(np.arange(60) < 2, "q", y))
    for covariates, comparison in ((frame, "selection"), (clear, "alternative")):
        found = covariates_alternative(result, covariates, y)
        told = found.predictions
        scores = [
            balanced_accuracy_score(told.truth[told.fold == k], told.predicted[told.fold == k])
            for k in range(10)
        ]
        np.testing.assert_allclose(found.scores, scores)
        assert found.difference == pytest.approx(result.score - np.mean(scores))
        assert found.difference in found.interval
        assert found.comparison == comparison
        assert np.array_equal(told.sample, result.predictions.sample)
        both = dataclasses.replace(result, alternatives={"covariates": found})
        assert both.performance("covariates").n_samples == 60


def test_a_batch_that_follows_the_classes_is_told_from_one_that_does_not() -> None:
    clear = 0
    for seed in range(3):
        _, y, frame = _table(60, seed)
        rng = np.random.default_rng(100 + seed)
        found = check_covariates(frame, y)
        clear += found.is_clear
        assert found.score in found.interval
        batch = np.where(rng.random(60) < 0.85, y, rng.choice(y, 60))
        confounded = check_covariates(frame.assign(batch=batch)[["batch"]], y)
        assert confounded.is_clear
        assert confounded.chance == 0.5
        assert "'batch' alone predicts the classes: balanced accuracy" in confounded.text()
    assert clear <= 1
    assert found == check_covariates(frame, y)
    assert "'site', 'plate', 'age' alone are not shown to predict" in found.text()


def test_a_rare_class_is_no_sign_of_a_batch() -> None:
    rng = np.random.default_rng(0)
    y = np.array([0] * 54 + [1] * 6)
    found = check_covariates(pd.DataFrame({"batch": rng.integers(0, 3, 60)}), y)
    assert not found.is_clear


def test_groups_are_kept_together_unless_they_are_sites() -> None:
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(30), 3)
    y = rng.integers(0, 2, 30)[patient]
    told = pd.DataFrame({"patient": [f"p{i}" for i in patient]})
    assert check_covariates(told, y).is_clear  # a patient's other samples give the class away
    assert not check_covariates(told, y, groups=patient).is_clear
    site = np.where(rng.random(90) < 0.9, y, 2)
    found = check_covariates(pd.DataFrame({"site": site}), y, groups=site)
    assert found.is_clear
    assert found == check_covariates(pd.DataFrame({"site": site}), y)


def test_a_row_a_group_where_each_is_left_out() -> None:
    X, y, frame = _table()
    site = frame["site"].to_numpy()
    result = nested_cross_validate(
        SelectKBest(k=1), GaussianNB(), X, y, cv=LeaveOneGroupOut(), groups=site,
        scoring="accuracy",
    )  # fmt: skip
    rows = group_performance(result.predictions, site)
    assert [row.name for row in rows] == ["a", "b", "c"]
    for row, score in zip(rows, result.scores, strict=True):
        assert row.n == (site == row.name).sum()
        assert row.counts == {c: int((y[site == row.name] == c).sum()) for c in ("ill", "well")}
        assert row.error == pytest.approx(1 - score)
        assert row.interval == binomial_interval(row.error * row.n, row.n)


def test_samples_of_several_rounds_count_once_by_group() -> None:
    X, y, frame = _table()
    result = nested_cross_validate(
        SelectKBest(k=1), DummyClassifier(strategy="constant", constant="ill"), X, y,
        scoring="accuracy", n_repeats=3, random_state=1,
    )  # fmt: skip
    rows = group_performance(result.predictions, frame["plate"].to_numpy())
    assert sum(row.n for row in rows) == 60
    for row in rows:
        assert row.error == pytest.approx(row.counts["well"] / row.n)


def test_half_widths_are_of_the_exact_interval() -> None:
    low, high = binomial_interval(16, 20)
    assert expected_half_width(20) == pytest.approx((high - low) / 2)
    assert expected_half_width(20) > expected_half_width(40) > expected_half_width(40, share=0.95)


def test_what_does_not_fit_is_refused() -> None:
    _, y, frame = _table(10)
    folds = [(np.arange(8), np.arange(8, 10))]
    with pytest.raises(ValueError, match="a column or more"):
        covariates_alone(frame[[]], y, folds)
    with pytest.raises(ValueError, match="9 rows, but y has 10 labels"):
        covariates_alone(frame.iloc[:9], y, folds)
    with pytest.raises(ValueError, match="split 0 trains on samples of one class"):
        covariates_alone(frame, y, [(np.arange(0, 10, 2), np.arange(1, 10, 2))])
    with pytest.raises(ValueError, match="class 'c' has one sample"):
        check_covariates(frame, [*"aabbaabbac"])
    found = covariates_alone(frame, y, folds)
    with pytest.raises(ValueError, match="5 came, but sample 9"):
        group_performance(found, [1, 2, 3, 4, 5])


def test_infinite_covariates_are_named():
    age = np.where(np.arange(12) == 3, np.inf, np.arange(12) / 7)
    table = pd.DataFrame({"sex": ["f", "m"] * 6, "age": age})
    with pytest.raises(ValueError, match="covariate 'age' holds infinite values"):
        check_covariates(table, [0, 1] * 6)
