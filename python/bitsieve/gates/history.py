"""What a training tells of its epochs: a row each, and fewer of those long past."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["CAPACITY", "COLUMNS", "History"]

#: Columns of a history.
COLUMNS = ("epoch", "loss", "validation_loss", "penalty", "n_selected", "weight")
#: Rows that a history holds at most; one more while the newest is not of a kept epoch.
CAPACITY = 8192


class History:
    """Rows of a training: of every epoch, or of each second, fourth, ... and the last one.

    When there are more than ``CAPACITY`` rows, every second goes. Which rows there are is a
    function of the number of epochs alone.

    Attributes
    ----------
    columns : dict of str to list of float
        By name: ``epoch`` (from 1 on), ``loss`` (the mean over the samples of the epoch),
        ``validation_loss`` (NaN without a validation part), ``penalty`` (the mean over the steps),
        ``n_selected`` and ``weight`` (at the end of the epoch).

    Examples
    --------
    >>> history = History()
    >>> for epoch in range(1, 100_001):
    ...     history.append({"epoch": epoch, "loss": 1.0 / epoch})
    >>> history.columns["epoch"][:3], history.columns["epoch"][-2:], len(history)
    ([16, 32, 48], [99984, 100000], 6250)
    """

    def __init__(self) -> None:
        self.columns: dict[str, list[float]] = {name: [] for name in COLUMNS}
        self._stride = 1

    def __len__(self) -> int:
        return len(self.columns["epoch"])

    def append(self, row: Mapping[str, float]) -> None:
        """Add the row of the next epoch; what it does not name is NaN."""
        epochs = self.columns["epoch"]
        if epochs and epochs[-1] % self._stride:
            for column in self.columns.values():
                column.pop()
        for name, column in self.columns.items():
            column.append(row.get(name, float("nan")))
        if len(self) > CAPACITY and epochs[-1] % self._stride == 0:
            self._stride *= 2
            last = len(self) - 1
            kept = [i for i, e in enumerate(epochs) if e % self._stride == 0 or i == last]
            for column in self.columns.values():
                column[:] = [column[i] for i in kept]

    def last(self) -> dict[str, float]:
        """Return the newest row, or an empty one."""
        return {name: column[-1] for name, column in self.columns.items() if column}

    def state(self) -> dict[str, NDArray[np.float64]]:
        """Return the columns as arrays."""
        return {name: np.array(column, np.float64) for name, column in self.columns.items()}

    def set_state(self, state: Mapping[str, ArrayLike]) -> None:
        """Take the columns that another one gave."""
        columns = {name: np.asarray(state[name], np.float64) for name in COLUMNS}
        if {column.shape for column in columns.values()} != {(len(columns["epoch"]),)}:
            raise ValueError("the columns of the history are not of one length")
        for name, column in columns.items():
            is_count = name in ("epoch", "n_selected")
            self.columns[name][:] = [
                int(value) if is_count and value == value else value for value in column.tolist()
            ]
        # The rows but the last are those of one in so many epochs.
        self._stride = int(columns["epoch"][0]) if len(columns["epoch"]) > 1 else 1
