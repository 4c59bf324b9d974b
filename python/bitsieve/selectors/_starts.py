"""What a search begins with: features that the user names, or the scores of a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest, name_columns
from bitsieve.data import Table
from bitsieve.filters.named import FILTERS, N_GREEDY, filter_by_name
from bitsieve.masks import Masks
from bitsieve.search.starts import vector

if TYPE_CHECKING:
    from bitsieve.selectors._space import Space

__all__ = ["are_numbers", "filter_scores", "is_filter", "start_units"]


def start_units(name: str, given: Any, space: Space) -> NDArray[np.bool_]:
    """Return the features that a start names as a mask of what moves.

    Forced features may be among them or not: they are in every mask.

    Parameters
    ----------
    name : str
        Of the parameter, for messages.
    given : sequence of int or str, bool array of shape (n_features,), or Masks of one
        Positions, names, or a mask.
    space : Space

    Returns
    -------
    bool array of shape (n_units,)

    Raises
    ------
    ValueError
        For what names no feature, for a forbidden feature, and for a part of a group, by name.

    Examples
    --------
    >>> from bitsieve.selectors._space import Space
    >>> table = Table([[1.0, 2.0, 3.0], [2.0, 1.0, 4.0]], [0, 1], names=["a", "b", "c"])
    >>> start_units("start", ["b"], Space(table, forbidden=["a"]))
    array([ True, False])
    >>> start_units("start", ["a"], Space(table, forbidden=["a"]))
    Traceback (most recent call last):
    ValueError: start has 1 feature ('a') of forbidden_features: leave it out
    """
    mask = space.features(name, given)

    def told(features: NDArray[np.bool_]) -> str:
        where = np.flatnonzero(features).tolist()
        return name_columns(where, space.table.names, noun="feature")

    never = mask & (space.unit_of < 0) & ~space.forced
    if never.any():
        raise ValueError(
            f"{name} has {told(never)} of forbidden_features: leave "
            f"{'it' if never.sum() == 1 else 'them'} out"
        )
    units = space.units_of(mask)
    parts = mask & (space.unit_of >= 0)
    parts[parts] = ~units[space.unit_of[parts]]
    if parts.any():
        group = space.unit_of == space.unit_of[parts][0]
        raise ValueError(
            f"{name} has {told(group & mask)} of a group in feature_groups and not "
            f"{told(group & ~mask)}: give all of them or none"
        )
    return units


def are_numbers(given: Any) -> bool:
    """Tell whether a start is real numbers, one or one a feature, and names no features.

    Examples
    --------
    >>> are_numbers([0.5, 0.4]), are_numbers(0.5), are_numbers([3, 4]), are_numbers(["a"])
    (True, True, False, False)
    >>> are_numbers([])  # a list of no features
    False
    """
    if isinstance(given, (str, Masks)) or callable(given):
        return False
    try:
        array = np.asarray(given)
    except ValueError:  # lists of several lengths
        return False
    return array.dtype.kind == "f" and array.size > 0


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
