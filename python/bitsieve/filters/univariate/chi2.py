"""Chi-squared of counts against classes, dense and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._errors import name_columns
from bitsieve._threads import effective_n_jobs
from bitsieve.data.inputs import Inputs, check_input
from bitsieve.filters.p_values import upper_chi2
from bitsieve.filters.univariate._moments import BLOCK

__all__ = ["chi2"]

Floats = NDArray[np.float64]

#: Sums are taken of so small a share of X that they fit into float64.
_SMALL = 2.0**-40

#: A sum is what is expected of it up to this share: a constant feature has 0.
_ROUNDING = 1e-15


def chi2(
    X: Any, y: Any = None, *, p_values: bool = False, n_jobs: int | None = None
) -> Floats | tuple[Floats, Floats]:
    """Chi-squared of each feature's sums a class, for counts and other frequencies.

    ``sum_c (O_c - E_c)^2 / E_c`` with O_c the sum of the feature over class c and E_c what would be
    its share by the size of the class alone; the chi-squared of scikit-learn's ``chi2``, which has
    NaN where a feature is zero throughout, and this 0. It grows with the unit of the feature: it is
    meant for counts, as of words.

    Parameters
    ----------
    X : array-like, DataFrame, Table or sparse matrix of shape (n_samples, n_features)
        No value below zero. Sparse ones take time in proportion to their entries.
    y : array-like of shape (n_samples,)
        Class labels; those of a Table by default.
    p_values : bool, default False
        Return p-values as well, by chi-squared with C - 1 degrees of freedom.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        In [0, inf).
    p_values : ndarray of shape (n_features,)
        Only if asked for.

    Raises
    ------
    ValueError
        If X or y are not fit for use, or a value is negative.

    Examples
    --------
    >>> from bitsieve.filters import chi2
    >>> chi2([[1, 4], [0, 4], [5, 4], [6, 4]], ["a", "a", "b", "b"]).round(4)
    array([8.3333, 0.    ])
    """
    columns = check_input(X, y, task="classification", sparse=True, defer=True)
    _refuse_negative(columns)
    n_classes, p = len(columns.classes), columns.n_features
    observed = _observed(columns, n_jobs)
    share = (columns.counts / columns.n_samples)[:, None]
    scores = np.empty(p)
    for begin in range(0, p, BLOCK):
        part = slice(begin, begin + BLOCK)
        found = observed[:, part]
        if not columns.is_sparse:
            first = columns.X[0, part].astype(np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                found = (found + first) * (columns.counts * _SMALL)[:, None]
            over = np.flatnonzero(~np.isfinite(found).all(axis=0))
            for c in range(n_classes if over.size else 0):  # a class's sum exceeds float64
                own = columns.X[columns.codes == c, part][:, over].astype(np.float64)
                found[c, over] = (own * _SMALL).sum(axis=0)
        expected = share * found.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            away = found - expected
            away[np.abs(away) <= _ROUNDING * expected] = 0.0
            value = (away / expected * away).sum(axis=0) / _SMALL
        scores[part] = np.where(expected[0] > 0, value, 0.0)
    return (scores, upper_chi2(scores, n_classes - 1)) if p_values else scores


def _observed(columns: Inputs, n_jobs: int | None) -> Floats:
    """Sums a class of sparse columns; of dense ones means, less the first sample's value."""
    n_classes, p = len(columns.classes), columns.n_features
    if not columns.is_sparse:
        threads = effective_n_jobs(n_jobs)
        # Not class_moments, which may scale a feature: here its unit counts.
        means, _ = _core.class_moments(columns.X, columns.codes, n_classes, threads)
        with np.errstate(over="ignore", invalid="ignore"):
            fine = bool(np.isfinite(means.sum()))
        if not fine:
            columns.refuse()
        return means
    column = np.repeat(np.arange(p), np.diff(columns.X.indptr))
    place = columns.codes[columns.X.indices].astype(np.int64) * p + column
    weights = columns.X.data * _SMALL
    sums = np.bincount(place, weights=weights, minlength=n_classes * p)
    return sums.reshape(n_classes, p).astype(np.float64)


def _refuse_negative(columns: Inputs) -> None:
    X = columns.X
    least = X.data.min(initial=0.0) if columns.is_sparse else X.min()
    if not least < 0:  # NaN comes up later
        return
    if columns.is_sparse:
        where = np.searchsorted(X.indptr, np.flatnonzero(X.data < 0), side="right") - 1
    else:
        where = np.flatnonzero((X < 0).any(axis=0))
    named = name_columns(np.unique(where).tolist(), columns.names)
    raise ValueError(
        f"chi2 is for counts, but X has negative values, the least {least:.6g}, in "
        f"{named}; shift them, discretise them, or use f_test (Negative values in data)"
    )
