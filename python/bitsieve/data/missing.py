"""Values that are not known, and those that are no numbers at all."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import check_choice
from bitsieve._errors import MissingValues, name_columns, plural
from bitsieve._threads import effective_n_jobs

__all__ = ["Missing", "check_finite", "check_missing", "count_missing", "row_chunks"]

Missing = Literal["error", "keep"]

_CHUNK = 1 << 20


def check_missing(missing: str) -> bool:
    """Return whether missing values are kept.

    Raises
    ------
    ValueError
        If it is neither "error" nor "keep".

    Examples
    --------
    >>> check_missing("keep")
    True
    """
    return check_choice("missing", missing, ("error", "keep")) == "keep"


def count_missing(array: NDArray[Any]) -> int:
    """Return how many values are NaN.

    Examples
    --------
    >>> count_missing(np.array([[1.0, np.nan]]))
    1
    """
    return sum(int(np.isnan(chunk).sum()) for chunk in row_chunks(array))


def row_chunks(array: NDArray[Any]) -> list[NDArray[Any]]:
    """Return views of some rows each, a few megabytes large."""
    step = max(1, _CHUNK // array.shape[1])
    return [array[i : i + step] for i in range(0, array.shape[0], step)]


def check_finite(array: NDArray[Any], names: list[str] | None, *, allow_nan: bool = False) -> None:
    """Refuse infinite values, and NaN unless it stands for a missing value.

    Raises
    ------
    ValueError
        With the columns and a hint.

    Examples
    --------
    >>> check_finite(np.array([[1.0, 2.0], [np.nan, 3.0]]), ["age", "size"])
    Traceback (most recent call last):
    bitsieve._errors.MissingValues: Input X contains NaN: 1 value in 1 column ('age'); ...
    """
    if _core.all_finite(array, effective_n_jobs(None)):
        return
    nan = sum(np.isnan(chunk).sum(axis=0) for chunk in row_chunks(array))
    inf = sum(np.isinf(chunk).sum(axis=0) for chunk in row_chunks(array))
    for what, count, way_out in (
        ("NaN", nan, "fill them in (sklearn.impute.SimpleImputer)"),
        ("infinity", inf, "clip them"),
    ):
        columns = np.flatnonzero(count).tolist()
        if columns and not (allow_nan and what == "NaN"):
            kind = MissingValues if what == "NaN" else ValueError
            raise kind(
                f"Input X contains {what}: {plural(int(np.sum(count)), 'value')} in "
                f"{name_columns(columns, names)}; {way_out}, or drop the columns or the samples"
            )
