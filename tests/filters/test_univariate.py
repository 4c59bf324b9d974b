"""Scores of single features against exact twins: types, sizes, instruction sets, threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import twin_univariate as twin
from each import each, each_isa
from scipy.stats import mannwhitneyu, rankdata

import bitsieve
from bitsieve import _core
from bitsieve.filters import (
    auc,
    chi2,
    f_test,
    fisher_score,
    kruskal_wallis,
    pearson,
    signal_to_noise,
    spearman,
    t_test,
    variance,
)

Array = np.ndarray[Any, Any]


def table(n: int, p: int, seed: int = 0, dtype: Any = np.float64) -> Array:
    """Some columns continuous, some with ties, one constant, one of two values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p)
    X[:, ::3] = np.rint(X[:, ::3] / np.abs(X[:, ::3]).max(axis=0) * 3)
    X[:, p // 2] = 1.0 / 3.0
    X[:, p - 1] = rng.random(n) < 0.3
    return X.astype(dtype)


def labels(n: int, n_classes: int, seed: int = 0) -> Array:
    y = np.arange(n) % n_classes
    y[: n // 3] = 0  # unbalanced
    return np.random.default_rng(seed).permutation(y)


def columns_of(X: Array) -> list[list[float]]:
    return [[float(v) for v in X[:, j]] for j in range(X.shape[1])]


CLASS_SCORES: list[tuple[Callable[..., Any], Callable[..., float]]] = [
    (signal_to_noise, twin.signal_to_noise),
    (t_test, twin.student),
    (lambda X, y: t_test(X, y, equal_var=False), twin.welch),
    (f_test, twin.f_test),
    (fisher_score, twin.fisher_score),
    (kruskal_wallis, twin.kruskal_wallis),
]
NAMES = ["signal_to_noise", "student", "welch", "f_test", "fisher_score", "kruskal_wallis"]


@each("dtype", [np.float32, np.float64])
@each("n_classes", [2, 4])
@pytest.mark.parametrize(("score", "slow"), CLASS_SCORES, ids=NAMES)
@each_isa
def test_class_scores(score: Any, slow: Any, n_classes: int, dtype: Any, isa: str) -> None:
    X, y = table(23, 37, dtype=dtype), labels(23, n_classes)
    expected = [slow(x, y) for x in columns_of(X)]
    np.testing.assert_allclose(score(X, y), expected, rtol=1e-12, atol=1e-14)


@each("dtype", [np.float32, np.float64])
@each_isa
def test_correlations(dtype: Any, isa: str) -> None:
    X = table(23, 37, dtype=dtype)
    y = np.rint(np.random.default_rng(1).normal(size=23) * 4) / 3
    expected = [twin.pearson(x, y) for x in columns_of(X)]
    np.testing.assert_allclose(pearson(X, y, signed=True), expected, rtol=1e-12, atol=1e-14)
    assert np.array_equal(pearson(X, y), np.abs(pearson(X, y, signed=True)))
    expected = [twin.spearman(x, y) for x in columns_of(X)]
    np.testing.assert_allclose(spearman(X, y, signed=True), expected, rtol=1e-12, atol=1e-14)
    assert np.array_equal(spearman(X, y), np.abs(spearman(X, y, signed=True)))
    assert np.array_equal(f_test(X, y)[:5], f_test(X[:, :5].copy(), y, task="regression"))


@each("dtype", [np.float32, np.float64])
@each("n", [5, 24, 61])
@each_isa
def test_auc_is_exact(n: int, dtype: Any, isa: str) -> None:
    X, y = table(n, 37, dtype=dtype), labels(n, 2)
    expected = np.array([twin.auc(x, y) for x in columns_of(X)])
    assert np.array_equal(auc(X, y, signed=True), expected)
    assert np.array_equal(auc(X, y), np.maximum(expected, 1 - expected))
    assert np.array_equal(auc(X, y, signed=True, p_values=True)[0], expected)  # by sorting


@each("dtype", [np.float32, np.float64])
@each_isa
def test_auc_of_several_classes(dtype: Any, isa: str) -> None:
    X, y = table(31, 20, dtype=dtype), labels(31, 3)
    each = np.array([twin.auc_of_classes(x, y) for x in columns_of(X)])
    np.testing.assert_allclose(auc(X, y), each.mean(axis=1), rtol=1e-15)
    assert np.array_equal(auc(X, y, multiclass="largest"), each.max(axis=1))


@each("n", [2, 3, 4, 7, 8, 9, 63, 64, 65, 200, 257])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_isa
def test_ranks_of_any_length(n: int, dtype: Any, isa: str) -> None:
    X = table(n, 19, seed=n, dtype=dtype)
    X[:, 1] = 0.0
    X[: n // 2, 1] = -0.0
    X[:, 2] = np.where(np.arange(n) % 2, 1e-45, -1e-45) if dtype == np.float32 else X[:, 2]
    codes = labels(n, 2).astype(np.int32)
    weights = np.random.default_rng(n).normal(size=n)
    sums, ties, cross = _core.rank_sums(X, codes, 2, weights, 1)
    expected = rankdata(X, axis=0)
    for c in range(2):
        assert np.array_equal(sums[c], expected[codes == c].sum(axis=0))
    np.testing.assert_allclose(cross, weights @ expected, rtol=1e-11, atol=1e-11 * n)
    for j in range(X.shape[1]):
        counts = np.unique(X[:, j] + 0.0, return_counts=True)[1].astype(float)
        assert ties[j] == (counts**3 - counts).sum()


def test_many_samples_are_sorted_one_feature_after_another() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 5)).round(2).astype(np.float32)
    y = rng.integers(0, 2, 5000)
    exact = X.astype(np.float64)
    expected = mannwhitneyu(exact[y == 1], exact[y == 0], method="asymptotic")
    area, p = auc(X, y, signed=True, p_values=True)
    np.testing.assert_allclose(area, expected.statistic / ((y == 1).sum() * (y == 0).sum()))
    np.testing.assert_allclose(p, expected.pvalue, rtol=1e-10)
    assert np.array_equal(auc(X, y, signed=True), area)


@each_isa
def test_variance(isa: str) -> None:
    X = table(23, 37)
    expected = [twin.variance(x) for x in columns_of(X)]
    np.testing.assert_allclose(variance(X), expected, rtol=1e-13)
    np.testing.assert_allclose(variance(X, ddof=1), np.array(expected) * 23 / 22, rtol=1e-13)


def test_chi2() -> None:
    X = np.abs(np.rint(table(23, 30)))
    X[:, 4] = 0
    for n_classes in (2, 4):
        y = labels(23, n_classes)
        expected = [twin.chi2(x, y) for x in columns_of(X)]
        np.testing.assert_allclose(chi2(X, y), expected, rtol=1e-11, atol=1e-12)


@each("p", [1, 7, 15, 16, 17, 511, 512, 513, 1030])
@each_isa
def test_width_does_not_matter(p: int, isa: str) -> None:
    """A feature has the same bits alone, at the end of a block and at its start."""
    wide = table(21, 1030)
    X, y = np.ascontiguousarray(wide[:, :p]), labels(21, 2)
    for score in (signal_to_noise, t_test, f_test, pearson, auc, kruskal_wallis, spearman):
        assert np.array_equal(score(X, y), score(wide, y)[:p]), score
        for j in (0, p // 2, p - 1):
            assert score(X[:, [j]].copy(), y)[0] == score(X, y)[j]


@each("dtype", [np.float32, np.float64])
def test_same_bits_for_threads_and_instruction_sets(dtype: Any) -> None:
    X, y = table(50, 3000, dtype=dtype), labels(50, 2)
    scores = (signal_to_noise, t_test, f_test, pearson, auc, kruskal_wallis, spearman, variance)
    before = bitsieve.get_isa()
    try:
        for score in scores:
            expected = score(X, y, n_jobs=1)
            for name in bitsieve.available_isas():
                bitsieve.set_isa(name)
                for n_jobs in (1, 2, 5):
                    assert np.array_equal(score(X, y, n_jobs=n_jobs), expected), (score, name)
            bitsieve.set_isa(before)
    finally:
        bitsieve.set_isa(before)


@pytest.mark.parametrize(
    "score", [signal_to_noise, t_test, f_test, fisher_score, auc, kruskal_wallis, chi2, pearson]
)
@each("n_classes", [2, 3])
def test_order_of_samples_features_and_labels(score: Any, n_classes: int) -> None:
    X, y = np.abs(table(40, 30)), labels(40, n_classes)
    if score is pearson:
        y = np.array(["a", "b", "c"])[y]
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(40), rng.permutation(30)
    expected = score(X, y)
    np.testing.assert_allclose(score(X[rows], y[rows]), expected, rtol=1e-10, atol=1e-13)
    assert np.array_equal(score(X[:, columns].copy(), y), expected[columns])
    names = np.array(["zebra", "ape", "mole"])
    renamed = names[np.unique(y, return_inverse=True)[1]]
    np.testing.assert_allclose(score(X, renamed), expected, rtol=1e-10, atol=1e-13)


def test_signs_agree() -> None:
    """Positive, or above a half, where the second class is greater, for all alike."""
    X = np.array([[0.0, 5.0], [1.0, 4.0], [2.0, 2.0], [3.0, 1.0]])
    y = ["a", "a", "b", "b"]
    for score in (signal_to_noise, t_test, pearson, spearman):
        up, down = score(X, y, signed=True)
        assert up > 0 > down, score
    up, down = auc(X, y, signed=True)
    assert up == 1 > 0 == down


@each("dtype", [np.float32, np.float64])
@each("decimals", [0, 1, 3, 6, 7])
@each_isa
def test_values_of_a_few_decimals(decimals: int, dtype: Any, isa: str) -> None:
    """Equal are equal, and what differs in the last bit alone differs."""
    rng = np.random.default_rng(decimals)
    X = rng.normal(size=(90, 70)).round(decimals).astype(dtype)
    X[:, ::5] = rng.normal(size=(90, 14)).astype(dtype)  # no decimals
    for column in (1, 33, 69):
        X[7, column] = np.nextafter(X[8, column], dtype(9))
    X[:, 2] *= dtype(1e9)
    y = labels(90, 2)
    codes = y.astype(np.int32)
    expected = rankdata(X, axis=0)
    wins = expected[y == 1].sum(axis=0) - (y == 1).sum() * ((y == 1).sum() + 1) / 2
    assert np.array_equal(_core.pair_wins(X, codes, 2), wins)
    sums, ties, _ = _core.rank_sums(X, codes, 2, None, 2)
    assert np.array_equal(sums[1], expected[y == 1].sum(axis=0))
    counts = [np.unique(X[:, j], return_counts=True)[1].astype(float) for j in range(70)]
    assert np.array_equal(ties, [(c**3 - c).sum() for c in counts])
