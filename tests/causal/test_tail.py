"""Logarithms of tail probabilities are SciPy's, and right where SciPy's are minus infinity."""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from bitsieve import _core

DOFS = np.unique(np.r_[1:40, np.geomspace(40, 10_000, 60).astype(int)]).astype(np.int64)


def _exact(x: float, dof: int) -> float:
    """Twin: all terms are positive, so that their sum is right to rounding."""
    half, whole = x / 2, dof // 2
    if dof % 2 == 0:
        k = np.arange(whole)
        return float(special.logsumexp(k * np.log(half) - special.gammaln(k + 1)) - half)
    k = np.arange(whole) + 0.5
    terms = k * np.log(half) - special.gammaln(k + 1) - half
    return float(special.logsumexp([special.log_ndtr(-np.sqrt(x)) + np.log(2), *terms]))


def test_chi_squared_is_scipys() -> None:
    dof = np.repeat(DOFS, 300)
    x = dof * np.exp(np.random.default_rng(0).uniform(-4, 4, len(dof)))
    ours, theirs = _core.log_chi_squared_tails(x, dof), stats.chi2.logsf(x, dof)
    told = np.isfinite(theirs) & (theirs < 0)
    assert told.sum() > 10_000
    np.testing.assert_allclose(ours[told], theirs[told], rtol=1e-10)
    assert (ours <= 0).all()
    # Where theirs is 0 but for rounding, so is ours.
    assert (ours[theirs == 0] > -1e-15).all()


def test_chi_squared_far_out() -> None:
    """Down to log p = -5,000, where the p-value is no float."""
    rng = np.random.default_rng(1)
    for dof in DOFS[::3].tolist():
        for far in rng.uniform(300, 5000, 8):
            x = dof + 2 * far + np.sqrt(8 * far * dof)
            ours = _core.log_chi_squared_tails(np.array([x]), np.array([dof]))[0]
            assert -11_000 < ours < -100
            assert abs(ours / _exact(x, dof) - 1) < 1e-10


def test_chi_squared_descends() -> None:
    """Also where one formula follows another."""
    for dof in (1, 2, 3, 7, 8, 50, 1001):
        x = np.linspace(dof * 0.9, dof * 1.2 + 4, 5001)
        found = _core.log_chi_squared_tails(x, np.full(len(x), dof))
        assert (np.diff(found) < 0).all()


def test_normal_is_scipys() -> None:
    z = np.r_[np.geomspace(1e-12, 1, 200), np.linspace(0, 12, 2001), np.linspace(12, 101, 500)]
    theirs = np.log(2) + stats.norm.logsf(z)
    ours = _core.log_normal_tails(z)
    assert ours.min() < -5000
    away = z > 0.1
    np.testing.assert_allclose(ours[away], theirs[away], rtol=1e-10)
    near = ~away & (z > 0)  # log 2 + logsf cancels there
    np.testing.assert_allclose(ours[near], np.log1p(-special.erf(z[near] / np.sqrt(2))), rtol=1e-12)
    assert (_core.log_normal_tails(-z) == ours).all()


def test_ends() -> None:
    zero = np.zeros(3)
    dof = np.array([0, 1, 5])
    assert (_core.log_chi_squared_tails(zero, dof) == 0).all()
    assert (_core.log_chi_squared_tails(np.full(3, -1.0), dof) == 0).all()
    assert (_core.log_chi_squared_tails(np.full(2, np.inf), dof[1:]) == -np.inf).all()
    assert _core.log_chi_squared_tails(np.array([9.0]), np.array([0]))[0] == 0
    assert _core.log_normal_tails(np.array([0.0, np.inf])).tolist() == [0.0, -np.inf]
