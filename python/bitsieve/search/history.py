"""What happened, one row an iteration."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["History"]

_N_ROWS = 64  # that wait to be taken apart together, which is sooner than one by one


class History:
    """Columns that grow; a row counts once it is whole."""

    COLUMNS: Mapping[str, str] = {
        "iteration": "q",
        "n_evaluations": "q",
        "score": "d",
        "best_observed": "d",
        "n_selected": "q",
        "n_selected_best": "q",
        "seconds": "d",
    }

    def __init__(self) -> None:
        self._columns: list[array[Any]] = [array(code) for code in self.COLUMNS.values()]
        self._length = 0  # of the columns
        self._rows: list[tuple[float, ...]] = []  # not in the columns yet

    def __len__(self) -> int:
        return self._length + len(self._rows)

    def append(self, row: tuple[float, ...]) -> None:
        """Add a row, in the order of ``COLUMNS``."""
        self._rows.append(row)
        if len(self._rows) == _N_ROWS:
            self._flush()

    def _flush(self) -> None:
        # Ctrl-C may come between any two of these lines: what is half done is done again.
        n, rows = self._length, self._rows
        for column, values in zip(self._columns, zip(*rows, strict=True), strict=True):
            del column[n:]
            column.extend(values)
        self._length, self._rows = n + len(rows), []

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copy the columns out by name, int64 and float64."""
        if self._rows:
            self._flush()
        types = {"q": np.int64, "d": np.float64}
        return {
            name: np.array(np.frombuffer(column, types[code])[: self._length])
            if self._length
            else np.empty(0, types[code])
            for (name, code), column in zip(self.COLUMNS.items(), self._columns, strict=True)
        }

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take what :meth:`arrays` gave.

        Raises
        ------
        ValueError
            If a column is missing, of another length or type, or holds what no run writes.
        """
        for name, code in self.COLUMNS.items():
            column = arrays.get(name)
            kind = "i" if code == "q" else "f"
            if column is None or column.ndim != 1 or column.dtype.kind != kind:
                raise ValueError(f"the history has no column {name}, or not one of numbers")
            if len(column) != len(arrays["iteration"]):
                raise ValueError(f"the history is not whole: {name} has {len(column)} rows")
        n = len(arrays["iteration"])
        evaluations, seconds = arrays["n_evaluations"], arrays["seconds"]
        best = arrays["best_observed"][~np.isnan(arrays["best_observed"])]
        if not (
            np.array_equal(arrays["iteration"], np.arange(n))
            and np.all(np.diff(evaluations, prepend=0) > 0)
            and np.all(np.isfinite(seconds))
            and np.all(np.diff(seconds, prepend=0.0) >= 0)
            and not np.any(np.isinf(arrays["score"]))
            and np.all(np.isfinite(best))
            and np.all(np.diff(best) >= 0)
            and not np.isnan(arrays["best_observed"][n - len(best) :]).any()
            and min(arrays["n_selected"].min(), arrays["n_selected_best"].min(), 0) == 0
        ):
            raise ValueError("the history holds numbers that no run writes")
        self._columns = [array(code, arrays[name].tolist()) for name, code in self.COLUMNS.items()]
        self._length, self._rows = len(self._columns[0]), []
