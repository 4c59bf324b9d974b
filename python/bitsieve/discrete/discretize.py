"""Continuous columns into levels, for everything that counts.

A cut point belongs to the level below it: with cuts 1 and 2, level 0 holds values up to and with
1, level 1 those up to and with 2, level 2 the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._threads import effective_n_jobs
from bitsieve.discrete._levels import CutCost, Method, Missing, Options, applied, inputs_for, levels
from bitsieve.discrete.cuts import checked_cuts, find_cuts

__all__ = ["Method", "as_codes", "cut_points", "discretize"]


def discretize(
    X: Any,
    y: Any = None,
    *,
    method: Method = "mdl",
    n_bins: int = 10,
    bins: Any = None,
    n_sd: float = 1.0,
    cut_cost: CutCost = "samples",
    missing: Missing = "error",
    discrete_features: Any = "auto",
    n_jobs: int | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Cut every column into levels.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        Numbers. Text, categories and booleans of a data frame are levels by themselves.
    y : array-like of shape (n_samples,), optional
        Class labels of any type; ``method="mdl"`` alone needs them.
    method : {"mdl", "equal_width", "equal_frequency", "mean_sd", "user"}, default "mdl"
        * ``"mdl"``: Fayyad and Irani's recursive splits [1]_. A set of samples is cut where the
          class entropy within the two parts is least, if the gain is worth the description of the
          cut (their equation 9); then each part in turn. A column that says nothing about the
          classes keeps one level.
        * ``"equal_width"``: `n_bins` intervals of one width from the least to the greatest value.
        * ``"equal_frequency"``: `n_bins` intervals of one number of samples, cut half way between
          neighboring values. Equal values stay together, in the lower bin; no bin is empty.
        * ``"mean_sd"``: three levels, below, within and above `n_sd` standard deviations
          (denominator n - 1) around the mean, as Peng cut expression data for mRMR [2]_. A value
          on the border is within.
        * ``"user"``: cut points in `bins`.
    n_bins : int, default 10
        Bins of ``"equal_width"`` and ``"equal_frequency"``, from 2 to 255; a column may get
        fewer where values are equal, and one level where it is constant.
    bins : sequence of float, or of n_features sequences
        Ascending cut points, the same for all columns or one list a column.
    n_sd : float, default 1.0
        Reach of the middle level of ``"mean_sd"``.
    cut_cost : {"samples", "distinct"}, default "samples"
        What the choice of a cut costs in ``"mdl"``: log2(N - 1) for N samples, the rule of
        Fayyad and Irani (1993, equation 9), or log2 of the number of cuts between distinct values,
        as Weka's evaluators count, and :func:`information_gain` and its kin by default.
    missing : {"error", "level"}, default "error"
        NaN is refused, or is a level of its own, above all others of its column.
    discrete_features : "auto", bool mask, positions or names, default "auto"
        Columns that hold levels already: whole numbers, which are numbered from 0 in ascending
        order. ``"auto"`` means the categorical, boolean and text columns of a data frame, and the
        discrete ones of a Table. It is never guessed from the number of distinct values.
    n_jobs : int or None, default None
        Threads; see :class:`bitsieve.BinarySPSA`.

    Returns
    -------
    codes : ndarray of shape (n_samples, n_features)
        Uint8, C order: how many cut points of the column lie below the value.
    n_levels : ndarray of shape (n_features,)
        Int32. A level may be empty (``"equal_width"``, ``"mean_sd"``, ``"user"``).

    Raises
    ------
    ValueError
        If X or y are not fit for use, a parameter is out of its range, or a column would have
        more than 255 levels.

    Notes
    -----
    Among equally good cuts the lowest is taken. Cuts depend neither on the order of the samples
    and labels nor on the number of threads.

    References
    ----------
    .. [1] U. M. Fayyad, K. B. Irani, "Multi-interval discretization of continuous-valued
       attributes for classification learning", IJCAI 1993, 1022-1027.
    .. [2] C. Ding, H. Peng, "Minimum redundancy feature selection from microarray gene expression
       data", J. Bioinform. Comput. Biol. 3 (2005) 185-205.

    Examples
    --------
    >>> X = [[1.0, 5.0], [2.0, 5.0], [8.0, 6.0], [9.0, 5.0], [1.5, 6.0], [8.5, 5.0]]
    >>> codes, n_levels = discretize(X, ["a", "a", "b", "b", "a", "b"])
    >>> codes[:, 0], n_levels
    (array([0, 0, 1, 1, 0, 1], dtype=uint8), array([2, 1], dtype=int32))
    """
    options = Options(
        method=method,
        n_bins=n_bins,
        bins=bins,
        n_sd=n_sd,
        cut_cost=cut_cost,
        missing=missing,
        n_threads=effective_n_jobs(n_jobs),
    )
    inputs, cuts = checked_cuts(X, y, options, discrete_features)
    found = applied(cuts, inputs, options)
    return found.codes, found.n_levels


def cut_points(
    X: Any,
    y: Any = None,
    *,
    method: Method = "mdl",
    n_bins: int = 10,
    bins: Any = None,
    n_sd: float = 1.0,
    cut_cost: CutCost = "samples",
    missing: Missing = "error",
    discrete_features: Any = "auto",
    n_jobs: int | None = None,
) -> list[NDArray[np.float64]]:
    """Where :func:`discretize` cuts each column.

    Parameters
    ----------
    X, y, method, n_bins, bins, n_sd, cut_cost, missing, discrete_features, n_jobs
        As for :func:`discretize`.

    Returns
    -------
    list of ndarray
        Ascending float64 cut points, one array a column, in the units of the column; empty where
        it has one level. Columns of levels are cut half way between their values.

    Raises
    ------
    ValueError
        As :func:`discretize`.

    Examples
    --------
    >>> cut_points([[0.0], [4.0], [10.0]], method="equal_width", n_bins=4)
    [array([2.5, 5. , 7.5])]
    """
    return find_cuts(
        X,
        y,
        method=method,
        n_bins=n_bins,
        bins=bins,
        n_sd=n_sd,
        cut_cost=cut_cost,
        missing=missing,
        discrete_features=discrete_features,
        n_jobs=n_jobs,
    ).columns()


def as_codes(
    X: Any,
    *,
    max_levels: int | None = None,
    missing: Missing = "error",
    discrete_features: Any = "auto",
    n_jobs: int | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Number the levels of columns that are discrete already, and refuse those that are not.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        Whole numbers of any size and sign. Text, categories and booleans of a data frame may be
        among them.
    max_levels : int or None, default None
        Most distinct values in a column. None: 64, or half as many as there are samples where
        that is less (but 10 at least): a column with nearly as many values as samples is a
        measurement, and counting it as one level a value says that it explains any y.
    missing : {"error", "level"}, default "error"
        NaN is refused, or is a level of its own, above all others of its column.
    discrete_features : "auto", bool mask, positions or names, default "auto"
        Columns known to hold categories: they may have up to 255 levels.
    n_jobs : int or None, default None
        Threads.

    Returns
    -------
    codes : ndarray of shape (n_samples, n_features)
        Uint8, C order: the position of the value among the sorted distinct ones of its column.
    n_levels : ndarray of shape (n_features,)
        Int32.

    Raises
    ------
    ValueError
        If a column holds a fraction, or more distinct values than the limit.

    Examples
    --------
    >>> codes, n_levels = as_codes([[-1, 300], [7, 200], [-1, 100]])
    >>> codes.tolist(), n_levels.tolist()
    ([[0, 2], [1, 1], [0, 0]], [2, 3])
    >>> as_codes([[0.5], [1.5]])
    Traceback (most recent call last):
    ValueError: levels must be whole numbers, but 1 column (number 0) holds numbers such as 0.5; ...
    """
    options = Options(
        method=None, missing=missing, max_levels=max_levels, n_threads=effective_n_jobs(n_jobs)
    )
    found = levels(inputs_for(X, None, options, discrete_features), options)
    return found.codes, found.n_levels
