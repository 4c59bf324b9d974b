"""Recursive elimination by the coefficients of a model, on a Gram matrix that loses features.

::

    sizes_to_eliminate --> eliminate --> order, scores
                              |  fit, importances, score, drop
              GramElimination   G = X X' less what left; a pass over the features for w = X' a
              ColumnElimination scikit-learn's fit to the columns that are left
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from threading import Event
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bitsieve._errors import plural
from bitsieve.panels.coefficients import GramModel
from bitsieve.panels.known import KnownCoefficients

__all__ = [
    "ColumnElimination",
    "Eliminated",
    "GramElimination",
    "eliminate",
    "importances_of",
    "sizes_to_eliminate",
]

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]
Importance = str | Callable[[Any], Any]

#: Where a step drops more than one of so many features, all coefficients are made anew.
_FEW_DROPPED = 64
#: The matrix is made anew where it has lost so much of its trace: rounding is of what it was.
_TRACE_LEFT = 0.25


class Elimination(Protocol):
    """What :func:`eliminate` drives.

    Attributes
    ----------
    left : int64 array
        The features that are left, ascending.
    """

    left: Positions

    def fit(self) -> None:
        """Fit to the features that are left."""

    def importances(self) -> Floats:
        """Return how much each feature that is left matters to the last fit."""

    def least(self, count: int, kept: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Places in ``left`` of those that matter least, the least first, of equals the lowest.

        Those that are kept matter more than all others.
        """

    def score(self) -> float:
        """Score the last fit on the test part."""

    def drop(self, places: NDArray[np.intp]) -> None:
        """Drop features by their places in ``left``."""


@dataclass(frozen=True, eq=False)
class Eliminated:
    """What an elimination leaves.

    Attributes
    ----------
    order : int64 array
        Features in the order in which they left; those that are left at last follow by what they
        matter, the least first.
    scores : float64 array of shape (n_sizes,)
        The test part's score at each size that was to be scored, in the order of the sizes.
    """

    order: Positions
    scores: Floats


def sizes_to_eliminate(n_features: int, least: int, step: int) -> list[int]:
    """Return the numbers of features that are fitted, from all to the least.

    Examples
    --------
    >>> sizes_to_eliminate(10, 3, 4)
    [10, 6, 3]
    """
    return [*range(n_features, least, -step), least]


def eliminate(
    machine: Elimination,
    sizes: list[int],
    *,
    forced: NDArray[np.bool_],
    largest_scored: int,
    stop: Event | None = None,
) -> Eliminated:
    """Drop features until the last of the sizes is reached.

    Parameters
    ----------
    machine : Elimination
    sizes : list of int
        Descending, the first that of the features there are.
    forced : bool array of shape (n_features,)
        Features that are never dropped.
    largest_scored : int
        From this size on the fits are scored; 0 for none.
    stop : threading.Event or None, default None
        Once it is set, no other step begins; nobody wants the answer.

    Returns
    -------
    Eliminated

    Raises
    ------
    ValueError
        Where the importances are no finite numbers.
    InterruptedError
        Where ``stop`` was set.
    """
    gone: list[Positions] = []
    scores = []
    for number, size in enumerate(sizes):
        if stop is not None and stop.is_set():
            raise InterruptedError("the elimination was stopped")
        machine.fit()
        if size <= largest_scored:
            scores.append(machine.score())
        last = number + 1 == len(sizes)
        count = size if last else size - sizes[number + 1]
        places = machine.least(count, forced[machine.left] & (not last))
        gone.append(machine.left[places])
        if not last:
            machine.drop(places)
    return Eliminated(np.concatenate(gone), np.array(scores, dtype=np.float64))


def _least(importances: Floats, kept: NDArray[np.bool_], count: int) -> NDArray[np.intp]:
    """Places of the least importances, the least first and of equals the lowest.

    Raises
    ------
    ValueError
        Where they are no finite numbers.
    """
    if not np.isfinite(importances).all():
        raise ValueError(
            f"the estimator's importances of {plural(len(importances), 'feature')} are not finite: "
            "scale the features, or penalise their coefficients more"
        )
    if kept.any():
        importances = np.where(kept, np.inf, importances)
    if count == 1:  # a sort takes longer than the fit
        return np.array([np.argmin(importances)])
    return np.argsort(importances, kind="stable")[:count]


def importances_of(fitted: Any, getter: Importance) -> Floats:
    """Return the importance of each feature in a fitted estimator.

    Squared coefficients, summed over the functions; else the importances as they are.

    Parameters
    ----------
    fitted : scikit-learn estimator
        Of a pipeline the last step is asked.
    getter : str or callable
        "auto", the name of an attribute (``"named_steps.svc.coef_"``), or a function of the fitted
        estimator.

    Raises
    ------
    ValueError
        If it has neither ``coef_`` nor ``feature_importances_``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> fitted = Ridge(alpha=1).fit(np.array([[1.0, 0.0], [-1.0, 0.0]]), [3.0, -3.0])
    >>> importances_of(fitted, "auto")
    array([4., 0.])
    """
    if callable(getter):
        found = getter(fitted)
    elif getter != "auto":
        try:
            found = attrgetter(getter)(fitted)
        except AttributeError as error:
            raise ValueError(
                f"importance_getter={getter!r} is no attribute of the fitted "
                f"{type(fitted).__name__}: {error}"
            ) from error
    else:
        last = fitted
        while getattr(last, "steps", None):
            last = last.steps[-1][1]
        last = getattr(last, "best_estimator_", last)
        found = getattr(last, "coef_", None)
        if found is None:
            found = getattr(last, "feature_importances_", None)
        if found is None:
            raise ValueError(
                f"{type(last).__name__} has neither coef_ nor feature_importances_: give "
                "importance_getter, or an estimator that has one of them, such as "
                "SVC(kernel='linear')"
            )
    if hasattr(found, "toarray"):
        found = found.toarray()
    values = np.atleast_2d(np.asarray(found, dtype=np.float64))
    # As scikit-learn: importances are squared too, which keeps their order.
    squares: Floats = np.square(values).sum(axis=0)
    return squares


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
    """

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
        return _least(self.importances(), kept, count)

    def score(self) -> float:
        """Score the last fit on the test part."""
        return float(self._scorer(self._fitted, self._test[:, self.left], self._truth))

    def drop(self, places: NDArray[np.intp]) -> None:
        """Drop features by their places in ``left``."""
        self.left = np.delete(self.left, places)


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
        self.left = left
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
        self._make()

    def _make(self) -> None:
        self._gram = self._table.T @ self._table
        self._trace = float(np.trace(self._gram))

    def fit(self) -> None:
        """Fit to the features that are left."""
        n = self._n
        K = self._gram[:n, :n].copy()
        few = self._model.prefers_columns(len(self.left), K)
        found = None if few else self._model.fit(K, self._y)
        if found is not None:
            self._fitted = found.answers(self._gram[n:, :n]) if len(self._truth) else (None, None)
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
            return _least(self.importances(), kept, count)
        rows = self._places if not kept.any() else self._places[~kept]
        some = self._known.candidates(self._table[:, : self._n], rows, count)
        importances = self._known.exact(self._table[:, : self._n], some)
        return np.searchsorted(self._places, some[_least(importances, np.zeros(1, bool), count)])

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
            self._gram -= gone.T @ gone
            if np.trace(self._gram) > _TRACE_LEFT * self._trace:
                return
        self._table = self._table[self._places]
        self._known.keep(self._places)
        self._places = np.arange(len(self.left))
        self._make()
