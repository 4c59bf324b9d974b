"""What the finalists of a search say of each feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["weighted_frequency"]


def weighted_frequency(finalists: list[Any]) -> NDArray[np.float64]:
    """Return how often each feature is in the finalists, those of rank r counted 1 / r times.

    Parameters
    ----------
    finalists : list of Finalist
        Best first.

    Returns
    -------
    float64 array of shape (n_features,)
        Between 0 and 1.
    """
    masks = np.concatenate([finalist.mask.to_bool() for finalist in finalists])
    weights = 1.0 / np.arange(1, len(masks) + 1)
    frequency: NDArray[np.float64] = weights @ masks / weights.sum()
    return frequency
