"""Errors of pairs as an energy asks for them, those that were asked for last kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["ErrorsOfPairs", "KeptErrors"]

Array = NDArray[np.float64]

_MOST_KEPT = 1 << 26  # errors of pairs, half a gigabyte


class ErrorsOfPairs(Protocol):
    """Balanced error rates of single features and of pairs.

    One that has ``taking`` and ``blocks``, as :class:`bitsieve.causal.PairErrors` does, is asked
    for all pairs by these, each pair once; of another all rows are asked for.
    """

    @property
    def single(self) -> Array:
        """Of each feature alone, shape (n_features,)."""
        ...

    def row(self, feature: int) -> Array:
        """Of a feature with each other one, shape (n_features,)."""
        ...


class KeptErrors:
    """Errors of pairs, those that were asked for last kept, so that others may ask again.

    Parameters
    ----------
    errors : ErrorsOfPairs
    """

    def __init__(self, errors: ErrorsOfPairs) -> None:
        self.single: Array = np.asarray(errors.single, dtype=np.float64)
        self._errors, self._kept = errors, dict[int, Array]()
        self._n_rows = max(2, _MOST_KEPT // max(1, self.single.size))

    def knows(self, feature: int) -> bool:
        """Whether a row is kept."""
        return feature in self._kept

    def between(self, features: NDArray[np.int64]) -> Array:
        """Of the pairs of some features, (k, k), 1 on the diagonal; no row is made for it."""
        n = len(features)
        found = np.ones((n, n))
        known = np.array([self.knows(feature) for feature in features.tolist()], dtype=bool)
        of = getattr(self._errors, "of", None)
        if of is None:
            known[np.flatnonzero(~known)[:-1]] = True  # those of the last are known from the others
        for site in np.flatnonzero(known).tolist():
            found[site] = found[:, site] = self.row(int(features[site]))[features]
        unknown = np.flatnonzero(~known)
        if len(unknown) > 1 and of is not None:
            first, second = (unknown[half] for half in np.triu_indices(len(unknown), 1))
            asked = of(np.column_stack([features[first], features[second]]))
            found[first, second] = found[second, first] = asked
        np.fill_diagonal(found, 1.0)
        return found

    def upper(self, features: NDArray[np.int64]) -> Iterator[tuple[int, Array]]:
        """Go through the pairs of some features, which are not kept.

        Yields
        ------
        place : int
            Of a feature among them.
        errors : ndarray
            Of its pairs with each that comes after it.
        """
        taking = getattr(self._errors, "taking", None)
        if taking is None:
            of: Any = getattr(self._errors, "of", None)
            for place, feature in enumerate(features.tolist()):
                others = features[place + 1 :]
                if of is None or 2 * len(others) > len(self.single):
                    yield place, self._errors.row(feature)[others]
                else:
                    yield place, of(np.column_stack([np.full_like(others, feature), others]))
            return
        every = len(features) == len(self.single)
        few: Any = self._errors if every else taking(features)
        for first, block in few.blocks():
            for i, row in enumerate(block):
                yield first + i, row[i + 1 :]

    def row(self, feature: int) -> Array:
        """Of a feature with each other one, shape (n_features,)."""
        row = self._kept.pop(feature, None)
        if row is None:
            row = np.asarray(self._errors.row(feature), dtype=np.float64)
            if len(self._kept) >= self._n_rows:
                del self._kept[next(iter(self._kept))]
        self._kept[feature] = row
        return row
