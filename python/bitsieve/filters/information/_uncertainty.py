"""Symmetrical uncertainty of levels with the classes and with each other, as it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._threads import effective_n_jobs
from bitsieve.data import Table
from bitsieve.data.columns import is_sparse
from bitsieve.data.validation import check_target
from bitsieve.discrete._levels import CutCost, Levels, levels_of
from bitsieve.discrete._sparse import BLOCK, sparse_levels

__all__ = ["ClassTable", "class_table"]

#: Information below this, in nats, may be the rounding of n log n in the cells of a table. The
#: least that n samples can share without being independent is greater up to n = 10^5.
_ROUNDING = 1e-10


class Source(Protocol):
    """Where the levels of single columns come from."""

    def column(self, feature: int) -> tuple[NDArray[np.uint8], int]:
        """Levels of one column and how many there are."""

    def counts(
        self, classes: NDArray[np.int32], n_classes: int, cells: int
    ) -> Iterator[NDArray[np.int64]]:
        """Yield the samples of (feature, level, class), some features at a time."""


@dataclass(frozen=True, eq=False)
class _Dense:
    levels: Levels

    def column(self, feature: int) -> tuple[NDArray[np.uint8], int]:
        codes = np.ascontiguousarray(self.levels.codes[:, feature])
        return codes, int(self.levels.n_levels[feature])

    def counts(
        self, classes: NDArray[np.int32], n_classes: int, cells: int
    ) -> Iterator[NDArray[np.int64]]:
        n_levels = int(self.levels.n_levels.max())
        n, p = self.levels.codes.shape
        step = max(1, min(cells // (n_levels * n_classes), BLOCK // n))
        for first in range(0, p, step):
            codes = self.levels.codes[:, first : first + step]
            width = codes.shape[1]
            place = (np.arange(width) * n_levels + codes) * n_classes + classes[:, None]
            found = np.bincount(place.ravel(), minlength=width * n_levels * n_classes)
            yield found.reshape(width, n_levels, n_classes)


class ClassTable:
    """Levels and classes, and what they know of each other, in nats.

    Parameters
    ----------
    table : _core.DiscreteTable
    source : Source
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
        self,
        table: _core.DiscreteTable,
        source: Source,
        codes: NDArray[np.int32],
        classes: NDArray[Any],
    ) -> None:
        self._table, self.source = table, source
        self.codes, self.classes = codes, classes
        self.entropies = table.entropies()
        shares = np.bincount(codes) / len(codes)
        self.class_entropy = float(-np.sum(shares * np.log(shares)))

    @property
    def n_features(self) -> int:
        """Columns."""
        return len(self.entropies)

    def information(self) -> NDArray[np.float64]:
        """Mutual information of each feature with the classes."""
        return _beyond_rounding(self._table.mutual_information(self.codes, len(self.classes)))

    def uncertainty(self) -> NDArray[np.float64]:
        """Symmetrical uncertainty of each feature with the classes; 0 for one level."""
        return _symmetrical(self.information(), self.entropies, self.class_entropy)

    def uncertainty_with(
        self, feature: int, features: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Symmetrical uncertainty of one feature with all or some; 0 where either has one level."""
        codes, n_levels = self.source.column(feature)
        shared = _beyond_rounding(self._table.mutual_information(codes, n_levels, features))
        own = self.entropies if features is None else self.entropies[features]
        return _symmetrical(shared, own, float(self.entropies[feature]))


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
    """Check X and y, and cut X into levels."""
    if isinstance(X, Table) and y is None:
        y = X.y
    if y is None:
        raise ValueError("y is needed: the class labels to score the features against")
    options: dict[str, Any] = {
        "discretization": discretization,
        "n_bins": n_bins,
        "cut_cost": cut_cost,
        "missing": missing,
        "n_jobs": n_jobs,
    }
    n_threads = effective_n_jobs(n_jobs)
    source: Source
    if is_sparse(X):
        source = sparse_levels(X, y, options | {"discrete_features": discrete_features})
        n_samples, table = source.n_samples, source.table(n_threads)
    else:
        levels = levels_of(X, y, discrete_features=discrete_features, **options)
        n_samples, source = len(levels.codes), _Dense(levels)
        table = _core.DiscreteTable(levels.codes, levels.n_levels, n_threads)
    target = check_target(y, n_samples, "classification")
    assert target.codes is not None
    assert target.classes is not None
    return ClassTable(table, source, target.codes, target.classes)
