"""Rankings combined over methods, and the contract of both that combine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_selection import RFE, SelectKBest, f_classif, f_regression
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from bitsieve import filters
from bitsieve.filters import rank_aggregation
from bitsieve.selectors._bootstrap import draw
from bitsieve.selectors._ranked import RankSelector
from bitsieve.selectors.aggregation import RankAggregation
from bitsieve.selectors.ensemble import EnsembleRanker


def means_apart(X: Any, y: Any) -> Any:
    """Range of the class means."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    if X.ndim != 2 or len(X) != len(y):
        raise ValueError(f"Reshape your data: expected a table and labels, got {X.shape}")
    return np.ptp([X[y == c].mean(axis=0) for c in np.unique(y)], axis=0)


def backwards(X: Any, y: Any) -> Any:
    """Prefers the last features."""
    return np.arange(np.shape(X)[1]) + 0.5


def test_functions_and_estimators_for_rankers_keep_the_contract() -> None:
    """As scikit-learn sees it; names for rankers are held to all of it in ``contracts``."""
    for selector in (
        RankAggregation([SelectKBest(f_classif, k=1), means_apart]),
        RankAggregation([SelectKBest(f_classif, k=1)], method="rra", n_features_to_select=1),
        EnsembleRanker(means_apart, n_bootstraps=2, replace=False, sample_size=0.7, n_jobs=2),
    ):
        check_estimator(clone(selector), on_skip=None)


# -- several rankers ---------------------------------------------------------------------------


@each("method", ["mean", "borda", "median", "rra"])
def test_the_same_as_the_function_on_the_same_scores(method: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    rankers = [means_apart, f_classif, backwards]
    selector = RankAggregation(rankers, method=method, n_features_to_select=5).fit(X, y)
    lists = [means_apart(X, y), f_classif(X, y)[0], backwards(X, y)]
    np.testing.assert_array_equal(selector.scores_, rank_aggregation(lists, method=method))
    np.testing.assert_array_equal(selector.positions_, stats.rankdata(-np.array(lists), axis=1))
    assert selector.ranker_names_ == ["means_apart", "f_classif", "backwards"]
    assert selector.support_.sum() == 5
    assert sorted(selector.ranking_) == list(range(1, 31))
    assert hasattr(selector, "pvalues_") == (method == "rra")


def test_weights_and_ties_reach_the_function() -> None:
    X, y = load_iris(return_X_y=True)
    alone = RankAggregation([means_apart, backwards], weights=[0, 1]).fit(X, y)
    assert alone.ranking_.tolist() == [4, 3, 2, 1]
    constant = np.zeros((150, 4))
    tied = RankAggregation([means_apart], ties="average").fit(constant, y)
    assert len(set(tied.scores_)) == 1
    by_index = RankAggregation([means_apart], ties="index").fit(constant, y)
    assert by_index.ranking_.tolist() == tied.ranking_.tolist() == [1, 2, 3, 4]
    assert len(set(by_index.scores_)) == 4


def test_estimators_are_cloned_and_read_by_their_ranking() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rfe = RFE(LogisticRegression(), n_features_to_select=5, step=5)
    selector = RankAggregation([rfe], ties="average").fit(X, y)
    assert not hasattr(rfe, "ranking_")
    direct = clone(rfe).fit(X, y)
    np.testing.assert_array_equal(selector.positions_[0], stats.rankdata(direct.ranking_))
    assert set(np.flatnonzero(direct.support_)) <= set(np.flatnonzero(selector.support_))


def test_a_greedy_selector_counts_by_its_order() -> None:
    class TakesTwo(RankSelector):
        n_features_to_select = threshold = None

        def _order(self, X: Any, y: Any) -> Any:
            return np.array([2, 0]), np.array([0.1, 0.9])

    X, y = load_iris(return_X_y=True)
    selector = RankAggregation([TakesTwo()]).fit(X, y)
    assert selector.positions_.tolist() == [[2, 3.5, 1, 3.5]]
    selector = RankAggregation([TakesTwo()], method="rra").fit(X, y)
    assert selector.positions_.tolist() == [[2, 4, 1, 4]]  # last, as Kolde et al. (2012)
    assert not hasattr(selector.set_params(method="mean").fit(X, y), "pvalues_")


def test_a_greedy_method_takes_more_than_are_kept() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    selector = RankAggregation(["mrmr"], n_features_to_select=2).fit(X, y)
    np.testing.assert_array_equal(np.argsort(selector.positions_[0]), filters.mrmr(X, y))
    rows = draw([np.flatnonzero(y == c) for c in (0, 1)], 1.0, replace=True, key=0, index=0)
    ensemble = EnsembleRanker("mrmr", n_bootstraps=1, n_top=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(np.argsort(ensemble.mean_rank_), filters.mrmr(X[rows], y[rows]))


@each(("own", "given", "used"), [(None, 2, 2), (1, 2, 1), (None, None, None)])
def test_threads_reach_an_estimator_that_leaves_them_open(own: Any, given: Any, used: Any) -> None:
    seen = []

    class Watched(RankSelector):
        def __init__(self, n_jobs: Any = None) -> None:
            self.n_jobs = n_jobs

        n_features_to_select = threshold = None

        def _score(self, X: Any, y: Any) -> Any:
            seen.append(self.n_jobs)
            return np.ones(X.shape[1])

    X, y = load_iris(return_X_y=True)
    RankAggregation([Watched(own)], n_jobs=given).fit(X, y)
    assert seen == [used]


def test_nan_of_a_constant_column_is_last() -> None:
    X, y = load_iris(return_X_y=True)
    X[:, 1] = 1.0
    with pytest.warns(UserWarning, match="constant"), np.errstate(all="ignore"):
        selector = RankAggregation([SelectKBest(f_classif, k=1)]).fit(X, y)
    assert selector.ranking_[1] == 4


def test_numbers_for_a_target() -> None:
    X, y = load_diabetes(return_X_y=True)
    selector = RankAggregation([f_regression], n_features_to_select=3).fit(X, y)
    assert selector.ranking_.tolist() == stats.rankdata(-f_regression(X, y)[0]).tolist()


@each(
    ("rankers", "message"),
    [
        ("relieff", "rankers must be a list of names, functions or estimators"),
        ([], "rankers is empty: name one at least"),
        (["relif"], "unknown method 'relif': did you mean 'relief'"),
        ([3], "rankers must be names such as 'relieff', functions .* got 3"),
        ([SelectKBest], "rankers must be names"),
        ([StandardScaler()], "StandardScaler: has neither scores_ nor ranking_ after fit"),
        (
            [lambda X, y: np.zeros(3)],
            r"must return one score a feature, that is 4 numbers, got an array of shape \(3,\)",
        ),
        ([lambda X, y: np.full(4, np.nan)], "returned NaN for every feature"),
        (
            [lambda X, y: np.array([2, 0, 1, 3])],
            "returned each whole number from 0 to 3 once, which may be an order or scores",
        ),
    ],
)
def test_rankers_that_are_none(rankers: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RankAggregation(rankers).fit(*load_iris(return_X_y=True))


def test_bad_options_are_refused_before_a_ranker_runs() -> None:
    def never(X: Any, y: Any) -> Any:
        pytest.fail("computed before it refused")

    X, y = load_iris(return_X_y=True)
    for options, message in (
        ({"method": "bordo"}, "unknown method 'bordo': did you mean 'borda'"),
        ({"weights": [1, 2]}, "expected 1 weight, one a list"),
        ({"ties": "min"}, "ties must be 'average' or 'index'"),
        ({"n_features_to_select": 9}, "n_features_to_select is 9, but X has 4 features"),
    ):
        with pytest.raises(ValueError, match=message):
            RankAggregation([never], **options).fit(X, y)  # type: ignore[arg-type]
    for options, message in (
        ({"aggregation": "bordo"}, "unknown method 'bordo'"),
        ({"n_bootstraps": 0}, "n_bootstraps must be a whole number from 1 on, got 0"),
        ({"sample_size": 1.5}, r"sample_size must be a number in \(0, 1\], got 1.5"),
        ({"replace": False}, "draws all samples every time; lower it"),
        ({"replace": 1}, "replace must be True or False, got 1"),
        ({"stratify": "y"}, "stratify must be True, False or None, got 'y'"),
        ({"n_top": 5}, "n_top must be a whole number from 1 to 4 features or None, got 5"),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0"),
    ):
        with pytest.raises(ValueError, match=message):
            EnsembleRanker(never, **options).fit(X, y)  # type: ignore[arg-type]


def test_tags_follow_the_rankers() -> None:
    assert get_tags(RankAggregation()).target_tags.required
    assert get_tags(RankAggregation(["variance", "f"])).target_tags.required
    assert not get_tags(RankAggregation(["variance"])).target_tags.required
    assert not get_tags(EnsembleRanker("laplacian")).target_tags.required
    assert get_tags(EnsembleRanker("no such")).target_tags.required


@each("kind", ["csr_array", "csc_array", "csr_matrix"])
def test_sparse_tables_where_every_ranker_takes_them(kind: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.5, size=(60, 20)) * rng.uniform(1, 2, size=(60, 20)), np.arange(60) % 2
    X[y == 1, 4] += 2
    counts = getattr(sparse, kind)(X)
    for selector in (
        RankAggregation(["chi2", "f"], n_features_to_select=3),
        EnsembleRanker("chi2", n_bootstraps=5, n_features_to_select=3, random_state=0),
    ):
        dense = clone(selector).fit(X, y)
        selector.fit(counts, y)
        np.testing.assert_allclose(selector.scores_, dense.scores_)
        assert selector.ranking_[4] == 1
        assert sparse.issparse(selector.transform(counts))
        assert get_tags(selector).input_tags.sparse
    with pytest.raises(ValueError, match="Sparse input is not supported"):
        RankAggregation(["chi2", "relieff"]).fit(counts, y)
    with pytest.raises(ValueError, match="Sparse input is not supported"):
        EnsembleRanker(means_apart).fit(counts, y)


def test_missing_values_where_every_ranker_takes_them() -> None:
    X, y = load_iris(return_X_y=True)
    X[::7, 2] = np.nan
    assert RankAggregation(["relieff", "multisurf"]).fit(X, y).ranking_[2] <= 2
    assert EnsembleRanker("relieff", n_bootstraps=3).fit(X, y).ranking_[2] <= 2
    with pytest.raises(ValueError, match="Input X contains NaN: 22 values"):
        RankAggregation(["relieff", "f"]).fit(X, y)


def test_clones_parameters_and_nested_ones() -> None:
    selector = EnsembleRanker(SelectKBest(f_classif, k=2), n_bootstraps=7)
    assert clone(selector).get_params()["ranker__k"] == 2
    assert selector.set_params(ranker__k=3).ranker.k == 3
    rankers = ["relieff", means_apart]
    assert RankAggregation(rankers).rankers is rankers
