"""What every filter does with X and y before it computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import plural
from bitsieve.data.table import Table
from bitsieve.data.validation import Task, check_matrix, check_target

__all__ = ["FilterInput", "check_input", "refuse_constant", "width_of"]


@dataclass(frozen=True, eq=False)
class FilterInput:
    """X and y as the kernels take them.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        C-ordered float32 or float64; the user's own array where it was one already.
    names : list of str or None
        Feature names.
    y : ndarray of shape (n_samples,)
        As it came.
    codes : ndarray of shape (n_samples,)
        Int32 class codes in the order of ``classes``; empty for a numeric target.
    classes : ndarray of shape (n_classes,)
        Sorted labels; empty for a numeric target.
    """

    X: NDArray[Any]
    names: list[str] | None
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


def check_input(X: Any, y: Any, *, task: Task | None, allow_nan: bool = False) -> FilterInput:
    """Check X and y.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        A table brings its own target where y is None.
    y : array-like of shape (n_samples,) or None
    task : {"classification", "regression"} or None
        What the filter needs; None decides from y.
    allow_nan : bool, default False
        Whether NaN in X stands for a missing value.

    Returns
    -------
    FilterInput

    Raises
    ------
    ValueError
        Where either is unfit, with the words of :mod:`bitsieve.data.validation`.
    """
    if isinstance(X, Table):
        if not allow_nan:
            X.refuse_missing()
        array, names = X.X, X.names
        if y is None:
            y, task = X.y, task or X.task
    else:
        array, names = check_matrix(X, allow_nan=allow_nan, allow_constant=True)
    if y is None:
        raise ValueError("y is needed: the labels or numbers to score the features against")
    target = check_target(y, len(array), task)
    codes = np.empty(0, dtype=np.int32) if target.codes is None else target.codes
    classes = np.empty(0) if target.classes is None else target.classes
    return FilterInput(array, names, target.y, codes, classes)


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
