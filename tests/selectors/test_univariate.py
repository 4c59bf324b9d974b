"""UnivariateSelector and GramSchmidt as scikit-learn sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from each import each
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_selection import SelectFdr, SelectKBest, f_classif
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from bitsieve import GramSchmidt, UnivariateSelector, filters


@each(
    "name",
    [
        *("signal_to_noise", "t_test", "f_test", "pearson", "spearman", "auc", "kruskal_wallis"),
        *("chi2", "fisher_score", "variance", "laplacian_score", "gini", "information_gain"),
    ],
)
def test_scores_are_those_of_the_function(name: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    selector = UnivariateSelector(name, n_features_to_select=4).fit(X, y)
    expected = getattr(filters, name)(X, y)
    assert np.array_equal(selector.scores_, expected)
    best = np.argsort(-expected, kind="stable")
    assert np.array_equal(selector.ranking_[best], np.arange(1, 31))
    assert set(selector.get_support(indices=True)) == set(best[:4])
    assert selector.transform(X).shape == (569, 4)


def test_same_choice_as_select_k_best_and_select_fdr() -> None:
    X, y = load_iris(return_X_y=True)
    ours = UnivariateSelector("f_test", n_features_to_select=2).fit(X, y)
    assert np.array_equal(ours.support_, SelectKBest(f_classif, k=2).fit(X, y).get_support())
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    X = np.column_stack([X, rng.normal(size=(569, 200))])
    for fdr in (1e-8, 0.01, 0.2):
        ours = UnivariateSelector("f_test", fdr=fdr).fit(X, y)
        theirs = SelectFdr(f_classif, alpha=fdr).fit(X, y)
        assert np.array_equal(ours.support_, theirs.get_support())
        np.testing.assert_allclose(ours.pvalues_, theirs.pvalues_, rtol=1e-6, atol=1e-300)
    both = UnivariateSelector("f_test", fdr=0.2, n_features_to_select=3).fit(X, y)
    assert both.support_.sum() == 3


def test_options_reach_the_function() -> None:
    X, y = load_iris(return_X_y=True)
    largest = UnivariateSelector("auc", scorer_options={"multiclass": "largest"}).fit(X, y)
    assert np.array_equal(largest.scores_, filters.auc(X, y, multiclass="largest"))
    welch = UnivariateSelector("welch").fit(X, y == 1)
    assert np.array_equal(welch.scores_, filters.t_test(X, y == 1, equal_var=False))


def test_tags() -> None:
    assert get_tags(UnivariateSelector("chi2")).input_tags.positive_only
    assert get_tags(UnivariateSelector("chi2")).input_tags.sparse
    assert not get_tags(UnivariateSelector("auc")).input_tags.sparse
    for scorer in ("mi", "gini", "infogain", "gainratio", "su"):
        assert get_tags(UnivariateSelector(scorer)).input_tags.sparse
        assert not get_tags(UnivariateSelector(scorer)).input_tags.allow_nan
        selector = UnivariateSelector(scorer, scorer_options={"missing": "level"})
        assert get_tags(selector).input_tags.allow_nan
    assert not get_tags(UnivariateSelector("relif")).input_tags.sparse
    assert not get_tags(UnivariateSelector("variance")).target_tags.required
    assert get_tags(UnivariateSelector("t")).target_tags.required


@each("form", [scipy.sparse.csr_matrix, scipy.sparse.csc_array])
def test_sparse(form: Any) -> None:
    X = np.random.default_rng(0).poisson(0.4, (50, 30)).astype(np.float64)
    y = np.arange(50) % 2
    for scorer in ("chi2", "f_test", "t_test", "variance", "pearson", "mi", "gini", "su"):
        selector = UnivariateSelector(scorer, n_features_to_select=5).fit(form(X), y)
        dense = UnivariateSelector(scorer, n_features_to_select=5).fit(X, y)
        assert np.array_equal(selector.support_, dense.support_)
        out = selector.transform(form(X))
        assert scipy.sparse.issparse(out)
        assert np.array_equal(out.toarray(), X[:, dense.support_])


def test_frames_pipelines_and_grids() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = UnivariateSelector("auc", n_features_to_select=3).set_output(transform="pandas")
    names = ["worst radius", "worst perimeter", "worst area"]
    assert list(selector.fit_transform(X, y).columns) == names
    pipe = make_pipeline(UnivariateSelector(), GaussianNB())
    grid = {"univariateselector__scorer": ["t_test", "auc"]}
    found = GridSearchCV(pipe, grid, cv=2).fit(X, y.map({0: "bad", 1: "good"}))
    assert found.best_score_ > 0.9


def test_gram_schmidt_is_the_function() -> None:
    X, y = load_diabetes(return_X_y=True)
    order, scores = filters.gram_schmidt(X, y, 4, task="regression", return_scores=True)
    selector = GramSchmidt(n_features_to_select=4, task="regression").fit(X, y)
    assert np.array_equal(selector.order_, order)
    assert np.array_equal(selector.scores_[order], scores)
    assert np.isnan(np.delete(selector.scores_, order)).all()
    assert np.array_equal(selector.ranking_[order], [1, 2, 3, 4])
    assert (np.delete(selector.ranking_, order) == 5).all()
    assert set(selector.get_support(indices=True)) == set(order)
    by_risk = GramSchmidt(probe_risk=0.05, task="regression").fit(X, y)
    assert np.array_equal(
        by_risk.order_, filters.gram_schmidt(X, y, probe_risk=0.05, task="regression")
    )
    frame = pd.DataFrame(X)
    frame.columns = [f"f{j}" for j in range(X.shape[1])]
    first = GramSchmidt(n_features_to_select=1, task="regression").fit(frame, y)
    assert first.get_feature_names_out() == ["f2"]
    classes = GramSchmidt(n_features_to_select=2).fit(*load_iris(return_X_y=True))
    assert classes.order_[0] in (2, 3)


def test_refusals() -> None:
    X, y = load_iris(return_X_y=True)
    for scorer, words in (
        ("ttest2", "unknown method 'ttest2'"),
        ("mrmr", "'mrmr' does not look at one feature at a time"),
        (filters.auc, "scorer must be a name"),
    ):
        with pytest.raises(ValueError, match=words):
            UnivariateSelector(scorer).fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="fdr needs p-values, and 'fisher_score' has none"):
        UnivariateSelector("fisher_score", fdr=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"fdr must be a number in \(0, 1\) or None, got 2"):
        UnivariateSelector(fdr=2).fit(X, y)
    with pytest.raises(ValueError, match=r"fdr must be a number in \(0, 1\) or None, got '5%'"):
        UnivariateSelector(fdr="5%").fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'auc' has no option 'ddof'"):
        UnivariateSelector("auc", scorer_options={"ddof": 1}).fit(X, y)
    with pytest.raises(ValueError, match="cannot hold 'n_jobs'"):
        UnivariateSelector("auc", scorer_options={"n_jobs": 1}).fit(X, y)
    with pytest.raises(ValueError, match="n_features_to_select is 5, but X has 4 features"):
        UnivariateSelector(n_features_to_select=5).fit(X, y)


def test_options_of_the_scorer_are_a_mapping() -> None:
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]
    with pytest.raises(ValueError, match="scorer_options must be a mapping"):
        UnivariateSelector(scorer_options=3).fit(X, y)  # type: ignore[arg-type]
