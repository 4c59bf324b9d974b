"""CFS and FCBF as scikit-learn sees them: the sets of the functions, supports, merits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from each import each
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from bitsieve import CFS, FCBF, filters


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


# -- CFS -------------------------------------------------------------------------------------------


@each("locally_predictive", [True, False])
def test_cfs_selects_the_set_of_the_function(cancer, locally_predictive):
    selector = CFS(locally_predictive=locally_predictive).fit(*cancer)
    order, merits = filters.cfs(*cancer, locally_predictive=locally_predictive, return_scores=True)
    np.testing.assert_array_equal(selector.order_, order)
    np.testing.assert_array_equal(selector.get_support(indices=True), np.sort(order))
    np.testing.assert_array_equal(selector.scores_[order], merits)
    assert np.isnan(np.delete(selector.scores_, order)).all()
    np.testing.assert_array_equal(selector.ranking_[order], np.arange(1, len(order) + 1))
    assert selector.merit_ == np.nanmax(CFS(locally_predictive=False).fit(*cancer).scores_)


def test_cfs_history_tells_the_search(cancer):
    selector = CFS(max_stale=3, locally_predictive=False).fit(*cancer)
    history = selector.history_
    assert set(history) == {"merit", "n_selected", "n_evaluations"}
    assert np.all(np.diff(history["merit"]) >= 0)
    assert history["merit"][-1] == pytest.approx(selector.merit_, abs=1e-12)
    assert history["n_selected"][-1] == selector.support_.sum()
    tells = filters.symmetrical_uncertainty(*cancer) > 0
    assert history["n_evaluations"][0] == tells.sum() < 30
    assert len(set(history["merit"][-4:])) == 1, "three expansions brought nothing"
    assert len(set(history["merit"][-5:])) > 1


def test_cfs_where_nothing_is_told():
    X, y = np.random.default_rng(0).normal(size=(40, 5)), np.arange(40) % 2
    selector = CFS().fit(X, y)
    assert not selector.support_.any()
    assert selector.merit_ == 0.0
    assert selector.ranking_.tolist() == [1] * 5


# -- FCBF ------------------------------------------------------------------------------------------


def test_fcbf_selects_what_the_function_takes(cancer):
    selector = FCBF().fit(*cancer)
    order, scores = filters.fcbf(*cancer, return_scores=True)
    np.testing.assert_array_equal(selector.order_, order)
    np.testing.assert_array_equal(selector.get_support(indices=True), np.sort(order))
    np.testing.assert_array_equal(selector.scores_[order], scores)
    first = FCBF(2).fit(*cancer)
    np.testing.assert_array_equal(first.get_support(indices=True), np.sort(order[:2]))
    np.testing.assert_array_equal(first.ranking_, selector.ranking_)


def test_fcbf_keeps_a_feature_that_equals_the_threshold():
    y = np.repeat([0, 1], 20)
    selector = FCBF(threshold=1.0, discretization=None).fit(np.column_stack([y, 1 - y]), y)
    assert selector.get_support().tolist() == [True, False]
    with pytest.raises(ValueError, match=r"threshold must be a number in \[0, 1\]"):
        FCBF(threshold=2.0).fit(y[:, None], y)


# -- both ------------------------------------------------------------------------------------------


@each("selector", [CFS(), FCBF()])
def test_frames_and_pipelines(selector):
    X, y = load_iris(return_X_y=True, as_frame=True)
    frame = X.assign(noise=np.random.default_rng(0).normal(size=150))
    fitted = clone(selector).set_output(transform="pandas").fit(frame, y)
    out = fitted.transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == ["petal length (cm)", "petal width (cm)"]
    model = make_pipeline(clone(selector), GaussianNB())
    assert cross_val_score(model, frame, y, cv=3).mean() > 0.93


@each("selector", [CFS(), FCBF()])
def test_categories_in_a_frame(selector):
    frame = pd.DataFrame({"ward": ["a", "b"] * 20, "age": np.linspace(0, 1, 40)})
    fitted = clone(selector).fit(frame, np.tile(["well", "sick"], 20))
    assert fitted.get_support().tolist() == [True, False]


@each("selector", [CFS(), FCBF()])
def test_sparse_tables_stay_sparse(selector):
    X, y = load_breast_cancer(return_X_y=True)
    X = np.where(np.median(X, axis=0) < X, X, 0.0)
    dense = clone(selector).fit(X, y)
    sparse = clone(selector).fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_array_equal(sparse.order_, dense.order_)
    np.testing.assert_array_equal(sparse.scores_, dense.scores_)
    out = sparse.transform(scipy.sparse.csr_array(X))
    assert scipy.sparse.issparse(out)
    np.testing.assert_array_equal(out.toarray(), X[:, dense.support_])


@each("selector", [CFS, FCBF])
def test_tags(selector):
    assert get_tags(selector()).target_tags.required
    assert not get_tags(selector()).input_tags.allow_nan
    assert get_tags(selector(missing="level")).input_tags.allow_nan
    assert get_tags(selector()).input_tags.sparse
