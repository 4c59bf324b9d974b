"""Errors of pairs: scikit-learn's GaussianNB, fold by fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from bitsieve.causal.pairs import PairErrors


def _expected(X: Any, y: Any, features: list[int], splits: Any) -> float:
    predicted = cross_val_predict(GaussianNB(), X[:, features], y, cv=splits)
    return 1 - float(balanced_accuracy_score(y, predicted))


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine])
@pytest.mark.parametrize("binary", [False, True])
def test_scikit_learn(load: Any, binary: bool) -> None:
    X, y = load(return_X_y=True)
    if binary:
        X = (np.median(X, axis=0) < X).astype(float)
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    errors = PairErrors(X, y, splits=splits)
    p = X.shape[1]
    pairs = [(i, j) for i in range(p) for j in range(i)][:100]
    expected = [_expected(X, y, [i, j], splits) for i, j in pairs]
    np.testing.assert_allclose(errors.of(pairs), expected, atol=1e-12)
    single = [_expected(X, y, [f], splits) for f in range(p)]
    np.testing.assert_allclose(errors.single, single, atol=1e-12)


def test_rows_and_matrix() -> None:
    X, y = load_iris(return_X_y=True)
    errors, again = PairErrors(X, y, random_state=3), PairErrors(X, y, random_state=3)
    matrix = errors.matrix()
    assert np.array_equal(matrix, np.array([again.row(j) for j in range(4)]))
    assert np.array_equal(np.diag(matrix), errors.single)


def test_degenerate() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.ones((len(X), 2))])
    errors = PairErrors(X, y, random_state=0)
    assert errors.of([(4, 5)])[0] == pytest.approx(2 / 3)
    np.testing.assert_array_equal(errors.row(4)[:4], errors.single[:4])
    with pytest.raises(ValueError, match="class"):
        PairErrors(X[:50], y[:50])
    with pytest.raises(ValueError, match="samples"):
        PairErrors(X[:103], y[:103])
    with pytest.raises(ValueError, match="once"):
        PairErrors(X, y, splits=[(np.arange(100), np.arange(100, 150))])
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"(?i)nan|missing|finite"):
        PairErrors(X, y)
