"""Where a walk over masks starts and restarts: a mask, no feature, or any subset."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_number
from bitsieve._random import Random
from bitsieve.masks import Masks
from bitsieve.search.starts import vector

__all__ = ["WalkStart", "best_of_scores", "walk_start", "words_of_start"]

#: Words of a mask, or None for a subset drawn at random.
WalkStart: TypeAlias = NDArray[np.uint64] | None


def best_of_scores(scores: ArrayLike, percentile: float = 90.0) -> NDArray[np.bool_]:
    """Return the features whose score is at a percentile or above, ties to the lowest index.

    Of n features they are n - ceil(percentile / 100 * (n - 1)): those that
    ``scores >= numpy.percentile(scores, percentile)`` has where no two scores are equal.

    Parameters
    ----------
    scores : array-like of float, shape (n_features,)
        Greater is better.
    percentile : float, default 90
        From 0, all features, to 100, the best alone.

    Returns
    -------
    bool array of shape (n_features,)

    Raises
    ------
    ValueError
        If a score is not finite, or the percentile is outside.

    Examples
    --------
    >>> best_of_scores([1.0, 5.0, 4.0, 5.0], percentile=50)
    array([False,  True, False,  True])
    """
    percentile = check_number("percentile", percentile, 0, 100, closed="both")
    values = vector("scores", scores, np.size(scores))
    n = len(values)
    size = n - math.ceil(percentile * (n - 1) / 100.0)
    mask = np.zeros(n, dtype=bool)
    mask[np.argsort(-values, kind="stable")[:size]] = True
    return mask


def walk_start(
    name: str, given: Literal["zeros", "random"] | ArrayLike | Masks, n_features: int
) -> WalkStart:
    """Return the words of a mask, or None for a random one, for what users pass.

    Parameters
    ----------
    name : str
        Of the parameter, for messages.
    given : "zeros", "random", Masks of one, or bool array of shape (n_features,)
    n_features : int

    Raises
    ------
    ValueError
        For anything else.
    """
    if isinstance(given, str):
        if given == "random":
            return None
        if given == "zeros":
            return _words(Masks.empty(n_features))
        raise ValueError(f"{name} must be 'zeros', 'random' or a mask, got {given!r}")
    if isinstance(given, Masks):
        if len(given) != 1 or given.n_features != n_features:
            raise ValueError(
                f"{name} must be one mask of {n_features} features, got {len(given)} of "
                f"{given.n_features}"
            )
        return _words(given)
    array = np.asarray(given)
    if array.dtype != np.bool_ or array.shape != (n_features,):
        raise ValueError(
            f"{name} must be 'zeros', 'random' or a mask, boolean of shape ({n_features},), got "
            f"{array.dtype} of shape {array.shape}"
        )
    return _words(Masks.from_bool(array))


def _words(mask: Masks) -> NDArray[np.uint64]:
    words: NDArray[np.uint64] = mask.words[0].copy()
    return words


def words_of_start(start: WalkStart, n_features: int, random: Random) -> NDArray[np.uint64]:
    """Return the words of a start; a random one takes each feature with probability a half."""
    if start is not None:
        return start
    words = random.words((n_features + 63) // 64)
    if n_features % 64:
        words[-1] &= np.uint64((1 << n_features % 64) - 1)
    return words
