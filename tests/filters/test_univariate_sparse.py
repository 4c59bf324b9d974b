"""Sparse tables: zeros are numbers like others, and nothing is made dense."""

from __future__ import annotations

import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from each import each
from sklearn.feature_selection import chi2 as sklearn_chi2

from bitsieve.filters import (
    chi2,
    f_test,
    fisher_score,
    pearson,
    signal_to_noise,
    t_test,
    variance,
)

SCORES = [t_test, partial(t_test, equal_var=False), f_test, signal_to_noise, fisher_score, pearson]
FORMS = [
    scipy.sparse.csr_matrix,
    scipy.sparse.csc_matrix,
    scipy.sparse.csr_array,
    scipy.sparse.csc_array,
    scipy.sparse.coo_array,
]


def counts(n: int = 60, p: int = 40, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, (n, p)).astype(np.float64)
    X[:, 1] = 0.0
    X[:, 2] = 0.1  # stored throughout
    X[:, 3] = np.arange(n) % 2 * 0.3
    X[:, 4] += 1e6
    return X


@pytest.mark.parametrize("form", FORMS)
@each("n_classes", [2, 3])
def test_as_dense(form: Any, n_classes: int) -> None:
    X, y = counts(), np.random.default_rng(1).integers(0, n_classes, 60)
    sparse = form(X)
    for score in SCORES:
        np.testing.assert_allclose(score(sparse, y), score(X, y), rtol=1e-9, atol=1e-12)
        assert score(sparse, y)[1] == score(sparse, y)[2] == 0.0
    np.testing.assert_allclose(variance(sparse), variance(X), rtol=1e-9)
    found, p = chi2(sparse, y, p_values=True)
    np.testing.assert_allclose(found, chi2(X, y), rtol=1e-9, atol=1e-12)
    keep = np.arange(40) != 1  # scikit-learn has NaN there
    expected, chance = sklearn_chi2(sparse.tocsr()[:, keep], y)
    np.testing.assert_allclose(found[keep], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(p[keep], chance, rtol=1e-7)


def test_numeric_target() -> None:
    X, y = counts(), np.random.default_rng(1).normal(size=60)
    sparse = scipy.sparse.csr_array(X)
    for score in (pearson, f_test):
        for found, expected in zip(
            score(sparse, y, p_values=True), score(X, y, p_values=True), strict=True
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(pearson(sparse, y, signed=True), pearson(X, y, signed=True), 1e-8)


def test_constant_within_classes_is_infinite() -> None:
    X, y = counts(), np.arange(60) % 2
    assert t_test(scipy.sparse.csr_array(X), y)[3] == np.inf
    X[:, 3] += 0.7
    assert t_test(scipy.sparse.csr_array(X), y)[3] == np.inf


def test_entries_given_twice_count_as_their_sum() -> None:
    X = scipy.sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [0, 0, 0])), shape=(4, 1))
    assert variance(X)[0] == variance(X.toarray())[0]
    raw = scipy.sparse.csc_array(([1.0, 2.0, 4.0], [0, 0, 1], [0, 3]), shape=(4, 1))
    assert variance(raw)[0] == variance(X)[0]
    assert raw.nnz == 3  # the user's own is left as it was


def test_refusals() -> None:
    X, y = scipy.sparse.csr_array(counts()), np.arange(60) % 2
    bad = X.copy()
    bad.data[5] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        t_test(bad, y)
    bad.data[5] = -1.0
    with pytest.raises(ValueError, match="chi2 is for counts"):
        chi2(bad, y)
    with pytest.raises(ValueError, match="real numbers, got dtype complex"):
        t_test(X.astype(complex), y)
    with pytest.raises(ValueError, match="a minimum of 2 is required"):
        variance(X[:1])


def test_time_and_memory_go_by_the_entries() -> None:
    """A million features, mostly zero: dense they would be 800 MB."""
    X = scipy.sparse.random_array((100, 1_000_000), density=1e-3, format="csr", rng=0)
    y = np.arange(100) % 2
    tracemalloc.start()
    for score in (chi2, t_test, variance):
        assert np.isfinite(score(X, y)).all()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 250e6, peak


@each("factor", [1e-300, 1e-160, 1e154, 1e200, 1e300])
def test_squares_that_do_not_fit_into_float64(factor: float) -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    X[np.abs(X) < 0.5] = 0.0
    y = np.arange(20) % 3
    for score in (f_test, t_test, signal_to_noise, fisher_score, pearson):
        far = score(scipy.sparse.csc_array(X * [1.0, factor, 1.0, factor]), y)
        np.testing.assert_allclose(far, score(X, y), rtol=1e-10, err_msg=str(score))
