"""MRMR and InformationSelector: the functions behind them, and scikit-learn's contract."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from each import each
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from bitsieve import MRMR, InformationSelector
from bitsieve.filters import information_selection, mrmr


@each("criterion", ["MID", "MIQ", "FCD", "FCQ"])
def test_mrmr_holds_what_the_function_returns(criterion: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    order, values = mrmr(X, y, 7, criterion=criterion, return_scores=True)
    selector = MRMR(7, criterion=criterion).fit(X, y)
    np.testing.assert_array_equal(selector.order_, order)
    np.testing.assert_array_equal(selector.scores_[order], values)
    assert np.isnan(selector.scores_).sum() == X.shape[1] - 7
    np.testing.assert_array_equal(selector.ranking_[order], np.arange(1, 8))
    assert (np.delete(selector.ranking_, order) == 8).all()
    np.testing.assert_array_equal(np.flatnonzero(selector.support_), np.sort(order))
    np.testing.assert_array_equal(selector.transform(X), X[:, np.sort(order)])


def test_information_selector_holds_what_the_function_returns() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for criterion in ("jmi", "disr", "icap"):
        order = information_selection(X, y, 4, criterion=criterion)
        selector = InformationSelector(4, criterion=criterion).fit(X, y)
        np.testing.assert_array_equal(selector.order_, order)


def test_a_fraction_a_threshold_and_the_default() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    assert MRMR().fit(X, y).support_.sum() == 10
    assert MRMR(0.2).fit(X, y).support_.sum() == 6
    some = MRMR(6, threshold=0.1).fit(X, y)
    np.testing.assert_array_equal(some.support_, np.nan_to_num(some.scores_, nan=-1.0) > 0.1)
    assert 0 < some.support_.sum() < 6
    with pytest.raises(ValueError, match=r"n_features_to_select is 31, but X has 30 features"):
        MRMR(31).fit(X, y)


def test_numbers_of_numpy_and_labels_of_pandas() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    labels = y.map({0: "malignant", 1: "benign"})
    plain = MRMR(5).fit(X.to_numpy(), y.to_numpy())
    for given in (labels, labels.astype("string"), labels.astype("category"), labels.to_numpy()):
        found = MRMR(np.int64(5)).fit(X, given)
        np.testing.assert_array_equal(found.order_, plain.order_)
    assert list(found.get_feature_names_out()) == list(X.columns[np.sort(plain.order_)])


def test_frames_go_in_and_out() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    out = MRMR(3, criterion="FCQ").set_output(transform="pandas").fit_transform(X, y)
    assert isinstance(out, pd.DataFrame)
    assert set(out.columns) <= set(X.columns)
    polars = pytest.importorskip("polars")
    out = MRMR(3).set_output(transform="polars").fit_transform(polars.from_pandas(X), y)
    assert isinstance(out, polars.DataFrame)


def test_a_numeric_target() -> None:
    X, y = load_diabetes(return_X_y=True)
    for criterion in ("MID", "FCQ"):
        assert MRMR(3, criterion=criterion, task="regression").fit(X, y).support_.sum() == 3


def test_sparse_tables_pass() -> None:
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (60, 20)).astype(float)
    y = (X[:, 3] > 0).astype(int)
    for selector in (MRMR(3), MRMR(3, criterion="FCQ"), InformationSelector(3)):
        assert get_tags(selector).input_tags.sparse
        dense = clone(selector).fit(X, y)
        found = clone(selector).fit(scipy.sparse.csr_array(X), y)
        np.testing.assert_array_equal(found.order_, dense.order_)
        assert found.order_[0] == 3
        assert found.transform(scipy.sparse.csr_array(X)).shape == (60, 3)


def test_in_a_pipeline_and_a_search() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(MRMR(3), KNeighborsClassifier(5))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.85
    search = GridSearchCV(pipeline, {"mrmr__criterion": ["MID", "FCQ"]}, cv=2).fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_a_forest_with_a_seed_repeats_itself() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:150, :12]
    selector = MRMR(4, criterion="FCQ", relevance="random_forest", random_state=3)
    first = clone(selector).fit(X, y[:150])
    np.testing.assert_array_equal(clone(selector).fit(X, y[:150]).scores_, first.scores_)
    forest = RandomForestClassifier(max_depth=5, random_state=3).fit(X, y[:150])
    assert first.order_[0] == forest.feature_importances_.argmax()
