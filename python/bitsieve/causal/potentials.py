"""What features and pairs of features are worth: the potentials of an energy.

Equations 2, 3, 5 and 8 of Escalante, Montes, Sucar, "An energy-based model for feature selection",
2008. The causal weights of equations 4 and 7 are made by :class:`bitsieve.causal.Energy`, which
knows the blankets. Higher potentials are better.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

__all__ = [
    "association",
    "observation",
    "predictive_rank",
    "relevance",
]

Array = NDArray[np.float64]


def relevance(positions: ArrayLike) -> Array:
    """Equation 2: one over the sum of a feature's positions in the rankings, 1 for the best.

    Parameters
    ----------
    positions : array-like of shape (n_rankings, n_features)

    Returns
    -------
    float64 array of shape (n_features,)

    Examples
    --------
    >>> relevance([[1, 2], [1, 3]])
    array([0.5, 0.2])
    """
    found: Array = 1.0 / np.sum(np.asarray(positions, dtype=np.float64), axis=0)
    return found


def predictive_rank(errors: ArrayLike) -> Array:
    """Equation 3: one over a feature's position by error, the least first; ties share the mean.

    Parameters
    ----------
    errors : array-like of shape (n_features,)
        Balanced error rates of single features.

    Returns
    -------
    float64 array of shape (n_features,)

    Examples
    --------
    >>> predictive_rank([0.5, 0.1, 0.1])
    array([0.33333333, 0.66666667, 0.66666667])
    """
    found: Array = 1.0 / rankdata(np.asarray(errors, dtype=np.float64))
    return found


def observation(scores: ArrayLike, weights: ArrayLike, *, total: float | None = None) -> Array:
    """Equation 5: logarithm of a feature's share of all scores, times its causal weight.

    Parameters
    ----------
    scores : array-like of shape (n_features,)
        Relevance plus predictive rank.
    weights : array-like of shape (n_features,)
        Of equation 4: 1, and more for each blanket that the feature is in.
    total : float, optional
        What a share is of, by default the sum of all scores.

    Returns
    -------
    float64 array of shape (n_features,)
    """
    values = np.asarray(scores, dtype=np.float64)
    whole = values.sum() if total is None else total
    return np.asarray(np.log(values / whole * np.asarray(weights, dtype=np.float64)))


def association(errors: ArrayLike, weights: ArrayLike, *, n_samples: int) -> Array:
    """Equation 8: logarithm of the causal weight over the error, which is 1 / (2 n) at least.

    Parameters
    ----------
    errors : array-like
        Balanced error rates of pairs.
    weights : array-like, of the same shape
        Of equation 7: 1, and more for each blanket and each of the two that is in it.
    n_samples : int
        How many samples the errors are of, n.

    Returns
    -------
    float64 array of that shape
    """
    floored = np.maximum(np.asarray(errors, dtype=np.float64), 0.5 / n_samples)
    return np.asarray(np.log(np.asarray(weights, dtype=np.float64) / floored))
