"""Rankings on bootstrap samples: how they are drawn, what is said of them, threads and errors."""

from __future__ import annotations

import pickle
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from each import each
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_selection import f_regression
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bitsieve import filters
from bitsieve.filters import rank_aggregation
from bitsieve.selectors._bootstrap import draw
from bitsieve.selectors.ensemble import EnsembleRanker


def means_apart(X: Any, y: Any) -> Any:
    """Range of the class means."""
    X = np.asarray(X, dtype=float)
    return np.ptp([X[y == c].mean(axis=0) for c in np.unique(y)], axis=0)


def test_draws_keep_the_classes_and_repeat() -> None:
    groups = [np.arange(0, 60, 2), np.arange(1, 21, 2)]
    seen = set()
    for index in range(50):
        rows = draw(groups, 1.0, replace=True, key=3, index=index)
        assert (rows % 2 == 0).sum() == 30
        assert (rows % 2 == 1).sum() == 10
        np.testing.assert_array_equal(rows, draw(groups, 1.0, replace=True, key=3, index=index))
        seen.add(rows.tobytes())
    assert len(seen) == 50
    part = draw(groups, 0.5, replace=False, key=3, index=0)
    assert len(set(part)) == len(part) == 20
    assert len(draw(groups, 0.01, replace=False, key=3, index=0)) == 2  # one of each class


def test_draws_are_uniform() -> None:
    n, n_draws = 25, 4000
    rows = [draw([np.arange(n)], 1.0, replace=True, key=0, index=i) for i in range(n_draws)]
    counts = np.bincount(np.concatenate(rows), minlength=n)
    assert stats.chisquare(counts).pvalue > 1e-3
    distinct = np.mean([len(set(r)) for r in rows]) / n
    assert distinct == pytest.approx(1 - (1 - 1 / n) ** n, abs=0.005)
    halves = [draw([np.arange(n)], 0.4, replace=False, key=0, index=i) for i in range(n_draws)]
    assert stats.chisquare(np.bincount(np.concatenate(halves), minlength=n)).pvalue > 1e-3


def test_the_ensemble_is_its_twin() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    selector = EnsembleRanker(
        means_apart, n_bootstraps=6, n_top=4, aggregation="median", random_state=5
    ).fit(X, y)
    groups = [np.flatnonzero(y == 0), np.flatnonzero(y == 1)]
    lists = []
    for index in range(6):
        rows = draw(groups, 1.0, replace=True, key=5, index=index)
        lists.append(means_apart(X[rows], y[rows]))
    ranks = stats.rankdata(-np.array(lists), axis=1)
    np.testing.assert_allclose(selector.scores_, rank_aggregation(lists, method="median"))
    np.testing.assert_allclose(selector.mean_rank_, ranks.mean(axis=0))
    np.testing.assert_allclose(selector.sd_rank_, ranks.std(axis=0))
    np.testing.assert_allclose(selector.frequency_, (ranks <= 4).mean(axis=0))
    assert selector.frequency_.sum() == pytest.approx(4)
    assert (selector.n_top_, selector.seed_) == (4, 5)


def _stored(selector: Any) -> list[Any]:
    names = ("scores_", "ranking_", "frequency_", "mean_rank_", "sd_rank_")
    return [getattr(selector, name).tolist() for name in names]


def test_what_a_greedy_ranker_did_not_take_is_never_among_the_first() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    selector = EnsembleRanker("fcbf", n_bootstraps=4, n_top=25, random_state=0).fit(X, y)
    sizes = []
    for index in range(4):
        rows = draw([np.flatnonzero(y == c) for c in (0, 1)], 1.0, replace=True, key=0, index=index)
        sizes.append(len(filters.fcbf(X[rows], y[rows])))
    assert max(sizes) < 25
    assert selector.frequency_.sum() == pytest.approx(np.mean(sizes))


def test_the_same_seed_and_any_number_of_threads() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    first = EnsembleRanker(means_apart, n_bootstraps=9, random_state=1).fit(X, y)
    for n_jobs in (1, 2, 3, -1):
        again = EnsembleRanker(means_apart, n_bootstraps=9, random_state=1, n_jobs=n_jobs)
        assert _stored(again.fit(X, y)) == _stored(first)
    other = EnsembleRanker(means_apart, n_bootstraps=9, random_state=2).fit(X, y)
    assert _stored(other) != _stored(first)
    drawn = EnsembleRanker(means_apart, n_bootstraps=9).fit(X, y)
    repeated = EnsembleRanker(means_apart, n_bootstraps=9, random_state=drawn.seed_).fit(X, y)
    assert _stored(repeated) == _stored(drawn)


@each("ranker", ["relieff", "turf", "mrmr", "mi"])
def test_named_rankers_under_any_number_of_threads(ranker: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    seen = [
        _stored(EnsembleRanker(ranker, n_bootstraps=3, random_state=1, n_jobs=n_jobs).fit(X, y))
        for n_jobs in (1, 2)
    ]
    assert seen[0] == seen[1]


@each("error", [ValueError("no"), KeyboardInterrupt()])
def test_after_an_error_none_is_begun_any_more(error: BaseException) -> None:
    begun = []

    def fails(X: Any, y: Any) -> Any:
        begun.append(1)
        time.sleep(0.01)
        if len(begun) > 3:
            raise error
        return np.ones(4)

    X, y = load_iris(return_X_y=True)
    with pytest.raises(type(error)):
        EnsembleRanker(fails, n_bootstraps=200, n_jobs=2).fit(X, y)
    assert len(begun) < 20


def test_settings_of_scikit_learn_reach_the_threads() -> None:
    seen = []

    def watch(X: Any, y: Any) -> Any:
        seen.append(sklearn.get_config()["working_memory"])
        return np.ones(4)

    with sklearn.config_context(working_memory=7):
        EnsembleRanker(watch, n_bootstraps=4, n_jobs=2).fit(*load_iris(return_X_y=True))
    assert seen == [7] * 4


def test_frames_labels_and_numbers() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    plain = EnsembleRanker(means_apart, n_bootstraps=4, random_state=0).fit(X.to_numpy(), y)
    words = pd.Series(np.array(["bad", "good"])[y])
    framed = EnsembleRanker(means_apart, n_bootstraps=4, random_state=0).fit(X, words)
    assert _stored(framed) == _stored(plain)
    assert list(framed.get_feature_names_out()) == list(X.columns[framed.support_])
    numbers = EnsembleRanker(f_regression, n_bootstraps=4, random_state=0)
    numbers.fit(*load_diabetes(return_X_y=True))
    assert numbers.ranking_[2] <= 2


def test_whole_numbers_that_are_no_classes_are_drawn_from_together() -> None:
    X = np.random.default_rng(0).normal(size=(30, 5))
    seen = []

    def watch(X: Any, y: Any) -> Any:
        seen.append(len(set(y)))
        return np.ones(5)

    EnsembleRanker(watch, n_bootstraps=3, random_state=0).fit(X, np.arange(30))
    assert max(seen) < 30
    with pytest.raises(ValueError, match="stratify=True needs classes, but y holds numbers"):
        EnsembleRanker(watch, stratify=True).fit(X, np.arange(30) + 0.5)


def test_stability_tells_signal_from_noise() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 200)), np.arange(60) % 2
    X[y == 1, 7] += 3.0
    selector = EnsembleRanker(means_apart, n_bootstraps=40, random_state=0).fit(X, y)
    assert selector.ranking_[7] == 1
    assert selector.frequency_[7] == 1.0
    assert selector.sd_rank_[7] < 0.5
    noise = np.delete(np.arange(200), 7)
    assert np.median(selector.frequency_[noise]) < 0.2
    assert np.median(selector.sd_rank_[noise]) > 15


def test_pickles_without_the_table_and_in_a_pipeline() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), EnsembleRanker(means_apart, n_bootstraps=3), Ridge())
    again = pickle.loads(pickle.dumps(model.fit(X, y)))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_an_error_names_the_bootstrap_sample() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.r_[1, np.zeros(39, dtype=int)]
    ranker = EnsembleRanker("t", n_bootstraps=20, stratify=False, random_state=0)
    with pytest.raises(ValueError, match=r"needs two classes.*\(in bootstrap sample \d+ of 20\)"):
        ranker.fit(X, y)
