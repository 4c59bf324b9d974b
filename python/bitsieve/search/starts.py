"""Where a search starts: a mask, or weights in [0, 1] of a mask, of scores, or any."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.masks import Masks

__all__ = ["bools_of", "members_of", "start_from_mask", "start_from_scores", "start_of", "vector"]


def start_from_mask(mask: NDArray[np.bool_], margin: float) -> NDArray[np.float64]:
    """Return w = 0.5 + margin for the features of a mask and 0.5 - margin for the others."""
    return np.where(mask, 0.5 + margin, 0.5 - margin)


def start_from_scores(scores: ArrayLike, margin: float) -> NDArray[np.float64]:
    """Spread features by the rank of a filter's score over (0.5 - margin, 0.5 + margin).

    Ranks, because scores of different filters have nothing but their order in common; equal
    scores share their mean rank. With ``margin`` at most the perturbation c, every feature can
    still be switched by the first perturbation: the filter says which features begin in the mask
    and which are nearest to changing sides, and decides none of them.

    Parameters
    ----------
    scores : array-like of float, shape (n_features,)
        Greater is better.
    margin : float

    Returns
    -------
    ndarray of float64, shape (n_features,)

    Examples
    --------
    >>> start_from_scores([10.0, 30.0, 20.0, 20.0], margin=0.04)
    array([0.47, 0.53, 0.5 , 0.5 ])
    """
    values = np.asarray(scores, dtype=np.float64)
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(sizes)
    mean_rank = last - (sizes + 1) / 2.0  # counted from 0
    return np.asarray(0.5 + margin * ((2.0 * mean_rank[group] + 1.0) / len(values) - 1.0))


def start_of(
    p: int, start: ArrayLike | Masks | None, filter_scores: ArrayLike | None, c: float
) -> NDArray[np.float64]:
    """Return w_0, one number a feature, for what users pass as ``start`` or ``filter_scores``."""
    if filter_scores is not None:
        if start is not None:
            raise ValueError("give either start or filter_scores, not both")
        scores = vector("filter_scores", filter_scores, p)
        return start_from_scores(scores, c)
    if start is None:
        return np.full(p, 0.5)
    if isinstance(start, Masks):
        if len(start) != 1 or start.n_features != p:
            raise ValueError(
                f"start must be one mask of {p} features, got {len(start)} of {start.n_features}"
            )
        return start_from_mask(start.to_bool()[0], c / 2.0)
    array = np.asarray(start)
    if array.dtype == np.bool_:
        if array.shape != (p,):
            raise ValueError(f"start must have shape ({p},), got {array.shape}")
        return start_from_mask(array, c / 2.0)
    w = np.full(p, array) if array.ndim == 0 else array
    w = vector("start", w, p)
    outside = np.flatnonzero((w < 0.0) | (w > 1.0))
    if outside.size:
        raise ValueError(
            f"start must lie in [0, 1]; component {outside[0]} is {w[outside[0]]} "
            f"({outside.size} are outside). For the scores of a filter use filter_scores"
        )
    return w


def bools_of(start: ArrayLike, n_features: int) -> NDArray[np.bool_]:
    """Return a first mask of any size as an array of its own, or say why it is none."""
    array = np.array(start)
    if array.dtype != np.bool_ or array.shape != (n_features,):
        raise ValueError(
            f"start must be bools of shape ({n_features},), got {array.dtype} of shape "
            f"{array.shape}"
        )
    return array


def members_of(start: ArrayLike | Masks, n_features: int, size: int | None) -> NDArray[np.int64]:
    """Return the features of a first mask, ascending, or say why it is none of this size."""
    array = start.to_bool() if isinstance(start, Masks) else np.asarray(start)
    if isinstance(start, Masks) and len(array) == 1:
        array = array[0]
    if array.dtype != np.bool_ or array.shape != (n_features,):
        raise ValueError(
            f"start must be one mask of {n_features} features, got {array.dtype} of shape "
            f"{array.shape}"
        )
    members = np.flatnonzero(array).astype(np.int64)
    if size is not None and len(members) != size:
        raise ValueError(f"start must have {size} features, got {len(members)}")
    return members


def vector(name: str, values: ArrayLike, n_features: int) -> NDArray[np.float64]:
    """Return one finite number a feature, or say what was expected and what came."""
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, one a feature: {error}") from error
    if array.shape != (n_features,):
        raise ValueError(f"{name} must have shape ({n_features},), got {array.shape}")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ValueError(
            f"{name} must be finite; component {bad[0]} is {array[bad[0]]} ({bad.size} are not)"
        )
    return array
