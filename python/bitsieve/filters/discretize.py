"""Continuous columns into levels, for everything that counts.

A cut point belongs to the level below it: with cuts 1 and 2, level 0 holds values up to and with
1, level 1 those up to and with 2, level 2 the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import is_whole, whole
from bitsieve._errors import name_columns
from bitsieve._threads import effective_n_jobs
from bitsieve.data import Table
from bitsieve.data.frames import is_frame
from bitsieve.data.validation import check_matrix, check_target
from bitsieve.filters import _cuts
from bitsieve.filters._cuts import Cuts
from bitsieve.filters._mixed import code_categories, discrete_mask

__all__ = ["Levels", "Method", "as_codes", "cut_points", "discretize", "levels_of"]

Method = Literal["mdl", "equal_width", "equal_frequency", "mean_sd", "user"]

#: Levels are stored as uint8, and none may be left over.
MAX_LEVELS = 255
#: Distinct whole numbers that a column may hold to be taken as levels unasked.
MAX_UNASKED = 64

_METHODS = get_args(Method)
_CUT_COSTS = ("distinct", "samples")


@dataclass(frozen=True, eq=False)
class Levels:
    """A discretised table.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_features)
        C-ordered uint8, from 0 on in each column.
    n_levels : ndarray of shape (n_features,)
        Int32; codes of column f lie in ``[0, n_levels[f])``.
    names : list of str or None
        Feature names.
    """

    codes: NDArray[np.uint8]
    n_levels: NDArray[np.int32]
    names: list[str] | None


@dataclass(frozen=True, eq=False)
class Discretization:
    """Cut points of a table, and the table itself as the kernels take it.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    cuts : Cuts
    names : list of str or None
    coded : list of int
        Columns of X that were categories, text or booleans.
    """

    X: NDArray[Any]
    cuts: Cuts
    names: list[str] | None
    coded: list[int]


def find_cuts(
    X: Any,
    y: Any,
    *,
    method: str | None,
    n_bins: int = 10,
    bins: Any = None,
    n_sd: float = 1.0,
    cut_cost: str = "distinct",
    missing: str = "error",
    discrete_features: Any = "auto",
    max_levels: int | None = None,
    n_jobs: int | None = None,
) -> Discretization:
    """Check everything and cut every column; ``method=None`` takes X as levels."""
    _check_parameters(method, n_bins, bins, n_sd, cut_cost, missing)
    n_threads = effective_n_jobs(n_jobs)
    array, names, y, coded = _matrix(X, y, missing, discrete_features)
    n, p = array.shape
    discrete = discrete_mask(discrete_features, p, names, coded)
    if method is None:
        limit = min(MAX_UNASKED, max(10, n // 2)) if max_levels is None else max_levels
        cuts = _as_levels(array, ~discrete, limit, names, n_threads)
    elif method == "mdl":
        if y is None:
            raise ValueError(
                "method='mdl' needs y, the class labels; without any use method='equal_frequency'"
            )
        target = check_target(y, n, "classification")
        assert target.codes is not None
        assert target.classes is not None
        cuts = _cuts.mdl(
            array, target.codes, len(target.classes), cut_cost=cut_cost, n_threads=n_threads
        )
    elif method == "mean_sd":
        cuts = _cuts.mean_sd(array, float(n_sd), n_threads=n_threads)
    elif method == "user":
        cuts = _cuts.user(bins, p)
    else:
        cuts = (_cuts.equal_width if method == "equal_width" else _cuts.equal_frequency)(
            array, n_bins
        )
    if discrete.any():
        own = _as_levels(array, discrete, MAX_LEVELS, names, n_threads)
        cuts = cuts.replaced(discrete, own)
    _check_level_count(cuts, names, missing)
    return Discretization(array, cuts, names, coded)


def _matrix(
    X: Any, y: Any, missing: str, discrete_features: Any
) -> tuple[NDArray[Any], list[str] | None, Any, list[int]]:
    """X as an array, its names, y, and the columns that were categories."""
    if isinstance(X, Table):
        return X.X, X.names, X.y if y is None else y, []
    frame, coded = (X, []) if _numbers_only(X) else code_categories(X, discrete_features)
    array, names = check_matrix(frame, allow_nan=missing == "level", allow_constant=True)
    return array, names, y, coded


def _numbers_only(X: Any) -> bool:
    """Tell whether the types of the columns alone show that all are numbers."""
    return is_frame(X) and all(getattr(dtype, "kind", "O") in "iuf" for dtype in set(X.dtypes))


def _check_parameters(
    method: str | None, n_bins: int, bins: Any, n_sd: float, cut_cost: str, missing: str
) -> None:
    if method is not None and method not in _METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, _METHODS))}, got {method!r}")
    if whole("n_bins", n_bins, 2) > MAX_LEVELS:
        raise ValueError(f"n_bins must be at most {MAX_LEVELS}, got {n_bins}")
    if bins is not None and method != "user":
        raise ValueError(f"bins are used by method='user' alone, got method={method!r}")
    number = isinstance(n_sd, (int, float, np.integer, np.floating)) and not isinstance(n_sd, bool)
    if not number or not 0 < n_sd < np.inf:
        raise ValueError(f"n_sd must be a positive number of standard deviations, got {n_sd!r}")
    if cut_cost not in _CUT_COSTS:
        raise ValueError(f"cut_cost must be 'distinct' or 'samples', got {cut_cost!r}")
    if missing not in ("error", "level"):
        raise ValueError(f"missing must be 'error' or 'level', got {missing!r}")


def _as_levels(
    X: NDArray[Any],
    wanted: NDArray[np.bool_],
    limit: int,
    names: list[str] | None,
    n_threads: int,
) -> Cuts:
    """Cut between the distinct values; columns that are not wanted get what comes out."""
    values, begin, faults = _core.level_cut_points(X, max_levels=limit, n_threads=n_threads)
    fractions = np.flatnonzero((faults == 1) & wanted)
    if fractions.size:
        column = X[:, fractions[0]]
        example = column[(column != np.rint(column)) & ~np.isnan(column)][0]
        raise ValueError(
            "levels must be whole numbers, but "
            f"{name_columns(fractions.tolist(), names)} hold"
            f"{'s' if fractions.size == 1 else ''} numbers such as {example:.6g}; cut continuous "
            "columns into levels first: discretization='mdl' (or 'equal_width', "
            "'equal_frequency', 'mean_sd'), or bitsieve.filters.discretize"
        )
    many = np.flatnonzero((faults == 2) & wanted)
    if many.size:
        raise ValueError(
            f"a column may hold {limit} distinct values to be taken as levels, but "
            f"{name_columns(many.tolist(), names)} hold{'s' if many.size == 1 else ''} more; cut "
            "it into fewer (discretization='mdl', or bitsieve.filters.discretize)"
            + ("" if limit == MAX_LEVELS else ", or name it in discrete_features")
        )
    return Cuts(values, begin)


def _check_level_count(cuts: Cuts, names: list[str] | None, missing: str) -> None:
    n_levels = cuts.counts + (2 if missing == "level" else 1)
    over = np.flatnonzero(n_levels > MAX_LEVELS)
    if over.size:
        raise ValueError(
            f"a column may have {MAX_LEVELS} levels at most, but "
            f"{name_columns(over.tolist(), names)} would have up to {int(n_levels.max())}; use "
            "fewer bins (method='equal_frequency', n_bins=...)"
        )


def levels_of(
    X: Any,
    y: Any,
    discretization: str | None,
    *,
    n_bins: int = 10,
    missing: str = "error",
    discrete_features: Any = "auto",
    max_levels: int | None = None,
    n_jobs: int | None = None,
) -> Levels:
    """Levels of a table, for filters with a ``discretization`` argument.

    Parameters
    ----------
    X, y : as every filter takes them
    discretization : str or None
        A method of :func:`discretize` but ``"user"``; None takes X as levels, which it must be.
    n_bins, missing, discrete_features, n_jobs
        See :func:`discretize`.
    max_levels : int or None
        See :func:`as_codes`.

    Returns
    -------
    Levels

    Raises
    ------
    ValueError
        As :func:`discretize` and :func:`as_codes`.

    Examples
    --------
    >>> levels_of([[1.0], [2.0], [9.0]], None, "equal_width", n_bins=2).codes.ravel()
    array([0, 0, 1], dtype=uint8)
    """
    known = tuple(m for m in _METHODS if m != "user")
    if discretization is not None and discretization not in known:
        raise ValueError(
            f"discretization must be one of {', '.join(map(repr, known))}, or None for columns "
            f"that hold levels already, got {discretization!r}"
        )
    return _levels(
        find_cuts(
            X,
            y,
            method=discretization,
            n_bins=n_bins,
            missing=missing,
            discrete_features=discrete_features,
            max_levels=max_levels,
            n_jobs=n_jobs,
        ),
        missing,
        n_jobs,
    )


def _levels(found: Discretization, missing: str, n_jobs: int | None) -> Levels:
    keep = missing == "level"
    n_threads = effective_n_jobs(n_jobs)
    codes = found.cuts.apply(found.X, missing_level=keep, n_threads=n_threads)
    n_levels = found.cuts.counts + 1
    if keep:
        n_levels += np.isnan(found.X).any(axis=0)
    return Levels(codes, n_levels.astype(np.int32), found.names)


def discretize(
    X: Any,
    y: Any = None,
    *,
    method: Method = "mdl",
    n_bins: int = 10,
    bins: Any = None,
    n_sd: float = 1.0,
    cut_cost: Literal["distinct", "samples"] = "distinct",
    missing: Literal["error", "level"] = "error",
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
          neighbouring values. Equal values stay together, in the lower bin; no bin is empty.
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
    cut_cost : {"distinct", "samples"}, default "distinct"
        What the choice of a cut costs in ``"mdl"``: log2 of the cuts between distinct values, as
        Weka's evaluators count, or log2(N - 1) for N samples, as in the paper.
    missing : {"error", "level"}, default "error"
        NaN is refused, or is a level of its own, above all others of its column.
    discrete_features : "auto", bool mask, positions or names, default "auto"
        Columns that hold levels already: whole numbers, which are numbered from 0 in ascending
        order. ``"auto"`` means the categorical, boolean and text columns of a data frame. It is
        never guessed from the number of distinct values.
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
    found = find_cuts(
        X,
        y,
        method=_named_method(method),
        n_bins=n_bins,
        bins=bins,
        n_sd=n_sd,
        cut_cost=cut_cost,
        missing=missing,
        discrete_features=discrete_features,
        n_jobs=n_jobs,
    )
    levels = _levels(found, missing, n_jobs)
    return levels.codes, levels.n_levels


def _named_method(method: Any) -> str:
    if method is None:
        raise ValueError(f"method must be one of {', '.join(map(repr, _METHODS))}, got None")
    return str(method)


def cut_points(
    X: Any,
    y: Any = None,
    *,
    method: Method = "mdl",
    n_bins: int = 10,
    bins: Any = None,
    n_sd: float = 1.0,
    cut_cost: Literal["distinct", "samples"] = "distinct",
    missing: Literal["error", "level"] = "error",
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
    found = find_cuts(
        X,
        y,
        method=_named_method(method),
        n_bins=n_bins,
        bins=bins,
        n_sd=n_sd,
        cut_cost=cut_cost,
        missing=missing,
        discrete_features=discrete_features,
        n_jobs=n_jobs,
    )
    return found.cuts.columns()


def as_codes(
    X: Any,
    *,
    max_levels: int | None = None,
    missing: Literal["error", "level"] = "error",
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
    if max_levels is not None and (not is_whole(max_levels) or not 1 <= max_levels <= MAX_LEVELS):
        raise ValueError(
            f"max_levels must be a whole number from 1 to {MAX_LEVELS} or None, got {max_levels!r}"
        )
    levels = levels_of(
        X,
        None,
        None,
        missing=missing,
        discrete_features=discrete_features,
        max_levels=max_levels,
        n_jobs=n_jobs,
    )
    return levels.codes, levels.n_levels
