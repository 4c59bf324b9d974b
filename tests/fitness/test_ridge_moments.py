"""Ridge regression of many samples and few features: on moments of the training parts."""

from __future__ import annotations

from typing import Any

import numpy as np
from each import each
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit
from test_solver_gram import ISAS

import bitsieve
from bitsieve import Masks
from bitsieve.fitness import compile

Array = np.ndarray[Any, Any]


def _problem(n: int, p: int, classes: bool) -> tuple[Array, Array]:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-2, 2, p) + rng.normal(size=p)
    y = X[:, 0] / X[:, 0].std() + rng.normal(size=n) + 5
    return X, np.digitize(y, np.quantile(y, [0.3, 0.6])) if classes else y


def _outputs(fitness: Any, masks: Array) -> tuple[Array | None, Array]:
    words = Masks.from_bool(masks).words
    return fitness._core.outputs(words, np.zeros(len(masks), np.uint64), 1)


@each("estimator", [Ridge(), Ridge(fit_intercept=False), LinearRegression(), RidgeClassifier()])
@each(
    "cv",
    [
        KFold(5),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        ShuffleSplit(3, random_state=0),
    ],
)
@each("weighted", [False, True])
def test_outputs_are_those_of_scikit_learn(estimator: Any, cv: Any, weighted: bool) -> None:
    n, p = 300, 12
    X, y = _problem(n, p, isinstance(estimator, RidgeClassifier))
    rng = np.random.default_rng(1)
    weights = rng.random(n) * (rng.random(n) < 0.9) if weighted else None
    if isinstance(cv, ShuffleSplit):
        cv = list(cv.split(X))
    fitness = compile(estimator, X, y, cv=cv, sample_weight=weights, n_jobs=1)
    assert fitness.kernel == "ridge"
    masks = np.concatenate([np.ones((1, p), bool), rng.random((3, p)) < 0.5])
    masks[:, 0] = True
    classes, values = _outputs(fitness, masks)[:2]
    for m, mask in enumerate(masks):
        begin = 0
        for train, test in fitness.splits(0):
            given = None if weights is None else weights[train]
            model = estimator.fit(X[np.ix_(train, mask)], y[train], sample_weight=given)
            own = slice(begin, begin + len(test))
            begin += len(test)
            rows = X[np.ix_(test, mask)]
            if classes is not None:
                expected = model.decision_function(rows)
                np.testing.assert_array_equal(classes[m, own], model.predict(rows))
            else:
                expected = model.predict(rows)[:, None]
            close = 1e-9 * np.abs(expected).max()
            np.testing.assert_allclose(values[m, own], expected, rtol=0, atol=close)


@each("resample", [False, True])
def test_no_bit_depends_on_what_is_kept(resample: bool) -> None:
    X, y = _problem(400, 30, False)
    masks = np.random.default_rng(2).random((12, 30)) < 0.3
    before = bitsieve.get_isa()
    first: Array | None = None
    options: dict[str, Any] = {"cv": 4, "n_repeats": 2, "resample": resample, "random_state": 0}
    try:
        for isa in ISAS:
            bitsieve.set_isa(isa)
            alone = [
                compile(Ridge(), X, y, n_jobs=1, **options).evaluate_splits(mask[None], seeds=3)
                for mask in masks
            ]
            first = np.concatenate(alone) if first is None else first
            np.testing.assert_array_equal(np.concatenate(alone), first)
            for n_jobs in (1, 3):
                fitness = compile(Ridge(), X, y, n_jobs=n_jobs, **options)
                for _ in range(2):  # the second time moments are surely kept
                    np.testing.assert_array_equal(fitness.evaluate_splits(masks, seeds=3), first)
                backwards = fitness.evaluate_splits(masks[::-1], seeds=np.arange(12)[::-1])
                forwards = fitness.evaluate_splits(masks, seeds=np.arange(12))
                np.testing.assert_array_equal(backwards[::-1], forwards)
    finally:
        bitsieve.set_isa(before)
