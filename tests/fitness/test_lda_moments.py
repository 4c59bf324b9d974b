"""Linear discriminant analysis of many samples: on moments of the training parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each, each_isa
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from twin_lda import scores as twin_scores

from bitsieve import Masks, _core
from bitsieve.fitness import GeneralFitness, compile

LDA = LinearDiscriminantAnalysis
SPLITS = [
    KFold(4, shuffle=True, random_state=0),
    RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    ShuffleSplit(3, random_state=0),
]


@pytest.fixture(autouse=True)
def _needs_fma() -> None:
    if not _core.has_fma():
        pytest.skip("this instruction set has no fused multiply-add")


def _table(n: int, p: int, n_classes: int, apart: float = 1.0) -> tuple[Any, Any, Any]:
    """Values, classes and masks."""
    rng = np.random.default_rng([n, p])
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, p)) + apart * (y[:, None] == np.arange(p) % n_classes)
    X = X * rng.lognormal(size=p) + 10 * rng.normal(size=p)
    masks = rng.random((6, p)) < np.linspace(0.2, 1, 6)[:, None]
    masks[:, 0] = True
    return X, y, masks


def _outputs(fitness: Any, masks: Any, n_jobs: int = 1) -> tuple[Any, Any, Any]:
    declined = np.zeros(len(masks), bool)
    seeds = np.zeros(len(masks), np.uint64)
    classes, values = fitness._core.outputs(Masks.from_bool(masks).words, seeds, n_jobs, declined)
    return classes, values, declined


@each("cv", SPLITS)
@each("n_classes", [2, 3])
@each("apart", [1.0, 30.0, 1e4])  # from 30 on what is between the classes hides what is within
def test_decision_values_are_the_twins(apart: float, n_classes: int, cv: Any) -> None:
    X, y, masks = _table(300, 12, n_classes, apart)
    for model, shrinkage in ((LDA("lsqr", shrinkage=0.1), 0.1), (LDA("lsqr"), 0.0), (LDA(), 0.0)):
        scoring = "roc_auc" if n_classes == 2 else "neg_log_loss"
        fitness = compile(model, X, y, cv=cv, scoring=scoring, n_jobs=1)
        assert fitness.kernel == "lda"
        for _ in range(2):  # before moments are kept, and after
            classes, values, declined = _outputs(fitness, masks)
        assert not declined.any()
        for m, mask in enumerate(masks):
            svd = {"weights_of_svd": model.solver == "svd"}
            expected = np.concatenate(
                [
                    twin_scores(X[:, mask], y, split, shrinkage=shrinkage, **svd)[0]
                    for split in fitness.splits()
                ]
            )
            np.testing.assert_array_equal(classes[m], expected.argmax(axis=1))
            if n_classes == 2:
                expected = expected[:, 1:] - expected[:, :1]
            else:
                expected = np.exp(expected - expected.max(axis=1, keepdims=True))
                expected /= expected.sum(axis=1, keepdims=True)
            atol = 1e-9 * np.abs(expected).max()
            np.testing.assert_allclose(values[m], expected, rtol=0, atol=atol)


@each("model", [LDA(), LDA("eigen", shrinkage=0.2), make_pipeline(StandardScaler(), LDA())])
def test_it_is_scikit_learns(model: Any, one_blas_thread: None) -> None:
    X, y, masks = _table(240, 9, 3)
    X[:, 3] = np.round(X[:, 3])
    for scoring in ("accuracy", "neg_log_loss"):
        fitness = compile(model, X, y, cv=SPLITS[1], scoring=scoring, n_jobs=1)
        expected = GeneralFitness(fitness.problem, "asked for").evaluate_splits(masks)
        found = fitness.evaluate_splits(masks)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
        assert fitness.n_declined == 0


@each_isa
@each("cv", SPLITS)
def test_kept_or_made_for_a_mask_the_bits_are_the_same(isa: str, cv: Any) -> None:
    if not _core.has_fma():
        return
    X, y, masks = _table(200, 40, 3)
    X[:, 1] = 7.0  # constant
    X[:, 2] = y  # constant within the classes
    for model in (LDA("lsqr", shrinkage=0.1), make_pipeline(StandardScaler(), LDA("lsqr", 0.3))):
        fitness = compile(model, X, y, cv=cv, scoring="neg_log_loss", n_jobs=1)
        _outputs(fitness, np.repeat(masks, 30, axis=0))
        together = _outputs(fitness, masks)[1]
        for m in range(len(masks)):
            fresh = compile(model, X, y, cv=cv, scoring="neg_log_loss", n_jobs=1)
            np.testing.assert_array_equal(_outputs(fresh, masks[m : m + 1], 2)[1][0], together[m])


def test_a_column_that_is_constant_is_declined_without_shrinkage() -> None:
    X, y, masks = _table(200, 10, 2)
    X[:, 4] = 0.1
    X[:, 5] = X[:, 6]
    masks = np.zeros((4, 10), bool)
    for row, features in enumerate([[0, 1], [0, 4], [5, 6], [5, 7]]):
        masks[row, features] = True
    for model in (LDA(), LDA("lsqr")):
        fitness = compile(model, X, y, cv=3, n_jobs=1)
        np.testing.assert_array_equal(_outputs(fitness, masks)[2], [False, True, True, False])
