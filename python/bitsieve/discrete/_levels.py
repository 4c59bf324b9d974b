"""From what a user passes to cut points, and from cut points to a table of levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import check_choice, check_int, check_number
from bitsieve._errors import name_columns
from bitsieve._threads import effective_n_jobs
from bitsieve.data import Table
from bitsieve.data.frames import is_frame
from bitsieve.data.merged import refuse_merged
from bitsieve.data.mixed import code_categories, discrete_mask
from bitsieve.data.validation import check_matrix, check_target
from bitsieve.discrete import _cuts
from bitsieve.discrete._cuts import Cuts

__all__ = [
    "MAX_LEVELS",
    "METHODS",
    "CutCost",
    "CutTable",
    "Levels",
    "Method",
    "Missing",
    "apply_cuts",
    "dense_levels",
    "find_cuts",
    "levels_of",
    "matrix_of",
    "most_unasked",
]

Method = Literal["mdl", "equal_width", "equal_frequency", "mean_sd", "user"]
Missing = Literal["error", "level"]
CutCost = Literal["distinct", "samples"]

#: Levels are stored as uint8, and none may be left over.
MAX_LEVELS = 255

METHODS = get_args(Method)
_WHOLE = [np.dtype(t) for t in (np.uint8, np.int8, np.int16, np.int32, np.int64)]


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
class CutTable:
    """Cut points of a table, and the table itself as the kernels take it.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    cuts : Cuts
    names : list of str or None
    coded : list of int
        Columns of X that were categories, text or booleans, or are discrete in a Table.
    """

    X: NDArray[Any]
    cuts: Cuts
    names: list[str] | None
    coded: list[int]


def most_unasked(n_samples: int) -> int:
    """How many distinct whole numbers a column may hold to be taken as levels unasked.

    A column with nearly as many values as samples is a measurement.

    Examples
    --------
    >>> most_unasked(6), most_unasked(40), most_unasked(5000)
    (10, 20, 64)
    """
    return min(64, max(10, n_samples // 2))


def find_cuts(
    X: Any,
    y: Any,
    *,
    method: str | None,
    n_bins: int = 10,
    bins: Any = None,
    n_sd: float = 1.0,
    cut_cost: str = "samples",
    missing: str = "error",
    discrete_features: Any = "auto",
    max_levels: int | None = None,
    n_jobs: int | None = None,
    names: list[str] | None = None,
) -> CutTable:
    """Check everything and cut every column; ``method=None`` takes X as levels.

    ``names`` are for messages, where X brings none.
    """
    _check_parameters(method, n_bins, bins, n_sd, cut_cost, missing)
    n_threads = effective_n_jobs(n_jobs)
    array, own_names, y, coded = matrix_of(X, y, missing, discrete_features)
    names = own_names or names
    n, p = array.shape
    discrete = discrete_mask(discrete_features, p, names, coded)
    if method is None:
        limit = most_unasked(n) if max_levels is None else max_levels
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
    return CutTable(array, cuts, names, coded)


def matrix_of(
    X: Any, y: Any, missing: str, discrete_features: Any
) -> tuple[NDArray[Any], list[str] | None, Any, list[int]]:
    """X as an array, its names, y, and the columns that were categories."""
    if isinstance(X, Table):
        if missing != "level":
            X.refuse_missing()
        return X.X, X.names, X.y if y is None else y, X.discrete_columns
    refuse_merged(X)
    frame, coded = (X, []) if _numbers_only(X) else code_categories(X, discrete_features)
    array, names = check_matrix(frame, allow_nan=missing == "level", allow_constant=True)
    return array, names, y, coded


def _numbers_only(X: Any) -> bool:
    """Tell whether the types of the columns alone show that all are numbers."""
    return is_frame(X) and all(getattr(dtype, "kind", "O") in "iuf" for dtype in set(X.dtypes))


def _check_parameters(
    method: str | None, n_bins: int, bins: Any, n_sd: float, cut_cost: str, missing: str
) -> None:
    if method is not None:
        check_choice("method", method, METHODS)
    check_int("n_bins", n_bins, 2, MAX_LEVELS)
    if bins is not None and method != "user":
        raise ValueError(f"bins are used by method='user' alone, got method={method!r}")
    check_number("n_sd", n_sd, 0, unit="standard deviations")
    check_choice("cut_cost", cut_cost, get_args(CutCost))
    check_choice("missing", missing, get_args(Missing))


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
    cut_cost: str = "samples",
    missing: str = "error",
    discrete_features: Any = "auto",
    max_levels: int | None = None,
    n_jobs: int | None = None,
    names: list[str] | None = None,
) -> Levels:
    """Levels of a table, for filters with a ``discretization`` argument.

    Parameters
    ----------
    X, y : as every filter takes them
    discretization : str or None
        A method of :func:`discretize` but ``"user"``; None takes X as levels, which it must be.
    n_bins, cut_cost, missing, discrete_features, n_jobs
        See :func:`discretize`.
    max_levels : int or None
        See :func:`as_codes`.
    names : list of str or None
        For messages, where X brings none.

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
    known = tuple(m for m in METHODS if m != "user")
    if discretization is not None:
        instead = "or None for columns that hold levels already"
        check_choice("discretization", discretization, known, instead=instead)
    return apply_cuts(
        find_cuts(
            X,
            y,
            method=discretization,
            n_bins=n_bins,
            cut_cost=cut_cost,
            missing=missing,
            discrete_features=discrete_features,
            max_levels=max_levels,
            n_jobs=n_jobs,
            names=names,
        ),
        missing,
        n_jobs,
    )


def apply_cuts(found: CutTable, missing: str, n_jobs: int | None) -> Levels:
    """Number the level of every value."""
    keep = missing == "level"
    n_threads = effective_n_jobs(n_jobs)
    codes = found.cuts.apply(found.X, missing_level=keep, n_threads=n_threads)
    n_levels = found.cuts.counts + 1
    if keep:
        n_levels += np.isnan(found.X).any(axis=0)
    return Levels(codes, n_levels.astype(np.int32), found.names)


def dense_levels(
    X: Any,
    y: Any,
    *,
    discretization: str | None,
    n_bins: int,
    missing: str,
    discrete_features: Any,
    n_jobs: int | None,
    cut_cost: str,
    names: list[str] | None = None,
) -> tuple[Levels, Any]:
    """Levels of a table where ``discretization`` may be "auto", and the target it came with."""
    options: dict[str, Any] = {
        "n_bins": n_bins,
        "missing": missing,
        "n_jobs": n_jobs,
        "cut_cost": cut_cost,
        "names": names,
    }
    if discretization not in ("auto", None):
        levels = levels_of(X, y, discretization, discrete_features=discrete_features, **options)
        return levels, X.y if y is None and isinstance(X, Table) else y
    coded: list[int] = []
    if _is_whole(X):  # nothing to check, and no other form is needed
        array = X
    else:
        array, own_names, y, coded = matrix_of(X, y, missing, discrete_features)
        names = own_names or names
    known = discrete_mask(discrete_features, array.shape[1], names, coded)
    limit = most_unasked(len(array))
    codes, n_levels = _core.encode_levels(array, most=limit, n_threads=effective_n_jobs(n_jobs))
    whole = n_levels > 0
    if whole.all():
        return Levels(codes, n_levels, names), y
    if discretization is None:
        return levels_of(X, y, None, discrete_features=discrete_features, **options), y
    del codes
    if missing == "level" and array.dtype.kind == "f":  # NaN among whole numbers leaves them levels
        faults = _core.level_cut_points(array, max_levels=limit, n_threads=1)[2]
        whole = faults == 0
    found = find_cuts(array, y, method="mean_sd", discrete_features=known | whole, **options)
    return apply_cuts(found, missing, n_jobs), y


def _is_whole(X: Any) -> bool:
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in _WHOLE
        and X.flags.c_contiguous
        and X.flags.aligned
        and X.shape[0] >= 2
        and X.shape[1] >= 1
    )
