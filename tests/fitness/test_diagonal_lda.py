"""The kernel of diagonal discriminant analysis against the estimator, and against itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler, StandardScaler

from bitsieve import DiagonalLDA, Masks
from bitsieve.fitness import GeneralFitness, compile
from bitsieve.fitness.diagonal_lda import DiagonalLDAFitness


def _table(n: int, p: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    y[:5] = 0
    return rng.normal(size=(n, p)) * rng.lognormal(size=p) + 0.5 * (y[:, None] == np.arange(p)), y


def _masks(p: int, m: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    masks = rng.random((m, p)) < rng.uniform(0.1, 0.9, (m, 1))
    masks[~masks.any(axis=1), 0] = True
    return masks


def test_it_is_the_estimators(isa: str, one_blas_thread: None) -> None:
    for n_classes, p in ((2, 19), (3, 70)):
        X, y = _table(45, p, n_classes, p)
        X[:, 1] = 0.1  # constant
        X[:, 2] = 0.1 * (y == 1)  # constant within each class
        masks = _masks(p, 5, p)
        given = (np.arange(1.0, n_classes + 1) / np.arange(n_classes + 1).sum()).tolist()
        models: list[Any] = [
            DiagonalLDA(),
            DiagonalLDA(priors=given, var_smoothing=0.1),
            make_pipeline(StandardScaler(), DiagonalLDA()),
            make_pipeline(RobustScaler(), DiagonalLDA()),
        ]
        last = "roc_auc" if n_classes == 2 else "average_precision"
        for model in models:
            for scoring in ("accuracy", "neg_log_loss", last):
                fitness = compile(model, X, y, cv=3, scoring=scoring, n_jobs=1)
                assert isinstance(fitness, DiagonalLDAFitness)
                expected = GeneralFitness(fitness.problem, "asked for").evaluate_splits(masks)
                found = fitness.evaluate_splits(masks)
                np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
                assert fitness.n_declined == 0


def test_batches_flips_and_single_masks_agree_in_every_bit() -> None:
    X, y = _table(60, 130, 3)
    X = np.round(X, 1)
    masks = _masks(130, 40)
    for options in ({}, {"resample": True, "n_repeats": 2}):
        fitness = compile(DiagonalLDA(), X, y, cv=4, n_jobs=1, **options)
        together = fitness.evaluate_splits(masks, 3)
        for m in range(0, 40, 7):
            np.testing.assert_array_equal(
                fitness.evaluate_splits(masks[m : m + 1], 3)[0], together[m]
            )
        near = Masks.neighbors(masks[0], 130)
        np.testing.assert_array_equal(
            fitness.evaluate_splits(near, 3), fitness.evaluate_splits(near.to_bool(), 3)
        )


def test_a_class_that_a_training_part_lacks_is_never_predicted() -> None:
    X, y = _table(30, 4, 3)
    others = np.flatnonzero(y != 1)
    splits = [(others[:15], np.r_[others[15:], np.flatnonzero(y == 1)])]
    fitness = compile(DiagonalLDA(), X, y, cv=splits, n_jobs=1)
    words = Masks.from_bool(np.ones((1, 4), bool)).words
    classes, values = fitness._core.outputs(words, np.zeros(1, np.uint64), 1)
    model = DiagonalLDA().fit(X[splits[0][0]], y[splits[0][0]])
    np.testing.assert_array_equal(classes[0], model.predict(X[splits[0][1]]))
    np.testing.assert_allclose(
        values[0][:, [0, 2]], model.predict_proba(X[splits[0][1]]), atol=1e-12
    )
    assert (values[0][:, 1] == 0).all()
    fitness = compile(DiagonalLDA(priors=[0.2, 0.3, 0.5]), X, y, cv=splits, n_jobs=1)
    declined = np.zeros(1, bool)
    fitness._core.outputs(words, np.zeros(1, np.uint64), 1, declined)
    assert declined.all()


def test_what_it_does_not_serve() -> None:
    X, y = _table(30, 4, 3)
    refused: list[tuple[Any, Any, str]] = [
        (DiagonalLDA(priors=[0.5, 0.5, 0.5]), X, "priors that are not positive or do not sum to 1"),
        (DiagonalLDA(var_smoothing=0), X, "var_smoothing that is not above 0 has no kernel"),
        (
            make_pipeline(StandardScaler(), DiagonalLDA()),
            X.astype(np.float32),
            "a scaler that computes in float32 has no kernel; give float64",
        ),
    ]
    for model, data, reason in refused:
        fitness = compile(model, data, y, n_jobs=1)
        assert fitness.kernel is None
        assert reason in str(fitness.fallback_reason)
