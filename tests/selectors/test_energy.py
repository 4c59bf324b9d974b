"""EnergySelector: its energy put together by hand from scikit-learn's parts, and its minimum."""

from __future__ import annotations

import pickle
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import f_classif
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bitsieve import EnergySelector, MarkovBlanket
from bitsieve.causal import FitnessPairErrors, Terms, markov_blanket
from bitsieve.selectors._energy_learning import LEARNT


def ber(X: Any, y: Any, features: list[int], splits: Any, estimator: Any = None) -> float:
    model = GaussianNB() if estimator is None else estimator
    predicted = cross_val_predict(model, X[:, features], y, cv=splits)
    return 1 - float(balanced_accuracy_score(y, predicted))


@pytest.fixture(scope="module")
def cancer() -> tuple[np.ndarray, np.ndarray, list[Any]]:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, ::3]  # 10 features, so that all sets of a size can be tried
    return X, y, list(StratifiedKFold(5, shuffle=True, random_state=1).split(X, y))


def test_least_of_all_sets(cancer: Any) -> None:
    X, y, splits = cancer
    p, n = X.shape[1], len(y)
    rankings = [f_classif(X, y)[0], X.std(axis=0)]
    rankers = [lambda X, y: f_classif(X, y)[0], lambda X, y: X.std(axis=0)]
    places = sum(1 + np.argsort(np.argsort(-scores)) for scores in rankings)
    single = np.array([ber(X, y, [f], splits) for f in range(p)])
    order = np.argsort(np.argsort(single)) + 1.0
    for f in range(p):  # ties share
        order[f] = order[single == single[f]].mean()
    share = 1 / places + 1 / order
    pairs = {frozenset(c): ber(X, y, list(c), splits) for c in combinations(range(p), 2)}
    maker = MarkovBlanket(alpha=0.001)
    test = maker._make_test(X, y)
    everywhere = maker.fit(X, y).get_support(indices=True).tolist()

    def energy(members: tuple[int, ...]) -> float:
        local = markov_blanket(test, p, alpha=0.001, among=members).members
        count = {f: (f in local) + (f in everywhere) for f in members}
        total = sum(np.log(share[f] / share.sum() * (1 + count[f])) for f in members)
        for a, b in combinations(members, 2):
            error = max(pairs[frozenset((a, b))], 1 / (2 * n))
            total += 2 * np.log((1 + count[a] + count[b]) / error)
        return -float(total)

    for size in (2, 3):
        energies = {c: energy(c) for c in combinations(range(p), size)}
        least = min(energies, key=energies.__getitem__)
        for search in ("icm", "annealing", "swaps"):
            selector = EnergySelector(
                size, rankers=rankers, cv=splits, blanket=maker, search=search, max_sweeps=8
            ).fit(X, y)
            found = tuple(selector.get_support(indices=True).tolist())
            assert selector.energy_ == pytest.approx(energies[found])
            assert found == least, search
        assert selector.blanket_ == everywhere
        np.testing.assert_allclose(selector.errors_, single, atol=1e-12)


def test_the_greatest_seed(cancer: Any) -> None:
    X, y, splits = cancer
    found = [
        EnergySelector(3, rankers=["f"], cv=splits, search="annealing", random_state=seed).fit(X, y)
        for seed in (0, 2**64 - 1)  # several rounds, each with a seed of its own
    ]
    assert found[0].energy_ == found[1].energy_


def test_lm_is_the_ranking_by_single_features(cancer: Any) -> None:
    X, y, splits = cancer
    selector = EnergySelector(4, terms="lm", cv=splits).fit(X, y)
    single = np.array([ber(X, y, [f], splits) for f in range(X.shape[1])])
    order = np.array([(single < e).sum() + ((single == e).sum() + 1) / 2 for e in single])
    score = 1 / selector.positions_.sum(axis=0) + 1 / order
    assert selector.features_.tolist() == np.argsort(-score, kind="stable")[:4].tolist()
    assert selector.blanket_ == []
    assert selector.ranker_names_ == ["s2n", "gs", "relief", "svm_rfe", "auc", "f", "t", "pearson"]
    assert selector.ranking_.tolist() == (1 + np.argsort(np.argsort(-score))).tolist()


def test_scores_are_what_features_take_off(cancer: Any) -> None:
    X, y, splits = cancer
    from bitsieve.selectors._energy_parts import RANKERS, EnergyParts

    parts = EnergyParts.of(
        X, y.astype(np.int32), rankers=RANKERS, estimator=GaussianNB(), splits=splits,
        blanket=MarkovBlanket(), with_blankets=False, key=0, n_jobs=1,
    )  # fmt: skip
    selector = EnergySelector(3, terms="ebm-lm", cv=splits).fit(X, y)
    energy = parts.energy(selector.terms_)
    whole = energy.value(selector.features_)
    for f in selector.features_:
        rest = [g for g in selector.features_ if g != f]
        assert selector.scores_[f] == pytest.approx(energy.value(rest) - whole)
    *rest, _ = selector.features_
    others = np.flatnonzero(~selector.support_)
    for f in others:
        told = energy.value(rest) - energy.value([*rest, f])
        assert selector.scores_[f] == pytest.approx(told)
    assert selector.scores_[others].max() < selector.scores_[selector.features_].min()
    assert selector.ranking_[selector.features_].tolist() == [1, 2, 3]


def test_pairs_find_what_no_feature_tells_alone() -> None:
    """Two features that say nothing alone and all together, among noise."""
    random = np.random.default_rng(0)
    n = 200
    y = random.integers(0, 2, n)
    X = random.normal(size=(n, 20))
    common = random.normal(size=n) * 5
    X[:, 4] = common + y
    X[:, 17] = common - y
    found = {}
    for start in ("features", "pairs", "both"):
        selector = EnergySelector(
            2, terms="ebm-lm", estimator=KNeighborsClassifier(9), start=start
        ).fit(X, y)
        found[start] = (set(selector.features_), selector.energy_)
    assert found["pairs"] == found["both"]
    assert found["both"][0] == {4, 17}
    assert found["features"][1] > found["both"][1]
    more = EnergySelector(5, terms="ebm-lm", estimator=KNeighborsClassifier(9)).fit(X, y)
    assert {4, 17} < set(more.features_)


def test_any_classifier_gives_the_errors(cancer: Any) -> None:
    X, y, splits = cancer
    model = LinearDiscriminantAnalysis()
    selector = EnergySelector(2, terms="ebm-lm", estimator=model, cv=splits).fit(X, y)
    for f in range(3):
        folds = [
            1
            - balanced_accuracy_score(
                y[b], clone(model).fit(X[a][:, [f]], y[a]).predict(X[b][:, [f]])
            )
            for a, b in splits
        ]
        assert selector.errors_[f] == pytest.approx(np.mean(folds))


def test_learnt_terms_are_the_first_of_the_least_errors(cancer: Any) -> None:
    X, y, _ = cancer
    given = [
        Terms(association=0, local_blanket=0, global_blanket=0),
        Terms(local_blanket=0),
        Terms(),
    ]
    selector = EnergySelector(2, terms=given).fit(X, y)
    table = selector.terms_errors_
    assert table.association.tolist() == [0, 1, 1]
    folds = StratifiedKFold(5, shuffle=True, random_state=(selector.seed_ + 1) % 2**32)
    errors = []
    for terms, error in zip(given, table.error, strict=True):
        by_hand = []
        for train, test in folds.split(X, y):
            inner = EnergySelector(2, terms=terms).fit(X[train], y[train])
            model = GaussianNB().fit(inner.transform(X[train]), y[train])
            said = model.predict(inner.transform(X[test]))
            by_hand.append(1 - balanced_accuracy_score(y[test], said))
        assert error == pytest.approx(np.mean(by_hand)), terms
        errors.append(by_hand)
    behind = np.array(errors) - errors[int(np.argmin(np.mean(errors, axis=1)))]
    near = behind.mean(axis=1) <= behind.std(axis=1, ddof=1) / np.sqrt(5) + 1e-12
    assert selector.terms_ == given[int(np.flatnonzero(near)[0])]
    assert not hasattr(selector.set_params(terms="lm").fit(X, y), "terms_errors_")


def test_learning_drops_a_ranker_that_lies() -> None:
    random = np.random.default_rng(1)
    y = np.arange(200) % 2
    X = random.normal(size=(200, 20))
    X[:, :2] += 3 * y[:, None] * [1, -1]
    lies = [lambda X, y: np.sqrt(np.arange(X.shape[1]))] * 8
    fooled = EnergySelector(2, terms=Terms(predictive=0, association=0), rankers=lies)
    assert fooled.fit(X, y).features_.tolist() == [19, 18]
    learnt = EnergySelector(2, terms="learn", rankers=lies).fit(X, y)
    assert set(learnt.features_) == {0, 1}
    assert len(learnt.terms_errors_) == len(LEARNT) == 27


def test_nested_subsets(cancer: Any) -> None:
    X, y, splits = cancer
    selector = EnergySelector(5, cv=splits).fit(X, y)
    nested = selector.nested_
    assert nested.sizes == [2, 4, 5, 8, 10] == selector.path_.n_features.tolist()
    assert sorted(nested.subsets[-1].tolist()) == list(range(10))
    assert nested.subsets[2].tolist() == selector.features_.tolist()
    for size, subset in zip(nested.sizes, nested.subsets, strict=True):
        alone = EnergySelector(size, cv=splits).fit(X, y)
        assert alone.features_.tolist() == subset.tolist()
    places = np.zeros(10)
    for subset in nested.subsets:
        left = (len(subset) + 1 + 10) / 2
        row = np.full(10, left)
        row[subset] = np.arange(len(subset)) + 1
        places += row
    np.testing.assert_allclose(nested.scores, 1 / places)
    assert nested.ranking[np.argmin(places)] == 1
    half = np.arange(len(y)) % 2 == 0
    scored = nested.score(GaussianNB(), X[half], y[half], X[~half], y[~half], scoring="accuracy")
    columns = np.sort(nested.subsets[1])
    model = GaussianNB().fit(X[half][:, columns], y[half])
    assert scored.score[1] == model.score(X[~half][:, columns], y[~half])
    best = np.argsort(nested.ranking)[:3]
    assert nested.blanket_auc(best) == 1.0
    assert nested.blanket_auc(np.argsort(nested.ranking)[-3:]) == 0.0
    for blanket in ([], range(10), [10], [-1], [0.5], ["worst radius"]):
        with pytest.raises(ValueError, match="blanket must"):
            nested.blanket_auc(blanket)


def test_area_under_the_curve_is_of_two_classes() -> None:
    X, y = load_wine(return_X_y=True)
    nested = EnergySelector(2, terms="lm").fit(X, y).nested_
    with pytest.raises(ValueError, match="scoring='roc_auc' is of two classes"):
        nested.score(GaussianNB(), X, y, X, y)
    assert nested.score(GaussianNB(), X, y, X, y, scoring="accuracy").score.max() > 0.9


def test_more_features_than_are_searched_for_are_ranked() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 150)), np.arange(60) % 2
    X[:, 3] += 4 * y
    selector = EnergySelector(100, terms="mb").fit(X, y)
    assert selector.support_.sum() == 100
    assert selector.features_[0] == 3
    assert np.isnan(selector.energy_)
    assert selector.path_.n_features.tolist() == [2, 4, 8, 16, 32, 64, 100, 128, 150]
    assert selector.path_.energy.isna().tolist() == [False] * 6 + [True] * 3


def test_classes_of_any_kind_names_and_threads() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = load_wine(return_X_y=True, as_frame=True)
    text = np.array(["a", "b", "c"])[y]
    one = EnergySelector(3, n_jobs=1).fit(X, text)
    two = EnergySelector(3, n_jobs=2).fit(X.to_numpy(), y)
    assert one.features_.tolist() == two.features_.tolist()
    assert np.array_equal(one.scores_, two.scores_)
    assert one.classes_.tolist() == ["a", "b", "c"]
    assert set(one.path_.features[0]) <= set(X.columns)
    assert isinstance(one.path_, pandas.DataFrame)
    again = pickle.loads(pickle.dumps(one))
    assert again.transform(X).shape == (178, 3)


def test_few_pairs_of_what_is_not_compiled(monkeypatch: Any) -> None:
    X, y = load_wine(return_X_y=True)
    counted: list[int] = []
    of = FitnessPairErrors.of

    def count(self: Any, pairs: Any) -> Any:
        counted.append(len(pairs))
        return of(self, pairs)

    monkeypatch.setattr(FitnessPairErrors, "of", count)
    monkeypatch.setattr("bitsieve.selectors.energy._MOST_PAIRED_UNCOMPILED", 4)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    EnergySelector(2, terms="ebm-lm", estimator=tree, start="pairs", cv=2).fit(X, y)
    assert counted[:4] == [3, 2, 1, 0]


def test_splits_from_an_iterator_are_read_once(cancer: Any) -> None:
    X, y, splits = cancer
    terms = [Terms(), Terms(association=0)]
    listed = EnergySelector(2, terms=terms, cv=list(splits)).fit(X, y)
    read = EnergySelector(2, terms=terms, cv=iter(splits)).fit(X, y)
    assert read.features_.tolist() == listed.features_.tolist()
    assert read.terms_errors_.error.tolist() == listed.terms_errors_.error.tolist()


def test_a_ranker_that_ranks_none_tells_none_apart() -> None:
    X, y = np.ones((20, 3)), np.arange(20) % 2
    selector = EnergySelector(2, rankers=["fcbf", "f"]).fit(X, y)
    assert selector.positions_.tolist() == [[2.0] * 3] * 2
    assert selector.features_.tolist() == [0, 1]


def test_refuses(cancer: Any) -> None:
    X, y, _ = cancer
    for options, message in (
        ({"terms": "all"}, "terms must be"),
        ({"terms": [1]}, "terms must be"),
        ({"terms": []}, "terms must be"),
        ({"search": "best"}, "search"),
        ({"start": "best"}, "start"),
        ({"max_sweeps": 0}, "max_sweeps"),
        ({"estimator": 3}, "estimator must be a classifier"),
        ({"blanket": "hiton-mb"}, "blanket must be a MarkovBlanket"),
        ({"rankers": "f"}, "rankers must be a list"),
        ({"rankers": ["nothing"]}, "unknown method 'nothing'"),
        ({"cv": 1}, "cv"),
        ({"cv": 1000}, "cv=1000"),
        ({"cv": True}, "cv must be a whole number from 2 on"),
        ({"cv": "five"}, "cv must be a whole number from 2 on"),
        ({"cv": 2.5}, "cv must be a whole number from 2 on"),
        ({"cv": []}, "cv has no folds"),
        ({"cv": ShuffleSplit(3)}, "cv must test each sample once"),
        ({"n_jobs": 0}, "^n_jobs must be"),
        ({"n_features_to_select": 11}, "n_features_to_select is 11"),
    ):
        with pytest.raises(ValueError, match=message):
            EnergySelector(**options).fit(X, y)
    with pytest.raises(ValueError, match="class"):
        EnergySelector().fit(X, np.zeros(len(y), dtype=int))
    with pytest.raises(ValueError, match="class"):
        EnergySelector().fit(X, X[:, 0])
