"""BinarySPSA: what it finds, that its numbers are true, and what it refuses."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from each import each
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_selection import f_classif
from sklearn.impute import SimpleImputer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from bitsieve import BinarySPSA, EnsembleRanker, Masks
from bitsieve._errors import DuplicateSamplesWarning
from bitsieve.data import Table
from bitsieve.evaluation import nested_cross_validate
from bitsieve.filters import relieff
from bitsieve.fitness import KnnFitness
from bitsieve.fitness import compile as compile_fitness
from bitsieve.search import BinarySPSASearch, run
from bitsieve.selectors._space import Space

_Data = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def planted() -> _Data:
    """Two informative features (the first two) of thirty."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 50)
    X = rng.normal(size=(100, 30))
    X[:, 0] += 3.0 * y
    X[:, 1] -= 3.0 * y
    return X, y


def _fit(data: _Data, **options: Any) -> BinarySPSA:
    options = {"max_iter": 150, "n_repeats": 2, "random_state": 0, **options}
    return BinarySPSA(KNeighborsClassifier(1), **options).fit(*data)


def test_finds_what_is_there(planted: _Data) -> None:
    selector = _fit(planted)
    assert selector.support_[:2].all()
    assert selector.best_score_ > 0.95
    first = selector.history_["score"][:5].mean()
    assert selector.history_["score"][-20:].mean() > first


def test_history_is_consistent(planted: _Data) -> None:
    selector = _fit(planted)
    history = selector.history_
    assert all(len(column) == selector.n_iter_ for column in history.values())
    np.testing.assert_array_equal(history["best_observed"], np.maximum.accumulate(history["score"]))
    assert history["n_evaluations"][-1] == selector.n_evaluations_ == 3 * selector.n_iter_
    assert selector.best_observed_score_ == history["best_observed"][-1]
    assert np.all(np.diff(history["seconds"]) >= 0)


def test_same_seed_same_run_and_any_threads(planted: _Data) -> None:
    one = _fit(planted, n_jobs=1)
    two = _fit(planted, n_jobs=2)
    other = _fit(planted, random_state=1)
    np.testing.assert_array_equal(one.history_["score"], two.history_["score"])
    np.testing.assert_array_equal(one.support_, two.support_)
    assert one.best_score_ == two.best_score_
    assert not np.array_equal(one.history_["score"], other.history_["score"])


def test_a_drawn_seed_repeats_the_run(planted: _Data) -> None:
    drawn = _fit(planted, random_state=None, max_iter=20)
    again = _fit(planted, random_state=drawn.seed_, max_iter=20)
    np.testing.assert_array_equal(drawn.history_["score"], again.history_["score"])
    assert drawn.best_score_ == again.best_score_
    assert _fit(planted, random_state=None, max_iter=2).seed_ != drawn.seed_


def test_a_drawn_seed_repeats_the_run_on_fixed_folds(planted: _Data) -> None:
    options: dict[str, Any] = {"resample": False, "n_repeats": 3, "max_iter": 40}
    drawn = _fit(planted, random_state=None, **options)
    again = _fit(planted, random_state=drawn.seed_, **options)
    np.testing.assert_array_equal(drawn.history_["score"], again.history_["score"])
    np.testing.assert_array_equal(drawn.support_, again.support_)
    assert drawn.best_score_ == again.best_score_


def test_random_state_objects_are_drawn_from(planted: _Data) -> None:
    state = np.random.RandomState(5)
    a = _fit(planted, random_state=state, max_iter=5)
    b = _fit(planted, random_state=state, max_iter=5)
    c = _fit(planted, random_state=np.random.RandomState(5), max_iter=5)
    assert a.seed_ == c.seed_ != b.seed_


def test_the_selection_scores_what_is_reported_on_fixed_folds(planted: _Data) -> None:
    X, y = planted
    folds = StratifiedKFold(5, shuffle=True, random_state=7)
    selector = _fit(planted, cv=folds, n_repeats=1, resample=False)
    for finalist in selector.finalists_:
        mask = finalist.mask.to_bool()[0]
        again = cross_val_score(KNeighborsClassifier(1), X[:, mask], y, cv=folds).mean()
        assert finalist.observed_score == pytest.approx(again, abs=1e-12)
    assert selector.finalists_[0].mask.to_bool()[0].tolist() == selector.support_.tolist()
    best = max(finalist.observed_score for finalist in selector.finalists_)
    assert selector.best_observed_score_ == best


def test_the_selection_scores_what_is_reported_on_fresh_folds(planted: _Data) -> None:
    """The re-measured score is what an independent measurement of the selection gives."""
    X, y = planted
    selector = _fit(planted, max_iter=100)
    fitness = compile_fitness(
        KNeighborsClassifier(1), X, y, cv=5, n_repeats=2, resample=True, random_state=0
    )
    scores = [fitness.evaluate(selector.support_[None], seed)[0] for seed in range(100, 140)]
    assert selector.best_score_ == pytest.approx(np.mean(scores), abs=4 * np.std(scores) / 5**0.5)
    assert selector.best_score_ <= selector.best_observed_score_


def test_a_refit_never_sees_a_score_of_the_fit_before(planted: _Data) -> None:
    X, y = planted
    permuted = np.random.default_rng(0).permutation(y)
    selector = BinarySPSA(KNeighborsClassifier(1), max_iter=60, n_repeats=2, random_state=0)
    good = selector.fit(X, y).best_observed_score_
    refitted = selector.fit(X, permuted)
    fresh = BinarySPSA(KNeighborsClassifier(1), max_iter=60, n_repeats=2, random_state=0)
    fresh.fit(X, permuted)
    np.testing.assert_array_equal(refitted.history_["score"], fresh.history_["score"])
    np.testing.assert_array_equal(refitted.support_, fresh.support_)
    assert refitted.best_score_ == fresh.best_score_
    assert refitted.best_observed_score_ < good - 0.1


def test_refitting_with_a_shared_checkpoint_folder_keeps_runs_apart(
    planted: _Data, tmp_path: Path
) -> None:
    X, y = planted
    permuted = np.random.default_rng(0).permutation(y)
    options: dict[str, Any] = {"max_iter": 30, "checkpoint": tmp_path}
    stored = _fit((X, y), **options)
    other = _fit((X, permuted), **options)
    plain = _fit((X, permuted), max_iter=30)
    np.testing.assert_array_equal(other.history_["score"], plain.history_["score"])
    assert len(list(tmp_path.glob("*.npz"))) == 2
    resumed = _fit((X, y), **options)
    np.testing.assert_array_equal(resumed.history_["score"], stored.history_["score"])
    assert resumed.best_score_ == stored.best_score_


def test_honest_on_random_labels() -> None:
    """Observed and re-measured are far below the truth, the outer folds are not."""
    honest, observed, remeasured = [], [], []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 400)), rng.permutation(np.repeat([0, 1], 30))
        selector = BinarySPSA(
            KNeighborsClassifier(1), max_iter=300, n_repeats=2, patience=None, random_state=seed
        )
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        found = nested_cross_validate(selector, None, X, y, cv=folds)
        assert 0.5 in found.interval
        assert found.beats_chance is False
        assert "not shown to predict better than chance" in found.summary()
        honest.append(found.score)
        observed.append(found.observed_scores.mean())
        remeasured.append(found.remeasured_scores.mean())
    assert np.mean(honest) == pytest.approx(0.5, abs=0.12)
    assert np.mean(observed) > 0.75
    assert np.mean(remeasured) > 0.7
    assert found.optimism == pytest.approx(found.observed_scores.mean() - found.score)


@each("n", [1, 7, 30])
def test_a_panel_of_a_given_size(planted: _Data, n: int) -> None:
    selector = _fit(planted, n_features_to_select=n, max_iter=20)
    assert selector.support_.sum() == n
    assert set(selector.history_["n_selected"].tolist()) == {n}


def test_limits_stop_the_run(planted: _Data) -> None:
    assert _fit(planted, max_iter=7).stop_reason_ == {"max_iter": 7}
    by_evaluations = _fit(planted, max_evaluations=31)
    assert by_evaluations.n_evaluations_ == 30
    assert "max_evaluations" in by_evaluations.stop_reason_
    assert "max_time" in _fit(planted, max_iter=10**6, patience=None, max_time=0.2).stop_reason_
    assert "patience" in _fit(planted, max_iter=10**4, patience=5).stop_reason_


def test_automatic_limits_are_the_papers() -> None:
    selector = BinarySPSA(KNeighborsClassifier(1))
    assert selector._limits(99) == (1000, 250)
    assert selector._limits(100) == (3000, 750)
    assert selector.set_params(preset="large")._limits(9) == (3000, 750)
    assert selector.set_params(max_iter=800)._limits(9) == (800, 200)
    assert selector.set_params(max_iter=40)._limits(9) == (40, 100)
    assert selector.set_params(patience=None)._limits(9) == (40, None)
    selector = BinarySPSA(KNeighborsClassifier(1), max_iter=None)
    assert selector._limits(99) == (None, 250)
    assert selector._limits(100) == (None, 750)


def test_without_max_iter_patience_ends_the_run(planted: _Data) -> None:
    X, y = planted
    selector = _fit((X[:, :5], y), max_iter=None, n_repeats=1, cv=2)
    assert selector.stop_reason_ == {"patience": 250}
    with pytest.raises(ValueError, match=r"^BinarySPSA never stops by itself: give max_iter"):
        _fit(planted, max_iter=None, patience=None)


def test_starts(planted: _Data) -> None:
    X, y = planted
    mask = np.zeros(30, bool)
    mask[[3, 5]] = True
    from_mask = _fit(planted, start=mask, max_iter=1)
    assert from_mask.history_["n_selected"][0] == 2
    np.testing.assert_array_equal(from_mask.support_, mask)
    by_scores = _fit(planted, filter_scores=f_classif(X, y)[0], max_iter=1)
    by_function = _fit(planted, filter_scores=f_classif, max_iter=1)
    np.testing.assert_array_equal(by_scores.support_, by_function.support_)
    assert by_function.support_[:2].all()
    assert by_function.support_.sum() == 15  # the better half by rank
    w = np.where(np.arange(30) < 9, 0.51, 0.46)
    from_numbers = _fit(planted, start=w, max_iter=1)
    np.testing.assert_array_equal(from_numbers.support_, w >= 0.5)


def test_a_random_start_has_a_word(planted: _Data) -> None:
    """3 of 30 features: from a random mask, where the default begins with a filter's best."""
    few = {"n_features_to_select": 3, "max_iter": 1}
    word, none, auto = (_fit(planted, start=start, **few) for start in ("random", None, "auto"))
    np.testing.assert_array_equal(word.support_, none.support_)
    assert word.best_score_ == none.best_score_
    assert word.support_.tolist() != auto.support_.tolist()
    by_scores = _fit(planted, start="random", filter_scores="f", max_iter=1)
    assert by_scores.support_[:2].all()  # as start=None, which leaves the beginning to the scores


def test_a_start_means_what_it_means_to_the_search() -> None:
    table = Table(*load_iris(return_X_y=True))
    for start in (None, 0.48, [0.46, 0.9, 0.5, 0.5], np.array([True, False, True, True])):
        selector = BinarySPSA(KNeighborsClassifier(1), start=start)
        search = BinarySPSASearch(4, start=start)
        np.testing.assert_array_equal(selector._make_search(table, Space(table)).w, search.w)
    frame = Table(table.X, table.y, names=list("abcd"))
    expected = BinarySPSASearch(4, start=[True, False, True, False]).w
    for start in ([0, 2], ["c", "a"], ["c", 0], np.array([2, 0]), Masks.from_indices([[0, 2]], 4)):
        selector = BinarySPSA(KNeighborsClassifier(1), start=start)
        np.testing.assert_array_equal(selector._make_search(frame, Space(frame)).w, expected)
    ends = BinarySPSA(KNeighborsClassifier(1), start=[1.0, 0.0, 0.0, 1.0], n_features_to_select=2)
    assert ends._make_search(frame, Space(frame)).w.tolist() == [1.0, 0.0, 0.0, 1.0]
    for start, said in (
        (["e"], "start names 'e', which is no feature"),
        ([4], "start has position 4"),
        ([1, 0, 0, 1], "start has a zero or a one for each of the 4 .* a mask must be boolean"),
        ([1.0, 0.0, 0.0, 1.0], "raise c; a mask must be boolean: give True and False"),
        (f_classif, "start must be 'auto', None, a number, one number a feature, a mask, posit"),
    ):
        selector = BinarySPSA(KNeighborsClassifier(1), start=start)
        with pytest.raises(ValueError, match=said):
            selector._make_search(frame, Space(frame))
    scores = [3.0, 1.0, 2.0, 2.0]
    selector = BinarySPSA(KNeighborsClassifier(1), filter_scores=scores)
    np.testing.assert_array_equal(
        selector._make_search(table, Space(table)).w, BinarySPSASearch(4, filter_scores=scores).w
    )


def test_callbacks_see_every_iteration(planted: _Data) -> None:
    seen: list[int] = []
    _fit(planted, max_iter=9, callbacks=[lambda at: seen.append(at.iteration)])
    assert seen == list(range(9))


def test_ctrl_c_sets_the_attributes_and_is_raised_again(planted: _Data) -> None:
    def stop(at: Any) -> None:
        if at.iteration == 4:
            raise KeyboardInterrupt

    selector = BinarySPSA(KNeighborsClassifier(1), n_repeats=2, callbacks=[stop], random_state=0)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(*planted)
    assert selector.n_iter_ == 5
    assert selector.support_.any()
    assert np.isnan(selector.best_score_)
    assert selector.best_observed_score_ == selector.history_["best_observed"][-1]
    assert selector.transform(planted[0]).shape[1] == selector.support_.sum()


@pytest.mark.parametrize("random_state", [0, None])
def test_an_interrupted_run_goes_on_as_if_nothing_had_been(
    planted: _Data, tmp_path: Path, random_state: int | None
) -> None:
    def stop(at: Any) -> None:
        if at.iteration == 20:
            raise KeyboardInterrupt

    options: dict[str, Any] = {"max_iter": 50, "random_state": random_state}
    with pytest.raises(KeyboardInterrupt):
        _fit(planted, checkpoint=tmp_path, callbacks=[stop], **options)
    resumed = _fit(planted, checkpoint=tmp_path, **options)
    whole = _fit(planted, **{**options, "random_state": resumed.seed_})
    np.testing.assert_array_equal(resumed.history_["score"], whole.history_["score"])
    np.testing.assert_array_equal(resumed.support_, whole.support_)
    assert resumed.best_score_ == whole.best_score_
    anew = _fit(planted, checkpoint=tmp_path, resume=False, **{**options, "random_state": 5})
    assert anew.seed_ == 5


def test_one_feature_and_few_samples() -> None:
    y = np.array([0, 0, 0, 1, 1, 1])
    selector = BinarySPSA(KNeighborsClassifier(1), cv=3, max_iter=5, random_state=0)
    selector.fit(y[:, None] + 0.01 * np.arange(6)[:, None], y)
    assert selector.support_.tolist() == [True]
    assert selector.best_score_ == 1.0


def _iris() -> _Data:
    return load_iris(return_X_y=True)


@each(
    ("change", "message"),
    [
        (lambda X, y: (np.where(np.arange(4) == 2, np.nan, X), y), "NaN"),
        (lambda X, y: (np.where(np.arange(4) == 2, np.inf, X), y), "infinity"),
        (lambda X, y: (scipy.sparse.csr_matrix(X), y), "[Ss]parse"),
        (lambda X, y: (X, None), "requires y to be passed"),
        (lambda X, y: (X, np.zeros(150)), "1 class"),
        (lambda X, y: (X, y + 0.5), "Unknown label type"),
        (lambda X, y: (X[:, 0], y), "2D array"),
        (lambda X, y: (X[:1], y[:1]), "n_samples=1"),
        (lambda X, y: (X, y[:-1]), "150 samples but y has 149"),
        (lambda X, y: (np.ones_like(X), y), "constant"),
        (lambda X, y: (pd.DataFrame(X, columns=list("abca")), y), "distinct"),
        (lambda X, y: (pd.DataFrame(X, columns=list("abcd")).assign(e="text"), y), "'e'"),
    ],
)
def test_bad_tables_are_named(change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BinarySPSA(KNeighborsClassifier(1), max_iter=2).fit(*change(*_iris()))


@each(
    ("options", "message"),
    [
        ({"max_iter": 0}, "max_iter"),
        ({"max_iter": "many"}, "max_iter must be a whole number .*None or 'auto', got 'many'"),
        ({"max_iter": float("inf")}, "max_iter must be a whole number .*None or 'auto', got inf"),
        ({"max_iter": float("nan")}, "max_iter must be a whole number .*None or 'auto', got nan"),
        ({"max_iter": 2.5}, "max_iter must be a whole number .*got 2.5"),
        ({"patience": "some"}, "patience must be a whole number .*None or 'auto', got 'some'"),
        ({"max_time": -1.0}, "max_time"),
        ({"folds": "shared"}, "folds must be 'common' or 'independent', got 'shared'"),
        ({"preset": "huge"}, "preset"),
        ({"gain": "fast"}, "gain"),
        ({"gain": 1e300}, r"^gain 1e\+300 and scores that differ by .{1,20} make a step"),
        ({"start": np.ones(3)}, "start"),
        ({"start": f_classif}, "is given as filter_scores"),
        ({"start": 0.5, "filter_scores": f_classif}, "either start or filter_scores"),
        ({"filter_scores": np.ones(3)}, r"filter_scores must have shape \(4,\), got \(3,\)"),
        ({"filter_scores": lambda X, y: None}, "must return one score a feature, 4, .* None"),
        ({"callbacks": print}, "callbacks must be a list of callables"),
        ({"dtype": "x"}, "dtype must be None, numpy.float32 or numpy.float64, got 'x'"),
        ({"dtype": int}, "dtype must be None"),
        ({"checkpoint": 3}, "checkpoint must name a directory, got int 3"),
        ({"n_features_to_select": 5}, "n_features_to_select"),
        ({"n_features_to_select": 0}, "n_features_to_select"),
        ({"random_state": "seed"}, "random_state"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"cv": GroupKFold(3)}, "cv=GroupKFold splits by groups, and none were given"),
        ({"cv": LeaveOneOut()}, "resample=False"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, Any], message: str) -> None:
    options = {"max_iter": 2, **options}
    with pytest.raises(ValueError, match=message):
        BinarySPSA(KNeighborsClassifier(1), **options).fit(*_iris())


@each(
    ("scoring", "classes", "message"),
    [
        ("f1", "ab", r"scoring='f1' cannot score this target \(classes 'a', 'b'\): .*pos_label"),
        ("r2", "ab", r"scoring='r2' cannot score this target \(classes 'a', 'b'\): "),
        ("f1", "abc", r"classes 'a', 'b', 'c'\): .*multiclass.*'balanced_accuracy'"),
        ("roc_auc", "abc", "'roc_auc_ovr' for more"),
        ("neg_log_loss", "ab", "LinearSVC.* has none of .*predict_proba"),
    ],
)
def test_a_scorer_that_cannot_score_the_classes(scoring: str, classes: str, message: str) -> None:
    X, y = _iris()
    keep = y < len(classes)
    target = np.array(list(classes))[y[keep]]
    estimator: Any = LinearSVC() if scoring == "neg_log_loss" else KNeighborsClassifier(1)
    seen: list[Any] = []
    selector = BinarySPSA(estimator, scoring=scoring, max_iter=2, callbacks=[seen.append])
    with pytest.raises(ValueError, match=message):
        selector.fit(X[keep], target)
    assert not seen


@each("scoring", ["f1_macro", "roc_auc_ovr", "balanced_accuracy", None])
def test_a_scorer_that_can(scoring: str | None) -> None:
    selector = BinarySPSA(KNeighborsClassifier(3), scoring=scoring, max_iter=1, n_repeats=1)
    X, y = _iris()
    assert selector.fit(X, np.array(["a", "b", "c"])[y]).best_score_ > 0.5


def test_an_estimator_is_needed() -> None:
    with pytest.raises(ValueError, match="estimator must be a scikit-learn estimator"):
        BinarySPSA("1nn").fit(*_iris())
    with pytest.raises(ValueError, match=r"got the class DecisionTreeClassifier; write DecisionT"):
        BinarySPSA(DecisionTreeClassifier).fit(*_iris())


def test_every_class_smaller_than_the_folds() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    few = np.r_[np.flatnonzero(y == 0)[:3], np.flatnonzero(y == 1)[:3]]
    with pytest.raises(ValueError, match="5"):
        BinarySPSA(KNeighborsClassifier(1), max_iter=2).fit(X[few], y[few])


# -- what is said of the selection is the selection's -----------------------------------------


def test_the_observed_score_is_that_of_the_selection() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    selector = BinarySPSA(KNeighborsClassifier(1), n_repeats=2, max_iter=20, random_state=5)
    selector.fit(X, y)
    chosen = selector.finalists_[0]
    assert selector.observed_score_ == chosen.observed_score
    assert selector.history_["n_selected"][chosen.iteration] == selector.support_.sum()
    assert selector.observed_score_ == selector.history_["score"][chosen.iteration]
    # Here the best that the search saw is the score of another selection.
    assert selector.observed_score_ < selector.best_observed_score_
    assert selector.n_final_evaluations_ == 5 * (len(selector.finalists_) + 1)


# -- estimators without a seed ----------------------------------------------------------------


def _tree_fit(data: _Data, **options: Any) -> BinarySPSA:
    tree = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1))
    options = {"max_iter": 5, "n_repeats": 1, "cv": 2, "n_jobs": 1, **options}
    fitted = BinarySPSA(tree, **options).fit(*data)
    assert tree[-1].random_state is None
    assert fitted.estimator is tree
    return fitted


def test_one_seed_makes_a_random_estimator_repeat(planted: _Data) -> None:
    one, two = _tree_fit(planted, random_state=0), _tree_fit(planted, random_state=0)
    np.testing.assert_array_equal(one.history_["score"], two.history_["score"])
    assert one.best_score_ == two.best_score_
    drawn = _tree_fit(planted)
    again = _tree_fit(planted, random_state=drawn.seed_)
    np.testing.assert_array_equal(drawn.history_["score"], again.history_["score"])


def test_a_random_estimator_is_resumed(planted: _Data, tmp_path: Path) -> None:
    _tree_fit(planted, random_state=0, checkpoint=tmp_path, max_iter=3)
    resumed = _tree_fit(planted, random_state=0, checkpoint=tmp_path)
    whole = _tree_fit(planted, random_state=0)
    np.testing.assert_array_equal(resumed.history_["score"], whole.history_["score"])
    assert len(list(tmp_path.glob("*.npz"))) == 1
    drawn = _tree_fit(planted, checkpoint=tmp_path, max_iter=3)
    assert _tree_fit(planted, checkpoint=tmp_path).seed_ == drawn.seed_


@each("name", ["resample", "admit_perturbed", "resume", "progress"])
@each("value", ["x", 1, "None"])
def test_flags_are_true_or_false(planted: _Data, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} must be True"):
        _fit(planted, **{name: value})


def test_resume_is_no_none(planted: _Data) -> None:
    with pytest.raises(ValueError, match="resume must be True or False, got None"):
        _fit(planted, resume=None)


# -- the search's own weights of the features -------------------------------------------------


def test_scores_are_the_mean_iterate(planted: _Data, tmp_path: Path) -> None:
    selector = _fit(planted)
    assert selector.n_features_ == selector.support_.sum()
    assert isinstance(selector.n_features_, int)
    assert selector.scores_.dtype == np.float64
    assert sorted(selector.ranking_[:2]) == [1, 2]
    assert sorted(selector.ranking_) == list(range(1, 31))
    np.testing.assert_array_equal(
        selector.ranking_ - 1, np.argsort(np.argsort(-selector.scores_, kind="stable"))
    )
    search = BinarySPSASearch(30)
    fitness = compile_fitness(
        KNeighborsClassifier(1), *planted, cv=5, n_repeats=2, resample=True, random_state=0
    )
    walked: list[np.ndarray] = []
    run(search, fitness, max_iter=150, patience=None, random_state=0,
        callbacks=[lambda at: walked.append(search.w)])  # fmt: skip
    np.testing.assert_allclose(
        selector.scores_, np.mean(walked[: selector.n_iter_], axis=0), rtol=1e-12
    )
    _fit(planted, max_iter=70, checkpoint=tmp_path)
    resumed = _fit(planted, checkpoint=tmp_path)
    assert resumed.scores_.tobytes() == selector.scores_.tobytes()
    finished = _fit(planted, checkpoint=tmp_path)
    assert finished.scores_.tobytes() == selector.scores_.tobytes()


def test_other_searches_are_scored_by_their_finalists() -> None:
    class Fixed(BinarySPSA):
        """A search that weighs no features."""

        def _make_search(self, table: Table, space: Space) -> Any:
            search = super()._make_search(table, space)
            search.feature_scores = None  # type: ignore[method-assign, assignment]
            return search

    selector = Fixed(KNeighborsClassifier(1), max_iter=30, n_repeats=1, random_state=0)
    selector.fit(*_iris())
    masks = [finalist.mask.to_bool()[0] for finalist in selector.finalists_]
    expected = sum(m / r for r, m in enumerate(masks, 1)) / sum(
        1 / r for r in range(1, len(masks) + 1)
    )
    np.testing.assert_allclose(selector.scores_, expected)
    assert selector.scores_.max() <= 1.0


def test_a_search_can_be_ranked_over_bootstrap_samples(planted: _Data) -> None:
    X, y = planted
    search = BinarySPSA(KNeighborsClassifier(1), max_iter=60, n_repeats=1, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a sample drawn twice is no copy across folds
        ranker = EnsembleRanker(search, n_bootstraps=8, random_state=0).fit(X, y)
    assert sorted(ranker.ranking_[:2]) == [1, 2]
    again = EnsembleRanker(search, n_bootstraps=8, random_state=0).fit(X, y)
    np.testing.assert_array_equal(ranker.scores_, again.scores_)


# -- groups, copies, scores without a value, missing values, weights ---------------------------


def test_groups_are_kept_together_in_fresh_folds() -> None:
    """Labels by coin, every sample twice: only folds of whole groups do not fall for it."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(40, 50))
    X, y = np.r_[half, half + 1e-3], np.tile(rng.permutation(np.arange(40) % 2), 2)
    groups = np.tile([f"patient {i}" for i in range(40)], 2)
    options: dict[str, Any] = {"max_iter": 10, "n_repeats": 2, "random_state": 0}
    for change in ({}, {"resample": False}, {"resample": False, "n_repeats": 1}):
        selector = BinarySPSA(KNeighborsClassifier(1), **{**options, **change})
        assert selector.fit(X, y).best_score_ > 0.9
        assert selector.fit(X, y, groups=groups).best_score_ < 0.75
        assert max(f.measured_score for f in selector.finalists_) < 0.8


def test_groups_through_a_grid_search() -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(30, 12))
    X, y = np.r_[half, half + 1e-3], np.tile(rng.permutation(np.arange(30) % 2), 2)
    groups = np.tile(np.arange(30), 2)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = BinarySPSA(KNeighborsClassifier(1), cv=3, n_repeats=1, max_iter=3)
        whole = make_pipeline(
            selector.set_params(random_state=0).set_fit_request(groups=True),
            KNeighborsClassifier(1),
        )
        search = GridSearchCV(whole, {"binaryspsa__max_iter": [2, 4]}, cv=GroupKFold(3))
        search.fit(X, y, groups=groups)
    assert search.best_score_ < 0.8
    assert search.best_estimator_[0].best_score_ < 0.8


def test_copies_are_warned_of(planted: _Data) -> None:
    X, y = planted
    X, y = np.r_[X, X[:3]], np.r_[y, y[:3]]
    with pytest.warns(DuplicateSamplesWarning, match=r"0 = 100, 1 = 101, 2 = 102") as caught:
        _fit((X, y), max_iter=1)
    assert len(caught) == 1
    groups = np.r_[np.arange(100), np.arange(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BinarySPSA(KNeighborsClassifier(1), max_iter=1, n_repeats=1).fit(X, y, groups=groups)


@each("scoring", ["roc_auc", "neg_log_loss", "average_precision"])
def test_a_score_without_a_value_is_refused(scoring: str) -> None:
    X = np.random.default_rng(0).normal(size=(40, 5))
    y = (np.arange(40) < 4).astype(int)
    seen: list[Any] = []
    for resample in (True, False):
        selector = BinarySPSA(
            KNeighborsClassifier(1), scoring=scoring, resample=resample, n_repeats=1,
            max_iter=2, callbacks=[seen.append],
        )  # fmt: skip
        with (
            pytest.warns(UserWarning, match="least populated"),
            pytest.raises(ValueError, match=r"lack one: '1 \(4 samples\)'; use at most 4 folds"),
        ):
            selector.fit(X, y)
        assert not seen
    assert np.isfinite(selector.set_params(cv=4).fit(X, y).best_score_)


def test_missing_values_and_weights_reach_the_estimator() -> None:
    X, y = _iris()
    X = X.copy()
    X[::7, 1] = np.nan
    piped = make_pipeline(SimpleImputer(), KNeighborsClassifier(1))
    options: dict[str, Any] = {"max_iter": 2, "n_repeats": 1, "cv": 2, "random_state": 0}
    selector = BinarySPSA(piped, n_jobs=1, **options).fit(X, y)
    assert np.isnan(selector.transform(X)).sum() in (0, np.isnan(X).sum())
    assert get_tags(selector).input_tags.allow_nan
    X, y = _iris()
    tree = DecisionTreeClassifier(random_state=0)
    weights = np.where(y == 2, 0.0, 1.0)  # the third class is never learned
    weighted = BinarySPSA(tree, n_jobs=1, **options).fit(X, y, sample_weight=weights)
    assert weighted.best_observed_score_ <= 2 / 3
    assert BinarySPSA(tree, n_jobs=1, **options).fit(X, y).best_score_ > 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        asks = BinarySPSA(tree, n_jobs=1, **options).set_fit_request(sample_weight=True)
        routed = make_pipeline("passthrough", asks).fit(X, y, sample_weight=weights)
    assert routed[-1].best_observed_score_ == weighted.best_observed_score_
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight in fit"):
        BinarySPSA(KNeighborsClassifier(1)).fit(X, y, sample_weight=weights)
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        BinarySPSA(tree).fit(X, y, weights=weights)


def test_a_long_evaluation_is_said_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = _iris()
    monkeypatch.setattr("bitsieve.fitness.compiler._MANY_STEPS", 0)
    monkeypatch.setattr(KnnFitness, "seconds_per_evaluation", lambda self: 200.0)
    with pytest.warns(UserWarning, match=r"one evaluation will take about 3 minutes"):
        BinarySPSA(KNeighborsClassifier(1), max_iter=1, n_repeats=1).fit(X, y)


def test_a_search_stopped_early_says_so(planted: _Data) -> None:
    assert _fit(planted, max_iter=5).stopped_early_
    assert _fit(planted, max_iter=5000, patience=7).stopped_early_
    assert not _fit(planted, max_iter=250, patience=None).stopped_early_
    assert not _fit(planted, max_iter=5000, patience=100, n_repeats=1).stopped_early_
    assert _fit(planted, max_iter=5).final_cut_ is None


# -- where a search of few features of many begins -------------------------------------------------


def _first_mask(selector: BinarySPSA, X: Any, y: Any) -> np.ndarray:
    masks: list[np.ndarray] = []
    selector.set_params(callbacks=[lambda it: masks.append(it.masks.to_bool()[0])], max_iter=1)
    selector.fit(X, y)
    return masks[0]


def test_few_of_many_begin_with_the_best_of_relieff(planted: _Data) -> None:
    X, y = planted
    best = np.sort(np.argsort(-relieff(X, y), kind="stable")[:3])
    knn = KNeighborsClassifier(1)
    options: dict[str, Any] = {"n_repeats": 1, "random_state": 0}
    for given in ({}, {"start": "relieff"}, {"start": None, "filter_scores": "relieff"}):
        first = _first_mask(BinarySPSA(knn, n_features_to_select=3, **options, **given), X, y)
        np.testing.assert_array_equal(np.flatnonzero(first), best)
    # None is a random mask; and so is a start where the size is over a tenth.
    random = [
        np.flatnonzero(_first_mask(BinarySPSA(knn, **options, **given), X, y)).tolist()
        for given in (
            {"start": None, "n_features_to_select": 3},
            {"start": None, "n_features_to_select": 4},
            {"n_features_to_select": 4},
        )
    ]
    assert random[0] != best.tolist()
    assert random[1] == random[2]
    assert _first_mask(BinarySPSA(knn, **options), X, y).all()  # R(0.5) = 1
    with_scores = BinarySPSA(knn, n_features_to_select=3, filter_scores=np.arange(30.0), **options)
    assert np.flatnonzero(_first_mask(with_scores, X, y)).tolist() == [27, 28, 29]


def test_few_of_many_for_numbers_begin_with_a_random_mask(planted: _Data) -> None:
    X, _ = planted
    firsts = [
        _first_mask(
            BinarySPSA(
                KNeighborsRegressor(1),
                n_features_to_select=3,
                n_repeats=1,
                random_state=0,
                **given,
            ),
            X,
            X[:, 4] + X[:, 5],
        )
        for given in ({}, {"start": None})
    ]
    np.testing.assert_array_equal(*firsts)


def test_of_what_can_move_a_tenth_is_few(planted: _Data) -> None:
    """Forbidden features do not count among the many, and forced ones not among the few."""
    X, y = planted
    ranked = np.argsort(-relieff(X, y), kind="stable")
    forced, forbidden = int(ranked[5]), ranked[20:].tolist()
    selector = BinarySPSA(
        KNeighborsClassifier(1),
        n_features_to_select=2,
        forced_features=[forced],
        forbidden_features=forbidden,
        n_repeats=1,
        random_state=0,
    )
    first = _first_mask(selector, X, y)
    assert set(np.flatnonzero(first)) == {forced, int(ranked[0])}


@each("options", [{"injected_noise": 0.2}, {"second_order": True}, {"halving_patience": 12}])
def test_extensions_reach_the_search(planted: _Data, options: dict[str, Any]) -> None:
    extended, plain = _fit(planted, **options), _fit(planted)
    assert not np.array_equal(extended.scores_, plain.scores_)
    assert extended.support_[:2].any()
    assert extended.n_evaluations_ == (5 if "second_order" in options else 3) * extended.n_iter_
    again = _fit(planted, n_jobs=2, **options)
    assert again.scores_.tobytes() == extended.scores_.tobytes()
    if "halving_patience" in options:
        assert extended.stop_reason_ == {"halving": extended.stop_reason_["halving"]}
        assert not extended.stopped_early_
        assert extended.n_features_ < plain.n_features_


@each("options", [{"injected_noise": 0.2}, {"second_order": True}, {"halving_patience": 9}])
def test_extensions_are_resumed_bit_for_bit(
    planted: _Data, options: dict[str, Any], tmp_path: Path
) -> None:
    whole = _fit(planted, max_iter=60, **options)
    folder = tmp_path / next(iter(options))
    _fit(planted, max_iter=25, checkpoint=folder, **options)
    resumed = _fit(planted, max_iter=60, checkpoint=folder, **options)
    assert resumed.scores_.tobytes() == whole.scores_.tobytes()
    np.testing.assert_array_equal(resumed.support_, whole.support_)
    assert resumed.best_score_ == whole.best_score_
