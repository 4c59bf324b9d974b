"""ModelSearchCV: its scores are scikit-learn's, and nothing but the seed decides."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)

from bitsieve import ModelSearchCV
from bitsieve.evaluation import nested_cross_validate
from bitsieve.model_selection import evaluation
from bitsieve.model_selection.space import ModelSpace

X, Y = make_classification(90, 25, n_informative=4, n_redundant=3, random_state=3)
NAMES = np.array(["sick", "healthy"])[Y]
SMALL: dict[str, Any] = {"n_iter": 3, "n_particles": 4, "cv": 3, "random_state": 0}
SEARCHES = ["particle_swarm", "random"]
try:
    import optuna  # noqa: F401

    SEARCHES.append("optuna")
except ModuleNotFoundError:
    pass
needs_optuna = pytest.mark.skipif("optuna" not in SEARCHES, reason="needs optuna")


def _same(one: ModelSearchCV, other: ModelSearchCV) -> None:
    assert one.best_params_ == other.best_params_
    assert one.cv_results_["params"] == other.cv_results_["params"]
    for name in ("mean_test_score", "split0_test_score", "iteration"):
        np.testing.assert_array_equal(one.cv_results_[name], other.cv_results_[name])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.scores_, other.scores_)


@each("search", SEARCHES)
def test_scores_are_those_of_scikit_learn(search: str) -> None:
    """Selection is made anew in every training part, though rankings are shared."""
    values = X - X.min() + 1  # which may be logged
    for scoring, target in (("balanced_accuracy", NAMES), ("roc_auc", Y)):
        preprocessing = ["none", "standard", "minmax", "log"]
        given = {**SMALL, "search": search, "preprocessing": preprocessing, "scoring": scoring}
        found = ModelSearchCV(**given).fit(values, target)
        results = found.cv_results_
        space = ModelSpace(
            tuple(preprocessing),
            ("all", "f", "relieff", "mrmr", "rfe"),
            ("lda", "svm", "ridge", "kridge", "nb", "dlda", "knn"),
            25,
            most_features=25,
        )
        for i, params in enumerate(results["params"]):
            scores = cross_val_score(space.pipeline(params), values, target, cv=3, scoring=scoring)
            ours = [results[f"split{s}_test_score"][i] for s in range(3)]
            np.testing.assert_allclose(ours, scores, atol=1e-12)
            assert results["mean_test_score"][i] == np.mean(ours)
            for name, column in results.items():
                if name.startswith("param_"):
                    assert column.mask[i] == (name.removeprefix("param_") not in params)
        best = results["mean_test_score"].max()
        assert found.best_score_ == best
        assert found.best_index_ == np.argmax(results["mean_test_score"])
        assert results["rank_test_score"][found.best_index_] == 1
        assert found.best_params_ == results["params"][found.best_index_]
        assert found.history_[-1] == best
        assert (np.diff(found.history_) >= 0).all()
        assert len(found.history_) == found.n_iter_ + 1 == 4
        assert found.n_evaluations_ == len({str(p) for p in results["params"]}) <= 16
        again = space.pipeline(found.best_params_).fit(values, target)
        np.testing.assert_array_equal(found.predict(values), again.predict(values))
        assert found.score(values, target) == get_scorer(scoring)(again, values, target)


@each("search", SEARCHES)
def test_the_seed_alone_decides(search: str) -> None:
    given = {**SMALL, "search": search, "selectors": ["all", "f", "relieff"]}
    one = ModelSearchCV(**given).fit(X, NAMES)
    _same(one, ModelSearchCV(**given, n_jobs=2).fit(X, NAMES))
    _same(one, pickle.loads(pickle.dumps(one)))
    other = ModelSearchCV(**{**given, "random_state": 1}).fit(X, NAMES)
    assert other.cv_results_["params"] != one.cv_results_["params"]


def test_more_moves_begin_alike_but_for_the_inertia() -> None:
    few = ModelSearchCV(**{**SMALL, "inertia": (0.7, 0.7)}).fit(X, Y)
    more = ModelSearchCV(**{**SMALL, "n_iter": 5, "inertia": (0.7, 0.7)}).fit(X, Y)
    n = few.n_evaluations_
    assert more.cv_results_["params"][:n] == few.cv_results_["params"]
    assert more.best_score_ >= few.best_score_


def test_a_given_set_of_features_is_kept() -> None:
    found = ModelSearchCV(**SMALL, selectors=["all"], scoring="roc_auc").fit(X[:, :6], Y)
    assert found.support_.all()
    assert found.n_features_ == 6
    assert found.scores_.tolist() == [1.0] * 6
    assert {params["selector"] for params in found.cv_results_["params"]} == {"all"}
    np.testing.assert_array_equal(found.transform(X[:, :6]), X[:, :6])
    assert found.refit(X[:40, :6], Y[:40]).all()


def test_the_selected_features_predict() -> None:
    found = ModelSearchCV(**SMALL, selectors=["f"], max_features=5).fit(X, Y)
    assert found.n_features_ == found.best_params_["n_features"] <= 5
    order = np.argsort(-found.scores_, kind="stable")[: found.n_features_]
    assert set(order) == set(np.flatnonzero(found.support_))
    assert found.ranking_[order].tolist() == list(range(1, found.n_features_ + 1))
    np.testing.assert_array_equal(found.refit(X, Y), found.support_)
    other = X.copy()
    other[:, ~found.support_] = 0.0
    np.testing.assert_array_equal(found.predict(other), found.predict(X))


def test_probabilities_and_decisions_are_there_where_the_best_model_has_them() -> None:
    bayes = ModelSearchCV(**SMALL, estimators=["nb"]).fit(X, NAMES)
    assert not hasattr(bayes, "decision_function")
    np.testing.assert_allclose(bayes.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(
        bayes.classes_[bayes.predict_proba(X).argmax(axis=1)], bayes.predict(X)
    )
    machine = ModelSearchCV(**SMALL, estimators=["svm"]).fit(X, NAMES)
    assert not hasattr(machine, "predict_proba")
    np.testing.assert_array_equal(
        machine.classes_[(machine.decision_function(X) > 0).astype(int)], machine.predict(X)
    )
    assert not hasattr(ModelSearchCV(), "predict_proba")


def test_the_whole_procedure_is_evaluated_by_outer_folds() -> None:
    search = ModelSearchCV(**{**SMALL, "n_iter": 1}, selectors=["f"], max_features=4)
    outer = cross_val_score(search, X, NAMES, cv=4, scoring="balanced_accuracy")
    nested = nested_cross_validate(search, None, X, NAMES, cv=4, random_state=0)
    assert nested.scoring == "balanced_accuracy"
    assert nested.supports.shape == (4, 25)
    assert nested.supports.sum(axis=1).max() <= 4
    assert nested.scores.shape == outer.shape
    assert 0.6 < outer.mean() <= 1
    for own, (train, _), support in zip(
        nested.observed_scores, nested.folds, nested.supports, strict=True
    ):
        assert 0.5 < own <= 1
        assert len(train) > 60 > support.sum() > 0


@pytest.mark.slow
def test_it_is_honest_only_outside() -> None:
    """On noise the best of many models is better than chance; outer folds say that it is not."""
    noise, y = np.random.default_rng(2).normal(size=(40, 300)), np.arange(40) % 2
    search = ModelSearchCV(n_iter=12, cv=4, selectors=["all", "f"], random_state=0)
    inner = clone(search).fit(noise, y).best_score_
    outer = cross_val_score(search, noise, y, cv=5, scoring="balanced_accuracy").mean()
    assert inner > 0.6
    assert outer < inner - 0.1
    nested = nested_cross_validate(search, None, noise, y, cv=5, random_state=0)
    assert nested.scoring == "balanced_accuracy"
    assert nested.supports.shape == (5, 300)
    assert nested.optimism > 0.05


def test_folds_are_those_that_are_given() -> None:
    cv = StratifiedKFold(4, shuffle=True, random_state=5)
    found = ModelSearchCV(**{**SMALL, "cv": cv}).fit(X, Y)
    assert found.n_splits_ == 4
    groups = np.arange(90) // 3
    grouped = ModelSearchCV(**{**SMALL, "cv": GroupKFold(3)}).fit(X, Y, groups=groups)
    assert found.best_score_ > 0.5 < grouped.best_score_
    with pytest.raises(ValueError, match="groups"):
        ModelSearchCV(**{**SMALL, "cv": GroupKFold(3)}).fit(X, Y)


def test_models_that_fail_are_the_worst() -> None:
    three = np.arange(90) % 3
    given = {**SMALL, "scoring": "roc_auc_ovr", "n_iter": 5, "selectors": ["f"]}
    with pytest.warns(UserWarning, match=r"of \d+ models cannot be fitted or scored"):
        found = ModelSearchCV(**given).fit(X, three)  # which needs probabilities
    assert found.best_params_["estimator"] in ("nb", "dlda", "knn")
    failed = np.isnan(found.cv_results_["mean_test_score"])
    assert 0 < failed.sum() < len(failed)
    assert found.cv_results_["rank_test_score"][failed].min() == 1 + (~failed).sum()
    with pytest.raises(ValueError, match="none of the first 4 models can be fitted and scored; "):
        ModelSearchCV(**given, estimators=["svm"]).fit(X, three)


def test_a_checkpoint_gives_the_same_and_saves_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {**SMALL, "selectors": ["all", "f"]}
    whole = ModelSearchCV(**{**given, "n_iter": 5}).fit(X, NAMES)
    calls: list[Any] = []
    score = evaluation._score

    def counted(*arguments: Any) -> Any:
        calls.append(arguments)
        return score(*arguments)

    monkeypatch.setattr(evaluation, "_score", counted)
    ModelSearchCV(**{**given, "n_iter": 5, "checkpoint": tmp_path}).fit(X, NAMES)
    assert len(calls) == 3 * whole.n_evaluations_
    calls.clear()
    again = ModelSearchCV(**{**given, "n_iter": 5}, checkpoint=tmp_path).fit(X, NAMES)
    assert not calls
    _same(whole, again)
    assert len(list(tmp_path.iterdir())) == 1
    ModelSearchCV(**given, checkpoint=tmp_path).fit(X, Y)  # other labels, other scores
    assert len(list(tmp_path.iterdir())) == 2
    assert calls


def test_ctrl_c_keeps_the_best_until_then(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ModelSearchCV(**SMALL).fit(X, Y)
    score, left = evaluation._score, [3 * 9]

    def interrupted(*arguments: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return score(*arguments)

    monkeypatch.setattr(evaluation, "_score", interrupted)
    found = ModelSearchCV(**SMALL).fit(X, Y)
    assert found.stopped_early_
    assert not whole.stopped_early_
    assert 0 <= found.n_iter_ < whole.n_iter_
    n = found.n_evaluations_
    assert found.cv_results_["params"] == whole.cv_results_["params"][:n]
    assert found.best_score_ == whole.history_[found.n_iter_]
    assert found.predict(X).shape == (90,)
    left[0] = 0
    with pytest.raises(KeyboardInterrupt):  # nothing is there yet
        ModelSearchCV(**SMALL).fit(X, Y)


def test_values_that_look_like_intensities_may_be_logged() -> None:
    rng = np.random.default_rng(0)
    raw, y = rng.lognormal(5, 2, size=(40, 1000)), np.arange(40) % 2
    raw[y == 1, :5] *= 4
    given = {**SMALL, "n_particles": 12, "n_iter": 1, "estimators": ["nb", "lda"]}
    for values, there in ((raw, True), (np.log2(raw), False)):
        found = ModelSearchCV(**given, selectors=["f"]).fit(values, y)
        tried = {params["preprocessing"] for params in found.cv_results_["params"]}
        assert ("log" in tried) == there
    with pytest.raises(ValueError, match="log='always' needs positive values"):
        ModelSearchCV(**given, preprocessing=["log"]).fit(-raw, y)


def test_without_optuna_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    message = "search='optuna' needs Optuna: pip install \"bitsieve\\[optuna\\]\""
    with pytest.raises(ImportError, match=message):
        ModelSearchCV(**SMALL, search="optuna").fit(X, Y)


@needs_optuna
def test_optuna_is_told_the_scores_and_left_as_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    import optuna

    before = optuna.logging.get_verbosity()
    given = {**SMALL, "n_iter": 11, "search": "optuna"}
    found = ModelSearchCV(**given).fit(X, Y)
    assert optuna.logging.get_verbosity() == before
    assert not capfd.readouterr().err
    drawn = ModelSearchCV(**{**given, "search": "random"}).fit(X, Y)
    late = found.cv_results_["iteration"] >= 6
    # Later trials are where earlier ones were good, which draws are not.
    assert (
        found.cv_results_["mean_test_score"][late].mean()
        > drawn.cv_results_["mean_test_score"][drawn.cv_results_["iteration"] >= 6].mean()
    )


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_bad_input_is_told() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"search": "grid"}, "search must be 'particle_swarm', 'optuna' or 'random', got 'grid'"),
        ({"n_iter": -1}, "n_iter must be a whole number from 0 on, got -1"),
        ({"n_particles": 0}, "n_particles must be a whole number from 1 on, got 0"),
        ({"inertia": (1,)}, "inertia must be two numbers"),
        ({"cognitive": -1}, "cognitive must be a finite number from 0 on, got -1"),
        ({"max_features": 0}, "max_features must be a whole number from 1 on, got 0"),
        ({"preprocessing": ["sclae"]}, "there is no preprocessing 'sclae'"),
        ({"preprocessing": "standard"}, "preprocessing must be 'auto' or a list of names"),
        ({"selectors": []}, "selectors must name at least one, got an empty list"),
        ({"selectors": ["relif"]}, "unknown selector 'relif'"),
        ({"estimators": ["nb", "nb"]}, "estimators names one twice"),
        ({"estimators": ["forest"]}, "there is no estimator 'forest'"),
        ({"estimators": 3}, "estimators must be 'auto' or a list of names, got 3"),
        ({"scoring": None}, "scoring must be the name of a scorer or a callable, got None"),
        ({"scoring": "acuracy"}, "acuracy"),
        (
            {"selectors": ["all"], "max_features": 3},
            "selectors=\\['all'\\] keeps 25 features, and max_features=3 allows fewer",
        ),
        ({"scoring": len, "checkpoint": "here"}, "checkpoint needs scoring by name"),
    ]
    for given, message in cases:
        with pytest.raises(ValueError, match=message):
            ModelSearchCV(**{**SMALL, **given}).fit(X, Y)
    for target, message in (
        (np.zeros(90), "class"),
        (np.r_[1, np.zeros(89)], "an inner fold trains on samples of one class alone"),
    ):
        with pytest.raises(ValueError, match=message):
            ModelSearchCV(**{**SMALL, "scoring": "accuracy"}).fit(X, target)


@pytest.mark.slow
def test_it_is_no_worse_than_draws_on_real_data() -> None:
    values, y = load_breast_cancer(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    quick = {"estimators": ["lda", "ridge", "nb", "knn"], "selectors": ["all", "f", "mrmr"]}
    scores = {}
    for search in SEARCHES:
        found = [
            ModelSearchCV(search=search, cv=folds, n_iter=12, random_state=seed, **quick)
            .fit(values[:150], y[:150])
            .best_score_
            for seed in range(4)
        ]
        scores[search] = np.mean(found)
    assert scores["particle_swarm"] >= scores["random"] - 0.002
    search = ModelSearchCV(n_iter=2, cv=folds, random_state=0, **quick)
    predicted = cross_val_predict(search, values, y, cv=3)
    assert np.mean(predicted == y) > 0.95
