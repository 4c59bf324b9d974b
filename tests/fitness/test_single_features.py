"""1-NN on one feature, all at once: ties that float64 alone tells from near ones, their order."""

from __future__ import annotations

import numpy as np
import twin_knn
from each import each_isa
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from bitsieve import Masks
from bitsieve.fitness import compile

WIDTHS = [1, 2, 3, 5, 9, 30, 100, 300, 1000, 3000]


def _columns(rng: np.random.Generator, n: int, digits: int) -> np.ndarray:
    """Whole numbers, or tenths, of few and of many values; 37 columns."""
    widths = np.resize(WIDTHS, 37)
    X = np.floor(rng.random((n, len(widths))) * widths)
    X[0, 0] = 1  # the first is no constant, but all others of it are tied
    return X / 10.0**digits


def _ties(x: np.ndarray, y: np.ndarray, splits) -> bool:
    """Whether two classes are equally near to a test sample, or nearly."""
    for train, test in splits:
        apart = np.abs(x[test, None] - x[None, train])
        same = y[test, None] == y[None, train]
        own = np.where(same, apart, np.inf).min(axis=1)
        other = np.where(same, np.inf, apart).min(axis=1)
        if (np.abs(own - other) < 1e-9 * (1 + np.abs(x).max())).any():
            return True
    return False


@each_isa
def test_ties_of_single_features(isa: str) -> None:
    rng = np.random.default_rng(1)
    for digits, n, n_classes, scoring, dtype in [
        (0, 62, 2, "accuracy", np.float64),
        (1, 62, 2, "f1_macro", np.float64),
        (1, 62, 3, "accuracy", np.float32),
        (0, 62, 4, "f1_macro", np.int16),
        (1, 62, 23, "accuracy", np.float64),
        (0, 150, 2, "accuracy", np.float64),  # more samples than bits of a word
        (1, 131, 5, "f1_macro", np.float64),
    ]:
        X = _columns(rng, n, digits).astype(dtype)
        y = np.char.mod("%02d", rng.permutation(np.arange(n) % n_classes))
        p = X.shape[1]
        fitness = compile(KNeighborsClassifier(1), X, y, cv=2, scoring=scoring, n_jobs=2)
        # In any order, and one twice.
        flips = np.append(rng.permutation(p), 3)
        got = fitness.evaluate_splits(Masks.neighbors(np.zeros(p, bool), p, flips))
        assert fitness._core.counters()["flips_open"] == 0  # nothing is decided one by one
        masks = np.eye(p, dtype=bool)[flips]
        name = f"{digits}, {n}, {n_classes}, {scoring}"
        np.testing.assert_array_equal(got, fitness.evaluate_splits(masks), err_msg=name)
        if scoring == "f1_macro":
            continue  # which the twin does not know
        twin = twin_knn.evaluate_splits(
            fitness.table.X, fitness.table.y, masks, fitness.splits(), 1, scoring
        )
        np.testing.assert_array_equal(got, twin, err_msg=name)


@each_isa
def test_ties_of_single_features_behind_a_scaler(isa: str) -> None:
    rng = np.random.default_rng(2)
    for scaler, n_classes, scoring in [
        (StandardScaler(), 2, "accuracy"),
        (MinMaxScaler(), 3, "f1_macro"),
    ]:
        X = _columns(rng, 60, 1)
        y, p = np.arange(60) % n_classes, X.shape[1]
        model = make_pipeline(scaler, KNeighborsClassifier(1))
        fitness = compile(model, X, y, cv=3, scoring=scoring, n_jobs=1)
        got = fitness.evaluate_splits(Masks.neighbors(np.zeros(p, bool), p))
        assert fitness._core.counters()["flips_open"] == 0
        np.testing.assert_array_equal(got, fitness.evaluate_splits(np.eye(p, dtype=bool)))


def test_single_features_beside_scikit_learn() -> None:
    """Where no two classes tie; equal distances within a class there are many."""
    rng = np.random.default_rng(3)
    X, y = _columns(rng, 60, 0), np.arange(60) % 2
    X[:, ::2] += 40 * (y[:, None] & (rng.random((60, 1)) < 0.8))
    X[:, ::2] *= 2
    X[:, ::2] += y[:, None] * 0.25  # no value is as far from one class as from the other
    p = X.shape[1]
    fitness = compile(KNeighborsClassifier(1), X, y, cv=5, n_jobs=1)
    got = fitness.evaluate_splits(Masks.neighbors(np.zeros(p, bool), p))
    splits = fitness.splits()
    clear = [f for f in range(p) if not _ties(X[:, f], y, splits)]
    assert 15 < len(clear) < p
    for f in clear[:16]:
        expected = cross_val_score(KNeighborsClassifier(1), X[:, [f]], y, cv=splits)
        np.testing.assert_array_equal(got[f], expected, err_msg=str(f))
    assert len(np.unique(got[clear])) > 3


@each_isa
def test_small_distances_of_wide_features(isa: str) -> None:
    """A feature that joins a small base: its bound is that of the distance, not of its range."""
    rng = np.random.default_rng(4)
    n, p = 60, 300
    X = np.exp(2 * rng.normal(size=(n, p)))
    y = np.arange(n) % 2
    base = np.arange(p) < 1
    X[:, 0] /= 1e4
    flips = np.arange(1, p)
    for scoring in ("accuracy", "f1_macro"):
        fitness = compile(KNeighborsClassifier(1), X, y, cv=5, scoring=scoring, n_jobs=1)
        got = fitness.evaluate_splits(Masks.neighbors(base, p, flips))
        assert fitness._core.counters()["flips_open"] < 0.01 * n * len(flips)
        expected = fitness.evaluate_splits((base ^ np.eye(p, dtype=bool))[flips])
        np.testing.assert_array_equal(got, expected)
        # Beside those that leave.
        some = np.append(np.arange(20), flips)
        got = fitness.evaluate_splits(Masks.neighbors(base, p, some))
        np.testing.assert_array_equal(got[20:], expected)
