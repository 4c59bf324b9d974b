"""Scores of features by which a search begins: a filter's by its name, a function's, or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest
from bitsieve.data import Table
from bitsieve.filters.named import FILTERS, N_GREEDY, filter_by_name
from bitsieve.search.starts import vector

__all__ = ["filter_scores", "is_filter"]


def is_filter(name: object) -> bool:
    """Tell whether something is the name of a filter.

    Examples
    --------
    >>> is_filter("ReliefF"), is_filter("zeros"), is_filter(0.5)
    (True, False, False)
    """
    if not isinstance(name, str):
        return False
    try:
        filter_by_name(name)
    except ValueError:
        return False
    return True


def filter_scores(
    name: str,
    given: Any,
    table: Table,
    *,
    n_features: int | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return one finite number a feature, greater is better.

    Parameters
    ----------
    name : str
        Of the parameter, for messages.
    given : str, callable or array-like of shape (n_features,)
        The name of a filter, as :mod:`bitsieve.filters.named` has it; a function of (X, y) that
        returns scores, or scores and p-values; or the scores.
    table : Table
    n_features : int or None, default None
        How many features a greedy filter is to order at least; all others share the last place.
    n_jobs : int or None, default None
        Threads of a filter.

    Returns
    -------
    float64 array of shape (n_features,)
        Of a greedy filter the places, negative. What a filter draws is drawn from the seed 0.

    Raises
    ------
    ValueError
        For a name that no filter has, and for anything but one finite number a feature.

    Examples
    --------
    >>> table = Table([[1.0, 0.0], [2.0, 0.1], [3.0, 0.9], [4.0, 0.8]], ["a", "a", "b", "b"])
    >>> filter_scores("start", "f", table).round(1)
    array([  8., 128.])
    """
    if isinstance(given, str):
        return _by_name(name, given, table, n_features, n_jobs)
    if callable(given):
        found = given(table.X, table.y)
        # Filters of scikit-learn return scores alone, or scores and p-values.
        found = found[0] if isinstance(found, tuple) else found
        if found is None:
            raise ValueError(
                f"{name} must return one score a feature, {table.n_features}, but {given!r} "
                "returned None"
            )
        given = found
    return vector(name, given, table.n_features)


def _by_name(
    name: str, given: str, table: Table, n_features: int | None, n_jobs: int | None
) -> NDArray[np.float64]:
    if not is_filter(given):
        raise ValueError(f"{name}={given!r} is no filter: {closest(given, FILTERS)}")
    wanted = min(table.n_features, max(N_GREEDY, n_features or 0))
    ranked = filter_by_name(given).rank(
        table.X, table.y, n_features=wanted, n_jobs=n_jobs, random_state=0
    )
    scores = -ranked.keys
    finite = scores[np.isfinite(scores)]
    least, most = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    # A score may be infinite, where it divides by a spread of 0.
    scores = np.nan_to_num(scores, nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    ends = {np.inf: np.nextafter(most + 1.0, np.inf), -np.inf: np.nextafter(least - 1.0, -np.inf)}
    for infinite, end in ends.items():
        scores[scores == infinite] = end
    return scores
