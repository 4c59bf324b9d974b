"""Recursive elimination of any estimator: scikit-learn fits the columns that are left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bitsieve.panels.importances import Floats, Importance, importances_of, least_of
from bitsieve.panels.recursive import Positions

__all__ = ["ColumnElimination"]


class ColumnElimination:
    """Any estimator, fitted by scikit-learn to the columns that are left.

    Parameters
    ----------
    estimator : scikit-learn estimator
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    train, test : int array
    left : int64 array
        The features to begin with.
    scorer : callable or None
    getter : str or callable
        As :func:`importances_of` takes it.
    weights : array of shape (n_samples,) or None
    name_of_weights : str
        Under which a fit takes them.

    Attributes
    ----------
    n_on_columns : int
        0: there is no kernel that could leave a fit to scikit-learn.
    """

    n_on_columns = 0

    def __init__(
        self,
        estimator: Any,
        X: NDArray[Any],
        y: NDArray[Any],
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        left: Positions,
        *,
        scorer: Any,
        getter: Importance,
        weights: NDArray[Any] | None = None,
        name_of_weights: str = "sample_weight",
    ) -> None:
        self.left = left
        self._estimator, self._scorer, self._getter = estimator, scorer, getter
        self._X, self._y = X[train], y[train]
        self._test, self._truth = X[test], y[test]
        self._options = {} if weights is None else {name_of_weights: weights[train]}
        self._fitted: Any = None

    def fit(self) -> None:
        """Fit to the features that are left."""
        self._fitted = clone(self._estimator)
        self._fitted.fit(self._X[:, self.left], self._y, **self._options)

    def importances(self) -> Floats:
        """Return how much each feature that is left matters to the last fit."""
        found = importances_of(self._fitted, self._getter)
        if found.shape != self.left.shape:
            raise ValueError(
                f"importance_getter={self._getter!r} gives {found.size} importances of "
                f"{len(self.left)} features"
            )
        return found

    def least(self, count: int, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Places in ``left`` of those that matter least; see :class:`Elimination`."""
        return least_of(self.importances(), kept, count)

    def score(self) -> float:
        """Score the last fit on the test part."""
        return float(self._scorer(self._fitted, self._test[:, self.left], self._truth))

    def drop(self, places: NDArray[np.intp]) -> None:
        """Drop features by their places in ``left``."""
        self.left = np.delete(self.left, places)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what the next steps depend on; see :class:`Elimination`."""
        return {"left": self.left}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on as the one that gave the state."""
        self.left = np.array(state["left"], dtype=np.int64)
