"""FixedSizeSearch: what it selects on data, against every subset, and what it refuses."""

from __future__ import annotations

import warnings
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from bitsieve import FixedSizeSearch
from bitsieve._errors import DuplicateSamplesWarning
from bitsieve.filters import f_test
from bitsieve.fitness import compile as compile_fitness
from bitsieve.search import ExhaustiveMaskSearch, run


@pytest.fixture(scope="module")
def wine() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.fixture(scope="module")
def hidden() -> tuple[np.ndarray, np.ndarray]:
    """Whether features 3 and 9 have one sign decides; by itself neither of them tells anything."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(160, 14))
    return X, (X[:, 3] * X[:, 9] > 0).astype(int)


def fit(data: Any, estimator: Any = None, **options: Any) -> FixedSizeSearch:
    options = {"random_state": 0, "n_jobs": 1, "start": "f", "n_repeats": 1, **options}
    return FixedSizeSearch(estimator or KNeighborsClassifier(1), **options).fit(*data)


def selected(selector: FixedSizeSearch) -> list[int]:
    return selector.get_support(indices=True).tolist()


def test_its_optimum_is_that_of_every_subset_of_the_size(wine: Any) -> None:
    X, y = wine
    for estimator in (KNeighborsClassifier(3), GaussianNB()):
        fitness = compile_fitness(estimator, X, y, cv=5, resample=False)
        every = ExhaustiveMaskSearch(13, min_size=3, max_size=3)
        best = run(every, fitness, choose="recommended", random_state=0)
        found = fit(wine, estimator, n_features_to_select=3, n_kicks=20, kick_size=2)
        assert found.observed_score_ == best.observed_score
        # Without kicks no swap is better, and the start was no better.
        found = fit(wine, estimator, n_features_to_select=3)
        inside, outside = set(selected(found)), set(range(13)) - set(selected(found))
        near = np.zeros((30, 13), dtype=bool)
        for row, (out, into) in enumerate((a, b) for a in sorted(inside) for b in sorted(outside)):
            near[row, [*(inside - {out}), into]] = True
        assert fitness.evaluate(near).max() <= found.observed_score_
        start = np.zeros((1, 13), dtype=bool)
        start[0, np.argsort(-f_test(X, y))[:3]] = True
        assert fitness.evaluate(start)[0] == found.history_["score"][0] <= found.observed_score_
        assert found.stop_reason_ == {"optimum": found.n_swaps_}
        assert found.n_evaluations_ == 1 + 30 * (found.n_swaps_ + 1)


def test_its_scores_are_those_of_scikit_learn(wine: Any) -> None:
    X, y = wine
    cv = StratifiedKFold(4, shuffle=True, random_state=2)
    found = fit(wine, n_features_to_select=4, cv=cv)
    X = X[:, found.support_]
    assert found.observed_score_ == pytest.approx(
        cross_val_score(KNeighborsClassifier(1), X, y, cv=cv).mean(), abs=1e-12
    )


def test_five_repeats_of_a_number_of_folds_and_one_of_a_splitter(wine: Any) -> None:
    X, y = wine
    limit = {"n_features_to_select": 3, "start": [0, 4, 7], "max_evaluations": 1}
    for cv, n_repeats, same in ((5, "auto", 5), (5, 1, 1), (StratifiedKFold(3), "auto", 1)):
        found = fit(wine, cv=cv, n_repeats=n_repeats, **limit)
        fitness = compile_fitness(
            KNeighborsClassifier(1), X, y, cv=cv, n_repeats=same, resample=False, random_state=0
        )
        assert found.observed_score_ == fitness.evaluate(found.support_[None])[0]
        assert found.n_repeats == n_repeats
    assert FixedSizeSearch(GaussianNB()).n_repeats == "auto"


def test_finds_a_pair_of_which_neither_tells_anything(hidden: Any) -> None:
    for moves in ("swaps", "best_pairs"):
        found = fit(hidden, n_features_to_select=2, start="random", n_restarts=12, moves=moves)
        assert selected(found) == [3, 9]
        assert len(found.restarts_) == 12
        assert 0 < found.restart_overlap_ <= 1
    assert fit(hidden, n_features_to_select=2, start=[3, 5]).n_swaps_ == 1


def test_every_start(wine: Any) -> None:
    X, y = wine
    names = [f"f{k}" for k in range(13)]
    frame = pd.DataFrame(X, columns=names)
    limit = {"n_features_to_select": 3, "max_evaluations": 1}  # the start alone
    for start, expected in (
        ("f", sorted(np.argsort(-f_test(X, y))[:3])),
        ([4, 0, 7], [0, 4, 7]),
        (["f4", "f0", "f7"], [0, 4, 7]),
        (np.isin(np.arange(13), [0, 4, 7]), [0, 4, 7]),
    ):
        found = fit((frame, y), start=start, **limit)
        assert selected(found) == expected
        assert found.stopped_early_
        assert found.stop_reason_ == {"max_evaluations": 1}
    drawn = {tuple(selected(fit(wine, start="random", random_state=s, **limit))) for s in range(9)}
    assert len(drawn) > 3
    assert not fit(wine, n_features_to_select=3).stopped_early_


def test_the_size(wine: Any) -> None:
    X, y = wine
    for n, size in ((None, 10), (0.25, 3), (0.01, 1), (13, 13), (1, 1)):
        found = fit(wine, n_features_to_select=n)
        assert found.n_features_ == size == found.support_.sum()
    assert fit((X[:, :6], y)).n_features_ == 6  # all there are
    assert found.scores_[found.support_].min() >= 1 > found.scores_[~found.support_].max()
    assert (found.ranking_ <= 1).sum() == 1
    assert found.support_[found.ranking_ == 1].all()


def test_forced_forbidden_and_grouped_features(wine: Any) -> None:
    plain = selected(fit(wine, n_features_to_select=3))
    others = sorted(set(range(13)) - set(plain))
    forced, forbidden = others[0], plain[0]
    found = fit(
        wine, n_features_to_select=4, forced_features=[forced], forbidden_features=[forbidden]
    )
    assert found.support_[forced]
    assert not found.support_[forbidden]
    assert found.n_features_ == 4
    assert found.n_units_ == 11
    # Of every such subset none is better than what some kicks find.
    fitness = compile_fitness(KNeighborsClassifier(1), *wine, cv=5, resample=False)
    groups = [[0, 12], [3, 4, 5]]
    found = fit(
        wine,
        n_features_to_select=3,
        feature_groups=groups,
        forbidden_features=[9],
        start=[0, 12, 1, 2],
        n_kicks=20,
    )
    for group in groups:
        assert found.support_[group].all() or not found.support_[group].any()
    units = [*groups, *([f] for f in range(13) if f not in (0, 12, 3, 4, 5, 9))]
    every = np.zeros((84, 13), dtype=bool)
    for row, three in enumerate(combinations(units, 3)):
        every[row, list(chain(*three))] = True
    assert found.observed_score_ == fitness.evaluate(every).max()
    assert found.n_units_ == len(units) == 9


def test_candidates_are_the_best_of_the_filter(wine: Any) -> None:
    order = np.argsort(-f_test(*wine))
    found = fit(wine, n_features_to_select=3, n_candidates=4)
    assert set(selected(found)) <= set(order[:4])
    assert (found.n_evaluations_ - 1) % 3 == 0
    assert set(selected(fit(wine, n_features_to_select=3))) - set(order[:4])


def test_numbers_and_estimators_without_a_kernel(wine: Any) -> None:
    X, y = wine
    target = X[:, 2] - 2.0 * X[:, 7]
    found = fit((X[:, :10], target), KNeighborsRegressor(3), n_features_to_select=2, start=[0, 1])
    assert selected(found) == [2, 7]
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    found = fit((X[::3, :7], y[::3]), tree, n_features_to_select=2, cv=2)
    assert found.kernel_ is None
    assert found.fallback_reason_
    assert found.stop_reason_ == {"optimum": found.n_swaps_}


def test_ctrl_c_keeps_the_best_and_a_stored_run_goes_on(wine: Any, tmp_path: Any) -> None:
    options = {"n_features_to_select": 3, "start": [0, 1, 2], "n_kicks": 3}
    whole = fit(wine, **options)
    assert whole.n_swaps_ > 2

    def strike(iteration: Any) -> None:
        if iteration.iteration == 2:
            raise KeyboardInterrupt

    struck = FixedSizeSearch(
        KNeighborsClassifier(1),
        **options,
        random_state=0,
        n_repeats=1,
        n_jobs=1,
        checkpoint=tmp_path,
        callbacks=[strike],
    )
    with pytest.raises(KeyboardInterrupt):
        struck.fit(*wine)
    assert struck.observed_score_ == whole.history_["score"][2]
    resumed = fit(wine, **options, checkpoint=tmp_path)
    assert (resumed.support_ == whole.support_).all()
    assert resumed.best_score_ == whole.best_score_
    for name in set(whole.history_) - {"seconds"}:
        assert np.array_equal(resumed.history_[name], whole.history_[name])


def test_what_is_refused(wine: Any) -> None:
    for options, message in (
        ({"n_features_to_select": 14}, "n_features_to_select=14 is more than the 13 features"),
        ({"n_features_to_select": 1.5}, "n_features_to_select must be a whole number, a fraction"),
        ({"n_features_to_select": True}, "n_features_to_select must be a whole number"),
        ({"start": "g"}, "start='g' is no filter"),
        ({"start": [0, 1]}, "start must be 10 features that may be exchanged"),
        ({"start": [0, 99]}, "start"),
        ({"moves": "some"}, "moves must be"),
        ({"n_restarts": 3}, "n_restarts=3 searches from one start without kicks are the same"),
        ({"start": "random", "n_candidates": 5}, "n_candidates=5 are the best of a filter"),
        ({"n_candidates": "all"}, "n_candidates must be a whole number from 1 on, got 'all'"),
        ({"n_repeats": "many"}, "n_repeats must be 'auto' or a whole number, got 'many'"),
        ({"tol": -0.1}, "tol must be a finite number from 0 on"),
        ({"kick_size": 0.0, "n_kicks": 1}, "kick_size must be"),
    ):
        with pytest.raises(ValueError, match=message):
            fit(wine, **options)


def test_warns_of_copies_as_every_selector(wine: Any) -> None:
    X, y = wine
    with pytest.warns(DuplicateSamplesWarning):
        fit((np.concatenate([X, X[:3]]), np.concatenate([y, y[:3]])), n_features_to_select=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(wine, n_features_to_select=2)
