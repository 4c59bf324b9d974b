"""Tails of distributions, and p-values corrected for the number of features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["benjamini_hochberg"]

Floats = NDArray[np.float64]


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Adjust p-values for the false discovery rate.

    The adjusted value of the i-th smallest of m p-values is the least of ``p_(j) m / j`` over
    j >= i [1]_: features with an adjusted value of at most q are, in expectation, false
    discoveries to a share of at most q, where the p-values are independent or positively
    dependent. The same as ``scipy.stats.false_discovery_control``.

    Parameters
    ----------
    p_values : array-like of shape (n_features,)
        In [0, 1].

    Returns
    -------
    ndarray of shape (n_features,)
        Adjusted p-values in [0, 1], none below the one it came from.

    Raises
    ------
    ValueError
        If there is none, or one outside [0, 1] or missing.

    References
    ----------
    .. [1] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
       Statistical Society B 57, 1995.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5])
    array([0.04      , 0.05333333, 0.05333333, 0.5       ])
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or p.size == 0:
        raise ValueError(f"p_values must be a list of numbers, got an array of shape {p.shape}")
    if not ((p >= 0) & (p <= 1)).all():
        outside = np.flatnonzero(~((p >= 0) & (p <= 1)))
        raise ValueError(
            f"p_values must lie in [0, 1], but {p[outside[0]]:.6g} does not (at {outside[0]}, "
            f"{len(outside)} of {p.size})"
        )
    # As SciPy does it, whose module takes longer to import than all else here to compute.
    order = np.argsort(p, kind="stable")
    scaled = p[order] * (p.size / np.arange(1, p.size + 1))
    out = np.empty_like(p)
    out[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(out, 1.0)


def two_sided_t(statistic: Floats, freedom: float | Floats) -> Floats:
    """Probability that |t| is at least as large by chance."""
    from scipy.special import stdtr

    out: Floats = 2.0 * stdtr(freedom, -np.abs(statistic))
    return np.minimum(np.where(statistic == 0, 1.0, out), 1.0)


def upper_f(statistic: Floats, between: float, within: float) -> Floats:
    """Probability that F is at least as large by chance."""
    from scipy.special import fdtrc

    return _tail(fdtrc(between, within, statistic), statistic)


def upper_chi2(statistic: Floats, freedom: float) -> Floats:
    """Probability that chi-squared is at least as large by chance."""
    from scipy.special import chdtrc

    return _tail(chdtrc(freedom, statistic), statistic)


def two_sided_normal(statistic: Floats) -> Floats:
    """Twice the upper tail of the standard normal distribution, at most 1."""
    from scipy.special import ndtr

    return np.minimum(2.0 * np.asarray(ndtr(-statistic)), 1.0)


def two_sided_r(correlation: Floats, n_samples: int, rest: Floats | None = None) -> Floats:
    """Probability of a correlation as large by chance, by t with n - 2 degrees of freedom.

    ``rest`` is 1 - r^2, where it is known better than r tells.
    """
    freedom = n_samples - 2
    if freedom < 1:
        return np.ones_like(correlation)
    if rest is None:
        rest = (1.0 - correlation) * (1.0 + correlation)
    with np.errstate(divide="ignore"):
        return two_sided_t(correlation * np.sqrt(freedom / np.maximum(rest, 0.0)), freedom)


def _tail(values: Any, statistic: Floats) -> Floats:
    out = np.where(statistic == 0, 1.0, values)
    return np.where(np.isinf(statistic), 0.0, out)
