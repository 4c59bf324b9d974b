"""The linear algebra of solvers beside numpy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from each import each_isa
from numpy.typing import NDArray

import bitsieve
from bitsieve import _core

Floats = NDArray[np.float64]
SIZES = (1, 2, 7, 8, 9, 22, 63, 64, 65, 89, 130)

fused = pytest.mark.skipif(not _core.has_fma(), reason="needs a fused multiply-add")


def positive(n: int, seed: int) -> Floats:
    B = np.random.default_rng(seed).normal(size=(n, n + 5))
    A = B @ B.T + np.eye(n)
    return np.ascontiguousarray((A + A.T) / 2)


def bordered(A: Floats) -> Floats:
    one = np.ones((len(A), 1))
    return np.block([[A, one], [one.T, np.zeros((1, 1))]])


@each_isa
def test_it_solves_and_inverts(isa: str) -> None:
    if not _core.has_fma():
        with pytest.raises(ValueError, match="fused multiply-add"):
            _core.invert_positive(np.eye(2))
        return
    for seed, n in enumerate(SIZES):
        A, B = positive(n, seed), np.random.default_rng(n).normal(size=(n, 3))
        X, inflation = _core.solve_positive(A, B)
        np.testing.assert_allclose(X, scipy.linalg.solve(A, B, assume_a="pos"), atol=1e-13)
        U = scipy.linalg.cholesky(A)
        assert inflation == pytest.approx((np.diag(A) / np.diag(U) ** 2).max(), rel=1e-12)
        np.testing.assert_allclose(_core.invert_positive(A), np.linalg.inv(A), atol=1e-13)
        whole, right = bordered(A), np.vstack([B, np.zeros((1, 3))])
        X, _ = _core.solve_positive(A, B, bordered=True)
        np.testing.assert_allclose(X, np.linalg.solve(whole, right)[:n], atol=1e-13)
        M = _core.invert_positive(A, bordered=True)
        np.testing.assert_allclose(M, np.linalg.inv(whole)[:n, :n], atol=1e-13)
        assert np.array_equal(_core.invert_positive(A), _core.invert_positive(A).T)


@fused
def test_same_bits_on_every_instruction_set() -> None:
    before, known = bitsieve.get_isa(), {}
    for isa in bitsieve.available_isas():
        bitsieve.set_isa(isa)
        try:
            if not _core.has_fma():
                continue
            for n in SIZES:
                A, B = positive(n, n), np.random.default_rng(n).normal(size=(n, 5))
                found = [
                    *_core.solve_positive(A, B, bordered=True),
                    _core.invert_positive(A, bordered=True),
                ]
                for one, other in zip(known.setdefault(n, found), found, strict=True):
                    assert np.array_equal(one, other)
        finally:
            bitsieve.set_isa(before)


@fused
def test_the_upper_triangle_counts_and_columns_stand_alone() -> None:
    A, B = positive(70, 0), np.random.default_rng(0).normal(size=(70, 9))
    X, _ = _core.solve_positive(A, B)
    only = np.triu(A) + np.tril(np.full_like(A, 7.0), -1)
    assert np.array_equal(_core.solve_positive(only, B)[0], X)
    alone = [_core.solve_positive(A, np.ascontiguousarray(B[:, [k]]))[0] for k in range(9)]
    assert np.array_equal(np.hstack(alone), X)


@fused
def test_what_is_singular_is_told() -> None:
    A = positive(40, 0)
    A[:, 30] = A[:, 3]
    A[30] = A[3]
    A[30, 30] = A[3, 3]
    nearly = A.copy()
    nearly[30, 30] *= 1 + 1e-9
    inflation = _core.solve_positive(nearly, np.ones((40, 1)))[1]
    assert 1e8 < inflation < 1e10
    # In other units it is as far from singular.
    units = np.logspace(-8, 8, 40)
    again = _core.solve_positive(nearly * units * units[:, None], np.ones((40, 1)))[1]
    assert again == pytest.approx(inflation, rel=1e-3)
    A[30, 30] *= 1 - 1e-9
    with pytest.raises(ValueError, match="positive definite"):
        _core.solve_positive(A, np.ones((40, 1)))
    with pytest.raises(ValueError, match="positive definite"):
        _core.invert_positive(np.diag([1.0, 0.0]))
