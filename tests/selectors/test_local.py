"""StochasticLocalSearch: what users say gets to the search, and what it finds is told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from each import each
from sklearn.feature_selection import chi2
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import bitsieve
from bitsieve.data import Table
from bitsieve.filters import f_test
from bitsieve.masks import Masks
from bitsieve.search import StochasticLocalMaskSearch, best_of_scores, run
from bitsieve.selectors._space import Space


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 24))
    y = (X[:, 3] + X[:, 8] - X[:, 17] > 0).astype(int)
    X[:, 5] = np.exp(X[:, 5])
    return X, y


def select(**options):
    options = {"max_iter": 80, "random_state": 0, "n_jobs": 1, "cv": 3, **options}
    return bitsieve.StochasticLocalSearch(KNeighborsClassifier(3), **options)


def test_selects_what_the_search_finds_on_fixed_folds(data):
    X, y = data
    split = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=0)
    selector = select(cv=split).fit(X, y)
    fitness = bitsieve.fitness.compile(KNeighborsClassifier(3), X, y, cv=split)
    result = run(
        StochasticLocalMaskSearch(24),
        fitness,
        choose="recommended",
        max_iter=80,
        random_state=0,
        progress=False,
    )
    assert (selector.support_ == result.support).all()
    scores = cross_val_score(KNeighborsClassifier(3), X[:, selector.support_], y, cv=split)
    assert selector.observed_score_ == scores.mean() == result.best_observed_score
    assert (np.diff(selector.history_["best_observed"][2:]) >= 0).all()
    assert sum(selector.n_steps_.values()) == selector.n_iter_ == 80
    assert selector.n_steps_["greedy"] > 20
    assert selector.n_steps_["noise"] > 20
    n = 1 + selector.n_steps_["noise"] + 3 * selector.n_steps_["greedy"]
    assert selector.n_evaluations_ == n
    assert (selector.p_restart_, selector.p_noise_) == (0.0, 0.5)
    assert selector.kernel_ == "knn"


def test_every_option_gets_to_the_search(data):
    X, y = data
    options = {
        "preset": "softsls",
        "p_restart": 0.2,
        "p_noise": 0.1,
        "adapt_restart": 0.3,
        "adapt_noise": 0.4,
        "adapt_window": 5,
        "greedy": "strict",
        "neighborhood": 7,
        "start": "zeros",
        "restart": "random",
    }
    space = Space(Table(X, y))
    found = select(**options)._make_search(space.table, space).state()
    wanted = StochasticLocalMaskSearch(24, **options).state()
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert np.array_equal(found[name], value), name


def test_starts_are_words_filters_scores_and_features(data):
    X, y = data
    scores = f_test(X, y)
    best = best_of_scores(scores, 80)
    for given in (
        "f",
        f_test,
        scores,
        best,
        np.flatnonzero(best).tolist(),
        Masks.from_bool(best),
    ):
        for name in ("start", "restart"):
            space = Space(Table(X, y))
            search = select(**{name: given}, percentile=80)._make_search(space.table, space)
            words = search.starts[name == "restart"]
            assert (Masks.from_words(words[None], 24).to_bool()[0] == best).all(), given
    X = np.abs(X)
    space = Space(Table(X, y))
    search = select(start="chi2")._make_search(space.table, space)
    wanted = best_of_scores(chi2(X, y)[0], 90)
    assert wanted.sum() == 3
    assert (Masks.from_words(search.starts[0][None], 24).to_bool()[0] == wanted).all()


def test_no_features_to_start_with_are_none(data):
    X, y = data
    found = [select(start=given, max_iter=40).fit(X, y).support_ for given in ([], "zeros")]
    assert (found[0] == found[1]).all()


def test_a_walk_begins_where_it_is_to(data):
    X, y = data
    masks = []
    best = best_of_scores(f_test(X, y), 75)
    select(start="f", percentile=75, callbacks=[lambda at: masks.append(at.masks)]).fit(X, y)
    assert (masks[0].to_bool()[0] == best).all()


def test_groups_forced_and_forbidden_features_are_kept(data):
    X, y = data
    masks = []
    selector = select(
        forced_features=[20],
        forbidden_features=[3, 4],
        feature_groups=[[8, 9], [0, 1, 2]],
        start=[8, 9],
        callbacks=[lambda at: masks.append(at.masks.to_bool())],
    ).fit(X, y)
    seen = np.concatenate(masks)
    assert seen[:, 20].all()
    assert not seen[:, [3, 4]].any()
    assert (seen[:, 8] == seen[:, 9]).all()
    assert (seen[:, 0] == seen[:, 2]).all()
    assert np.flatnonzero(seen[0]).tolist() == [8, 9, 20]
    assert selector.support_[20]
    # The forced features alone are an answer.
    alone = select(forced_features=[20], max_iter=1).fit(X, y)
    assert np.flatnonzero(alone.support_).tolist() == [20]


def test_a_price_makes_it_smaller(data):
    X, y = data
    free, priced = (
        select(size_penalty=penalty, max_iter=300, start="random").fit(X, y)
        for penalty in (0.0, 0.1)
    )
    assert priced.n_features_ < free.n_features_
    net = [found.observed_score_ - 0.1 * found.n_features_ for found in (free, priced)]
    assert net[1] > net[0]


def test_more_steps_are_no_worse(data):
    X, y = data
    scores = [select(max_iter=n).fit(X, y).observed_score_ for n in (10, 100, 400)]
    assert scores == sorted(scores)
    assert scores[2] > scores[0]


@each(
    ("options", "words"),
    [
        ({"preset": "walksat"}, "preset must be"),
        ({"p_noise": 2}, "p_noise must be"),
        ({"start": "ones"}, "start='ones' is no filter"),
        ({"restart": np.zeros(3)}, r"restart must have shape \(24,\)"),
        ({"start": [24]}, "start"),
        ({"start": 0.5}, "start must be a list of names or positions, .* got 0.5"),
        ({"start": Masks.full(3)}, "start must be one mask of 24 features"),
        ({"percentile": 101, "start": "f"}, "percentile must be"),
        ({"neighborhood": 25}, "neighborhood=25 is more than the 24 features"),
        ({"max_iter": 0}, "max_iter must be"),
        (
            {"max_iter": None},
            "^StochasticLocalSearch never stops by itself: give max_iter, max_evaluations, "
            "max_time or patience, or a callback that stops it$",
        ),
        ({"max_iter": 1}, "give it more iterations"),
    ],
)
def test_refusals(data, options, words):
    with pytest.raises(ValueError, match=words):
        select(**options).fit(*data)


def test_other_estimators_go_the_same_way(data):
    X, y = data
    fast = bitsieve.StochasticLocalSearch(GaussianNB(), cv=3, max_iter=40, random_state=1)
    fast.fit(X, y)
    assert fast.kernel_ is not None
    assert math.isclose(
        fast.observed_score_, cross_val_score(GaussianNB(), X[:, fast.support_], y, cv=3).mean()
    )
