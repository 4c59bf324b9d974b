"""Text with very many columns, line by line.

A data frame keeps something for each column, which at 100,000 columns takes far longer than the
numbers do. Where all fields are plain numbers, each line goes straight into its row of the array.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.data.lines import Header, data_lines, is_number, split

__all__ = ["MISSING", "read_wide"]

#: What pandas takes for a missing value besides NaN, so that both readers find the same.
MISSING = {
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN", "<NA>", "N/A"),
    *("NA", "NULL", "None", "n/a", "null"),
}


def read_wide(
    path: Path, header: Header, n_rows: int, drop: Collection[int], encoding: str
) -> NDArray[Any] | None:
    """Numbers of a table, without the columns at some positions.

    Parameters
    ----------
    path : Path
        The file.
    header : Header
        Its first line.
    n_rows : int
        Lines after the header.
    drop : collection of int
        Positions of columns that are not features.
    encoding : str
        Encoding of the file.

    Returns
    -------
    ndarray of shape (n_rows, n_fields - len(drop)) or None
        Float64, NaN where a field says that a value is missing; None where it is no number or a
        line is too long or short, so that a slower reader may find out more.
    """
    n_fields = len(header.fields)
    out = np.empty((n_rows, n_fields - len(drop)))
    positions = sorted(drop, reverse=True)
    for row, (_, line) in zip(out, data_lines(path, header, encoding), strict=True):
        quoted = '"' in line or header.delimiter == " "
        fields = split(line, header.delimiter) if quoted else line.split(header.delimiter)
        if len(fields) != n_fields:
            return None
        for position in positions:
            del fields[position]
        try:
            row[:] = list(map(float, fields))
        except ValueError:
            fields = ["nan" if f.lstrip() in MISSING else f for f in fields]
            try:
                row[:] = list(map(float, fields))
            except ValueError:
                return None
        if ("_" in line or not line.isascii()) and not all(map(is_number, fields)):
            return None  # float("1_000") is Python's way of writing, not a table's
    return out
