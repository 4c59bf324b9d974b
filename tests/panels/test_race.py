"""Races of candidates against scikit-learn's own pipelines, one candidate at a time."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bitsieve.fitness.splits import FreshFolds
from bitsieve.panels.choice import codes_of, score_candidates
from bitsieve.panels.design import ALL, Candidate, Design
from bitsieve.panels.fitting import fit_candidates
from bitsieve.panels.race import run_race
from bitsieve.panels.racing import costly_selectors, run_racing
from bitsieve.panels.ranking import average_orders, rank_parts, rank_table


class _Log(TransformerMixin, BaseEstimator):
    """log2 from the floor of the training part on."""

    def fit(self, X, y=None):
        self.floor_ = np.quantile(X, 0.99) / 100
        return self

    def transform(self, X):
        return np.log2(np.maximum(X, self.floor_))


def _table(n_classes=2, n=60, p=120, seed=0):
    X, y = make_classification(
        n_samples=n,
        n_features=p,
        n_informative=8,
        n_classes=n_classes,
        n_clusters_per_class=1,
        random_state=seed,
    )
    return X, y.astype(np.int32)


def _folds(y, n_repeats=2, seed=3):
    return FreshFolds(len(y), 5, n_repeats, y).folds(seed)


def _predicted(X, y, folds, model):
    splits = [
        [(np.flatnonzero(row != f), np.flatnonzero(row == f)) for f in range(5)] for row in folds
    ]
    return np.array([cross_val_predict(model, X, y, cv=one) for one in splits])


def test_each_candidate_is_what_a_pipeline_predicts():
    X, y = _table()
    folds = _folds(y)
    design = Design(("f",), ("svm", "knn"), (5, 20), X.shape[1])
    raced = run_race(X, y, 2, design, folds)
    said = codes_of(raced.decisions)
    assert raced.candidates[-1] == Candidate(ALL, 120, "knn", False)
    models = {"svm": SVC(kernel="linear", C=1.0, tol=1e-6), "knn": KNeighborsClassifier(5)}
    for number, one in enumerate(raced.candidates):
        steps = [] if one.selector == ALL else [SelectKBest(f_classif, k=one.size)]
        model = make_pipeline(StandardScaler(), *steps, models[one.classifier])
        theirs = _predicted(X, y, folds, model)
        assert (said[number] == theirs).all(), one


def test_logged_values_are_floored_by_the_training_part():
    X, y = _table(seed=1)
    X = np.exp2(X + 6.0)
    folds = _folds(y, n_repeats=1)
    design = Design((), ("knn",), (), X.shape[1], logs=(False, True))
    raced = run_race(X, y, 2, design, folds)
    said = codes_of(raced.decisions)
    plain = _predicted(X, y, folds, make_pipeline(StandardScaler(), KNeighborsClassifier(5)))
    logged = _predicted(
        X, y, folds, make_pipeline(_Log(), StandardScaler(), KNeighborsClassifier(5))
    )
    assert [one.log for one in raced.candidates] == [False, True]
    assert (said[0] == plain).all()
    assert (said[1] == logged).all()
    assert (plain != logged).any()


def test_the_test_part_has_no_say():
    X, y = _table(n_classes=3)
    folds = _folds(y, n_repeats=1)
    design = Design(("f", "relieff", "rfe"), ("lda", "ridge"), (5, 10), X.shape[1])
    one = run_race(X, y, 3, design, folds)
    rng = np.random.default_rng(0)
    for fold in range(5):
        test = folds[0] == fold
        garbage, labels = X.copy(), y.copy()
        garbage[test] = rng.normal(scale=1e6, size=garbage[test].shape)
        labels[test] = rng.integers(0, 3, size=int(test.sum()))
        other = run_race(garbage, labels, 3, design, folds)
        for key, order in one.orders[fold].items():
            assert (order == other.orders[fold][key]).all()


def test_neither_processes_nor_neighbors_change_a_bit():
    X, y = _table(n_classes=3)
    folds = _folds(y)
    design = Design(("f", "mrmr", "lars"), ("lda", "svm", "ridge", "knn"), (5, 10), X.shape[1])
    one = run_race(X, y, 3, design, folds, n_jobs=1)
    two = run_race(X, y, 3, design, folds, n_jobs=2)
    assert one.decisions.tobytes() == two.decisions.tobytes()
    # A candidate is the same whatever else is compared.
    alone = Design(("lars",), ("ridge",), (5, 10), X.shape[1], has_all=False)
    less = run_race(X, y, 3, alone, folds)
    place = {c: i for i, c in enumerate(one.candidates)}
    mine = [place[c] for c in less.candidates]
    assert one.decisions[mine].tobytes() == less.decisions.tobytes()


def test_the_aggregate_does_not_depend_on_what_else_is_compared():
    X, y = _table()
    found = [
        rank_table(X, y, Design(names, ("lda",), (5, 10), X.shape[1]), [])
        for names in (("aggregate",), ("aggregate", "f"), ("f", "relieff", "mrmr", "aggregate"))
    ]
    orders = [one.orders[False, "aggregate"] for one in found]
    assert (orders[0] == orders[1]).all()
    assert (orders[0] == orders[2]).all()
    assert (orders[0] != found[1].orders[False, "f"]).any()


def test_logged_values_are_ranked_and_fitted_as_such():
    X, y = _table(seed=1)
    X = np.exp2(X + 6.0)
    design = Design(("f",), ("lda",), (5, 10), X.shape[1], logs=(False, True))
    ranked = rank_table(X, y, design, [])
    logged = _Log().fit(X).transform(X)
    for log, values in ((False, X), (True, logged)):
        kept = SelectKBest(f_classif, k=10).fit(values, y).get_support()
        assert kept[ranked.orders[log, "f"]].all()
        assert (ranked.scalings[log].floor is not None) == log
    plain, other = (fit_candidates(X, y, 2, ranked, [Candidate("f", 5, "lda", log)])[0]
                    for log in (False, True))  # fmt: skip
    z = StandardScaler().fit_transform(logged)[:, other.features]
    np.testing.assert_allclose(other.Z, np.clip(z, -20, 20), atol=0.01)
    assert plain.features.tolist() != other.features.tolist() or not np.allclose(plain.Z, other.Z)


def test_fitted_candidates_decide_as_a_part_that_is_the_whole_table():
    X, y = _table()
    test = np.zeros(len(y), bool)
    test[::5] = True
    folds = np.where(test, 0, 1).astype(np.int32)[None]
    design = Design(("f", "relieff"), ("lda", "svm"), (5, 10), X.shape[1])
    raced = run_race(X, y, 2, design, folds)
    mine, known = np.ascontiguousarray(X[~test]), y[~test]
    ranked = rank_table(mine, known, design, [])
    Z, others = (ranked.scalings[False].apply(part) for part in (mine, X[test]))
    for number, one in enumerate(fit_candidates(mine, known, 2, ranked, raced.candidates)):
        A, B = Z[:, one.features], others[:, one.features]
        said = one.fitted.decide(B @ A.T, np.square(B).sum(axis=1))
        np.testing.assert_allclose(said, raced.decisions[number, 0, test], atol=1e-4)


def test_eliminations_are_averaged_over_the_inner_parts():
    X, y = _table()
    folds = _folds(y)
    design = Design(("f", "rfe"), ("lda",), (5, 10), X.shape[1])
    raced = run_race(X, y, 2, design, folds)
    ranked = rank_table(X, y, design, raced.orders)
    alone = rank_parts(X, y, design, folds)
    positions = np.full((len(alone), X.shape[1]), 20.0)  # twice as deep as the ranking
    for row, part, race_part in zip(positions, alone, raced.orders, strict=True):
        assert (part[False, "rfe"] == race_part[False, "rfe"]).all()
        row[part[False, "rfe"]] = np.arange(1, 11)
    twin = np.argsort(np.log(positions).sum(axis=0).round(9), kind="stable")[:10]
    assert (ranked.orders[False, "rfe"] == twin).all()
    single = SelectKBest(f_classif, k=10).fit(X, y).get_support()
    assert single[ranked.orders[False, "f"]].all()
    one = np.arange(7)[::-1]
    assert (average_orders([one, one], 20) == one).all()


def test_costly_selectors_that_fall_behind_go_no_further():
    X, y = _table(n=100, p=400, seed=4)
    folds = _folds(y, n_repeats=3)
    design = Design(("f", "lars", "rfe"), ("lda",), (2, 5), X.shape[1], has_all=False)
    assert costly_selectors(design, 80, 2) == ("lars", "rfe")
    whole = run_race(X, y, 2, design, folds)
    raced, dropped = run_racing(X, y, 2, design, folds)
    place = {one: number for number, one in enumerate(whole.candidates)}
    right = (codes_of(whole.decisions)[:, 0] == y).astype(float)
    score = right.mean(axis=1)
    best = int(score.argmax())
    for name in ("lars", "rfe"):
        own = max((c for c, o in enumerate(whole.candidates) if o.selector == name),
                  key=lambda c: score[c])  # fmt: skip
        error = (right[best] - right[own]).std(ddof=1) / np.sqrt(len(y))
        assert (name in dropped) == (score[best] - score[own] > 2 * error)
    kept = [place[one] for one in raced.candidates]
    assert raced.decisions.tobytes() == whole.decisions[kept].tobytes()
    # Noise for a ranking is behind; one repeat alone drops none.
    assert run_racing(X, y, 2, design, folds[:1])[1] == ()
    cheap = Design(("f", "relieff", "mrmr", "rfe"), ("lda",), (200,), 12_600)
    assert costly_selectors(cheap, 82, 2) == ()


def test_the_last_selector_is_never_left_behind():
    rng = np.random.default_rng(0)
    y = (np.arange(60) % 2).astype(np.int32)
    X = rng.normal(size=(60, 600)) + 0.25 * y[:, None]  # weak, all of them
    design = Design(("lars",), ("lda",), (1, 2), 600)
    raced, dropped = run_racing(X, y, 2, design, _folds(y, n_repeats=2))
    assert dropped == ()
    assert raced.design.selectors == ("lars",)
    score = score_candidates(raced)
    assert score.score[2] - score.score[:2].max() > 2 * score.standard_error(2, 0)
