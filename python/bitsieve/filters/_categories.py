"""Categories of a data frame: as text, and numbered once and then the same in every frame."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import shorten
from bitsieve.data.frames import is_frame

__all__ = ["Categories", "texts_of", "with_columns"]


@dataclass(frozen=True)
class Categories:
    """Labels of the columns that held categories or text.

    Attributes
    ----------
    labels : dict of int to list of str
        Sorted labels by position of the column.
    """

    labels: dict[int, list[str]]

    @classmethod
    def of(cls, X: Any, columns: Sequence[int]) -> Categories:
        """Collect the labels of some columns of a frame; booleans are numbers already."""
        labels = {}
        for j in columns:
            found = [v for v in _values(X, j) if not _is_missing(v)]
            if not all(isinstance(v, (bool, np.bool_)) for v in found):
                labels[j] = sorted({str(v) for v in found})
        return cls(labels)

    def encode(self, X: Any) -> Any:
        """Return a frame with positions of labels in place of labels, NaN where one is missing.

        Raises
        ------
        ValueError
            If a column holds a label that was not collected.
        """
        if not self.labels or not is_frame(X) or X.shape[1] <= max(self.labels):
            return X
        return with_columns(X, {j: self._codes(X, j, labels) for j, labels in self.labels.items()})

    @staticmethod
    def _codes(X: Any, j: int, labels: list[str]) -> NDArray[np.float64]:
        position = {label: float(k) for k, label in enumerate(labels)}
        texts = texts_of(X, j)
        unknown = sorted({t for t in texts if t is not None} - set(labels))
        if unknown:
            raise ValueError(
                f"column {X.columns[j]!r} holds {shorten(unknown)}, but in fit it held only "
                f"{shorten(labels)}; fit on all categories that there are"
            )
        return np.array([np.nan if t is None else position[t] for t in texts])


def texts_of(X: Any, j: int) -> list[str | None]:
    """Return the values of a column as text, None where one is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> texts_of(pd.DataFrame({"stage": [1, 2, None]}, dtype=object), 0)
    ['1', '2', None]
    """
    return [None if _is_missing(v) else str(v) for v in _values(X, j)]


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


def _values(X: Any, j: int) -> list[Any]:
    column = X.iloc[:, j] if hasattr(X, "iloc") else X.to_series(j)
    values: list[Any] = column.to_list()
    return values


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value
