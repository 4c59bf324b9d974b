"""Which samples belong together: one patient, one plate, one sample measured twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import plural, shorten

__all__ = [
    "count_parted_groups",
    "group_codes",
    "group_names",
    "group_values",
    "refuse_missing_groups",
]


def group_codes(groups: Any, n_samples: int) -> NDArray[np.int32]:
    """Number groups in the order of their names, as scikit-learn's splitters do.

    Numbers stand for names in every splitter then, with the same folds. Names of several types have
    no order: they are numbered as they first come.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        Names or numbers of any type.
    n_samples : int

    Returns
    -------
    int32 array of shape (n_samples,)

    Raises
    ------
    ValueError
        If there is not one value a sample, or one is missing.

    Examples
    --------
    >>> group_codes(["p7", "p7", "p2"], 3)
    array([1, 1, 0], dtype=int32)
    """
    values = _flat(groups)
    if values.shape != (n_samples,):
        raise ValueError(
            f"groups must have one value a sample, shape ({n_samples},), got shape {values.shape}"
        )
    missing = np.flatnonzero(values != values)  # NaN, NaT
    if values.dtype.kind == "O":
        unknown = ("NAType", "NaTType", "NoneType")
        missing = np.array(
            [i for i, v in enumerate(values) if type(v).__name__ in unknown or bool(v != v)]
        )
    if len(missing):
        raise ValueError(
            f"groups are missing for {plural(len(missing), 'sample')} (at "
            f"{shorten(missing.tolist())}, counted from 0); give each a group of its own"
        )
    try:
        return np.unique(values, return_inverse=True)[1].astype(np.int32)
    except TypeError:
        pass
    known: dict[Any, int] = {}
    return np.array([known.setdefault(v, len(known)) for v in values.tolist()], dtype=np.int32)


def group_names(groups: Any, codes: NDArray[np.int32]) -> tuple[str, ...]:
    """Return the name of each group, in the order of their numbers.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
    codes : int32 array of shape (n_samples,)
        From :func:`group_codes`.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> groups = ["b", "a", "b"]
    >>> group_names(groups, group_codes(groups, 3))
    ('a', 'b')
    """
    _, first = np.unique(codes, return_index=True)
    return tuple(str(value) for value in _flat(groups)[first])


def group_values(groups: Any, n_samples: int) -> NDArray[Any]:
    """Return groups as scikit-learn's splitters take them, which sort their names.

    Parameters
    ----------
    groups, n_samples
        As in :func:`group_codes`.

    Returns
    -------
    array of shape (n_samples,)
        The names; their numbers where names of several types have no order.

    Raises
    ------
    ValueError
        As :func:`group_codes`.

    Examples
    --------
    >>> group_values([["p7"], ["p2"]], 2).tolist()
    ['p7', 'p2']
    >>> group_values(np.array(["p7", 2, "p7"], dtype=object), 3).tolist()
    [0, 1, 0]
    """
    codes = group_codes(groups, n_samples)
    values = _flat(groups)
    try:
        np.unique(values)
    except TypeError:
        return codes
    return values


def refuse_missing_groups(cv: Any) -> None:
    """Refuse a splitter that asks for groups where none were given.

    Parameters
    ----------
    cv : int, splitter of scikit-learn's kind, or iterable of (train, test)

    Raises
    ------
    ValueError
        If ``cv`` splits by groups.

    Examples
    --------
    >>> refuse_missing_groups(5)
    """
    routing = getattr(cv, "get_metadata_routing", None)
    if routing is None or not hasattr(cv, "split"):
        return
    if routing().split.requests.get("groups") is True:
        raise ValueError(
            f"cv={type(cv).__name__} splits by groups, and none were given: pass groups, one "
            "value a sample"
        )


def count_parted_groups(
    codes: NDArray[np.int32], splits: Iterable[tuple[NDArray[Any], NDArray[Any]]]
) -> int:
    """Return how many groups stand on both sides of a split.

    Parameters
    ----------
    codes : int32 array of shape (n_samples,)
        As :func:`group_codes` gives them.
    splits : iterable of (train, test)
        Positions of samples.

    Returns
    -------
    int

    Examples
    --------
    >>> count_parted_groups(np.array([0, 0, 1]), [([0], [1, 2]), ([0, 1], [2])])
    1
    """
    parted: set[int] = set()
    for train, test in splits:
        parted.update(np.intersect1d(codes[train], codes[test]).tolist())
    return len(parted)


def _flat(groups: Any) -> NDArray[Any]:
    """Return an array, of one dimension where it is a single column."""
    values = np.asarray(groups.to_numpy() if hasattr(groups, "to_numpy") else groups)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
