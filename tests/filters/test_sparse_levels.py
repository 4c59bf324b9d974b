"""Levels of sparse tables: those of the dense form, whatever the path that finds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from each import each_isa

from bitsieve import filters
from bitsieve.discrete import DiscreteTable, _sparse

METHODS = ("auto", None, "mdl", "mean_sd", "equal_width", "equal_frequency")


def made(seed: int, whole: bool) -> tuple[Any, Any]:
    """Columns of no entries, of few, of many and of all; both signs, ties, zeros that are there."""
    rng = np.random.default_rng(seed)
    n, p = 160, 60
    density = rng.choice([0.0, 0.01, 0.02, 0.03, 0.3, 1.0], p)
    X = np.where(rng.random((n, p)) < density, rng.normal(size=(n, p)), 0.0)
    X = np.rint(3 * X) if whole else np.where(rng.random(p) < 0.5, np.round(X, 1), X)
    y = rng.integers(0, 3, n)
    X += (X != 0) * (y == 1)[:, None] * 2.0
    return X, y


def with_zeros(X: Any) -> Any:
    matrix = scipy.sparse.csr_array(X + 5.0 * (np.arange(X.shape[1]) % 7 == 0))
    matrix.data[matrix.data == 5.0] = 0.0
    return matrix


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("whole", [True, False])
def test_levels_of_the_dense_form(
    method: Any, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if method is None and not whole:
        pytest.skip("fractions are no levels")
    for seed in range(4):
        X, y = made(seed, whole)
        known = np.zeros(60, dtype=bool)
        if whole:
            known[::5] = True
        options = {
            "discretization": method, "n_bins": 4, "discrete_features": known,
            "n_jobs": 1, "cut_cost": ("samples", "distinct")[seed % 2],
        }  # fmt: skip
        for block in (_sparse.BLOCK, 500):
            monkeypatch.setattr(_sparse, "BLOCK", block)
            matrix = with_zeros(X) if seed == 3 else scipy.sparse.csc_array(X)
            found = DiscreteTable.of(matrix, y, **options)
            wanted = DiscreteTable.of(matrix.toarray(), y, **options)
            assert found.is_sparse
            np.testing.assert_array_equal(found.codes, wanted.codes)
            np.testing.assert_array_equal(found.n_levels, wanted.n_levels)


@pytest.mark.parametrize("correction", [None, "miller_madow", "dirichlet"])
@each_isa
def test_scores_of_the_dense_form(correction: Any, isa: str) -> None:
    """Few entries are counted by themselves; the sums are whole numbers, so every bit is there."""
    X, y = made(5, whole=True)
    matrix = scipy.sparse.csr_array(X)
    given = np.random.default_rng(1).integers(0, 4, len(X))
    for score in (
        lambda T: filters.mutual_information(T, y, correction=correction),
        lambda T: filters.entropy(T, correction=correction),
        lambda T: filters.conditional_mutual_information(T, y, given, correction=correction),
        lambda T: filters.joint_mutual_information(T, y, given, correction=correction),
        lambda T: filters.mrmr(T, y, 9, correction=correction),
        lambda T: filters.information_selection(T, y, 9, criterion="jmi3", n_jobs=2),
    ):
        np.testing.assert_array_equal(score(matrix), score(X))
    names = ("information_gain", "gain_ratio", "symmetrical_uncertainty", "fcbf", "cfs", "gini")
    for name in names if correction is None else ():
        for discretization in ("mdl", None):
            score = getattr(filters, name)
            found = score(matrix, y, discretization=discretization)
            np.testing.assert_array_equal(found, score(X, y, discretization=discretization))


def test_columns_are_named_by_their_number() -> None:
    X = np.zeros((400, 9))
    X[:300, 7] = np.arange(300)
    X[3, 5] = 0.5
    y = np.arange(400) % 2
    matrix = scipy.sparse.csr_array(X)
    with pytest.raises(
        ValueError, match=r"whole numbers, but 1 column \('number 5'\) holds .* 0\.5"
    ):
        filters.mutual_information(matrix, y, discretization=None)
    with pytest.raises(ValueError, match=r"255 distinct values .*\('number 7'\)"):
        filters.mutual_information(matrix, y, discrete_features=[7])
    with pytest.raises(ValueError, match="discretization must be one of"):
        filters.information_gain(scipy.sparse.csr_array((400, 9)), y, discretization="mld")


def test_cost_goes_with_the_entries() -> None:
    """A dense column of so many samples and features would be 8 GB of bytes."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 20_000, 50_000)
    columns = rng.integers(0, 400_000, 50_000)
    matrix = scipy.sparse.csr_array((rng.random(50_000), (rows, columns)), shape=(20_000, 400_000))
    y = np.arange(20_000) % 2
    found = filters.mutual_information(matrix, y)
    few = np.flatnonzero(np.diff(matrix.tocsc().indptr))[:300]
    np.testing.assert_array_equal(
        found[few], filters.mutual_information(matrix[:, few].toarray(), y)
    )
    assert not found[np.diff(matrix.tocsc().indptr) == 0].any()
