"""Rows of whatever holds samples, and the shape of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["column_names", "n_columns", "n_rows", "take_rows"]


def take_rows(values: Any, rows: NDArray[np.int64]) -> Any:
    """Return some samples of an array, a sparse matrix, a frame or series, or a sequence.

    Parameters
    ----------
    values : object of n_samples rows
    rows : int array
        Positions from 0, whatever the index of a frame says.

    Returns
    -------
    object
        Of the same type; a list for other sequences.

    Examples
    --------
    >>> import numpy as np
    >>> take_rows(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "shape"):
        return values[rows]
    return [values[i] for i in rows]


def n_rows(values: Any) -> int:
    """Return the number of samples."""
    return int(values.shape[0] if hasattr(values, "shape") else len(values))


def n_columns(X: Any) -> int:
    """Return the number of features.

    Raises
    ------
    ValueError
        Where X has not two dimensions.
    """
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise ValueError(
            f"X must have two dimensions (samples, features), but has shape {tuple(shape)}"
        )
    return int(shape[1])


def column_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a frame, None where there are none."""
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(column) for column in columns]
