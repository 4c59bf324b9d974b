"""A fitness keeps its data: nothing that happens outside changes a score or a fingerprint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from each import each
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bitsieve import Masks
from bitsieve.data import Table
from bitsieve.fitness import compile

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(40, 6))
NOISE = RNG.normal(size=(40, 6))
MASKS = Masks.from_indices([[0, 1, 2], range(6)], 6)


def _frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, copy=False)


@each("estimator", [KNeighborsClassifier(1), DecisionTreeClassifier(max_depth=1)])
@each("form", [np.asarray, _frame, Table])
def test_data_that_change_later(estimator: Any, form: Any) -> None:
    X, y, weights = VALUES.copy(), np.arange(40) % 2, np.ones(40)
    options = {} if isinstance(estimator, KNeighborsClassifier) else {"sample_weight": weights}
    fitness = compile(estimator, form(X), y, resample=True, n_jobs=1, **options)
    before, name = fitness.evaluate(MASKS), fitness.fingerprint()
    other = compile(estimator, form(X.copy()), y.copy(), resample=True, n_jobs=1, **options)
    X[:], y[:], weights[:] = NOISE, 0, 1e9
    assert np.array_equal(fitness.evaluate(MASKS), before)
    assert np.array_equal(other.evaluate(MASKS), before)
    assert name == fitness.fingerprint() == other.fingerprint()


def test_a_promise_instead_of_a_copy() -> None:
    X, y = VALUES.copy(), np.arange(40) % 2
    fitness = compile(KNeighborsClassifier(1), X, y, copy=False)
    assert np.shares_memory(fitness.table.X, X)
    name = fitness.fingerprint()
    X[:] = NOISE
    assert fitness.fingerprint() == name  # taken once
    with pytest.raises(ValueError, match="copy must be True or False, got 'no'"):
        compile(KNeighborsClassifier(1), X, y, copy="no")


def test_codes_from_outside_cannot_reach_the_kernel() -> None:
    fitness = compile(KNeighborsClassifier(1), VALUES, np.arange(40) % 2)
    before = fitness.evaluate(MASKS)
    assert fitness.table.codes is not None
    for array in (fitness.table.codes, fitness.table.max_abs):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 2**30
    fitness.table.codes.setflags(write=True)  # by force
    fitness.table.codes[:] = 2**30
    assert np.array_equal(fitness.evaluate(MASKS), before)
