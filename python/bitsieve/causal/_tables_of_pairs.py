"""A table of numbers, one a pair of features: its rows, all of it, or all of it in blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_int

__all__ = ["TableOfPairs"]

_MOST_MATRIX = 1 << 31  # bytes
_BLOCK = 1 << 25  # bytes

Array = NDArray[np.float64]


class TableOfPairs(ABC):
    """Errors of single features and of pairs, whoever computes them. Symmetric."""

    n_features: int

    @property
    @abstractmethod
    def single(self) -> Array:
        """Rates of the single features, (n_features,)."""

    @abstractmethod
    def _rows(self, features: NDArray[np.int64], first: int) -> Array:
        """Return the rates of features with those from first on, one row each."""

    @abstractmethod
    def _matrix(self) -> Array:
        """Return the rates of all pairs."""

    def _pairs(self, pairs: ArrayLike) -> NDArray[np.int64]:
        """Return pairs of features, checked."""
        asked = np.asarray(pairs)
        if asked.size == 0:
            return np.empty((0, 2), dtype=np.int64)
        if asked.ndim != 2 or asked.shape[1] != 2 or asked.dtype.kind not in "iu":
            raise ValueError(
                f"pairs must be whole numbers of shape (n_pairs, 2), got {asked.dtype} of shape "
                f"{asked.shape}"
            )
        self._inside("pairs", asked)
        return asked.astype(np.int64)

    def _inside(self, name: str, features: NDArray[np.generic]) -> None:
        if features.min() < 0 or features.max() >= self.n_features:
            raise ValueError(
                f"{name} must lie in [0, n_features), which is {self.n_features}, got "
                f"{features.min()} to {features.max()}"
            )

    def row(self, feature: int) -> Array:
        """Return the rates of a feature with each one; with itself it is the single feature's.

        Parameters
        ----------
        feature : int
            Its position.

        Returns
        -------
        float64 array of shape (n_features,)

        Raises
        ------
        ValueError
            If there is no such feature.
        """
        asked = check_int("feature", feature, 0, self.n_features - 1)
        found: Array = self._rows(np.array([asked], dtype=np.int64), 0)[0]
        return found

    def rows(self, features: ArrayLike) -> Array:
        """Return the rows of several features, which takes less than one after the other.

        Parameters
        ----------
        features : array-like of int, shape (k,)

        Returns
        -------
        float64 array of shape (k, n_features)

        Raises
        ------
        ValueError
            If features are not a list of positions.
        """
        asked = np.asarray(features)
        if asked.size == 0:
            return np.empty((0, self.n_features))
        if asked.ndim != 1 or asked.dtype.kind not in "iu":
            raise ValueError(
                f"features must be a list of positions, got {asked.dtype} of shape {asked.shape}"
            )
        self._inside("features", asked)
        return self._rows(np.ascontiguousarray(asked, dtype=np.int64), 0)

    def matrix(self) -> Array:
        """Return the rates of all pairs, symmetric, the single features on the diagonal.

        Returns
        -------
        float64 array of shape (n_features, n_features)

        Raises
        ------
        ValueError
            If that takes more than 2 GB.
        """
        p = self.n_features
        if 8 * p * p > _MOST_MATRIX:
            raise ValueError(
                f"a matrix of {p} features takes {8 * p * p / 1e9:.1f} GB, more than "
                f"{_MOST_MATRIX / 1e9:.1f}: go through blocks(), or ask for rows(), best() or "
                "partners()"
            )
        return self._matrix()

    def blocks(self, n_rows: int | None = None) -> Iterator[tuple[int, Array]]:
        """Go through all pairs, some rows of the upper triangle at a time.

        Parameters
        ----------
        n_rows : int, optional
            Of a block, by default so many that it takes 32 MB.

        Yields
        ------
        first : int
            The first feature of the block's rows, and of its columns.
        rates : float64 array of shape (at most n_rows, n_features - first)
            Entry (i, j) is of the features first + i and first + j.

        Raises
        ------
        ValueError
            If n_rows is less than 1.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from bitsieve.causal import PairErrors
        >>> errors = PairErrors(*load_iris(return_X_y=True), random_state=0)
        >>> [(first, rates.shape) for first, rates in errors.blocks(n_rows=3)]
        [(0, (3, 4)), (3, (1, 1))]
        """
        p = self.n_features
        step = max(1, _BLOCK // (8 * p)) if n_rows is None else check_int("n_rows", n_rows, 1)
        return self._blocks(step)

    def _blocks(self, step: int) -> Iterator[tuple[int, Array]]:
        p = self.n_features
        for first in range(0, p, step):
            yield first, self._rows(np.arange(first, min(first + step, p), dtype=np.int64), first)

    def best(self, m: int = 1) -> tuple[NDArray[np.int64], Array]:
        """Return the pairs of two features with the least rates, of all pairs.

        Parameters
        ----------
        m : int, default 1
            How many; all where there are fewer.

        Returns
        -------
        pairs : int64 array of shape (m, 2)
            The best first; of equal ones the lower features.
        rates : float64 array of shape (m,)

        Raises
        ------
        ValueError
            If m is less than 1.
        """
        m = check_int("m", m, 1)
        pairs, rates = np.empty((0, 2), dtype=np.int64), np.empty(0)
        for first, block in self.blocks():
            inside = np.triu(np.ones(block.shape, dtype=bool), 1)
            if len(rates) == m:
                inside &= block < rates[-1]
            more = np.argwhere(inside)
            found = np.concatenate([rates, block[inside]])
            pairs = np.concatenate([pairs, more + first])
            # Pairs are in order, so a stable sort keeps the lower ones of equals first.
            if len(found) > 4 * m:
                kept = np.flatnonzero(found <= np.partition(found, m - 1)[m - 1])
                found, pairs = found[kept], pairs[kept]
            order = np.argsort(found, kind="stable")[:m]
            pairs, rates = pairs[order], found[order]
        return pairs, rates

    def partners(self) -> tuple[NDArray[np.int64], Array]:
        """Return the best partner of each feature, of two or more, and the rate of the pair.

        Returns
        -------
        partners : int64 array of shape (n_features,)
            Of equal ones the lowest.
        rates : float64 array of shape (n_features,)

        Raises
        ------
        ValueError
            If there is one feature alone.
        """
        p = self.n_features
        if p < 2:
            raise ValueError("there is one feature: it has no partner")
        partners, rates = np.zeros(p, dtype=np.int64), np.full(p, np.inf)
        for first, block in self.blocks():
            rows = np.arange(len(block))
            block[rows, rows] = np.inf
            # The lower triangle of the block's own rows is there too.
            across = block.argmin(axis=1)
            own = slice(first, first + len(block))
            better = block[rows, across] < rates[own]
            partners[own] = np.where(better, across + first, partners[own])
            rates[own] = np.where(better, block[rows, across], rates[own])
            later = slice(first + len(block), p)
            down = block[:, len(block) :].argmin(axis=0) if later.start < p else rows[:0]
            least = block[down, np.arange(len(down)) + len(block)]
            better = least < rates[later]
            partners[later] = np.where(better, down + first, partners[later])
            rates[later] = np.where(better, least, rates[later])
        return partners, rates
