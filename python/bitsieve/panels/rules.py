"""Rules of decision on standardised features, as a panel keeps them.

Nothing here goes through BLAS: a sample's decisions are the same bits in whatever batch it comes,
on whatever number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bitsieve.panels.gram import LinearFitted
from bitsieve.panels.neighbors import NeighborsFitted, neighbor_shares

__all__ = ["LinearRule", "NeighborsRule", "Rule", "rule_of"]

Floats = NDArray[np.float64]

#: Numbers that are multiplied at a time, so that they stay in cache.
_BLOCK = 1 << 16


class Rule(Protocol):
    """What decides on standardised features."""

    @property
    def n_features(self) -> int: ...

    def decide(self, Z: Floats) -> Floats:
        """Return float64 of shape (n_samples, n_functions) for Z of (n_samples, n_features)."""
        ...


@dataclass(frozen=True, eq=False)
class LinearRule:
    """A sum of coefficients times features, and an intercept.

    Attributes
    ----------
    coefficients : float64 array of shape (n_functions, n_features)
    intercept : float64 array of shape (n_functions,)

    Examples
    --------
    >>> import numpy as np
    >>> rule = LinearRule(np.array([[1.0, -2.0]]), np.array([0.5]))
    >>> rule.decide(np.array([[3.0, 1.0], [0.0, 1.0]])).tolist()
    [[1.5], [-1.5]]
    """

    coefficients: Floats
    intercept: Floats

    @property
    def n_features(self) -> int:
        """Features that it takes."""
        return int(self.coefficients.shape[1])

    def decide(self, Z: Floats) -> Floats:
        """Decisions for samples.

        Parameters
        ----------
        Z : float64 array of shape (n_samples, n_features)

        Returns
        -------
        float64 array of shape (n_samples, n_functions)
        """
        found = np.empty((len(Z), len(self.intercept)))
        for rows in _blocks(len(Z), self.n_features):
            for place, weights in enumerate(self.coefficients):
                found[rows, place] = np.add.reduce(Z[rows] * weights, axis=1)
        found += self.intercept
        return found


@dataclass(frozen=True, eq=False)
class NeighborsRule:
    """The classes of the nearest of the samples that are kept.

    Attributes
    ----------
    samples : float64 array of shape (n_samples, n_features)
    codes : int64 array of shape (n_samples,)
    n_classes, n_neighbors : int

    Examples
    --------
    >>> import numpy as np
    >>> rule = NeighborsRule(np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1]), 2, 1)
    >>> rule.decide(np.array([[4.0], [0.6]])).tolist()
    [[1.0], [-1.0]]
    """

    samples: Floats
    codes: NDArray[np.int64]
    n_classes: int
    n_neighbors: int

    @property
    def n_features(self) -> int:
        """Features that it takes."""
        return int(self.samples.shape[1])

    def decide(self, Z: Floats) -> Floats:
        """Decisions for samples; arguments and result are those of :meth:`LinearRule.decide`."""
        distances = np.empty((len(Z), len(self.samples)))
        for place, sample in enumerate(Z):
            for rows in _blocks(len(self.samples), self.n_features):
                apart = np.square(self.samples[rows] - sample)
                distances[place, rows] = np.add.reduce(apart, axis=1)
        return neighbor_shares(distances, self.codes, self.n_classes, self.n_neighbors)


def rule_of(fitted: LinearFitted | NeighborsFitted, Z: Floats) -> LinearRule | NeighborsRule:
    """Return the rule on features that a classifier fitted to a Gram matrix stands for.

    Parameters
    ----------
    fitted : LinearFitted or NeighborsFitted
    Z : float64 array of shape (n_samples, n_features)
        The training samples, in the order of the Gram matrix ``Z @ Z.T``.

    Returns
    -------
    LinearRule or NeighborsRule

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.panels.classifiers import ShrunkenLDA
    >>> Z = np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, 0.1], [-0.9, 0.0]])
    >>> fitted = ShrunkenLDA().fit(Z @ Z.T, np.array([1, 1, 0, 0]), 2, n_features=2)
    >>> rule = rule_of(fitted, Z)
    >>> np.allclose(rule.decide(Z), fitted.decide(Z @ Z.T, np.zeros(4)))
    True
    """
    if isinstance(fitted, LinearFitted):
        # Sample by sample, in one order: no product of BLAS.
        coefficients = np.zeros((fitted.dual.shape[1], Z.shape[1]))
        for sample, weights in zip(Z, fitted.dual, strict=True):
            if weights.any():  # most samples of an SVM have none
                coefficients += weights[:, None] * sample
        return LinearRule(coefficients, fitted.intercept.copy())
    codes = fitted.codes.astype(np.int64)
    return NeighborsRule(Z.copy(order="C"), codes, fitted.n_classes, fitted.n_neighbors)


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, start + step)
