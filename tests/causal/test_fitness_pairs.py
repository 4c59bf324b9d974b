"""Errors of pairs by any estimator: scikit-learn's cross-validation of one and two features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from bitsieve.causal import Energy, FitnessPairErrors, PairErrors
from bitsieve.fitness import compile

ESTIMATORS = [
    LinearDiscriminantAnalysis(),
    make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
    RidgeClassifier(),
    GaussianNB(),
    DecisionTreeClassifier(max_depth=2, random_state=0),
]


def _wine() -> tuple[Any, Any]:
    X, y = load_wine(return_X_y=True)
    return X[:, :5] + 1e-6 * np.random.default_rng(0).normal(size=(len(X), 5)), y


@each("estimator", ESTIMATORS)
def test_scikit_learn(estimator: Any) -> None:
    X, y = _wine()
    cv = StratifiedKFold(2)
    fitness = compile(estimator, X, y, cv=cv, scoring="balanced_accuracy")
    assert (fitness.kernel is None) == isinstance(estimator, DecisionTreeClassifier)
    errors = FitnessPairErrors(fitness)

    def expected(*features: int) -> float:
        columns = sorted(set(features))
        found = cross_val_score(estimator, X[:, columns], y, cv=cv, scoring="balanced_accuracy")
        return 1 - float(found.mean())

    wanted = np.array([[expected(i, j) for j in range(5)] for i in range(2)])
    np.testing.assert_allclose(errors.rows([0, 1]), wanted, atol=1e-12)
    matrix = errors.matrix()
    assert np.array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix[:2], wanted, atol=1e-12)
    assert np.array_equal(np.diag(matrix), errors.single)
    assert np.array_equal(errors.row(3), matrix[3])
    assert np.array_equal(errors.of([(4, 2), (3, 3), (2, 4)]), matrix[[4, 3, 2], [2, 3, 4]])
    assert errors.of([(4, 4)]) == errors.single[4]
    for first, block in errors.blocks(n_rows=3):
        assert np.array_equal(block, matrix[first : first + len(block), first:])
    pairs, rates = errors.best(3)
    assert np.array_equal(rates, np.sort(matrix[np.triu_indices(5, 1)])[:3])
    assert np.array_equal(rates, matrix[tuple(pairs.T)])


def test_beside_gaussian_bayes() -> None:
    # Where the folds have as many samples of each class, the mean over them is the rate of all.
    X, y = _wine()
    kept = np.concatenate([np.flatnonzero(y == c)[:45] for c in range(3)])
    splits = list(StratifiedKFold(5).split(X[kept], y[kept]))
    ours = PairErrors(X[kept], y[kept], splits=splits)
    fitness = compile(GaussianNB(), X[kept], y[kept], cv=splits, scoring="balanced_accuracy")
    np.testing.assert_allclose(FitnessPairErrors(fitness).matrix(), ours.matrix(), atol=1e-12)


class Table:
    """Errors of pairs that are known, without a way to some of them alone."""

    def __init__(self, matrix: Any) -> None:
        self.single, self.row = matrix.diagonal(), matrix.__getitem__


def test_energy_takes_both() -> None:
    X, y = _wine()
    fitness = compile(LinearDiscriminantAnalysis(), X, y, cv=3, scoring="balanced_accuracy")
    for errors in (FitnessPairErrors(fitness), PairErrors(X, y, random_state=0)):
        makes = [
            Energy([[3, 5, 1, 2, 4]], e, n_samples=len(y)) for e in (errors, Table(errors.matrix()))
        ]
        for n_candidates in (3, 5):
            grown, known = (one.grown(4, n_candidates=n_candidates) for one in makes)
            assert grown.tolist() == known.tolist()
        found, known = (one.minimize(one.start(3)) for one in makes)
        assert found.features.tolist() == known.features.tolist()
        assert found.energy == known.energy < makes[0].value([0, 1, 4])


def test_fresh_folds_have_a_seed() -> None:
    X, y = _wine()
    fitness = compile(GaussianNB(), X, y, cv=3, scoring="balanced_accuracy", resample=True)
    first, second = (FitnessPairErrors(fitness, seed=seed) for seed in (1, 2))
    assert np.array_equal(first.matrix(), FitnessPairErrors(fitness, seed=1).matrix())
    assert not np.array_equal(first.matrix(), second.matrix())


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"fitness must be one of bitsieve\.fitness\.compile"):
        FitnessPairErrors(GaussianNB())  # type: ignore[arg-type]
    fitness = compile(GaussianNB(), *_wine(), cv=3, scoring="balanced_accuracy")
    errors = FitnessPairErrors(fitness)
    with pytest.raises(ValueError, match="pairs must lie in"):
        errors.of([(0, 5)])
    with pytest.raises(ValueError, match="feature must"):
        errors.row(5)
