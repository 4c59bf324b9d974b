"""What scores of single features do with X and y: dense without a copy, or sparse.

The kernels read X once, and what is not finite there shows in what they return. So an array that
is in their form already is not searched for NaN beforehand, which would take longer than the
scores themselves; :meth:`Columns.refuse` finds the words for it afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.data.inputs import check_input, refuse_constant
from bitsieve.data.table import Table
from bitsieve.data.validation import Task, check_matrix, check_target

__all__ = ["Columns", "centred_numbers", "check_columns", "is_sparse"]

#: Features a turn of numpy's: the arrays in between stay in cache.
BLOCK = 16_384


@dataclass(frozen=True, eq=False)
class Columns:
    """X and y for scores of single features.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csc_array of shape (n_samples, n_features)
        C-ordered float32 or float64, or columns of float64 without duplicates.
    is_sparse : bool
    y : ndarray of shape (n_samples,)
        As it came; empty where there is no target.
    codes : ndarray of shape (n_samples,)
        Int32 class codes; empty for a numeric target or none.
    classes : ndarray of shape (n_classes,)
        Sorted labels; empty for a numeric target or none.
    """

    X: Any
    is_sparse: bool
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
    def counts(self) -> NDArray[np.float64]:
        """Samples of each class."""
        return np.bincount(self.codes, minlength=len(self.classes)).astype(np.float64)

    def refuse(self) -> None:
        """Raise the ValueError for NaN or infinity in X, where there is some."""
        if not self.is_sparse:
            check_matrix(self.X, allow_constant=True)

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


def check_columns(
    X: Any, y: Any, *, task: Task | None, sparse: bool = False, target: bool = True
) -> Columns:
    """Check X and y, X without a look at every value where it is in the kernels' form.

    Parameters
    ----------
    X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or None
    task : {"classification", "regression"} or None
        What the score needs; None decides from y.
    sparse : bool, default False
        Whether a sparse X may pass; its missing entries are zeros.
    target : bool, default True
        Whether y is looked at.

    Returns
    -------
    Columns

    Raises
    ------
    ValueError
        Where either is unfit, with the words of :mod:`bitsieve.data.validation`.
    """
    none = np.empty(0, dtype=np.int32)
    as_sparse = sparse and is_sparse(X)
    if as_sparse:
        values = _sparse_columns(X)
    elif _in_form(X):
        values = X
    elif target:
        checked = check_input(X, y, task=task)
        return Columns(checked.X, False, checked.y, checked.codes, checked.classes)
    elif isinstance(X, Table):
        X.refuse_missing()
        values = X.X
    else:
        values = check_matrix(X, allow_constant=True)[0]
    if not target:
        return Columns(values, as_sparse, np.empty(0), none, np.empty(0))
    if y is None:
        raise ValueError("y is needed: the labels or numbers to score the features against")
    found = check_target(y, values.shape[0], task)
    codes = none if found.codes is None else found.codes
    classes = np.empty(0) if found.classes is None else found.classes
    return Columns(values, as_sparse, found.y, codes, classes)


def centred_numbers(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return y, which varies, less its mean, in a unit in which its squares fit into float64."""
    with np.errstate(over="ignore"):
        shifted = y - y[0]  # first, so that an offset does not eat the digits
    if not np.isfinite(shifted).all():
        shifted = y / 4 - y[0] / 4
    shifted /= np.abs(shifted).max()
    out: NDArray[np.float64] = shifted - shifted.mean()
    return out


def is_sparse(X: Any) -> bool:
    """Whether X is a matrix or array of scipy.sparse, which need not be imported for that."""
    return hasattr(X, "tocsc") and hasattr(X, "nnz")


def _in_form(X: Any) -> bool:
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.dtype(np.float32), np.dtype(np.float64))
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
