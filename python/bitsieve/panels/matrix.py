"""Recursive elimination of a linear model, on a Gram matrix that loses features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bitsieve.panels.coefficients import GramModel
from bitsieve.panels.importances import importances_of, least_of
from bitsieve.panels.known import KnownCoefficients
from bitsieve.panels.recursive import Floats, Positions

__all__ = ["GramElimination"]

#: Where a step drops more than one of so many features, all coefficients are made anew.
_FEW_DROPPED = 64
#: The matrix is made anew where it has lost so much of its trace: rounding is of what it was.
_TRACE_LEFT = 0.25


class GramElimination:
    """A linear model, fitted from the Gram matrix of the features that are left.

    A step takes a solve of n x n and one pass over the features; the matrix loses what the
    features that leave gave it.

    Parameters
    ----------
    model : GramModel
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    train, test : int array
    left : int64 array
        The features to begin with.
    scorer : callable or None
    scaler : scikit-learn scaler or None, default None
        Fitted to the training part first. It scales each feature by itself.

    Attributes
    ----------
    n_on_columns : int
        Fits that scikit-learn made of the columns, because they are few or the matrix says too
        little.
    """

    def __init__(
        self,
        model: GramModel,
        X: NDArray[Any],
        y: NDArray[Any],
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        left: Positions,
        *,
        scorer: Any,
        scaler: Any = None,
    ) -> None:
        self.left = self._features = left  # the second those in the rows of the table
        self.n_on_columns = 0
        self._model, self._scorer = model, scorer
        self._y, self._truth = y[train], y[test]
        self._n = len(train)
        samples = X[np.concatenate([train, test])][:, left].astype(np.float64)
        if scaler is not None:
            scaler = clone(scaler).fit(X[train][:, left])
            samples = np.asarray(scaler.transform(samples), dtype=np.float64)
        if model.centres:
            first = samples[: self._n]
            constant = first.max(axis=0) == first.min(axis=0)
            centre = first.mean(axis=0)
            centre[constant] = first[0, constant]  # exactly, so that nothing is left of it
            samples -= centre
        # A row a feature: those that are left lie at `_places` of it.
        self._table: Floats = np.ascontiguousarray(samples.T)
        self._places = np.arange(len(left))
        self._known = KnownCoefficients(self._table[:, : self._n])
        self._fitted: tuple[Any, Any] = (None, None)
        self._on_columns: Any = None
        self._gram: Floats | None = None  # made by the first fit, unless a state brings it
        self._trace = 0.0

    def _made(self) -> Floats:
        """Return the matrix of the features that are left, over all samples."""
        if self._gram is None:
            self._gram = self._table.T @ self._table
            self._trace = float(np.trace(self._gram))
        return self._gram

    def fit(self) -> None:
        """Fit to the features that are left."""
        n, gram = self._n, self._made()
        K = gram[:n, :n].copy()
        few = self._model.prefers_columns(len(self.left), K)
        found = None if few else self._model.fit(K, self._y)
        if found is not None:
            self._fitted = found.answers(gram[n:, :n]) if len(self._truth) else (None, None)
            self._known.move(found.dual)
            self._on_columns = None
            return
        self.n_on_columns += 1
        columns = self._table[self._places].T
        fitted = clone(self._model.model)
        if getattr(fitted, "random_state", 0) is None:
            fitted.random_state = 0
        self._on_columns = fitted.fit(columns[:n], self._y)
        self._fitted = fitted, columns[n:]

    def importances(self) -> Floats:
        """Return how much each feature that is left matters to the last fit."""
        if self._on_columns is not None:
            return importances_of(self._on_columns, "auto")
        return self._known.exact(self._table[:, : self._n], self._places)

    def least(self, count: int, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Places in ``left`` of those that matter least; see :class:`Elimination`."""
        if self._on_columns is not None or count * _FEW_DROPPED > len(self.left):
            return least_of(self.importances(), kept, count)
        rows = self._places if not kept.any() else self._places[~kept]
        some = self._known.candidates(self._table[:, : self._n], rows, count)
        importances = self._known.exact(self._table[:, : self._n], some)
        return np.searchsorted(self._places, some[least_of(importances, np.zeros(1, bool), count)])

    def score(self) -> float:
        """Score the last fit on the test part."""
        fitted, X = self._fitted
        return float(self._scorer(fitted, X, self._truth))

    def drop(self, places: NDArray[np.intp]) -> None:
        """Drop features by their places in ``left``."""
        gone = self._table[self._places[places]]
        self.left = np.delete(self.left, places)
        self._places = np.delete(self._places, places)
        if 2 * len(self.left) > len(self._table):
            product = gone.T @ gone
            # Another array, since a state holds the one before.
            self._gram = np.subtract(self._made(), product, out=product)
            if np.trace(self._gram) > _TRACE_LEFT * self._trace:
                return
        self._table = self._table[self._places]
        self._known.keep(self._places)
        self._features = self.left
        self._places = np.arange(len(self.left))
        self._gram = None
        self._made()

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what the next steps depend on; see :class:`Elimination`.

        What is known of the coefficients is no part of it: that says which need no look, and
        changes no bit.
        """
        return {
            "features": self._features,
            "places": self._places,
            "gram": self._made(),
            "trace": np.array(self._trace),
            "n_on_columns": np.array(self.n_on_columns),
        }

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on as the one that gave the state; only before the first fit."""
        features = np.array(state["features"], dtype=np.int64)
        self._table = self._table[np.searchsorted(self.left, features)]
        self._known = KnownCoefficients(self._table[:, : self._n])
        self._features = features
        self._places = np.array(state["places"], dtype=np.intp)
        self.left = features[self._places]
        self._gram = np.array(state["gram"], dtype=np.float64)
        self._trace = float(state["trace"])
        self.n_on_columns = int(state["n_on_columns"])
