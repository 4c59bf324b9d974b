"""Scores of single features beside SciPy and scikit-learn, on real data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
from each import each
from sklearn.feature_selection import chi2 as sklearn_chi2
from sklearn.feature_selection import f_classif, f_regression, r_regression

from bitsieve.filters import (
    auc,
    benjamini_hochberg,
    chi2,
    f_test,
    kruskal_wallis,
    pearson,
    spearman,
    t_test,
    variance,
)

SETS = ["chowdary", "khan", "sonar"]


@pytest.fixture(params=SETS)
def data(request: pytest.FixtureRequest, dataset: Any) -> Any:
    X, y, _ = dataset(request.param)
    X = np.ascontiguousarray(X, dtype=np.float64)
    return X[:, :1500].copy(), np.unique(y, return_inverse=True)[1]


def close(found: Any, expected: Any, rtol: float = 1e-9) -> None:
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12)


@each("equal_var", [True, False])
def test_ttest_ind(data: Any, equal_var: bool) -> None:
    X, y = data
    y = y == 0
    expected = scipy.stats.ttest_ind(X[y], X[~y], equal_var=equal_var)
    t, p = t_test(X, y, equal_var=equal_var, signed=True, p_values=True)
    close(t, expected.statistic)
    np.testing.assert_allclose(p, expected.pvalue, rtol=1e-9)
    absolute, same_p = t_test(X, y, equal_var=equal_var, p_values=True)
    assert np.array_equal(absolute, np.abs(t))
    assert np.array_equal(same_p, p)


def test_f_classif(data: Any) -> None:
    X, y = data
    expected, chance = f_classif(X, y)
    f, p = f_test(X, y, p_values=True)
    close(f, expected)
    np.testing.assert_allclose(p, chance, rtol=1e-8)


def test_f_regression_and_r_regression(data: Any) -> None:
    X, _ = data
    target = X[:, 7] + X[:, 3] * 0.5
    varies = np.ptp(X, axis=0) > 0
    expected, chance = f_regression(X[:, varies], target)
    f, p = f_test(X, target, task="regression", p_values=True)
    close(f[varies], expected, rtol=1e-7)
    np.testing.assert_allclose(p[varies], chance, rtol=1e-6, atol=1e-300)
    close(pearson(X, target, signed=True)[varies], r_regression(X[:, varies], target), 1e-8)


def test_pearsonr_and_spearmanr(data: Any) -> None:
    X, y = data
    X = X[:, :60].copy()
    for target in (y.astype(np.float64), X[:, 7] - 3 * X[:, 20]):
        r, p = pearson(X, target, signed=True, p_values=True)
        rho, q = spearman(X, target, signed=True, p_values=True)
        for j in range(X.shape[1]):
            expected = scipy.stats.pearsonr(X[:, j], target)
            close(r[j], expected.statistic)
            close(p[j], expected.pvalue, rtol=1e-7)
            expected = scipy.stats.spearmanr(X[:, j], target)
            close(rho[j], expected.statistic)
            close(q[j], expected.pvalue, rtol=1e-7)


def test_mannwhitneyu(data: Any) -> None:
    X, y = data
    y = y == 0
    expected = scipy.stats.mannwhitneyu(X[y], X[~y], method="asymptotic")
    area, p = auc(X, y, signed=True, p_values=True)
    assert np.array_equal(area, expected.statistic / (y.sum() * (~y).sum()))
    np.testing.assert_allclose(p, expected.pvalue, rtol=1e-9)
    assert np.array_equal(auc(X, y, signed=True), area)


def test_kruskal(data: Any) -> None:
    X, y = data
    expected = scipy.stats.kruskal(*(X[y == c] for c in np.unique(y)))
    h, p = kruskal_wallis(X, y, p_values=True)
    close(h, expected.statistic)
    np.testing.assert_allclose(p, expected.pvalue, rtol=1e-9)


def test_sklearn_chi2(data: Any) -> None:
    X, y = data
    X = X - X.min(axis=0)
    varies = X.sum(axis=0) > 0
    expected, chance = sklearn_chi2(X[:, varies], y)
    found, p = chi2(X, y, p_values=True)
    close(found[varies], expected)
    np.testing.assert_allclose(p[varies], chance, rtol=1e-8, atol=1e-300)


def test_numpy_var(data: Any) -> None:
    X, _ = data
    close(variance(X), X.var(axis=0), rtol=1e-10)


def test_float32_and_integers_are_computed_in_float64(data: Any) -> None:
    X, y = data
    single = X.astype(np.float32)
    for score in (t_test, f_test, pearson, auc, kruskal_wallis):
        assert np.array_equal(score(single, y), score(single.astype(np.float64), y)), score


def test_on_two_classes_t_f_and_pearson_rank_alike(dataset: Any) -> None:
    X, y, _ = dataset("sonar")
    t, f, r = t_test(X, y), f_test(X, y), pearson(X, np.unique(y, return_inverse=True)[1])
    np.testing.assert_allclose(t**2, f, rtol=1e-10)
    np.testing.assert_allclose(r**2 / (1 - r**2) * (len(y) - 2), f, rtol=1e-9)
    assert np.array_equal(np.argsort(-t), np.argsort(-f))


def test_false_discovery_control(dataset: Any) -> None:
    X, y, _ = dataset("sonar")
    p = t_test(X, y, p_values=True)[1]
    adjusted = benjamini_hochberg(p)
    assert np.array_equal(adjusted, scipy.stats.false_discovery_control(p))
    assert (adjusted >= p).all()
