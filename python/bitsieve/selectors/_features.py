"""Features as users name them: positions, names, or a boolean mask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import is_whole
from bitsieve._errors import closest, plural, quoted, shorten
from bitsieve.data import Table
from bitsieve.masks import Masks

__all__ = ["feature_positions", "group_positions", "told"]

Positions = NDArray[np.int64]


def feature_positions(name: str, given: Any, table: Table) -> Positions:
    """Return the features that a parameter names, ascending, each once; none for None.

    Parameters
    ----------
    name : str
        Of the parameter, for messages.
    given : None, sequence of int or str, array of bool of shape (n_features,), or Masks of one
        A name counts where the table has names; a whole number is a position from 0 on.
    table : Table

    Returns
    -------
    int64 array

    Raises
    ------
    ValueError
        For a name that no feature has, a position out of range, anything else, and for an array of
        zeros and ones, one a feature, which could be a mask or positions.

    Examples
    --------
    >>> table = Table([[1.0, 2.0, 3.0], [2.0, 1.0, 4.0]], [0, 1], names=["a", "b", "c"])
    >>> feature_positions("forced_features", ["c", 0], table)
    array([0, 2])
    >>> feature_positions("forced_features", [False, True, False], table)
    array([1])
    """
    p = table.n_features
    if given is None:
        return np.empty(0, np.int64)
    if isinstance(given, Masks):
        if len(given) != 1 or given.n_features != p:
            raise ValueError(f"{name} must be one mask of {p} features, got {given!r}")
        return given.indices_of(0)
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ValueError(
            f"{name} must be a list of names or positions, a boolean mask or None, got {given!r}"
        )
    items = given if isinstance(given, np.ndarray) else list(given)
    if isinstance(items, list) and any(isinstance(item, str) for item in items):
        return _positions(name, items, table)
    try:
        array = np.asarray(items)
    except ValueError:  # lists of several lengths
        array = np.empty((0, 0))
    if array.size == 0 and array.shape == (0,):
        return np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "biuUO":
        raise ValueError(
            f"{name} must be a flat list of names or positions, a boolean mask or None, got "
            f"{array.dtype} of shape {np.shape(array)}"
        )
    if array.dtype.kind == "b":
        if array.shape != (p,):
            raise ValueError(
                f"{name} is a mask of {plural(len(array), 'feature')}, X has {p}: give one "
                "True or False for each"
            )
        return np.flatnonzero(array).astype(np.int64)
    if array.dtype.kind in "iu":
        return _checked(name, array, p)
    return _positions(name, array, table)


def _checked(name: str, array: NDArray[Any], p: int) -> Positions:
    outside = array[(array < 0) | (array >= p)]
    if outside.size:
        raise ValueError(
            f"{name} has position {outside[0]}; with {plural(p, 'feature')} positions lie in "
            f"[0, {p - 1}]"
        )
    if len(array) == p > 1 and array.max() <= 1:
        raise ValueError(
            f"{name} has a zero or a one for each of the {p} features, and a mask must be boolean: "
            "give True and False, or each position once"
        )
    return np.unique(array).astype(np.int64)


def _positions(name: str, items: Iterable[Any], table: Table) -> Positions:
    places = {known: place for place, known in enumerate(table.names or ())}
    found = []
    for item in items:
        if is_whole(item):
            found.append(int(_checked(name, np.array([item]), table.n_features)[0]))
        elif not isinstance(item, str):
            hint = "; a mask must be boolean throughout" if isinstance(item, bool) else ""
            raise ValueError(f"{name} must hold names or positions, got {item!r}{hint}")
        elif table.names is None:
            raise ValueError(
                f"{name} names {quoted(item)}, but X has no names of features: give positions, or "
                "a data frame"
            )
        elif item not in places:
            raise ValueError(
                f"{name} names {quoted(item)}, which is no feature: {closest(item, table.names)}"
            )
        else:
            found.append(places[item])
    return np.unique(np.array(found, dtype=np.int64))


def group_positions(name: str, given: Any, table: Table) -> list[Positions]:
    """Return the features of each group, none of which is in two.

    Parameters
    ----------
    name : str
        Of the parameter, for messages.
    given : None or sequence of what :func:`feature_positions` takes
        A list for each group.
    table : Table

    Returns
    -------
    list of int64 array

    Raises
    ------
    ValueError
        Where a group is empty, or a feature in two of them.

    Examples
    --------
    >>> table = Table([[1.0, 2.0, 3.0], [2.0, 1.0, 4.0]], [0, 1])
    >>> group_positions("feature_groups", [[2, 0]], table)
    [array([0, 2])]
    """
    if given is None:
        return []
    if isinstance(given, (str, bytes, Masks)) or not isinstance(given, Iterable):
        raise ValueError(
            f"{name} must be a list of lists of names or positions, or None, got {given!r}"
        )
    groups: list[Positions] = []
    owner = np.full(table.n_features, -1)
    for number, one in enumerate(given):
        if isinstance(one, str) or not isinstance(one, Iterable):
            raise ValueError(
                f"{name} must be a list of lists, but its entry {number} is {one!r}: write [[...]] "
                "for one group"
            )
        members = feature_positions(f"{name}[{number}]", one, table)
        if not len(members):
            raise ValueError(f"{name}[{number}] is empty: leave it out")
        before = owner[members]
        if (before >= 0).any():
            at = int(np.flatnonzero(before >= 0)[0])
            raise ValueError(
                f"{name}: {told(members[at : at + 1], table.names)} is in two groups, number "
                f"{before[at]} and number {number}"
            )
        owner[members] = number
        groups.append(members)
    return groups


def told(features: Positions, names: Sequence[str] | None) -> str:
    """Say which features, by name where names are known.

    Examples
    --------
    >>> import numpy as np
    >>> told(np.array([3]), None), told(np.array([0, 1]), ["a", "b"])
    ('feature 3', "features 'a', 'b'")
    """
    found = [int(f) if names is None else names[int(f)] for f in features]
    return f"feature{'' if len(found) == 1 else 's'} {shorten(found)}"
