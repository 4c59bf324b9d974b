"""Missing values and weights of samples reach the estimators that take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from each import each
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from bitsieve.data import Table
from bitsieve.fitness import compile
from bitsieve.fitness.taking import takes_missing

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0).astype(int)
HOLED = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
MASKS = np.array([[1, 1, 1, 1, 1], [1, 0, 0, 1, 0], [0, 0, 0, 0, 0]], bool)
KNN = KNeighborsClassifier(1)


@each(
    ("estimator", "takes"),
    [
        (DecisionTreeClassifier(random_state=0), True),
        (HistGradientBoostingClassifier(), True),
        (make_pipeline(SimpleImputer(), KNN), True),
        (make_pipeline(StandardScaler(), "passthrough", SimpleImputer(), KNN), True),
        (make_pipeline(make_pipeline(StandardScaler(), SimpleImputer()), KNN), True),
        (make_pipeline(StandardScaler(), DecisionTreeClassifier()), True),
        (make_pipeline(StandardScaler(), KNN), False),
        (make_pipeline(KNN), False),
        (KNN, False),
        (LogisticRegression(), False),
    ],
)
def test_who_takes_missing_values(estimator: Any, takes: bool) -> None:
    assert takes_missing(estimator) == takes


def test_missing_values_pass_to_those_who_take_them() -> None:
    for estimator in (
        DecisionTreeClassifier(random_state=0),
        make_pipeline(SimpleImputer(), KNN),
    ):
        for data, y in ((HOLED, Y), (Table(HOLED, Y, missing="keep"), None)):
            found = compile(estimator, data, y, cv=3, n_jobs=1).evaluate_splits(MASKS[:2])
            for mask, scores in zip(MASKS, found, strict=False):
                expected = cross_val_score(estimator, HOLED[:, mask], Y, cv=3)
                np.testing.assert_allclose(scores, expected, rtol=1e-12)
        empty = compile(estimator, HOLED, Y, cv=3, n_jobs=1).evaluate(MASKS[2:])
        assert 0.3 < empty[0] < 0.7
    for data, y in ((HOLED, Y), (Table(HOLED, Y, missing="keep"), None)):
        with pytest.raises(ValueError, match=r"contains NaN: .*fill them in"):
            compile(KNN, data, y)


def test_weights_reach_fit() -> None:
    weights = RNG.random(60)
    folds = StratifiedKFold(3)
    plain = LogisticRegression()
    piped = make_pipeline(StandardScaler(), LogisticRegression())
    inner = make_pipeline(StandardScaler(), make_pipeline(LogisticRegression()))
    for estimator, name in (
        (plain, "sample_weight"),
        (piped, "logisticregression__sample_weight"),
        (inner, "pipeline__logisticregression__sample_weight"),
    ):
        found = compile(estimator, X, Y, cv=folds, sample_weight=weights, scoring="neg_log_loss")
        scores = found.evaluate_splits(MASKS[:1])[0]
        expected = cross_val_score(
            estimator, X, Y, cv=folds, scoring="neg_log_loss", params={name: weights}
        )
        np.testing.assert_allclose(scores, expected, rtol=1e-12)
        unweighted = compile(estimator, X, Y, cv=folds, scoring="neg_log_loss")
        assert not np.allclose(scores, unweighted.evaluate_splits(MASKS[:1])[0])
        with sklearn.config_context(enable_metadata_routing=True):
            routed = compile(
                estimator, X, Y, cv=folds, sample_weight=weights, scoring="neg_log_loss", n_jobs=1
            )
            np.testing.assert_allclose(routed.evaluate_splits(MASKS[:1])[0], scores, rtol=1e-12)
            assert np.isfinite(routed.evaluate(MASKS[2:])).all()
        assert np.isfinite(found.evaluate(MASKS[2:])).all()


def test_who_takes_no_weights_is_named() -> None:
    for estimator in (KNN, make_pipeline(StandardScaler(), KNN)):
        with pytest.raises(
            ValueError, match="KNeighborsClassifier takes no sample_weight in fit; leave"
        ):
            compile(estimator, X, Y, sample_weight=np.ones(60))
    with pytest.raises(ValueError, match="sample_weight must have one value a sample"):
        compile(LogisticRegression(), X, Y, sample_weight=np.ones(59))
