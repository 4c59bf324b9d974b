"""Errors of pairs: scikit-learn's GaussianNB, fold by fold, and the plain twin."""

from __future__ import annotations

import os
import pickle
from typing import Any

import numpy as np
import pytest
from each import each, each_isa
from interrupted import interrupt
from plain_pairs import PlainPairErrors
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from bitsieve.causal import PairErrors


def _expected(X: Any, y: Any, features: list[int], splits: Any, **options: Any) -> float:
    predicted = cross_val_predict(GaussianNB(**options), X[:, features], y, cv=splits)
    return 1 - float(balanced_accuracy_score(y, predicted))


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine])
@pytest.mark.parametrize("binary", [False, True])
def test_scikit_learn(load: Any, binary: bool) -> None:
    X, y = load(return_X_y=True)
    if binary:
        X = (np.median(X, axis=0) < X).astype(float)
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    errors = PairErrors(X, y, splits=splits)
    assert errors.kind == ("bits" if binary else "numbers")
    p = X.shape[1]
    pairs = [(i, j) for i in range(p) for j in range(i)][:50]
    expected = [_expected(X, y, [i, j], splits) for i, j in pairs]
    np.testing.assert_allclose(errors.of(pairs), expected, atol=1e-12)
    single = [_expected(X, y, [f], splits) for f in range(p)]
    np.testing.assert_allclose(errors.single, single, atol=1e-12)


def test_scikit_learn_of_many_features(dataset: Any) -> None:
    X, y, _ = dataset("reged0")
    errors = PairErrors(X, y, random_state=0)
    matrix = errors.matrix()
    for i, j in np.random.default_rng(0).integers(0, X.shape[1], (25, 2)).tolist():
        wanted = _expected(X, y, sorted({i, j}), errors.splits)
        assert matrix[i, j] == pytest.approx(wanted, abs=1e-12), (i, j)


@each("smoothing", [1e-12, 1e-3, 10.0])
def test_smoothing_of_the_pair(smoothing: float) -> None:
    # The feature of the greater variance smooths the other one: whole units beside thousandths.
    X, y = load_wine(return_X_y=True)
    X = X * 10.0 ** np.random.default_rng(0).integers(-3, 4, X.shape[1])
    errors = PairErrors(X, y, var_smoothing=smoothing, random_state=1)
    matrix = errors.matrix()
    for i, j in [(0, 12), (3, 5), (9, 12), (4, 6), (11, 2), (7, 7)]:
        wanted = _expected(X, y, sorted({i, j}), errors.splits, var_smoothing=smoothing)
        assert matrix[i, j] == pytest.approx(wanted, abs=1e-12), (i, j)


def _tables() -> dict[str, tuple[Any, Any]]:
    rng = np.random.default_rng(0)
    cancer, y = load_breast_cancer(return_X_y=True)
    iris, species = load_iris(return_X_y=True)
    scales = 10.0 ** rng.integers(-8, 9, cancer.shape[1])
    odd = [cancer[:, :3]] * 2 + [np.full((len(y), 2), 0.1), np.round(cancer[:, :3] / 50)]
    odd += [cancer[:, :2] > 15, cancer[:, :1] * 1e8, cancer[:, :1] * 1e-8, -cancer[:, :1]]
    in_one_class = np.where(y[:, None] == 0, cancer[:, :3], 1.5)
    rare = (rng.random((203, 37)) < 0.04) * 7.0 - 3.0
    whole = rng.integers(0, 3, (97, 41))
    return {
        "cancer": (cancer, y),
        "scales": (cancer * scales, y),
        "odd": (np.column_stack(odd), y),
        "constant in a class": (np.column_stack([cancer[:, :3], in_one_class]), y),
        "iris": (iris, species),
        "iris by bits": (iris > iris.mean(axis=0), species),
        "bits": (rng.integers(0, 2, (150, 70)).astype(np.uint8), rng.integers(0, 3, 150)),
        "rare bits": (rare, rng.integers(0, 2, 203)),
        "whole numbers, six classes": (whole, rng.integers(0, 6, 97)),
        "three levels, nine classes": (rng.integers(-1, 2, (61, 40)), np.arange(61) * 9 // 61),
        "ties": (np.tile([[0, 1, 1], [1, 0, 1], [0, 1, 0], [1, 0, 0]], (15, 1)), np.arange(60) % 2),
        "one feature": (cancer[:, :1], y),
        "strings": (iris, np.array(["a", "b", "c"])[species]),
    }


@each("name", list(_tables()))
def test_twin(name: str) -> None:
    X, y = _tables()[name]
    errors = PairErrors(X, y, random_state=3)
    twin = PlainPairErrors(X, y, errors.splits)
    np.testing.assert_array_equal(errors.matrix(), twin.matrix())
    np.testing.assert_array_equal(errors.single, twin.single)


@each_isa
def test_every_way_has_the_same_bits(isa: str) -> None:
    for name, (X, y) in _tables().items():
        errors = PairErrors(X, y, random_state=3, n_jobs=1)
        p = errors.n_features
        expected = PlainPairErrors(X, y, errors.splits).matrix()
        every = np.indices((p, p)).reshape(2, -1).T
        for threads in (1, 2, 5):
            errors = PairErrors(X, y, random_state=3, n_jobs=threads)
            assert np.array_equal(errors.matrix(), expected), (name, threads)
            assert np.array_equal(errors.of(every).reshape(p, p), expected), (name, threads)
            assert np.array_equal(errors.rows(np.arange(p)[::-1]), expected[::-1]), name
            assert np.array_equal([errors.row(j) for j in range(p)], expected), name
            assert np.array_equal(errors.single, np.diag(expected)), name


def test_many_samples() -> None:
    # More samples than a tile of margins holds, folds of unequal size.
    rng = np.random.default_rng(1)
    y = rng.choice(3, 5000, p=[0.7, 0.2, 0.1])
    X = rng.normal(size=(5000, 35)) + 0.5 * y[:, None] * rng.random(35)
    X[:, 5] *= 1e4
    fold = rng.choice(4, 5000, p=[0.6, 0.2, 0.15, 0.05])
    splits = [(np.flatnonzero(fold != s), np.flatnonzero(fold == s)) for s in range(4)]
    for table in (X, X > 0.5):
        errors = PairErrors(table, y, splits=splits)
        np.testing.assert_array_equal(errors.matrix(), PlainPairErrors(table, y, splits).matrix())


def test_bits_beside_numbers() -> None:
    # A third value somewhere has all features counted sample by sample.
    X, y = _tables()["rare bits"]
    errors = PairErrors(X, y, random_state=0)
    more = PairErrors(np.column_stack([X, np.arange(len(X))]), y, random_state=0)
    assert (errors.kind, more.kind) == ("bits", "numbers")
    np.testing.assert_array_equal(more.matrix()[:-1, :-1], errors.matrix())


def test_splits_of_any_kind() -> None:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    thirds = np.array_split(order, 3)
    without_a_class = [(np.flatnonzero(y != k), np.flatnonzero(y == k)) for k in range(3)]
    alone = [(np.delete(np.arange(150), i), np.array([i])) for i in range(150)]
    twice = [(np.repeat(np.setdiff1d(order, part), 2)[:150], part) for part in thirds]
    small = [(thirds[(k + 1) % 3][:9], part) for k, part in enumerate(thirds)]
    for splits in (without_a_class, alone, twice, small, [*small, (order, [])]):
        for table in (X, X.mean(axis=0) < X):
            plain = [(np.asarray(train), np.asarray(test, dtype=int)) for train, test in splits]
            errors = PairErrors(table, y, splits=splits)
            twin = PlainPairErrors(table, y, plain)
            np.testing.assert_array_equal(errors.matrix(), twin.matrix())
    # A class that does not train is never predicted.
    assert PairErrors(X, y, splits=without_a_class).of([(2, 3)])[0] == 1.0


def test_scale_of_all_is_no_matter() -> None:
    X, y = load_wine(return_X_y=True)
    expected = PairErrors(X, y, random_state=0).matrix()
    for power in (-900, -500, 3, 500, 1000):
        found = PairErrors(np.ldexp(X, power), y, random_state=0).matrix()
        assert np.array_equal(found, expected), power
    wide = np.column_stack([X * 1e-300, X * 1e300])  # the small ones do not count beside the large
    matrix = PairErrors(wide, y, random_state=0).matrix()
    assert np.isfinite(matrix).all()
    assert np.array_equal(matrix[13:, 13:], expected)
    assert np.array_equal(matrix[:13, 13:], np.tile(np.diag(expected), (13, 1)))


def test_rows_and_blocks() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    errors, again = PairErrors(X, y, random_state=3), PairErrors(X, y, random_state=3)
    matrix = errors.matrix()
    assert np.array_equal(matrix, np.array([again.row(j) for j in range(30)]))
    assert np.array_equal(np.diag(matrix), errors.single)
    assert np.array_equal(errors.rows([7, 3, 7]), matrix[[7, 3, 7]])
    assert errors.rows([]).shape == (0, 30)
    assert errors.of([]).shape == (0,)
    for n_rows in (None, 1, 7, 100):
        for first, block in errors.blocks(n_rows):
            assert np.array_equal(block, matrix[first : first + len(block), first:])


def test_best_pairs_and_partners(monkeypatch: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    errors = PairErrors(np.round(X), y, random_state=3)
    matrix = errors.matrix()
    first, second = np.triu_indices(30, 1)
    order = np.argsort(matrix[first, second], kind="stable")
    alone = matrix + np.diag(np.full(30, np.inf))
    monkeypatch.setattr("bitsieve.causal._tables_of_pairs._BLOCK", 8 * 30 * 7)
    for m in (1, 5, 100, 435, 1000):
        pairs, rates = errors.best(m)
        assert np.array_equal(pairs, np.column_stack([first, second])[order[:m]])
        assert np.array_equal(rates, matrix[first, second][order[:m]])
    partners, rates = errors.partners()
    assert np.array_equal(partners, alone.argmin(axis=1))
    assert np.array_equal(rates, alone.min(axis=1))
    with pytest.raises(ValueError, match="one feature"):
        PairErrors(X[:, :1], y).partners()


def test_random_state_and_pickle() -> None:
    X, y = load_iris(return_X_y=True)
    errors = PairErrors(X, y, random_state=3)
    again = pickle.loads(pickle.dumps(errors))
    assert np.array_equal(again.matrix(), errors.matrix())
    tests = [test for _, test in errors.splits]
    assert [np.bincount(y[test]).tolist() for test in tests] == [[10, 10, 10]] * 5
    other = PairErrors(X, y, random_state=4)
    assert not np.array_equal(other.splits[0][1], tests[0])


def test_degenerate() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.ones((len(X), 2))])
    errors = PairErrors(X, y, random_state=0)
    assert errors.of([(4, 5)])[0] == pytest.approx(2 / 3)
    np.testing.assert_array_equal(errors.row(4)[:4], errors.single[:4])


def test_refusals() -> None:
    X, y = load_iris(return_X_y=True)
    errors = PairErrors(X, y, random_state=0)
    order = np.arange(150)
    with pytest.raises(ValueError, match="class"):
        PairErrors(X[:50], y[:50])
    with pytest.raises(ValueError, match=r"each class needs at least cv=5 samples, .*2.* has 3"):
        PairErrors(X[:103], y[:103])
    with pytest.raises(ValueError, match="once"):
        PairErrors(X, y, splits=[(order[:100], order[100:])])
    with pytest.raises(ValueError, match="once"):
        PairErrors(X, y, splits=[])
    for splits in (3, [3], [(order,)]):
        with pytest.raises(ValueError, match=r"splits must be a list of \(train, test\)"):
            PairErrors(X, y, splits=splits)
    with pytest.raises(ValueError, match="in each training part"):
        PairErrors(X, y, splits=[([], order)])
    with pytest.raises(ValueError, match="from 0 to 149, got 0 to 150"):
        PairErrors(X, y, splits=[(order, order), ([0, 150], [])])
    with pytest.raises(ValueError, match="splits must hold lists of positions"):
        PairErrors(X, y, splits=[(order > 3, order)])
    for smoothing in (0, -1.0, np.inf, np.nan, "1e-9", None):
        with pytest.raises(ValueError, match="var_smoothing must be a positive number"):
            PairErrors(X, y, var_smoothing=smoothing)
    with pytest.raises(ValueError, match="n_jobs"):
        PairErrors(X, y, n_jobs=0)
    for pairs in ([(0, 4)], [(-1, 0)]):
        with pytest.raises(ValueError, match=r"pairs must lie in \[0, n_features\), which is 4"):
            errors.of(pairs)
    with pytest.raises(ValueError, match="pairs must be whole numbers"):
        errors.of([(0.0, 1.0)])
    with pytest.raises(ValueError, match="feature must"):
        errors.row(4)
    with pytest.raises(ValueError, match="features must lie in"):
        errors.rows([4])
    with pytest.raises(ValueError, match="features must be a list of positions"):
        errors.rows([[1, 2]])
    for name, call in (("n_rows", errors.blocks), ("m", errors.best)):
        with pytest.raises(ValueError, match=f"{name} must be"):
            call(0)
    errors.n_features = 20_000
    with pytest.raises(ValueError, match=r"20000 features takes 3\.2 GB.*blocks\(\)"):
        errors.matrix()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match=r"(?i)nan|missing|finite"):
        PairErrors(X, y)


SETUP = """
    from bitsieve.causal import PairErrors

    rng = np.random.default_rng(0)
    X = rng.normal(size=({n}, {p})){bits}
    errors = PairErrors(X, np.arange({n}) % 2, random_state=0, n_jobs=2)

    def few():
        return errors.of([(0, 1), (3, 2)])

    def long():
        {long}
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise on Windows")
def test_interrupt() -> None:
    interrupt(
        SETUP.format(n=2000, p=1500, bits="", long="errors.matrix()"),
        SETUP.format(n=2000, p=1500, bits=" > 0", long="errors.rows(np.arange(1500))"),
    )
