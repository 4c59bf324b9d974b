"""What every search checks: the masks and scores it is told, and the state it is to go on from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve.masks import Masks
from bitsieve.search.protocol import Scores

__all__ = [
    "are_same",
    "check_asked",
    "check_parameters_of_state",
    "check_told",
    "features_of_state",
]


def are_same(a: Masks, b: Masks) -> bool:
    """Whether two batches are equal; lists of flips of one base are compared as they are.

    Examples
    --------
    >>> are_same(Masks.neighbors([True, False], 2), Masks.from_indices([[], [0, 1]], 2))
    True
    """
    if a.n_features != b.n_features or len(a) != len(b):
        return False
    if a.is_compact and b.is_compact:
        pairs = ((a.base, b.base), (a.indptr, b.indptr), (a.indices, b.indices))
        if all(np.array_equal(cast("Any", x), cast("Any", y)) for x, y in pairs):
            return True
    return a == b


def check_asked(asked: Masks | None, masks: Masks) -> Masks:
    """Return the masks of the last ask, which are those that scores are told of.

    Parameters
    ----------
    asked : Masks or None
        None where there was no ask since the last tell.
    masks : Masks
        What ``tell`` was given.

    Raises
    ------
    ValueError
        If they are others, or there was no ask.
    """
    if asked is None:
        raise ValueError("tell needs the masks of an ask before it")
    if masks is not asked and not are_same(masks, asked):
        raise ValueError("tell needs the masks of the last ask, in their order")
    return asked


def check_told(asked: Masks | None, masks: Masks, scores: Scores) -> Scores:
    """Return the scores of the last ask, float64 of shape (n_masks,).

    Parameters
    ----------
    asked : Masks or None
        None where there was no ask since the last tell.
    masks, scores
        What ``tell`` was given.

    Raises
    ------
    ValueError
        If the masks are others, or there is not one finite score for each.
    """
    n_masks = len(check_asked(asked, masks))
    values = np.ascontiguousarray(scores, dtype=np.float64)
    if values.shape != (n_masks,):
        got = len(values) if values.ndim == 1 else f"shape {values.shape}"
        raise ValueError(f"tell needs one score a mask, {n_masks}, got {got}")
    if not (math.isfinite(values[0]) if n_masks == 1 else _core.all_finite(values)):
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"scores must be finite, got {values[bad]} for mask {bad} of the ask")
    return values


def check_parameters_of_state(
    own: Mapping[str, Any], parameters: Mapping[str, Any], state: Mapping[str, Any]
) -> None:
    """Check that a state has every entry, and is of a search with the same parameters.

    Parameters
    ----------
    own : mapping
        The state of the search that is to go on.
    parameters : mapping
        Its parameters, by their names in a state.
    state : mapping
        What ``set_state`` was given.

    Raises
    ------
    ValueError
        If an entry is missing or a parameter differs; a NaN is equal to a NaN.
    """
    missing = sorted(own.keys() - state.keys())
    if missing:
        raise ValueError(f"the state lacks {', '.join(missing)}")
    for name, value in parameters.items():
        given = state[name]
        if np.array_equal(given, value):
            continue
        if np.ndim(given) or np.ndim(value):  # too long to be told
            raise ValueError(f"the state is of a search with another {name}")
        if given == given or value == value:
            raise ValueError(f"the state is of a search with {name}={given}, this one has {value}")


def features_of_state(state: Mapping[str, Any], name: str, n_features: int) -> NDArray[np.int64]:
    """Return the features that an entry of a state lists.

    Raises
    ------
    ValueError
        If it is no list of features.
    """
    features = np.array(state[name], dtype=np.int64)
    if features.ndim != 1 or (
        features.size and not 0 <= features.min() <= features.max() < n_features
    ):
        raise ValueError(f"the state's {name} holds no features")
    return features
