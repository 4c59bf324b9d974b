"""From scores to positions, 1 for the best feature; and how many features may be asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_int
from bitsieve._errors import plural

__all__ = ["best_first", "positions_of_order", "positions_of_scores", "wanted"]


def best_first(scores: ArrayLike) -> NDArray[np.int64]:
    """Return features by falling score, the lower index first where scores are equal, NaN last.

    Examples
    --------
    >>> best_first([0.1, 0.7, float("nan"), 0.7])
    array([1, 3, 0, 2])
    """
    values = np.asarray(scores, dtype=np.float64)
    return np.argsort(-values, kind="stable").astype(np.int64, copy=False)


def positions_of_scores(scores: ArrayLike) -> NDArray[np.int64]:
    """Return the position of each feature, 1 for the highest score; no two are alike.

    Examples
    --------
    >>> positions_of_scores([0.1, 0.7, float("nan"), 0.7])
    array([3, 1, 4, 2])
    """
    return positions_of_order(best_first(scores), np.size(scores))


def positions_of_order(order: ArrayLike, n_features: int) -> NDArray[np.int64]:
    """Return the position of each feature in an order; all that it lacks share the next one.

    Examples
    --------
    >>> positions_of_order([2, 0], 4)
    array([2, 3, 1, 3])
    """
    taken = np.asarray(order, dtype=np.int64)
    positions = np.full(n_features, len(taken) + 1, dtype=np.int64)
    positions[taken] = np.arange(1, len(taken) + 1)
    return positions


def wanted(n_features: int | None, there_are: int) -> int:
    """How many features to take, or a refusal.

    Examples
    --------
    >>> wanted(None, 5), wanted(2, 5)
    (5, 2)
    """
    if n_features is None:
        return there_are
    n = check_int("n_features", n_features, 1, instead="or None")
    if n > there_are:
        raise ValueError(
            f"n_features is {n}, but X has {plural(there_are, 'feature')}; ask for at most as many"
        )
    return n
