"""SURF, MultiSURF and their starred forms as selectors: every sample within a distance."""

from __future__ import annotations

from bitsieve.selectors._relief_base import Radius

__all__ = ["SURF", "MultiSURF", "MultiSURFStar", "SURFStar", "SWRFStar"]


class SURF(Radius):
    """Keep the features with the best SURF scores: neighbors nearer than the mean distance.

    Parameters
    ----------
    n_features_to_select, threshold, n_instances, discrete_features, missing, diff, ramp, \
feature_weights, precision, random_state, n_jobs
        As for :class:`ReliefF`, and so are the attributes.

    See Also
    --------
    bitsieve.filters.surf : The scores, what they mean and where they come from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SURF(n_features_to_select=2).fit(X, y).ranking_
    array([4, 3, 2, 1])
    """

    _score_with = "surf"


class SURFStar(Radius):
    """Keep the features with the best SURF* scores: far samples count with opposite signs.

    Parameters
    ----------
    n_features_to_select, threshold, n_instances, discrete_features, missing, diff, ramp, \
feature_weights, precision, random_state, n_jobs
        As for :class:`ReliefF`, and so are the attributes.

    See Also
    --------
    bitsieve.filters.surf_star : The scores, what they mean and where they come from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SURFStar(n_features_to_select=2).fit(X, y).ranking_
    array([2, 1, 3, 4])
    """

    _score_with = "surf_star"


class MultiSURF(Radius):
    """Keep the features with the best MultiSURF scores: each sample has its own neighborhood.

    Parameters
    ----------
    n_features_to_select, threshold, n_instances, discrete_features, missing, diff, ramp, \
feature_weights, precision, random_state, n_jobs
        As for :class:`ReliefF`, and so are the attributes.

    See Also
    --------
    bitsieve.filters.multisurf : The scores, what they mean and where they come from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MultiSURF(n_features_to_select=2).fit(X, y).ranking_
    array([3, 4, 2, 1])
    """

    _score_with = "multisurf"


class MultiSURFStar(Radius):
    """Keep the features with the best MultiSURF* scores: far samples count with opposite signs.

    Parameters
    ----------
    n_features_to_select, threshold, n_instances, discrete_features, missing, diff, ramp, \
feature_weights, precision, random_state, n_jobs
        As for :class:`ReliefF`, and so are the attributes.

    See Also
    --------
    bitsieve.filters.multisurf_star : The scores, what they mean and where they come from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MultiSURFStar(n_features_to_select=2).fit(X, y).ranking_
    array([2, 1, 3, 4])
    """

    _score_with = "multisurf_star"


class SWRFStar(Radius):
    """Keep the features with the best SWRF* scores: neighbors weigh by a sigmoid of distance.

    Parameters
    ----------
    n_features_to_select, threshold, n_instances, discrete_features, missing, diff, ramp, \
feature_weights, precision, random_state, n_jobs
        As for :class:`ReliefF`, and so are the attributes.

    See Also
    --------
    bitsieve.filters.swrf_star : The scores, what they mean and where they come from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SWRFStar(n_features_to_select=2).fit(X, y).ranking_
    array([2, 1, 3, 4])
    """

    _score_with = "swrf_star"
