"""From checked columns to levels: by cut points, or the values themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import check_choice, check_int, check_number
from bitsieve._errors import name_columns
from bitsieve.data.inputs import Inputs, check_input
from bitsieve.data.table import Table
from bitsieve.data.validation import Task
from bitsieve.discrete import _cuts
from bitsieve.discrete._cuts import Cuts

__all__ = [
    "MAX_LEVELS",
    "METHODS",
    "CutCost",
    "Discretization",
    "Levels",
    "Method",
    "Missing",
    "Options",
    "applied",
    "check_discretization",
    "check_parameters",
    "cut",
    "inputs_for",
    "levels",
    "max_auto_levels",
]

Method = Literal["mdl", "equal_width", "equal_frequency", "mean_sd", "user"]
Discretization = Literal["auto", "mdl", "equal_width", "equal_frequency", "mean_sd"]
Missing = Literal["error", "level"]
CutCost = Literal["distinct", "samples"]

#: Levels are stored as uint8, and none may be left over.
MAX_LEVELS = 255

METHODS = get_args(Method)


@dataclass(frozen=True, eq=False)
class Levels:
    """A discretised table.

    Attributes
    ----------
    codes : ndarray of shape (n_samples, n_features)
        C-ordered uint8, from 0 on in each column.
    n_levels : ndarray of shape (n_features,)
        Int32; codes of column f lie in ``[0, n_levels[f])``.
    """

    codes: NDArray[np.uint8]
    n_levels: NDArray[np.int32]


@dataclass(frozen=True)
class Options:
    """How columns become levels; see :func:`bitsieve.filters.discretize`.

    Attributes
    ----------
    method : str or None
        A method of :func:`discretize`; None takes columns as levels, which they must be; "auto"
        takes those of few whole numbers as they are and cuts the others as "mean_sd" does.
    n_bins, bins, n_sd, cut_cost, missing
        See there.
    max_levels : int or None
        Most distinct values of columns that nobody called discrete, where they are taken as
        levels; None decides from the number of samples.
    n_threads : int
    """

    method: str | None = "auto"
    n_bins: int = 10
    bins: Any = None
    n_sd: float = 1.0
    cut_cost: str = "samples"
    missing: str = "error"
    max_levels: int | None = None
    n_threads: int = 1


def max_auto_levels(n_samples: int) -> int:
    """How many distinct whole numbers a column may hold to be taken as levels unasked.

    A column with nearly as many values as samples is a measurement.

    Examples
    --------
    >>> max_auto_levels(6), max_auto_levels(40), max_auto_levels(5000)
    (10, 20, 64)
    """
    return min(64, max(10, n_samples // 2))


def check_parameters(options: Options) -> None:
    """Refuse options that are out of their range; of the method, only "auto" is not looked at.

    Raises
    ------
    ValueError
        With the option, what it may be and what came.
    """
    method = options.method
    if method not in (None, "auto"):
        check_choice("method", method, METHODS)
    check_int("n_bins", options.n_bins, 2, MAX_LEVELS)
    if options.bins is not None and method != "user":
        raise ValueError(f"bins are used by method='user' alone, got method={method!r}")
    check_number("n_sd", options.n_sd, 0, unit="standard deviations")
    check_choice("cut_cost", options.cut_cost, get_args(CutCost))
    check_choice("missing", options.missing, get_args(Missing))
    if options.max_levels is not None:
        check_int("max_levels", options.max_levels, 1, MAX_LEVELS, instead="or None")


def check_discretization(given: Any, *, auto: bool = True) -> Discretization | None:
    """Return ``discretization`` as the user gave it, where it is one of the ways.

    Parameters
    ----------
    given : str or None
    auto : bool, default True
        Whether "auto" is one of them.

    Returns
    -------
    str or None

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> check_discretization("mdl")
    'mdl'
    """
    known = tuple(m for m in get_args(Discretization) if auto or m != "auto")
    if given is not None:
        instead = "or None for columns that hold levels already"
        check_choice("discretization", given, known, instead=instead)
    found: Discretization | None = given
    return found


def inputs_for(
    X: Any,
    y: Any,
    options: Options,
    discrete_features: Any,
    *,
    task: Task | None = None,
    target: bool | None = None,
    sparse: bool = False,
    wholes: bool = False,
) -> Inputs:
    """Check options, X and y for a table of levels.

    Parameters
    ----------
    X, y, task, sparse
        As for :func:`bitsieve.data.inputs.check_input`.
    options : Options
    discrete_features : object
        As the user gave it.
    target : bool or None, default None
        Whether y is needed; None where the method alone decides, as classes.
    wholes : bool, default False
        Let whole numbers pass as they are where no method cuts them.

    Returns
    -------
    Inputs

    Raises
    ------
    ValueError
        Where one of them is unfit.

    Examples
    --------
    >>> inputs_for(np.array([[1, 2], [3, 5]]), None, Options(), "auto", wholes=True).X.dtype
    dtype('int64')
    """
    check_parameters(options)
    if target is None:
        target = options.method == "mdl"
        task = "classification"
        if target and y is None and not (isinstance(X, Table) and X.y is not None):
            raise ValueError(
                "method='mdl' needs y, the class labels; without any use method='equal_frequency'"
            )
    return check_input(
        X,
        y,
        task=task,
        target=target,
        missing="keep" if options.missing == "level" else "error",
        sparse=sparse,
        categories=True,
        discrete_features=discrete_features,
        distinct="all",
        wholes=wholes and options.method in ("auto", None),
    )


def cut(inputs: Inputs, options: Options) -> Cuts:
    """Cut every column of a dense table of numbers.

    Parameters
    ----------
    inputs : Inputs
        With classes where the method is "mdl".
    options : Options
        Any method but "auto".

    Raises
    ------
    ValueError
        If columns are no levels where they are promised, or would have too many of them.
    """
    X, names, discrete = inputs.X, inputs.names, inputs.discrete
    n_threads, method = options.n_threads, options.method
    if method is None:
        given = options.max_levels
        limit = max_auto_levels(len(X)) if given is None else given
        cuts = _as_levels(X, ~discrete, limit, names, n_threads)
    elif method == "mdl":
        cuts = _cuts.mdl(
            X, inputs.codes, len(inputs.classes), cut_cost=options.cut_cost, n_threads=n_threads
        )
    elif method == "mean_sd":
        cuts = _cuts.mean_sd(X, float(options.n_sd), n_threads=n_threads)
    elif method == "user":
        cuts = _cuts.user(options.bins, X.shape[1])
    else:
        by = _cuts.equal_width if method == "equal_width" else _cuts.equal_frequency
        cuts = by(X, options.n_bins)
    if discrete.any():
        own = _as_levels(X, discrete, MAX_LEVELS, names, n_threads)
        cuts = cuts.replaced(discrete, own)
    _check_level_count(cuts, names, options.missing)
    return cuts


def levels(inputs: Inputs, options: Options) -> Levels:
    """Number the level of every value of a dense table.

    Parameters
    ----------
    inputs : Inputs
        Where the method is "auto" or None, X may hold whole numbers of any type.
    options : Options

    Raises
    ------
    ValueError
        As :func:`cut`.
    """
    if options.method not in ("auto", None):
        return _cut_levels(inputs.floats(), options)
    X = inputs.X
    limit = max_auto_levels(len(X)) if options.max_levels is None else options.max_levels
    codes, n_levels = _core.encode_levels(X, most=limit, n_threads=options.n_threads)
    whole = n_levels > 0
    if whole.all():
        return Levels(codes, n_levels)
    if options.method is None:
        return _cut_levels(inputs.floats(), options)
    del codes
    if options.missing == "level" and X.dtype.kind == "f":
        # NaN among whole numbers leaves them levels.
        whole = _core.level_cut_points(X, max_levels=limit, n_threads=1)[2] == 0
    found = replace(inputs.floats(), discrete=inputs.discrete | whole)
    return _cut_levels(found, replace(options, method="mean_sd"))


def applied(cuts: Cuts, inputs: Inputs, options: Options) -> Levels:
    """Number the level of every value by cut points; NaN gets one where there is some."""
    keep = options.missing == "level"
    codes = cuts.apply(inputs.X, missing_level=keep, n_threads=options.n_threads)
    n_levels = cuts.counts + 1
    if inputs.has_missing:
        n_levels += np.isnan(inputs.X).any(axis=0)
    return Levels(codes, n_levels.astype(np.int32))


def _cut_levels(inputs: Inputs, options: Options) -> Levels:
    return applied(cut(inputs, options), inputs, options)


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
