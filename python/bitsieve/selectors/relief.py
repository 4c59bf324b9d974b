"""Relief, ReliefF, RReliefF and TuRF as selectors: the nearest neighbors."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from bitsieve.filters.relief import RAMP
from bitsieve.selectors._relief_base import KNeighbors, Radius, ReliefSelector

__all__ = ["RReliefF", "Relief", "ReliefF", "TuRF"]


class ReliefF(KNeighbors):
    """Keep the features with the best ReliefF scores.

    Parameters
    ----------
    n_features_to_select : int, float or None, default None
        How many to keep; a fraction of them in (0, 1); None keeps 10, unless there is a threshold.
    threshold : float or None, default None
        Keep features with a score above it; features without any bearing score about 0.
    n_neighbors : int, default 10
        Neighbors taken of each class.
    n_instances : int or None, default None
        Samples drawn to look at their neighbors; None looks at all.
    weighting : {"equal", "exponential"}, default "equal"
        Weights of the neighbors by rank.
    sigma : float, default 20.0
        Width of the exponential weights, in ranks.
    discrete_features : "auto" or array-like of bool, int or str, default "auto"
        Features that are the same or not; "auto" takes the columns of categories, text and
        booleans of a DataFrame.
    missing : {"probabilistic", "ignore", "error"}, default "probabilistic"
        What NaN in X stands for.
    diff : {"linear", "ramp"}, default "linear"
        Difference of two numbers.
    ramp : (float, float), default (0.04, 0.10)
        Limits of the ramp, shares of the range.
    feature_weights : array-like of shape (n_features,) or None, default None
        Weights of the features in the distance.
    precision : {"exact", "int16", "uint8"}, default "exact"
        Grid of the values in the distances.
    random_state : int, numpy Generator or RandomState, or None, default None
        Draws the samples where ``n_instances`` is given.
    n_jobs : int or None, default None
        Threads; None takes what there are.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
    ranking_ : ndarray of shape (n_features,)
        1 is the best.
    support_ : ndarray of shape (n_features,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only where X had names.

    See Also
    --------
    bitsieve.filters.relieff : The scores, what they mean and where they come from.
    MultiSURF : No number of neighbors to choose.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ReliefF(n_features_to_select=2).fit(X, y).ranking_
    array([3, 4, 2, 1])
    """

    _score_with = "relieff"


class RReliefF(KNeighbors):
    """Keep the features with the best RReliefF scores: for a numeric target.

    y holds numbers, and neighbors are sought among all samples.

    Parameters
    ----------
    n_features_to_select, threshold, n_neighbors, n_instances, weighting, sigma, \
discrete_features, missing, diff, ramp, feature_weights, precision, random_state, n_jobs
        As for :class:`ReliefF`, and so are the attributes.

    See Also
    --------
    bitsieve.filters.rrelieff : The scores, what they mean and where they come from.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> RReliefF(n_features_to_select=2).fit(X, y).get_feature_names_out().tolist()
    ['bmi', 's5']
    """

    _score_with = "rrelieff"


class Relief(Radius):
    """Keep the features with the best Relief scores: one nearest hit, one nearest miss.

    Parameters
    ----------
    n_features_to_select, threshold, n_instances, discrete_features, missing, diff, ramp, \
feature_weights, precision, random_state, n_jobs
        As for :class:`ReliefF`, and so are the attributes.

    See Also
    --------
    bitsieve.filters.relief : The scores, what they mean and where they come from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Relief(n_features_to_select=2).fit(X, y).ranking_
    array([4, 3, 2, 1])
    """

    _score_with = "relief"


class TuRF(ReliefSelector):
    """Keep the features that last when the worst are dropped in rounds.

    Parameters
    ----------
    n_features_to_select, threshold
        As for :class:`ReliefF`.
    scorer : str, default "relieff"
        "relief", "relieff", "rrelieff", "surf", "surf_star", "multisurf", "multisurf_star" or
        "swrf_star": what scores the features that are left.
    n_iterations : int, default 10
        Rounds.
    fraction : float or None, default None
        Share of all features dropped a round; None is 1 / n_iterations.
    n_neighbors, n_instances, weighting, sigma, discrete_features, missing, diff, ramp, \
feature_weights, precision, random_state, n_jobs
        As for :class:`ReliefF`.

    See Also
    --------
    bitsieve.filters.turf : The scores, what they mean and where they come from; attributes are
        those of :class:`ReliefF`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> TuRF(n_features_to_select=2, n_iterations=3).fit(X, y).ranking_
    array([3, 4, 2, 1])
    """

    _score_with = "turf"

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | None = None,
        scorer: str = "relieff",
        n_iterations: int = 10,
        fraction: float | None = None,
        n_neighbors: int = 10,
        n_instances: int | None = None,
        weighting: str = "equal",
        sigma: float = 20.0,
        discrete_features: Any = "auto",
        missing: str = "probabilistic",
        diff: str = "linear",
        ramp: tuple[float, float] = RAMP,
        feature_weights: ArrayLike | None = None,
        precision: str = "exact",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.scorer = scorer
        self.n_iterations = n_iterations
        self.fraction = fraction
        self.n_neighbors = n_neighbors
        self.n_instances = n_instances
        self.weighting = weighting
        self.sigma = sigma
        self.discrete_features = discrete_features
        self.missing = missing
        self.diff = diff
        self.ramp = ramp
        self.feature_weights = feature_weights
        self.precision = precision
        self.random_state = random_state
        self.n_jobs = n_jobs
