"""Whole numbers that float64 cannot tell apart, where levels are counted or values ranked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import name_columns
from bitsieve.data.frames import column_names, is_frame
from bitsieve.data.table import Table

__all__ = ["refuse_merged"]

_EXACT = 2**53


def refuse_merged(X: Any, wanted: NDArray[np.bool_] | None = None) -> None:
    """Refuse columns of whole numbers of which two become one in float64.

    Parameters
    ----------
    X : array-like, DataFrame, Table or sparse matrix of shape (n_samples, n_features)
        As it came. A Table holds floats, so it is too late to look.
    wanted : ndarray of shape (n_features,), optional
        Bool: the columns where that matters; all by default.

    Raises
    ------
    ValueError
        If a column would have fewer values.

    Examples
    --------
    >>> refuse_merged([[2**53], [2**53 + 2]])
    >>> refuse_merged([[2**53], [2**53 + 1]])
    Traceback (most recent call last):
    ValueError: whole numbers from 2^53 on merge in float64, as those of 1 column ...
    """
    merged: list[int] = []
    example = 0
    for j, column in _long_columns(X):
        if wanted is not None and not wanted[j]:
            continue
        levels = np.unique(column)
        kept = np.unique(levels.astype(np.float64))
        if len(kept) < len(levels):
            example = example or next(int(v) for v in levels if int(float(v)) != int(v))
            merged.append(j)
    if merged:
        names = column_names(X) if is_frame(X) else None
        raise ValueError(
            f"whole numbers from 2^53 on merge in float64, as those of "
            f"{name_columns(merged, names)} would: {example} is not there; number the levels from "
            "0, or subtract the least"
        )


def _long_columns(X: Any) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the columns that hold whole numbers from 2^53 on, with their positions."""
    if isinstance(X, Table):
        return
    if hasattr(X, "tocsc") and hasattr(X, "nnz"):
        # Only 8 bytes hold such numbers, and not every format has an array of its entries.
        if X.dtype.kind in "iu" and X.dtype.itemsize == 8:
            columns = X.tocsc()
            for j, (begin, end) in enumerate(zip(columns.indptr, columns.indptr[1:], strict=False)):
                if _is_long(columns.data[begin:end]):
                    yield j, columns.data[begin:end]
        return
    if is_frame(X):
        for j, dtype in enumerate(X.dtypes):
            if str(dtype).lower().startswith(("int64", "uint64", "object")):
                column = (
                    X.iloc[:, j].dropna() if hasattr(X, "iloc") else X.to_series(j).drop_nulls()
                )
                yield from _if_long(j, np.asarray(column.to_numpy()))
        return
    try:
        array = np.asarray(X)
    except ValueError:  # ragged: refused elsewhere
        return
    if array.ndim == 2 and (array.dtype.kind == "O" or _is_long(array)):
        for j in range(array.shape[1]):
            yield from _if_long(j, array[:, j])


def _if_long(j: int, column: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    if column.dtype.kind == "O":
        whole = [v for v in column.tolist() if isinstance(v, int)]
        if len(whole) and max(map(abs, whole)) >= _EXACT:
            yield j, np.array(whole, dtype=object)
    elif _is_long(column):
        yield j, column


def _is_long(values: NDArray[Any]) -> bool:
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or values.size == 0:
        return False
    return int(values.max()) >= _EXACT or int(values.min()) <= -_EXACT
