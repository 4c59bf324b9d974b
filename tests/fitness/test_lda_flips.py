"""One-flip neighborhoods of linear discriminant analysis: the answer of the masks written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tables
from each import each, each_isa
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from bitsieve import Masks, _core
from bitsieve.fitness import compile

LDA = LinearDiscriminantAnalysis


@pytest.fixture(autouse=True)
def _needs_fma() -> None:
    if not _core.has_fma():
        pytest.skip("this instruction set has no fused multiply-add")


def _models(n_classes: int) -> list[Any]:
    given = np.arange(1.0, n_classes + 1) / np.arange(n_classes + 1).sum()
    return [
        LDA("lsqr", shrinkage=0.5),
        LDA("eigen", shrinkage=0.01, priors=given),
        LDA("lsqr", shrinkage=1e-5),
        LDA("lsqr", shrinkage=1.0),
        LDA("lsqr", priors=given),
        LDA(),
        LDA(tol=0.05),
        make_pipeline(StandardScaler(), LDA("lsqr", shrinkage=0.2)),
        make_pipeline(RobustScaler(), LDA()),
        make_pipeline(MinMaxScaler(), LDA("eigen", shrinkage=0.3)),
    ]


def _table(n: int, p: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    return rng.normal(size=(n, p)) + (y[:, None] == np.arange(p) % n_classes), y


def _check(fitness: Any, base: Any, seed: int = 0) -> int:
    """Compare with the masks written out; how many of them were answered alone after the pass."""
    p = len(base)
    near = Masks.neighbors(base, p)
    seeds = np.full(p, seed, np.uint64)
    before = fitness._core.counters()["flips_open"]
    declined, expected_declined = np.zeros(p, bool), np.zeros(p, bool)
    found = fitness._core.evaluate_flips(
        near.base, near.indices, near.indptr, seeds, fitness._score, fitness._n_jobs, declined
    )
    opened = fitness._core.counters()["flips_open"] - before
    words = Masks.from_bool(near.to_bool()).words
    expected = fitness._core.evaluate(
        words, seeds, fitness._score, fitness._n_jobs, expected_declined
    )
    np.testing.assert_array_equal(declined, expected_declined)
    np.testing.assert_array_equal(found, expected)
    return int(opened)


def _base(rng: Any, p: int, size: int) -> Any:
    return np.isin(np.arange(p), rng.choice(p, size, replace=False))


@each("scoring", ["accuracy", "f1_macro"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_neighbors_have_the_bits_of_masks_alone(n_classes: int, scoring: str) -> None:
    rng = np.random.default_rng(n_classes)
    X, y = _table(45, 66, n_classes)
    X[:, 5] = X[:, 4]  # a copy
    X[:, 6] = 0.1  # a constant
    X[:, 7] *= 1e4
    X[:, 8] = X[:, 9] + 1e-7 * rng.normal(size=45)  # nearly a copy
    for model in _models(n_classes):
        for cv in (4, ShuffleSplit(2, train_size=0.5, test_size=0.3, random_state=1)):
            fitness = compile(model, X, y, cv=cv, n_jobs=2, scoring=scoring)
            assert fitness.kernel == "lda"
            for size in (0, 1, 2, 12, 44, 50):
                _check(fitness, _base(rng, 66, size))
            _check(fitness, np.isin(np.arange(66), [4, 5, 6, 7, 9, 20]))


@each_isa
def test_hardly_any_is_answered_alone(isa: str) -> None:
    if not _core.has_fma():
        return
    rng = np.random.default_rng(0)
    for n_classes in (2, 3, 4):
        X, y = _table(60, 120, n_classes)
        X = X * rng.lognormal(size=120) + 5
        # Not those whose bounds are wide, by a hair of shrinkage or by a coarse `tol`.
        models = _models(n_classes)
        for model in models[:2] + models[3:6] + models[7:]:
            fitness = compile(model, X, y, cv=5, n_jobs=1, scoring="f1_macro")
            # Nothing is left of the base's only feature: that it is open shows that the pass ran.
            assert _check(fitness, np.arange(120) == 7) == 1
            assert _check(fitness, np.arange(120) % 9 == 1) <= 2


@pytest.mark.parametrize("kind", tables.KINDS)
def test_any_values(kind: str) -> None:
    rng = np.random.default_rng([*kind.encode()])
    X = tables.table(kind, rng, 40, 50).astype(np.float64)
    for n_classes in (2, 3):
        y = np.arange(40) % n_classes
        for model in _models(n_classes):
            fitness = compile(model, X, y, cv=3, n_jobs=1)
            assert fitness.kernel == "lda"
            for size in (0, 1, 4, 20):
                _check(fitness, _base(rng, 50, size))


def test_samples_between_the_classes_are_answered_alone() -> None:
    # One class mirrors the other, and what is tested lies amid them, or hardly beside.
    rng = np.random.default_rng(0)
    half = rng.normal(size=(20, 40)) + 1
    for beside in (0.0, 1e-13, 1e-3):
        X = np.vstack([half, -half, beside * rng.normal(size=(4, 40))])
        y = np.repeat([0, 1, 0], [20, 20, 4])
        splits = [(np.arange(40), np.arange(40, 44))]
        for model in (LDA("lsqr", shrinkage=0.3), LDA()):
            fitness = compile(model, X, y, cv=splits, n_jobs=1)
            opened = _check(fitness, np.arange(40) < 6)
            assert opened == 40 if beside < 1e-12 else opened < 40


def test_a_class_that_a_training_part_lacks() -> None:
    X, y = _table(45, 50, 3)
    absent, others = np.flatnonzero(y == 1), np.flatnonzero(y != 1)
    splits = [(others[:20], np.r_[others[20:], absent]), (np.r_[others[5:], absent], others[:5])]
    for scoring in ("accuracy", "f1_macro"):
        for model in _models(3)[:1] + _models(3)[5:6] + _models(3)[7:8]:
            fitness = compile(model, X, y, cv=splits, n_jobs=1, scoring=scoring)
            assert _check(fitness, np.arange(50) == 3) == 1
            _check(fitness, np.arange(50) % 5 == 0)


def test_fresh_folds_and_other_scores() -> None:
    X, y = _table(45, 50, 2)
    for model in (LDA("lsqr", shrinkage=0.3), make_pipeline(StandardScaler(), LDA())):
        fitness = compile(model, X, y, cv=3, n_jobs=2, resample=True, n_repeats=2)
        assert _check(fitness, np.arange(50) == 3, seed=5) == 1
        assert _check(fitness, np.arange(50) % 9 == 0, seed=8) <= 2
        # Scores of numbers would show every rounding.
        for scoring in ("roc_auc", "neg_log_loss"):
            fitness = compile(model, X, y, cv=3, n_jobs=1, scoring=scoring)
            assert _check(fitness, np.arange(50) % 9 == 0) == 0


@each("name", ["sonar", "khan"])
def test_real_data(dataset: Any, name: str) -> None:
    X, y, _ = dataset(name)
    X = np.asarray(X, dtype=np.float64)
    rng = np.random.default_rng(1)
    for model in (LDA("lsqr", shrinkage=0.2), LDA(), make_pipeline(StandardScaler(), LDA())):
        fitness = compile(model, X, y, cv=4, n_jobs=2)
        base = _base(rng, X.shape[1], 20)
        assert _check(fitness, base) <= X.shape[1] // 20
