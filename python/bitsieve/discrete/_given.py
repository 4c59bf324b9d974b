"""Levels that a user counted already, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.discrete._levels import MAX_LEVELS, Levels

__all__ = ["given_levels"]


def given_levels(
    codes: ArrayLike, n_levels: ArrayLike | None, missing_level: ArrayLike | None
) -> tuple[Levels, NDArray[np.int32]]:
    """Check codes, numbers of levels and the levels of missing values.

    Parameters
    ----------
    codes, n_levels, missing_level
        See :class:`bitsieve.discrete.DiscreteTable`.

    Returns
    -------
    levels : Levels
    missing_level : ndarray of shape (n_features,)
        Int32.

    Raises
    ------
    ValueError
        If codes are no whole numbers in [0, 255), or the rest does not fit to them.

    Examples
    --------
    >>> given_levels([[0], [2]], None, None)[0].n_levels
    array([3], dtype=int32)
    """
    array = np.asarray(codes)
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "iu":
        raise ValueError(
            "codes must be whole numbers of shape (n_samples, n_features), got dtype "
            f"{array.dtype} and shape {array.shape}"
        )
    least, most = array.min(axis=0), array.max(axis=0)
    if least.min() < 0 or most.max() >= MAX_LEVELS:
        raise ValueError(
            f"codes must lie in [0, {MAX_LEVELS}), got {int(least.min())} to {int(most.max())}"
        )
    most = most.astype(np.int64)
    counts = _per_feature("n_levels", n_levels, most + 1)
    wrong = (counts <= most) | (counts > MAX_LEVELS)
    if wrong.any():
        f = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"n_levels must lie above all codes and be at most {MAX_LEVELS}, but feature {f} has "
            f"{counts[f]} and codes up to {most[f]}"
        )
    absent = _per_feature("missing_level", missing_level, np.full(len(most), -1))
    if ((absent < -1) | (absent >= counts)).any():
        raise ValueError("missing_level must be a level of the feature, or -1 for none")
    own = np.ascontiguousarray(array, dtype=np.uint8)
    if own is array:  # what the user changes later is another table
        own = own.copy()
    return Levels(own, counts.astype(np.int32)), absent.astype(np.int32)


def _per_feature(
    name: str, given: ArrayLike | None, default: NDArray[np.int64]
) -> NDArray[np.int64]:
    if given is None:
        return default
    found = np.asarray(given)
    if found.shape != default.shape or found.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must hold one whole number a feature, {len(default)} in all, got dtype "
            f"{found.dtype} and shape {found.shape}"
        )
    return found.astype(np.int64)
