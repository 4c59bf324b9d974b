"""Which samples belong together: one patient, one plate, one sample measured twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import plural, shorten

__all__ = ["group_codes", "sortable_groups"]


def group_codes(groups: Any, n_samples: int) -> NDArray[np.int32]:
    """Number groups in the order in which they first come, so that their names do not matter.

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
    array([0, 0, 1], dtype=int32)
    """
    values = _one_column(groups)
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
    known: dict[Any, int] = {}
    return np.array([known.setdefault(v, len(known)) for v in values.tolist()], dtype=np.int32)


def sortable_groups(groups: Any, n_samples: int) -> Any:
    """Return groups as scikit-learn's splitters take them: one dimension, of one sort.

    Parameters
    ----------
    groups, n_samples
        As for :func:`group_codes`.

    Returns
    -------
    array-like of shape (n_samples,)
        The groups as they came where that will do, since the order of their names decides ties
        of the splitters; their numbers where names cannot be ordered.

    Examples
    --------
    >>> sortable_groups(["p7", "p7", 2], 3), sortable_groups([7, 7, "p2"], 3)
    (['p7', 'p7', 2], [7, 7, 'p2'])
    >>> sortable_groups(np.array(["p7", "p7", 2], dtype=object), 3)
    array([0, 0, 1], dtype=int32)
    >>> sortable_groups([[7], [7], [2]], 3)
    array([7, 7, 2])
    """
    codes = group_codes(groups, n_samples)
    values = _one_column(groups)
    try:
        np.unique(values)
    except TypeError:
        return codes
    return groups if np.ndim(groups) == 1 else values


def _one_column(groups: Any) -> NDArray[Any]:
    values = np.asarray(groups.to_numpy() if hasattr(groups, "to_numpy") else groups)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
