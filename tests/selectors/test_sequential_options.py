"""SequentialFeatureSelector beyond scikit-learn: sizes, forced features, groups, stored runs."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import f_classif
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bitsieve import Masks, SequentialFeatureSelector
from bitsieve.evaluation import nested_cross_validate
from bitsieve.fitness import compile as compile_fitness
from bitsieve.selectors import _cost
from bitsieve.selectors._sizes import within_one_standard_error

_NB = GaussianNB()


@pytest.fixture(scope="module")
def cancer() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[::2, :12], y[::2]


class _ByHand(SequentialFeatureSelector):
    """Scores of four splits written down for five features that come in their order.

    In 64ths: means 45, 50, 56, 58, 58; the standard error of the best is sqrt(18 / 4) = 2.1, so
    that 56 is near enough and 50 is not. Scores of other masks are far lower.
    """

    SPLITS = (
        np.array(
            [[45, 45, 45, 45], [48, 52, 50, 50], [56, 57, 56, 55], [60, 63, 55, 54], [58] * 4],
            dtype=float,
        )
        / 64
    )

    def _make_fitness(self, table: Any, key: Any, *, groups: Any, sample_weight: Any) -> Any:
        by_hand = self.SPLITS

        class Fitness:
            n_features, n_splits, resample, kernel = 5, 4, False, "by hand"

            def evaluate_splits(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
                rows = masks.to_bool()
                size = rows.sum(axis=1)
                in_order = rows[np.arange(len(rows)), size - 1] & (
                    rows.cumsum(axis=1)[np.arange(len(rows)), size - 1] == size
                )
                return np.where(in_order[:, None], by_hand[size - 1], size[:, None] / 64.0)

            def evaluate(self, masks: Masks, seeds: Any = 0) -> np.ndarray:
                return self.evaluate_splits(masks).mean(axis=1)

        return Fitness()


def _by_hand(**options: Any) -> SequentialFeatureSelector:
    X = np.random.default_rng(0).normal(size=(20, 5))
    return _ByHand(_NB, **options).fit(X, np.arange(20) % 2)


def test_without_an_error_the_best_is_taken_the_smallest_of_equal_ones() -> None:
    scores, wanted = np.array([0.7, 0.9, 0.9, 0.8]), np.ones(4, dtype=bool)
    assert within_one_standard_error(scores, np.zeros(4), wanted) == 1
    wanted[1] = False
    assert within_one_standard_error(scores, np.zeros(4), wanted) == 2
    assert within_one_standard_error(scores, np.array([9.0, 9.0, 0.125, 9.0]), wanted) == 2


def test_the_smallest_within_one_standard_error() -> None:
    error = np.sqrt(18 / 4) / 64
    for direction in ("forward", "backward"):
        best = _by_hand(n_features_to_select=(1, 5), direction=direction)
        assert best.n_features_to_select_ == 4  # of equal scores the smaller size
        small = _by_hand(
            n_features_to_select=(1, 5), size_rule="one_standard_error", direction=direction
        )
        assert small.get_support(indices=True).tolist() == [0, 1, 2]
        assert small.observed_score_ == small.best_score_ == 56 / 64
        assert small.best_observed_score_ == 58 / 64
        assert small.finalists_[0].mask.indices_of(0).tolist() == [0, 1, 2]
        assert small.restarts_[0].support.tolist() == small.support_.tolist()
        results = small.cv_results_
        assert results["n_features"].tolist() == [1, 2, 3, 4, 5]
        np.testing.assert_allclose(results["mean_test_score"], _ByHand.SPLITS.mean(axis=1))
        np.testing.assert_allclose(results["std_test_score"], _ByHand.SPLITS.std(axis=1))
        assert results["standard_error"][3] == pytest.approx(error)
        assert results["split2_test_score"].tolist() == _ByHand.SPLITS[:, 2].tolist()
        assert [list(f) for f in results["features"]] == [list(range(k)) for k in range(1, 6)]
    within = _by_hand(n_features_to_select=(4, 5), size_rule="one_standard_error")
    assert within.n_features_to_select_ == 4  # not below the range
    penalized = _by_hand(n_features_to_select=(1, 5), size_penalty=3 / 64)
    assert penalized.n_features_to_select_ == 3
    assert penalized.best_score_ == pytest.approx(56 / 64)


@each("direction", ["forward", "backward"])
def test_results_of_every_size_are_scikit_learns_scores(
    cancer: tuple[np.ndarray, np.ndarray], direction: Any
) -> None:
    X, y = cancer
    selector = SequentialFeatureSelector(
        _NB, n_features_to_select=(1, 8), direction=direction, floating=True, random_state=0
    ).fit(X, y)
    results = selector.cv_results_
    rows = pd.DataFrame(results)
    assert rows["n_features"].tolist() == sorted(set(rows["n_features"]))
    for row, features in enumerate(results["features"]):
        scores = cross_val_score(_NB, X[:, features], y)
        assert results["n_features"][row] == len(features)
        assert results["mean_test_score"][row] == pytest.approx(scores.mean(), abs=1e-12)
        assert results["standard_error"][row] == pytest.approx(scores.std(ddof=1) / 5**0.5)
        np.testing.assert_allclose(rows.filter(like="split").to_numpy()[row], scores)
    wanted = rows["n_features"] <= 8
    best = rows["mean_test_score"][wanted].max()
    assert selector.observed_score_ == best
    assert selector.n_features_ == rows["n_features"][rows["mean_test_score"] == best].min()


def _plain_forward(
    X: np.ndarray, y: np.ndarray, units: list[list[int]], always: list[int], n: int
) -> list[int]:
    """Forward selection of whole units, by scikit-learn's scores."""
    chosen = list(always)
    left = list(units)
    for _ in range(n):
        scores = [cross_val_score(_NB, X[:, sorted(chosen + u)], y).mean() for u in left]
        chosen += left.pop(int(np.argmax(scores)))
    return sorted(chosen)


def test_groups_move_together_and_forced_features_stay(
    cancer: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = cancer
    X = X[:, :8]
    names = [f"g{j}" for j in range(8)]
    options: dict[str, Any] = {
        "forced_features": ["g3"],
        "forbidden_features": [0],
        "feature_groups": [["g1", "g6"], [2, 7]],
    }
    units = [[1, 6], [2, 7], [4], [5]]
    frame = pd.DataFrame(X, columns=names)
    for size in (2, 3, 5):
        found = SequentialFeatureSelector(_NB, n_features_to_select=size, **options).fit(frame, y)
        wanted = _plain_forward(X, y, units, [3], size - 1)
        assert found.get_support(indices=True).tolist() == wanted
        assert [len(f) for f in found.cv_results_["features"]] == [*found.cv_results_["n_features"]]
    ranged = SequentialFeatureSelector(
        _NB, n_features_to_select=(1, 5), direction="backward", **options
    ).fit(frame, y)
    assert ranged.support_[[3, 0]].tolist() == [True, False]
    assert ranged.cv_results_["features"][0].tolist() == [3]  # what is forced, alone
    for features in ranged.cv_results_["features"]:
        assert (1 in features) == (6 in features)
        assert (2 in features) == (7 in features)


def test_starts_from_names_and_masks(cancer: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = cancer
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
    mask = np.isin(np.arange(12), [2, 5])
    for start in (["g2", "g5"], [5, 2], mask):
        found = SequentialFeatureSelector(_NB, n_features_to_select=3, start=start).fit(frame, y)
        assert found.support_[[2, 5]].all()
        assert found.cv_results_["n_features"].tolist() == [2, 3]
        assert found.n_evaluations_ == 1 + 10


def test_starts_from_a_filter(cancer: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = cancer
    order = np.argsort(-f_classif(X, y)[0])
    forward = SequentialFeatureSelector(_NB, n_features_to_select=5, start="f").fit(X, y)
    assert forward.cv_results_["features"][0].tolist() == sorted(order[:2])
    assert forward.cv_results_["n_features"].tolist() == [2, 3, 4, 5]
    backward = SequentialFeatureSelector(
        _NB, n_features_to_select=(3, 6), start="f", direction="backward"
    ).fit(X, y)
    assert backward.cv_results_["features"][3].tolist() == sorted(order[:6])
    assert backward.cv_results_["n_features"][0] == 3
    with pytest.raises(ValueError, match="start='g' is no filter"):
        SequentialFeatureSelector(_NB, start="g").fit(X, y)


def test_steps_may_be_a_fraction(cancer: tuple[np.ndarray, np.ndarray]) -> None:
    found = SequentialFeatureSelector(
        _NB, n_features_to_select=1, step=0.25, direction="backward"
    ).fit(*cancer)
    assert found.cv_results_["n_features"].tolist() == [1, 3, 6, 9, 12]


def test_a_limit_may_end_it_anywhere(cancer: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = cancer
    with pytest.warns(ConvergenceWarning) as warned:
        one = SequentialFeatureSelector(_NB, step=3, max_evaluations=12).fit(X, y)
    assert str(warned[0].message) == (
        "max_evaluations=12 ended the search at 3 features, not at the 6 of "
        "n_features_to_select='auto': allow it more, or begin nearer with start"
    )
    assert warned[0].filename == __file__
    assert one.n_features_ == 3  # of which the search has no score yet
    assert one.stop_reason_ == {"max_evaluations": 12}
    assert len(one.cv_results_["features"]) == 0
    scores = [cross_val_score(_NB, X[:, [j]], y).mean() for j in range(12)]
    best = np.sort(np.argsort(-np.array(scores), kind="stable")[:3])
    assert one.get_support(indices=True).tolist() == best.tolist()
    two = SequentialFeatureSelector(_NB, n_features_to_select=(5, 6), max_evaluations=30)
    with pytest.warns(
        ConvergenceWarning, match=r"2 features, not at n_features_to_select=\(5, 6\)"
    ):
        assert two.fit(X, y).n_features_ == 2
    back = SequentialFeatureSelector(
        _NB, n_features_to_select=3, direction="backward", max_evaluations=30,
        forced_features=[4], feature_groups=[[0, 1]],
    )  # fmt: skip
    said = "max_evaluations=30 ended the search at 8 features, not at n_features_to_select=3: "
    with pytest.warns(ConvergenceWarning, match=said):
        assert back.fit(X, y).n_features_ in (8, 9)
    for options, said in (
        ({"tol": 1e-6, "max_evaluations": 12}, "evaluations=12 .* 1 feature, before tol=1e-06 did"),
        (
            {"tol": -1, "max_evaluations": 24, "direction": "backward"},
            "max_evaluations=24 ended the search at 1[0-2] features, before tol=-1 did",
        ),
        ({"tol": 1e-6, "max_time": 1e-6}, "max_time=1e-06 .* 1 feature, before tol=1e-06 did"),
        (
            {"n_features_to_select": (1, 6), "patience": 3, "max_evaluations": 12},
            "at 1 feature, before patience=3 did: allow it more, or begin nearer with start",
        ),
    ):
        with pytest.warns(ConvergenceWarning, match=said):
            SequentialFeatureSelector(_NB, **options).fit(X, y)
    with warnings.catch_warnings():  # it got there, or it was not asked to
        warnings.simplefilter("error", ConvergenceWarning)
        for options in (
            {"n_features_to_select": 2, "max_evaluations": 23},
            {"n_features_to_select": (1, 6), "max_evaluations": 23},
            {"tol": 0.5, "max_evaluations": 30},  # of which it needs 23
            {"n_features_to_select": 2, "tol": 1e-6, "patience": 1, "max_evaluations": 23},
            {"n_features_to_select": 6, "callbacks": [lambda step: step.iteration == 1]},
        ):
            assert SequentialFeatureSelector(_NB, **options).fit(X, y).n_features_ <= 2


def test_too_little_time_is_said(cancer: tuple[np.ndarray, np.ndarray]) -> None:
    search = SequentialFeatureSelector(_NB, n_features_to_select=6, max_time=1e-6)
    with pytest.warns(
        ConvergenceWarning, match="max_time=1e-06 ended the search at 1 feature, not"
    ):
        assert search.fit(*cancer).n_features_ == 1


def test_groups_of_samples_stay_in_one_fold(cancer: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = cancer
    groups = np.arange(len(X)) // 7
    by_number = SequentialFeatureSelector(_NB, n_features_to_select=3).fit(X, y, groups=groups)
    fitness = compile_fitness(_NB, X, y, cv=5, groups=groups)
    assert by_number.observed_score_ == fitness.evaluate(by_number.support_[None])[0]
    splitter = SequentialFeatureSelector(_NB, n_features_to_select=3, cv=GroupKFold(4))
    splitter.fit(X, y, groups=groups)
    scores = cross_val_score(_NB, X[:, splitter.support_], y, cv=GroupKFold(4), groups=groups)
    assert splitter.observed_score_ == pytest.approx(scores.mean(), abs=1e-12)


class _Strike:
    """A callback that is Ctrl-C after some steps."""

    def __init__(self, after: int) -> None:
        self.after = after

    def __call__(self, iteration: Any) -> None:
        if iteration.iteration + 1 == self.after:
            raise KeyboardInterrupt


@each(
    "options",
    [
        {"n_features_to_select": (1, 7), "size_rule": "one_standard_error"},
        {"n_features_to_select": (4, 9), "floating": True, "direction": "backward"},
        {"n_features_to_select": 6, "plus_l_minus_r": (3, 1)},
    ],
)
def test_goes_on_bit_for_bit_after_ctrl_c(
    cancer: tuple[np.ndarray, np.ndarray], options: dict[str, Any], tmp_path: Path
) -> None:
    X, y = cancer
    options = {**options, "random_state": 5}
    whole = SequentialFeatureSelector(_NB, **options).fit(X, y)
    folder = tmp_path / str(len(list(tmp_path.iterdir())))
    struck = SequentialFeatureSelector(_NB, checkpoint=folder, callbacks=[_Strike(4)], **options)
    with pytest.raises(KeyboardInterrupt):
        struck.fit(X, y)
    assert struck.stop_reason_ == {"interrupted": True}
    # The best so far is kept: the answer of a run that four steps end.
    best = {**options, "size_rule": "best"}
    first = SequentialFeatureSelector(_NB, callbacks=[lambda i: i.iteration == 3], **best)
    first.fit(X, y)
    np.testing.assert_array_equal(struck.support_, first.support_)
    assert struck.observed_score_ == first.observed_score_
    for name in ("n_features", "mean_test_score"):
        np.testing.assert_allclose(
            struck.cv_results_[name], first.cv_results_[name], rtol=0, atol=1e-15
        )
    assert np.isnan(struck.cv_results_["split0_test_score"]).all()
    again = SequentialFeatureSelector(_NB, checkpoint=folder, **options).fit(X, y)
    np.testing.assert_array_equal(again.support_, whole.support_)
    assert again.best_score_ == whole.best_score_
    assert again.n_evaluations_ == whole.n_evaluations_
    for name, column in whole.history_.items():
        if name != "seconds":
            np.testing.assert_array_equal(again.history_[name], column)
    for name, column in whole.cv_results_.items():
        if name != "features":
            np.testing.assert_array_equal(again.cv_results_[name], column)
    finished = SequentialFeatureSelector(_NB, checkpoint=folder, **options).fit(X, y)
    np.testing.assert_array_equal(finished.support_, whole.support_)
    assert finished.best_score_ == whole.best_score_


def test_says_what_it_takes_where_no_kernel_serves(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0)
    with caplog.at_level(logging.INFO, "bitsieve"), warnings.catch_warnings():
        warnings.simplefilter("error")
        SequentialFeatureSelector(tree, n_features_to_select=2, n_jobs=1).fit(X, y)
        said = [r.message for r in caplog.records if hasattr(r, "search_seconds")]
        caplog.clear()
        SequentialFeatureSelector(_NB, n_features_to_select=2).fit(X, y)
        assert not [r for r in caplog.records if hasattr(r, "search_seconds")]
    assert "about 7 evaluations by scikit-learn" in said[0]
    assert "DecisionTreeClassifier" in said[0]
    monkeypatch.setattr(_cost, "_LONG", 0.0)
    for options, bound in (
        ({"n_features_to_select": (1, 3)}, "at most 9"),
        ({"floating": True, "n_features_to_select": 2}, "at least 7"),
        ({"tol": 0.5}, "at most 9"),
        ({"floating": True, "n_features_to_select": (1, 2), "patience": 1}, "about 7"),
        ({"direction": "backward", "n_features_to_select": 2}, "about 8"),  # all, 4 of 3, 3 of 2
        ({"floating": True, "n_features_to_select": 2, "max_evaluations": 50}, "at most 50"),
    ):
        with pytest.warns(UserWarning, match=f"{bound} evaluations") as warned:
            SequentialFeatureSelector(tree, n_jobs=1, **options).fit(X, y)
        assert warned[0].filename == __file__


@each(
    ("options", "word"),
    [
        ({"n_features_to_select": (3, 2)}, "n_features_to_select"),
        ({"n_features_to_select": (1, 2, 3)}, "n_features_to_select"),
        ({"n_features_to_select": (1.0, 2)}, "n_features_to_select"),
        ({"n_features_to_select": 0.1}, "n_features_to_select=0.1 of 4 features is none"),
        ({"n_features_to_select": 1.5}, "n_features_to_select"),
        ({"direction": "up"}, "direction"),
        ({"size_rule": "parsimonious"}, "size_rule"),
        ({"tol": -0.1}, "tol"),
        ({"tol": "little"}, "tol"),
        ({"step": 1.5}, "step"),
        ({"floating": True, "resample": True}, "resample"),
        ({"start": [0, 1, 2]}, "start has 3"),
        ({"start": [9]}, "start"),
        ({"forced_features": [0, 1, 2], "n_features_to_select": 2}, "n_features_to_select"),
        (
            {
                "n_features_to_select": (1, 3),
                "size_rule": "one_standard_error",
                "cv": [(np.arange(0, 150, 2), np.arange(1, 150, 2))],
            },
            "two splits",
        ),
    ],
)
def test_says_what_is_wrong(options: dict[str, Any], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        SequentialFeatureSelector(_NB, **options).fit(*load_iris(return_X_y=True))


def test_fresh_folds_are_drawn_for_every_step(cancer: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = cancer
    runs = [
        SequentialFeatureSelector(
            KNeighborsClassifier(1), n_features_to_select=3, resample=True, random_state=seed
        ).fit(X, y)
        for seed in (0, 0, 1)
    ]
    assert runs[0].history_["score"].tolist() == runs[1].history_["score"].tolist()
    assert runs[0].history_["score"].tolist() != runs[2].history_["score"].tolist()


def test_honest_error_of_the_selection(cancer: tuple[np.ndarray, np.ndarray]) -> None:
    """It stands in nested cross-validation as any selector does."""
    X, y = cancer
    selector = SequentialFeatureSelector(RidgeClassifier(), n_features_to_select=3)
    result = nested_cross_validate(selector, RidgeClassifier(), X, y, cv=3, random_state=0)
    assert 0.8 < result.score < 1.0
