"""Coefficients that are looked at again only where they may have become the least.

From one fit to the next the dual coefficients A move by D, and the coefficients of a feature with
values x by no more than ``|x| |D|``. Between looks these distances add up, and a feature whose
coefficients were far from zero needs no look until they may have come near.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["KnownCoefficients"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

#: Bounds are widened by so much of themselves, and of the largest coefficients there can be.
_ROUNDING = 1e-9


class KnownCoefficients:
    """What is known of the coefficients of the features in the rows of a table.

    Parameters
    ----------
    table : float64 array of shape (n_features, n_samples)

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]])
    >>> known = KnownCoefficients(table)
    >>> known.move(np.array([[1.0], [0.1]]))
    >>> rows = np.arange(3)
    >>> known.candidates(table, rows, 1)  # a first look is at all
    array([0, 1, 2])
    >>> known.exact(table, rows).round(2).tolist()
    [1.0, 0.01, 11.56]
    >>> known.move(np.array([[1.0], [0.2]]))
    >>> known.candidates(table, rows, 1)
    array([1])
    """

    def __init__(self, table: Floats) -> None:
        self._radii: Floats = np.sqrt(np.einsum("fn,fn->f", table, table))
        self._lengths = np.full(len(table), np.nan)
        self._seen = np.zeros(len(table))  # how far A had come at the last look
        self._come = 0.0
        self._dual: Floats | None = None

    def move(self, dual: Floats) -> None:
        """Take the dual coefficients of the next fit, of shape (n_samples, n_functions)."""
        if self._dual is None or self._dual.shape != dual.shape:
            self._lengths[:] = np.nan
        else:
            slack = _ROUNDING * float(np.linalg.norm(dual))
            self._come += float(np.linalg.norm(dual - self._dual)) * (1 + _ROUNDING) + slack
        self._dual = dual

    def keep(self, rows: Rows) -> None:
        """Keep some rows of the table."""
        self._radii, self._lengths = self._radii[rows], self._lengths[rows]
        self._seen = self._seen[rows]

    def candidates(self, table: Floats, rows: Rows, count: int) -> Rows:
        """Return ascending rows, among which those of the least coefficients are.

        Parameters
        ----------
        table : float64 array of shape (n_features, n_samples)
        rows : int array
            Ascending; those that are asked about.
        count : int
            How many of the least.
        """
        lengths = self._lengths[rows]
        reach = self._radii[rows] * (self._come - self._seen[rows])
        upper = lengths + reach
        if np.isnan(upper).any():
            return rows
        most = upper.min() if count == 1 else np.partition(upper, count - 1)[count - 1]
        found: Rows = rows[lengths - reach <= most]
        return found

    def exact(self, table: Floats, rows: Rows) -> Floats:
        """Return the squared coefficients of some rows, summed over the functions."""
        assert self._dual is not None
        some = table if len(rows) == len(table) else table[rows]
        total = np.zeros(len(some))
        for function in self._dual.T:
            # Not by BLAS: there the last bits of equal features depend on where they stand.
            total += np.square(np.einsum("fn,n->f", some, np.ascontiguousarray(function)))
        self._lengths[rows], self._seen[rows] = np.sqrt(total), self._come
        return total
