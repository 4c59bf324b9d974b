"""The one way in for filters and levels: X and y as the kernels take them, checked once.

::

    arrays, frames, sparse matrices, Table ---- check_input ----> Inputs
        |                                                            X, names, y, codes, classes,
        |-- text and categories of a frame become codes (mixed)      which columns are discrete
        |-- whole numbers that would merge are refused (merged)
        '-- the rest is refused in the words of validation

Whoever computes on an :class:`Inputs` checks nothing again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import MissingValues, plural
from bitsieve.data.merged import refuse_merged
from bitsieve.data.missing import Missing, check_missing
from bitsieve.data.mixed import code_categories, discrete_mask, numbers_only
from bitsieve.data.table import Table
from bitsieve.data.validation import Task, check_matrix, check_target

__all__ = ["Inputs", "check_input", "is_sparse", "refuse_constant", "width_of"]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_WHOLE = tuple(np.dtype(t) for t in (np.uint8, np.int8, np.int16, np.int32, np.int64))
_NO_CODES = np.empty(0, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Inputs:
    """X and y as the kernels take them.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csc_array of shape (n_samples, n_features)
        C-ordered float32 or float64, the user's own array where it was one already; columns of
        float64 without duplicates where ``sparse`` was allowed; whole numbers as they came where
        ``wholes`` was.
    names : list of str or None
        Feature names.
    discrete : ndarray of shape (n_features,)
        Bool: columns of categories, those of X and those that ``discrete_features`` added. All
        False unless ``categories`` was asked for.
    coded : list of int
        Columns of a frame that were categories, text or booleans, or are discrete in a Table.
    has_missing : bool
        Whether X holds NaN.
    y : ndarray of shape (n_samples,)
        As it came; empty where there is no target.
    codes : ndarray of shape (n_samples,)
        Int32 class codes in the order of `classes`; empty for a numeric target or none.
    classes : ndarray of shape (n_classes,)
        Sorted labels; empty for a numeric target or none.
    """

    X: Any
    names: list[str] | None
    discrete: NDArray[np.bool_]
    coded: list[int]
    has_missing: bool
    y: NDArray[Any]
    codes: NDArray[np.int32]
    classes: NDArray[Any]

    @property
    def n_samples(self) -> int:
        """Rows of X."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Columns of X."""
        return int(self.X.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether X is a sparse matrix."""
        return is_sparse(self.X)

    @property
    def counts(self) -> NDArray[np.float64]:
        """Samples of each class."""
        return np.bincount(self.codes, minlength=len(self.classes)).astype(np.float64)

    def refuse(self) -> None:
        """Raise the ValueError for NaN or infinity in X, where there is some.

        For kernels that read X unchecked and find in their sums that something was not finite.
        """
        if not self.is_sparse:
            check_matrix(self.X, self.names, allow_constant=True)

    def floats(self) -> Inputs:
        """Return the same with X as float32 or float64, where it held whole numbers.

        Raises
        ------
        ValueError
            If two whole numbers of a column would merge.
        """
        if self.is_sparse or self.X.dtype.kind == "f":
            return self
        refuse_merged(self.X)
        return replace(self, X=check_matrix(self.X, allow_constant=True)[0])

    def numbers(self) -> NDArray[np.float64] | None:
        """Return y as numbers: its own, or 0 and 1 for two text labels; None for more of them.

        Raises
        ------
        ValueError
            If all numbers are the same, or whole numbers would merge in float64.
        """
        if self.y.dtype.kind in "biuf":
            y = self.y.astype(np.float64)
            if len(np.unique(y)) < len(np.unique(self.y)):
                raise ValueError(
                    "y holds whole numbers from 2^53 on that merge in float64: subtract the least"
                )
        elif len(self.classes) == 2:
            y = self.codes.astype(np.float64)
        else:
            return None
        refuse_constant(y)
        return y


def check_input(
    X: Any,
    y: Any = None,
    *,
    task: Task | None = None,
    target: bool = True,
    missing: Missing = "error",
    sparse: bool = False,
    categories: bool = False,
    discrete_features: Any = "auto",
    distinct: Literal["all", "discrete"] | None = None,
    wholes: bool = False,
    defer: bool = False,
    min_samples: int = 2,
) -> Inputs:
    """Check X and y, and bring them into the kernels' form.

    Parameters
    ----------
    X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
        A table brings its own target where y is None.
    y : array-like of shape (n_samples,), optional
    task : {"classification", "regression"} or None, default None
        What y has to be; None decides from y, or takes that of a Table.
    target : bool, default True
        Whether y is needed. It is not looked at otherwise.
    missing : {"error", "keep"}, default "error"
        Whether NaN is refused, or stands for a missing value.
    sparse : bool, default False
        Whether a sparse X may pass; its missing entries are zeros.
    categories : bool, default False
        Whether columns of text, categories and booleans of a frame become codes, and those that
        are discrete in a Table count as such. They are refused, or are numbers, otherwise.
    discrete_features : "auto", bool, bool mask, positions or names, default "auto"
        With ``categories``: further columns that hold levels.
    distinct : {"all", "discrete"} or None, default None
        Columns whose values are told apart, so that whole numbers must not merge in float64.
    wholes : bool, default False
        Let an array of whole numbers pass as it is; see :meth:`Inputs.floats`.
    defer : bool, default False
        Do not look for NaN in an array that is in the kernels' form: they show in the sums, and a
        search for them would take longer than many a score. See :meth:`Inputs.refuse`.
    min_samples : int, default 2
        Fewest samples.

    Returns
    -------
    Inputs

    Raises
    ------
    ValueError
        Where either is unfit, with the words of :mod:`bitsieve.data.validation`;
        :class:`bitsieve._errors.MissingValues` for NaN that is refused,
        :class:`bitsieve._errors.NumericTarget` for numbers in place of classes.

    Examples
    --------
    >>> found = check_input([[1, 2], [3, 5]], ["b", "a"])
    >>> found.X.dtype, found.codes.tolist(), found.classes.tolist()
    (dtype('float64'), [1, 0], ['a', 'b'])
    >>> check_input([[1.0], [2.0]])
    Traceback (most recent call last):
    ValueError: y is needed: the labels or numbers to score the features against
    """
    keep = check_missing(missing)
    if isinstance(X, Table) and y is None:
        y, task = X.y, task or X.task
    if distinct == "all" and not (wholes and _is_ready(X, _WHOLE)):
        refuse_merged(X)
    coded: list[int] = []
    names: list[str] | None = None
    has_missing = False
    if isinstance(X, Table):
        if not keep:
            X.refuse_missing()
        values, names, has_missing = X.X, X.names, X.has_missing
        coded = X.discrete_columns if categories else []
    elif sparse and is_sparse(X):
        values = _sparse_columns(X)
    elif (wholes and _is_ready(X, _WHOLE)) or (defer and _is_ready(X, _FLOATS)):
        values = X
    else:
        frame = X
        if categories and not numbers_only(X):
            frame, coded = code_categories(X, discrete_features)
        values, names, has_missing = _dense(frame, keep, min_samples)
    if categories:
        discrete = discrete_mask(discrete_features, values.shape[1], names, coded)
    else:
        discrete = np.zeros(values.shape[1], dtype=bool)
    if distinct == "discrete" and discrete.any():
        refuse_merged(X, discrete)
    empty = np.empty(0)
    if not target:
        return Inputs(values, names, discrete, coded, has_missing, empty, _NO_CODES, empty)
    if y is None:
        raise ValueError("y is needed: the labels or numbers to score the features against")
    found = check_target(y, values.shape[0], task)
    codes = _NO_CODES if found.codes is None else found.codes
    classes = empty if found.classes is None else found.classes
    return Inputs(values, names, discrete, coded, has_missing, found.y, codes, classes)


def refuse_constant(y: NDArray[Any]) -> None:
    """Refuse a numeric target that is one number throughout.

    Raises
    ------
    ValueError
        If all numbers are the same.
    """
    if (y == y[0]).all():
        raise ValueError(
            f"y is {y[0]:.6g} for all {plural(len(y), 'sample')}: nothing varies with it"
        )


def width_of(X: Any) -> int:
    """Return the number of features of anything that :func:`check_input` takes, or refuse it.

    Examples
    --------
    >>> width_of([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    3
    """
    if isinstance(X, Table):
        return X.n_features
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2:
        return int(shape[1])
    return int(check_matrix(X, allow_nan=True, allow_constant=True)[0].shape[1])


def is_sparse(X: Any) -> bool:
    """Whether X is a matrix or array of scipy.sparse, which need not be imported for that."""
    return hasattr(X, "tocsc") and hasattr(X, "nnz")


def _dense(X: Any, keep: bool, min_samples: int) -> tuple[NDArray[Any], list[str] | None, bool]:
    """Return the matrix, its names and whether NaN is in it; most tables are complete."""
    try:
        return *check_matrix(X, allow_constant=True, min_samples=min_samples), False
    except MissingValues:
        if not keep:
            raise
    found = check_matrix(X, allow_nan=True, allow_constant=True, min_samples=min_samples)
    return *found, True


def _is_ready(X: Any, dtypes: tuple[np.dtype[Any], ...]) -> bool:
    """Whether X is an array in the kernels' form, of one of these types."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in dtypes
        and X.dtype.isnative
        and X.flags.c_contiguous
        and X.flags.aligned
        and X.shape[0] >= 2
        and X.shape[1] >= 1
    )


def _sparse_columns(X: Any) -> Any:
    """Columns of float64, sorted, each entry once."""
    import scipy.sparse

    if 0 in X.shape or X.shape[0] == 1:
        check_matrix(np.empty(X.shape))  # refuses it
    if X.dtype.kind not in "biuf":
        raise ValueError(f"sparse X must hold real numbers, got dtype {X.dtype}")
    out = scipy.sparse.csc_array(X, dtype=np.float64)
    if not out.has_canonical_format:
        out = out.copy()
        out.sum_duplicates()
    if not np.isfinite(out.data).all():
        where = np.flatnonzero(~np.isfinite(out.data))
        columns = np.unique(np.searchsorted(out.indptr, where, side="right") - 1)
        example = out[:, columns[:1]].toarray()
        check_matrix(example, [f"number {columns[0]}"], allow_constant=True)  # refuses it
    return out
