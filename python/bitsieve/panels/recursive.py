"""Recursive elimination by the coefficients of a model, on a Gram matrix that loses features.

::

    sizes_to_eliminate --> eliminate --> order, scores
                              |  fit, importances, score, drop
              GramElimination   G = X X' less what left; a pass over the features for w = X' a
              ColumnElimination scikit-learn's fit to the columns that are left

The two are in ``matrix.py`` and ``columns.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Eliminated", "Elimination", "Progress", "eliminate", "sizes_to_eliminate"]

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]


class Elimination(Protocol):
    """What :func:`eliminate` drives.

    Attributes
    ----------
    left : int64 array
        The features that are left, ascending.
    n_on_columns : int
        Fits that a kernel left to scikit-learn; 0 where there is no kernel.
    """

    left: Positions
    n_on_columns: int

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

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what the next steps depend on, after a drop; nothing changes these arrays."""

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on as the one that gave the state, bit for bit."""


@dataclass(frozen=True, eq=False)
class Progress:
    """An elimination between two of its steps.

    Attributes
    ----------
    n_steps : int
        Those that were done.
    order : int64 array
        The features that have left, as in :class:`Eliminated`.
    scores : float64 array
        Those so far.
    machine : mapping of str to array
        The state of what eliminates.
    """

    n_steps: int
    order: Positions
    scores: Floats
    machine: Mapping[str, NDArray[Any]]


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
    n_on_columns : int
        Fits that the kernel left to scikit-learn.
    """

    order: Positions
    scores: Floats
    n_on_columns: int = 0


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
    begin: Progress | None = None,
    keep: Callable[[Progress], None] | None = None,
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
    begin : Progress or None, default None
        What was kept of the same elimination; the steps that it has done are not done again.
    keep : callable or None, default None
        Is given the progress after each step but the last. What it is given stays as it is.

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
    order = np.empty(sizes[0], dtype=np.int64)
    scores = np.empty(sum(size <= largest_scored for size in sizes))
    first = n_gone = n_scored = 0
    if begin is not None:
        first, n_gone, n_scored = begin.n_steps, len(begin.order), len(begin.scores)
        order[:n_gone], scores[:n_scored] = begin.order, begin.scores
        machine.set_state(begin.machine)
    for number, size in enumerate(sizes[first:], start=first):
        if stop is not None and stop.is_set():
            raise InterruptedError("the elimination was stopped")
        machine.fit()
        if size <= largest_scored:
            scores[n_scored] = machine.score()
            n_scored += 1
        last = number + 1 == len(sizes)
        count = size if last else size - sizes[number + 1]
        places = machine.least(count, forced[machine.left] & (not last))
        order[n_gone : n_gone + count] = machine.left[places]
        n_gone += count
        if not last:
            machine.drop(places)
            if keep is not None:
                keep(Progress(number + 1, order[:n_gone], scores[:n_scored], machine.state()))
    return Eliminated(order, scores, machine.n_on_columns)
