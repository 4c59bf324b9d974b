"""Data frames into matrices, pandas and polars alike.

Neither library is imported here: a frame brings its own. A frame of one numpy dtype is taken as
the array that it holds; any other is written block of columns by block of columns into one
C-ordered array, float32 where every column fits in it exactly and float64 otherwise.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import TextColumns, name_columns, shorten
from bitsieve.data.lines import is_number

__all__ = ["column_names", "comma_hint", "first_text", "is_frame", "matrix_of_frame", "refuse_text"]

_NUMBERS = {"integer", "floating", "mixed-integer-float", "boolean", "decimal", "empty"}
_SMALL = {"float32", "float16", "int8", "int16", "uint8", "uint16", "bool"}
_COMMA = re.compile(r"[+-]?[0-9.]*[0-9],[0-9]+")


def is_frame(X: object) -> bool:
    """True for a pandas or polars DataFrame."""
    return _is_pandas(X) or _is_polars(X)


def column_names(frame: Any) -> list[str] | None:
    """Names of the columns as text; None where the columns are only numbered 0, 1, 2, ..."""
    columns = list(frame.columns)
    if all(type(c) is int for c in columns) and columns == list(range(len(columns))):
        return None
    return [str(c) for c in columns]


def matrix_of_frame(frame: Any) -> NDArray[Any]:
    """Numbers of a pandas or polars DataFrame as an array (n_samples, n_features).

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        Columns of numbers or booleans; missing values become NaN.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        A view where the frame is one numeric numpy array, otherwise a C-ordered copy.

    Raises
    ------
    ValueError
        If columns hold text, categories, dates, sparse or complex values.

    Examples
    --------
    >>> import pandas as pd
    >>> matrix_of_frame(pd.DataFrame({"a": [1, 2], "b": [0.5, None]}))
    array([[1. , 0.5],
           [2. , nan]])
    """
    return _matrix_of_pandas(frame) if _is_pandas(frame) else _matrix_of_polars(frame)


def comma_hint(example: object) -> str | None:
    """What to do about numbers with commas, None where the example is none.

    Examples
    --------
    >>> comma_hint("1,5")
    "write numbers with a decimal point, or read the file with decimal=',' (--decimal ,)"
    >>> comma_hint("a,b")
    """
    if not isinstance(example, str) or not _COMMA.fullmatch(example.strip()):
        return None
    return "write numbers with a decimal point, or read the file with decimal=',' (--decimal ,)"


def refuse_text(columns: list[int], names: list[str] | None, example: object) -> None:
    """Raise the error about columns that hold something else than numbers.

    Raises
    ------
    TextColumns
        Or a plain ValueError, where the text is numbers with commas.
    """
    comma = comma_hint(example)
    way_out = comma or (
        "leave them out (--drop NAME), name one as the target or the groups, or encode "
        "them (sklearn.preprocessing.OneHotEncoder, OrdinalEncoder)"
    )
    # Numbers in another notation are no text.
    raise (ValueError if comma else TextColumns)(
        f"X must hold numbers, but {name_columns(columns, names)} "
        f"{'hold' if len(columns) > 1 else 'holds'} text or other values, such as "
        f"{shorten([example])}; {way_out}"
    )


def _is_pandas(X: object) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)


def _is_polars(X: object) -> bool:
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise ValueError("X is a polars LazyFrame, which holds no values yet; pass X.collect()")
    return polars is not None and isinstance(X, polars.DataFrame)


def _matrix_of_pandas(frame: Any) -> NDArray[Any]:
    dtypes = list(frame.dtypes)
    kinds = set(dtypes)
    if len(kinds) == 1 and isinstance(dtypes[0], np.dtype) and dtypes[0].kind in "biuf":
        return np.asarray(frame.to_numpy())
    sparse = [j for j, d in enumerate(dtypes) if type(d).__name__ == "SparseDtype"]
    bad = [j for j, d in enumerate(dtypes) if not _holds_numbers(d, frame, j)]
    names = column_names(frame)
    if sparse:
        raise ValueError(
            f"X holds sparse values in {name_columns(sparse, names)}; sparse input is not "
            "supported: pass X.sparse.to_dense()"
        )
    if bad:
        refuse_text(bad, names, first_text(frame.iloc[:, bad[0]].dropna().tolist()))
    small = all(str(k).lower() in _SMALL for k in kinds)
    out = np.empty(frame.shape, dtype=np.float32 if small else np.float64)
    try:
        for part in _blocks(out):
            out[:, part] = frame.iloc[:, part].to_numpy(dtype=out.dtype, na_value=np.nan)
    except OverflowError:
        raise ValueError("X holds whole numbers that float64 does not; divide them") from None
    return out


def first_text(values: Iterable[Any]) -> object:
    """First value that is not a number, written out or not; a column may hold one slip only.

    Examples
    --------
    >>> first_text(["1.5", 2, "1_000"])
    '1_000'
    """
    values = list(values)
    for value in values:
        if isinstance(value, str) and not is_number(value):
            return value
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return values[0] if values else None


def _holds_numbers(dtype: Any, frame: Any, j: int) -> bool:
    if type(dtype).__name__ in ("CategoricalDtype", "StringDtype") or dtype.kind in "cMmUSV":
        return False
    if dtype.kind != "O":
        return True
    infer = sys.modules["pandas"].api.types.infer_dtype
    return infer(frame.iloc[:, j], skipna=True) in _NUMBERS


def _matrix_of_polars(frame: Any) -> NDArray[Any]:
    dtypes = frame.dtypes
    bad = [j for j, d in enumerate(dtypes) if not (d.is_numeric() or str(d) in ("Boolean", "Null"))]
    if bad:
        example = first_text(frame.to_series(bad[0]).drop_nulls().to_list())
        refuse_text(bad, list(frame.columns), example)
    small = all(str(d).lower().replace("boolean", "bool") in _SMALL for d in set(dtypes))
    out = np.empty(frame.shape, dtype=np.float32 if small else np.float64)
    for part in _blocks(out):
        for j in range(part.start, part.stop):
            out[:, j] = np.asarray(frame.to_series(j).to_numpy(), dtype=out.dtype)
    return out


def _blocks(out: NDArray[Any]) -> list[slice]:
    step = max(1, (1 << 17) // max(out.shape[0], 1))
    return [slice(j, min(j + step, out.shape[1])) for j in range(0, out.shape[1], step)]
