"""Symmetrical uncertainty of levels with the classes and with each other, as it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._threads import effective_n_jobs
from bitsieve.data import Table
from bitsieve.data.validation import check_target
from bitsieve.filters.discretize import Levels, levels_of

__all__ = ["ClassTable", "class_table"]


class ClassTable:
    """Levels and classes, and what they know of each other, in nats.

    Parameters
    ----------
    levels : Levels
    codes : ndarray of shape (n_samples,)
        Int32 class codes.
    classes : ndarray of shape (n_classes,)
        Sorted labels.
    n_threads : int

    Attributes
    ----------
    entropies : ndarray of shape (n_features,)
        Of each feature.
    class_entropy : float
    """

    def __init__(
        self, levels: Levels, codes: NDArray[np.int32], classes: NDArray[Any], n_threads: int
    ) -> None:
        self.levels, self.codes, self.classes = levels, codes, classes
        self._table = _core.DiscreteTable(levels.codes, levels.n_levels, n_threads)
        self.entropies = self._table.entropies()
        shares = np.bincount(codes) / len(codes)
        self.class_entropy = float(-np.sum(shares * np.log(shares)))

    @property
    def n_features(self) -> int:
        """Columns."""
        return len(self.levels.n_levels)

    def information(self) -> NDArray[np.float64]:
        """Mutual information of each feature with the classes."""
        n_classes = len(self.classes)
        found = self._table.mutual_information(self.codes, n_classes)
        return self._beyond_rounding(found, self.levels.n_levels, n_classes)

    def uncertainty(self) -> NDArray[np.float64]:
        """Symmetrical uncertainty of each feature with the classes; 0 for one level."""
        return _symmetrical(self.information(), self.entropies, self.class_entropy)

    def uncertainty_with(
        self, feature: int, features: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Symmetrical uncertainty of one feature with all or some; 0 where either has one level."""
        n_levels = int(self.levels.n_levels[feature])
        codes = np.ascontiguousarray(self.levels.codes[:, feature])
        found = self._table.mutual_information(codes, n_levels, features)
        own, others = self.entropies, self.levels.n_levels
        if features is not None:
            own, others = own[features], others[features]
        information = self._beyond_rounding(found, others, n_levels)
        return _symmetrical(information, own, float(self.entropies[feature]))

    def _beyond_rounding(
        self, information: NDArray[np.float64], n_levels: NDArray[np.int32], n_others: int
    ) -> NDArray[np.float64]:
        """Set to 0 what the rounding of n log n in each cell of a table may amount to."""
        cells = n_levels * (n_others + 1.0) + n_others
        least = cells * 2.0**-46 * max(1.0, np.log(len(self.codes)))
        return np.where(information > least, information, 0.0)


def _symmetrical(
    information: NDArray[np.float64], one: NDArray[np.float64], other: float
) -> NDArray[np.float64]:
    total = one + other
    varies = (one > 0) & (other > 0)
    shared = np.zeros(len(one))
    np.divide(2.0 * information, total, out=shared, where=varies)
    return np.minimum(shared, 1.0)


def class_table(
    X: Any,
    y: Any,
    *,
    discretization: str | None,
    n_bins: int,
    missing: str,
    discrete_features: Any,
    n_jobs: int | None,
) -> ClassTable:
    """Check X and y, and cut X into levels."""
    if isinstance(X, Table) and y is None:
        y = X.y
    if y is None:
        raise ValueError("y is needed: the class labels to score the features against")
    levels = levels_of(
        X,
        y,
        discretization,
        n_bins=n_bins,
        missing=missing,
        discrete_features=discrete_features,
        n_jobs=n_jobs,
    )
    target = check_target(y, len(levels.codes), "classification")
    assert target.codes is not None
    assert target.classes is not None
    return ClassTable(levels, target.codes, target.classes, effective_n_jobs(n_jobs))
