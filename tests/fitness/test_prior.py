"""What is no model's own, for classes and for numbers: by the model that looks at no feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bitsieve import Masks, _core
from bitsieve.data import Table
from bitsieve.fitness import CompiledFitness, Problem, compile, register_kernel
from bitsieve.fitness.compiled import refusal_of_data

NUMBERS = (
    "r2",
    "neg_mean_squared_error",
    "neg_median_absolute_error",
    "neg_mean_absolute_percentage_error",  # scikit-learn's, on the outputs
)
CLASSES = ("accuracy", "balanced_accuracy", "f1_macro", "neg_log_loss", "roc_auc", "rand_score")


class _Prior(CompiledFitness):
    kernel = "prior"
    _core_class = _core.PriorFitness


class _Kernel:
    name = "prior"
    estimators = (DummyClassifier, DummyRegressor)
    make = _Prior
    takes_scaler = True

    def refusal(self, problem: Problem) -> str | None:
        reads: Any = ("classes", "probabilities", "numbers")
        return refusal_of_data(problem, reads, weights=True)


def _data(kind: str) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(41, 70))
    if kind == "numbers":
        return DummyRegressor(), X, rng.lognormal(size=41)
    return DummyClassifier(), X, np.array(["a", "b"])[(rng.random(41) < 0.4).astype(int)]


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_any_target_is_scored_as_by_scikit_learn(kind: str) -> None:
    estimator, X, y = _data(kind)
    near = Masks.neighbors(np.arange(70) == 3, 70)  # one of them is empty
    seeds = np.arange(70, dtype=np.uint64) % 3
    if kind == "numbers":
        fixed: tuple[Any, ...] = (4, KFold(4), ShuffleSplit(3, test_size=0.3, random_state=0))
    else:
        fixed = (4, ShuffleSplit(3, test_size=0.3, random_state=0))
    settings: list[dict[str, Any]] = [{"cv": cv} for cv in fixed]
    settings.append({"cv": 3, "n_repeats": 2, "resample": True})
    for scoring in NUMBERS if kind == "numbers" else CLASSES:
        for options in settings:
            with register_kernel(_Kernel()):
                fitness = compile(estimator, X, y, scoring=scoring, n_jobs=2, **options)
            assert (type(fitness), fitness.kernel) == (_Prior, "prior")
            found = fitness.evaluate_splits(near, seeds)
            np.testing.assert_array_equal(fitness.evaluate_splits(near.to_bool(), seeds), found)
            for m in range(5):
                splits = fitness.splits(int(seeds[m]))
                expected = cross_val_score(estimator, X, y, cv=splits, scoring=scoring)
                np.testing.assert_allclose(found[m], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_weights_and_a_scaler_before_the_model(kind: str) -> None:
    estimator, X, y = _data(kind)
    weights = np.random.default_rng(1).integers(0, 5, 41) * 0.25
    masks = np.array([[False] * 70, [True, False] * 35])
    pipeline = make_pipeline("passthrough", make_pipeline(StandardScaler(), estimator))
    for options in ({"cv": 3}, {"cv": 3, "n_repeats": 2, "resample": True}):
        for model in (estimator, pipeline):
            for scoring in ("r2",) if kind == "numbers" else ("accuracy", "neg_log_loss"):
                given: dict[str, Any] = {"scoring": scoring, "sample_weight": weights, **options}
                with register_kernel(_Kernel()):
                    fitness = compile(model, X, y, **given)
                assert type(fitness) is _Prior
                assert type(fitness.problem.model) is type(estimator)
                assert (fitness.problem.scaler is None) == (model is estimator)
                general = compile(model, X, y, **given)
                assert general.kernel is None
                np.testing.assert_allclose(
                    fitness.evaluate_splits(masks, 3), general.evaluate_splits(masks, 3), rtol=1e-12
                )


def test_masks_that_a_kernel_declines_are_scored_by_scikit_learn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 9)), np.arange(40) % 2
    masks = np.random.default_rng(1).random((12, 9)) < 0.5
    near = Masks.neighbors(masks[0], 9)
    for scoring in ("roc_auc", "balanced_accuracy", "rand_score"):
        given: dict[str, Any] = {"scoring": scoring, "cv": 3, "n_repeats": 2, "resample": True}
        fitness = compile(KNeighborsClassifier(3), X, y, **given)
        expected = fitness.evaluate_splits(masks, 7), fitness.evaluate_splits(near, 7)
        core = fitness._core  # type: ignore[attr-defined]

        class Declining:
            n_tests, n_values, kind, may_decline = core.n_tests, core.n_values, core.kind, True

            def _decline(self, words: Any, declined: Any) -> Any:
                declined[:] = words[:, 0] % 3 == 1
                return declined

            def evaluate(self, *arguments: Any) -> Any:
                scores = core.evaluate(*arguments)  # noqa: B023
                scores[self._decline(arguments[0], arguments[-1])] = np.nan
                return scores

            def evaluate_flips(self, *arguments: Any) -> Any:
                scores = core.evaluate_flips(*arguments)  # noqa: B023
                scores[self._decline(near.words, arguments[-1])] = np.nan
                return scores

            def outputs(self, *arguments: Any) -> Any:
                classes, values = core.outputs(*arguments)  # noqa: B023
                values[self._decline(arguments[0], arguments[-1])] = np.nan
                return classes, values

        monkeypatch.setattr(fitness, "_core", Declining())
        np.testing.assert_allclose(fitness.evaluate_splits(masks, 7), expected[0], rtol=1e-12)
        np.testing.assert_allclose(fitness.evaluate_splits(near, 7), expected[1], rtol=1e-12)
        n_declined = sum(
            int((m.words[:, 0] % 3 == 1).sum()) for m in (Masks.from_bool(masks), near)
        )
        assert fitness.n_declined == n_declined > 0  # type: ignore[attr-defined]


def test_a_model_of_no_pairs_speaks_of_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("numbers", "classes"):
        estimator, X, y = _data(kind)
        with register_kernel(_Kernel()):
            # Squares that overflow in float32 are no matter where none is taken.
            fitness = compile(estimator, X * 1e25, y, scoring=("r2", "accuracy")[kind == "classes"])
            assert fitness.kernel == "prior"
            assert 0 < fitness.seconds_per_evaluation() < 10  # type: ignore[operator]
            monkeypatch.setattr("bitsieve.fitness.compiler._MANY_STEPS", 41 * 70)
            monkeypatch.setattr(_Prior, "seconds_per_evaluation", lambda self: 12.0)
            message = "one evaluation will take about 12 seconds, and a search takes thousands"
            with pytest.warns(UserWarning, match=message):
                compile(estimator, X, y, scoring=("r2", "accuracy")[kind == "classes"])
            monkeypatch.setattr("bitsieve.fitness.compiler._MANY_STEPS", 41 * 70 + 1)
            compile(estimator, X, y, scoring=("r2", "accuracy")[kind == "classes"])
            monkeypatch.undo()


def test_outputs_are_scored_in_batches_of_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 41 splits tests one sample: a mask has 41 outputs, not 41 x 41."""
    estimator, X, y = _data("numbers")
    with register_kernel(_Kernel()):
        scoring = "neg_mean_absolute_percentage_error"
        fitness = compile(estimator, X, y, cv=KFold(41), scoring=scoring, n_jobs=1)
    core, sizes = fitness._core, []  # type: ignore[attr-defined]

    class Counted:
        n_tests, n_values, kind, evaluate = core.n_tests, core.n_values, core.kind, core.evaluate
        may_decline = core.may_decline

        def outputs(self, words: Any, *arguments: Any) -> Any:
            sizes.append(len(words))
            return core.outputs(words, *arguments)

    monkeypatch.setattr(fitness, "_core", Counted())
    monkeypatch.setattr("bitsieve.fitness.compiled._OUTPUT_NUMBERS", 4 * 41)
    fitness.evaluate(X[:10] > 0)
    assert (core.n_tests, sizes) == (41, [4, 4, 2])


def test_numbers_are_refused_where_they_cannot_serve() -> None:
    _, X, y = _data("numbers")
    table = Table(X, y, task="regression")
    codes = (y > 1).astype(np.int32)
    fresh: dict[str, Any] = {"n_repeats": 1, "n_folds": 3, "stratified": False}
    refused = [
        (_core.CentroidFitness, {"target": y, "n_classes": 0}, "must be classes"),
        (
            _core.GaussianBayesFitness,
            {"target": y, "n_classes": 0, "var_smoothing": 0.0},
            "must be classes",
        ),
        (_core.PriorFitness, {"target": y, "n_classes": 2}, "n_classes must be 0"),
        (_core.PriorFitness, {"target": codes, "n_classes": 0}, "n_classes must lie in"),
        (_core.PriorFitness, {"target": y[1:], "n_classes": 0}, "one finite number a sample"),
        (_core.PriorFitness, {"target": y * np.nan, "n_classes": 0}, "one finite number a sample"),
        (_core.PriorFitness, {"target": y, "n_classes": 0, "stratified": True}, "stratified"),
    ]
    for kind, settings, message in refused:
        with pytest.raises(ValueError, match=message):
            kind(table.core, **(fresh | settings))
