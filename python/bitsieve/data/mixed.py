"""Tables of numbers and categories: columns of categories become codes and are flagged."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import is_whole
from bitsieve._errors import closest, name_columns, plural
from bitsieve.data.frames import column_names, is_frame
from bitsieve.data.lines import is_number
from bitsieve.data.table import Table

__all__ = [
    "code_categories",
    "discrete_mask",
    "has_categories",
    "is_missing",
    "numbers_only",
    "texts_of",
    "values_of",
    "with_columns",
]

_COMMA_OR_POINT = str.maketrans(",", ".")


def code_categories(X: Any, named: Any = ()) -> tuple[Any, list[int]]:
    """Replace the columns of categories, text and booleans of a data frame by codes.

    A Table has its codes already, and says which columns hold them.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        An array or a Table is given back as it is.
    named : object, default ()
        ``discrete_features`` as the user gave it, of which names count: text that is all numbers
        is taken for a column read wrongly unless it is named here.

    Returns
    -------
    X : array-like
        Frame of the same library; each code is the position of a category among those of its
        column, as a float, NaN where it is missing.
    discrete : list of int
        Columns that were coded, or are discrete in a Table.

    Raises
    ------
    ValueError
        If a text column that is not named holds numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [40.0, 52.0], "grade": ["low", "high"]})
    >>> coded, discrete = code_categories(frame)
    >>> discrete, coded["grade"].tolist()
    ([1], [1.0, 0.0])
    """
    if isinstance(X, Table):
        return X, X.discrete_columns
    if not is_frame(X):
        return X, []
    kinds = _kinds(X)
    discrete = [j for j, kind in enumerate(kinds) if kind]
    if not discrete:
        return X, []
    names = [str(c) for c in X.columns]
    given = () if isinstance(named, str) and named == "auto" else named
    known = {str(n) for n in np.ravel(np.asarray(given, dtype=object)) if isinstance(n, str)}
    coded, slips = {}, []
    for j in discrete:
        if kinds[j] == "boolean":
            continue
        texts = texts_of(X, j)
        if kinds[j] == "text" and names[j] not in known and _numbers_as_text(texts):
            slips.append(j)
        else:
            coded[j] = _codes(texts)
    if slips:
        raise ValueError(
            f"X must hold numbers or categories, but {name_columns(slips, column_names(X))} "
            f"{'hold' if len(slips) > 1 else 'holds'} numbers written as text; turn them into "
            "numbers (pandas.to_numeric), or name them in discrete_features"
        )
    return with_columns(X, coded), discrete


def discrete_mask(
    given: Any, n_features: int, names: list[str] | None, coded: list[int]
) -> NDArray[np.bool_]:
    """Turn ``discrete_features`` into one flag a feature.

    Parameters
    ----------
    given : "auto", bool, or array-like of bool, int or str
        Flags, positions or names; "auto" and False stand for the coded columns alone, True for
        all. Coded columns are discrete whatever is given.
    n_features : int
    names : list of str or None
    coded : list of int
        Columns of categories, of a frame or a Table.

    Returns
    -------
    ndarray of shape (n_features,)

    Raises
    ------
    ValueError
        If a name is unknown, a position out of range, or the flags are too few or too many.

    Examples
    --------
    >>> discrete_mask(["grade"], 2, ["age", "grade"], []).tolist()
    [False, True]
    >>> discrete_mask(True, 2, None, []).tolist()
    [True, True]
    """
    mask = np.zeros(n_features, dtype=bool)
    mask[coded] = True
    if isinstance(given, (bool, np.bool_)):
        return np.ones_like(mask) if given else mask
    if isinstance(given, str):
        if given == "auto":
            return mask
        given = [given]
    items = np.asarray(given)
    if items.ndim != 1:
        raise ValueError(
            "discrete_features must be 'auto', flags, positions or names of features, got "
            f"{given!r}"
        )
    if items.dtype == bool:
        if len(items) != n_features:
            raise ValueError(
                f"discrete_features has {plural(len(items), 'flag')}, but X has "
                f"{plural(n_features, 'feature')}; pass one a feature"
            )
        mask |= items.astype(bool)
        return mask
    position = _position_of_name(names) if items.dtype.kind in "UO" else _check_position(n_features)
    mask[[position(item) for item in items.tolist()]] = True
    return mask


def numbers_only(X: Any) -> bool:
    """Tell whether the types of a frame's columns alone show that all are numbers."""
    return is_frame(X) and all(getattr(dtype, "kind", "O") in "iuf" for dtype in set(X.dtypes))


def has_categories(X: Any) -> bool:
    """Tell whether X is a frame with columns of categories or text."""
    return is_frame(X) and bool({"category", "text"} & set(_kinds(X)))


def texts_of(X: Any, j: int) -> list[str | None]:
    """Return the values of a column as text, None where one is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> texts_of(pd.DataFrame({"stage": [1, 2, None]}, dtype=object), 0)
    ['1', '2', None]
    """
    return [None if is_missing(v) else str(v) for v in values_of(X, j)]


def with_columns(X: Any, columns: Mapping[int, NDArray[Any]]) -> Any:
    """Return a frame of the same library with other values in some columns; X stays as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> with_columns(pd.DataFrame({"stage": ["I", "II"]}), {0: [0.0, 1.0]})["stage"].tolist()
    [0.0, 1.0]
    """
    if not hasattr(X, "iloc"):
        series = sys.modules["polars"].Series
        return X.with_columns([series(X.columns[j], values) for j, values in columns.items()])
    out = X.copy(deep=False)
    for j, values in columns.items():
        out.isetitem(j, values)
    return out


def values_of(X: Any, j: int) -> list[Any]:
    """Return the values of a column as a list, whatever they are."""
    column = X.iloc[:, j] if hasattr(X, "iloc") else X.to_series(j)
    values: list[Any] = column.to_list()
    return values


def is_missing(value: Any) -> bool:
    """Whether a value of a frame stands for nothing: None, NaN, NA, NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value


def _position_of_name(names: list[str] | None) -> Callable[[Any], int]:
    def position(name: Any) -> int:
        if names is None:
            raise ValueError(
                f"discrete_features names {name!r}, but the columns of X have no names; pass "
                "positions or flags, or a DataFrame"
            )
        if name not in names:
            raise ValueError(
                f"discrete_features names {name!r}, which X does not have; {closest(name, names)}"
            )
        return names.index(name)

    return position


def _check_position(n_features: int) -> Callable[[Any], int]:
    def position(value: Any) -> int:
        if not is_whole(value) or not -n_features <= value < n_features:
            raise ValueError(
                "discrete_features must hold flags, names or positions in "
                f"[0, {n_features}), got {value!r}"
            )
        return int(value)

    return position


def _codes(texts: list[str | None]) -> NDArray[np.float32]:
    known = np.array([text is not None for text in texts])
    out = np.full(len(texts), np.nan, dtype=np.float32)
    if known.any():
        labels = np.array([text for text in texts if text is not None])
        out[known] = np.unique(labels, return_inverse=True)[1]
    return out


def _numbers_as_text(texts: list[str | None]) -> bool:
    distinct = set(texts) - {None}
    return bool(distinct) and all(
        is_number(str(text).translate(_COMMA_OR_POINT).strip()) for text in distinct
    )


def _is_pandas(frame: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(frame, pandas.DataFrame)


def _kinds(frame: Any) -> list[str]:
    """Return "category", "text", "boolean" or "" for each column."""
    dtypes = list(frame.dtypes)
    if not _is_pandas(frame):
        return [_kind_of_polars(str(dtype)) for dtype in dtypes]
    distinct = {id(dtype): dtype for dtype in dtypes}
    kinds = {key: _kind_of_pandas(dtype) for key, dtype in distinct.items()}
    found = [kinds[id(dtype)] for dtype in dtypes]
    for j in [j for j, kind in enumerate(found) if kind == "object"]:
        infer = sys.modules["pandas"].api.types.infer_dtype
        inferred = infer(frame.iloc[:, j], skipna=True)
        found[j] = {"string": "text", "boolean": "boolean"}.get(inferred, "")
    return found


def _kind_of_pandas(dtype: Any) -> str:
    name = type(dtype).__name__
    if name in ("CategoricalDtype", "StringDtype"):
        return "category" if name == "CategoricalDtype" else "text"
    if str(dtype) in ("bool", "boolean"):
        return "boolean"
    return "object" if getattr(dtype, "kind", "") == "O" and str(dtype) == "object" else ""


def _kind_of_polars(dtype: str) -> str:
    if dtype.startswith(("Categorical", "Enum")):
        return "category"
    return {"String": "text", "Utf8": "text", "Boolean": "boolean"}.get(dtype, "")
