"""Symmetrical uncertainty of levels with the classes and with each other, as it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._threads import effective_n_jobs
from bitsieve.discrete import (
    CutCost,
    DiscreteTable,
    Options,
    check_discretization,
    inputs_for,
)

__all__ = ["ClassTable", "class_table"]

#: Information below this, in nats, may be the rounding of n log n in the cells of a table. The
#: least that n samples can share without being independent is greater up to n = 10^5.
_ROUNDING = 1e-10


class ClassTable:
    """Levels and classes, and what they know of each other, in nats.

    Parameters
    ----------
    table : DiscreteTable
    codes : ndarray of shape (n_samples,)
        Int32 class codes.
    classes : ndarray of shape (n_classes,)
        Sorted labels.

    Attributes
    ----------
    entropies : ndarray of shape (n_features,)
        Of each feature.
    class_entropy : float
    """

    def __init__(
        self, table: DiscreteTable, codes: NDArray[np.int32], classes: NDArray[Any]
    ) -> None:
        self.table, self.codes, self.classes = table, codes, classes
        self.entropies = table.core.entropies()
        shares = np.bincount(codes) / len(codes)
        self.class_entropy = float(-np.sum(shares * np.log(shares)))

    @property
    def n_features(self) -> int:
        """Columns."""
        return len(self.entropies)

    def information(self) -> NDArray[np.float64]:
        """Mutual information of each feature with the classes."""
        return _beyond_rounding(self.table.core.mutual_information(self.codes, len(self.classes)))

    def uncertainty(self) -> NDArray[np.float64]:
        """Symmetrical uncertainty of each feature with the classes; 0 for one level."""
        return _symmetrical(self.information(), self.entropies, self.class_entropy)

    def uncertainty_with(
        self, feature: int, features: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Symmetrical uncertainty of one feature with all or some; 0 where either has one level."""
        one = self.table.variable(feature)
        shared = self.table.core.mutual_information(one.codes, one.n_levels, features)
        own = self.entropies if features is None else self.entropies[features]
        return _symmetrical(_beyond_rounding(shared), own, float(self.entropies[feature]))


def _beyond_rounding(information: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(information > _ROUNDING, information, 0.0)


def _symmetrical(
    information: NDArray[np.float64], one: NDArray[np.float64], other: float
) -> NDArray[np.float64]:
    varies = (one > 0) & (other > 0)
    shared = np.zeros(len(one))
    np.divide(2.0 * information, one + other, out=shared, where=varies)
    return np.minimum(shared, 1.0)


def class_table(
    X: Any,
    y: Any,
    *,
    discretization: str | None,
    n_bins: int,
    cut_cost: CutCost,
    missing: str,
    discrete_features: Any,
    n_jobs: int | None,
) -> ClassTable:
    """Check X and y, and cut X into levels.

    Parameters
    ----------
    X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,) or None
        Class labels; those of a Table by default.
    discretization, n_bins, cut_cost, missing, discrete_features, n_jobs
        See :func:`bitsieve.filters.information_gain`.

    Returns
    -------
    ClassTable

    Raises
    ------
    ValueError
        If X or y are not fit for use, or a parameter is out of its range.

    Examples
    --------
    >>> table = class_table(
    ...     [[0, 0], [0, 1], [1, 0], [1, 1]], ["a", "a", "b", "b"], discretization=None, n_bins=10,
    ...     cut_cost="distinct", missing="error", discrete_features="auto", n_jobs=1,
    ... )
    >>> table.uncertainty(), table.uncertainty_with(0)
    (array([1., 0.]), array([1., 0.]))
    """
    options = Options(
        method=check_discretization(discretization, auto=False),
        n_bins=n_bins,
        cut_cost=cut_cost,
        missing=missing,
        n_threads=effective_n_jobs(n_jobs),
    )
    inputs = inputs_for(
        X, y, options, discrete_features, task="classification", target=True, sparse=True
    )
    table = DiscreteTable.of_inputs(inputs, options)
    return ClassTable(table, inputs.codes, inputs.classes)
