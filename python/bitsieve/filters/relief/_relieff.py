"""Relief, ReliefF and RReliefF: the nearest neighbors of every sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.filters.relief._dispatch import relief_scores
from bitsieve.filters.relief._neighbors import Method
from bitsieve.filters.relief._problem import (
    RAMP,
    Difference,
    Missing,
    Precision,
    Weighting,
    make_problem,
    nearest_weights,
)

__all__ = ["relief", "relieff", "rrelieff"]


def relieff(
    X: Any,
    y: ArrayLike | None = None,
    *,
    n_neighbors: int = 10,
    n_instances: int | None = None,
    weighting: Weighting = "equal",
    sigma: float = 20.0,
    discrete_features: Any = "auto",
    missing: Missing = "probabilistic",
    diff: Difference = "linear",
    ramp: tuple[float, float] = RAMP,
    feature_weights: ArrayLike | None = None,
    precision: Precision = "exact",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Score features by ReliefF (Robnik-Sikonja and Kononenko 2003, figure 2).

    For each sample R the ``n_neighbors`` nearest samples of every class are found, by the sum of
    the differences of all features. With H_j the hits (the nearest of R's own class), M_j(C) the
    misses of class C and m samples looked at, the score of feature A is::

        W[A] = - sum_R sum_j diff(A, R, H_j) / (m k)
               + sum_R sum_{C != class(R)} P(C) / (1 - P(class(R))) sum_j diff(A, R, M_j(C)) / (m k)

    where diff is abs(difference) / (max - min) of the feature, or 0 and 1 for the same and for
    different values of a discrete one. A sample is never its own neighbor; its duplicates are
    neighbors like others; equal distances (to 2^-30 of a range, so that 1/7 + 2/7 equals 3/7) go
    to the lowest index; a class with fewer than ``n_neighbors`` samples is averaged over those
    there are.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        Numbers of any scale; NaN is a missing value. Columns of categories, text or booleans of a
        DataFrame are discrete, and those that a Table calls so.
    y : array-like of shape (n_samples,)
        Class labels of any type; a Table brings its own.
    n_neighbors : int, default 10
        k, the neighbors taken of each class.
    n_instances : int or None, default None
        m, how many samples are drawn, without replacement, to look at their neighbors (which are
        sought among all samples); None looks at all.
    weighting : {"equal", "exponential"}, default "equal"
        Weights of a class's neighbors: 1 / k each, or exp(-(rank / sigma)^2) over their sum.
    sigma : float, default 20.0
        Width of the exponential weights, in ranks.
    discrete_features : "auto" or array-like of bool, int or str, default "auto"
        Features that are the same or not: flags, positions or names. "auto" takes the columns of
        categories, text and booleans of a DataFrame and the discrete ones of a Table, which are
        discrete in any case; nothing is guessed from the number of distinct values.
    missing : {"probabilistic", "ignore", "error"}, default "probabilistic"
        What NaN in X stands for. "probabilistic": any value known in the sample's class, as likely
        as it is frequent there (2003, section 2.2). A difference is then 1 - P(value | class of
        the one that lacks it) for a discrete feature, 1 - sum_v P(v | c1) P(v | c2) where both
        lack it, and for a continuous one the mean difference to the known values of the class. A
        class without a known value takes those of all samples. "ignore": the mean over known
        pairs; distances are over the features known in both, scaled up to all. "error": refused.
        A feature without any known value scores 0 and adds nothing to distances.
    diff : {"linear", "ramp"}, default "linear"
        "ramp": differences below ``ramp[0]`` of the range count 0, above ``ramp[1]`` 1, linear
        between (2003, equation 3; the default of CORElearn). It puts continuous features on a par
        with discrete ones.
    ramp : (float, float), default (0.04, 0.10)
        Limits of the ramp, shares of the range.
    feature_weights : array-like of shape (n_features,) or None, default None
        Weights of the features in the distance, 0 or more; scores are not multiplied by them.
    precision : {"exact", "int16", "uint8"}, default "exact"
        Grid of the values in the distances that find the neighbors: the exact order, or 4095 or
        255 steps a range, faster. Each step moves a difference by at most its size, so a distance
        over p features is off by about sqrt(p) / 10,000 or sqrt(p) / 620 and only neighbors
        closer than that to one another may change places. Scores are summed exactly all the same.
        No effect with ``diff="ramp"`` or missing values.
    random_state : int, numpy Generator or RandomState, or None, default None
        Draws the samples where ``n_instances`` is given.
    n_jobs : int or None, default None
        Threads; None takes what there are. The scores are the same for any number.

    Returns
    -------
    ndarray of shape (n_features,)
        Scores in [-1, 1], greater is better; 0 for a constant feature.

    Raises
    ------
    ValueError
        If y is numeric (see :func:`rrelieff`) or has one class, or an option is out of its range.

    See Also
    --------
    multisurf : No number of neighbors to choose.
    rrelieff : For a numeric target.

    References
    ----------
    M. Robnik-Sikonja and I. Kononenko (2003), Theoretical and empirical analysis of ReliefF and
    RReliefF, Machine Learning 53, 23-69. I. Kononenko (1994), Estimating attributes: analysis and
    extensions of RELIEF, ECML.

    Examples
    --------
    >>> X = [[0.0, 5.0], [0.2, 1.0], [0.8, 4.0], [1.0, 2.0]]
    >>> relieff(X, ["a", "a", "b", "b"], n_neighbors=1)
    array([ 0.6, -0.5])
    """
    problem = make_problem(
        X,
        y,
        task="classification",
        n_instances=n_instances,
        discrete_features=discrete_features,
        missing=missing,
        diff=diff,
        ramp=ramp,
        feature_weights=feature_weights,
        precision=precision,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    weights = nearest_weights(n_neighbors, weighting, sigma, problem.n_samples)
    return relief_scores(problem, Method("relieff", weights))


def rrelieff(
    X: Any,
    y: ArrayLike | None = None,
    *,
    n_neighbors: int = 10,
    n_instances: int | None = None,
    weighting: Weighting = "equal",
    sigma: float = 20.0,
    discrete_features: Any = "auto",
    missing: Missing = "probabilistic",
    diff: Difference = "linear",
    ramp: tuple[float, float] = RAMP,
    feature_weights: ArrayLike | None = None,
    precision: Precision = "exact",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Score features against numbers by RReliefF (Robnik-Sikonja and Kononenko 2003, figure 3).

    For each sample the ``n_neighbors`` nearest samples are found. With d the weights of the
    neighbors of a sample (they add up to 1), and sums over all m samples and their neighbors::

        N_dC     = sum d diff(y)            N_dA[A] = sum d diff(A)
        N_dC&dA[A] = sum d diff(y) diff(A)

        W[A] = N_dC&dA[A] / N_dC - (N_dA[A] - N_dC&dA[A]) / (m - N_dC)

    where diff(y) is the difference of the targets divided by their range.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        As for :func:`relieff`.
    y : array-like of shape (n_samples,)
        Numbers.
    n_neighbors : int, default 10
        Neighbors of a sample; all others where there are fewer.
    n_instances, discrete_features, feature_weights, diff, ramp, precision, random_state, n_jobs
        As for :func:`relieff`.
    weighting : {"equal", "exponential"}, default "equal"
        1 / n_neighbors each, as Weka has it, or exp(-(rank / sigma)^2) over their sum (2003,
        equations 9 and 10).
    sigma : float, default 20.0
        Width of the exponential weights, in ranks.
    missing : {"probabilistic", "ignore", "error"}, default "probabilistic"
        As for :func:`relieff`, with the known values of all samples.

    Returns
    -------
    ndarray of shape (n_features,)
        Scores in [-1, 1], greater is better; 0 for a constant feature.

    Raises
    ------
    ValueError
        If y holds no numbers or one number throughout, or an option is out of its range.

    References
    ----------
    M. Robnik-Sikonja and I. Kononenko (2003), Theoretical and empirical analysis of ReliefF and
    RReliefF, Machine Learning 53, 23-69.

    Examples
    --------
    >>> X = [[0.0, 3.0], [0.1, 1.0], [0.5, 2.0], [1.0, 1.5]]
    >>> rrelieff(X, [1.0, 1.5, 3.0, 5.0], n_neighbors=2).round(3)
    array([ 0.219, -0.23 ])
    """
    problem = make_problem(
        X,
        y,
        task="regression",
        n_instances=n_instances,
        discrete_features=discrete_features,
        missing=missing,
        diff=diff,
        ramp=ramp,
        feature_weights=feature_weights,
        precision=precision,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    weights = nearest_weights(n_neighbors, weighting, sigma, problem.n_samples)
    return relief_scores(problem, Method("rrelieff", weights))


def relief(
    X: Any,
    y: ArrayLike | None = None,
    *,
    n_instances: int | None = None,
    discrete_features: Any = "auto",
    missing: Missing = "probabilistic",
    diff: Difference = "linear",
    ramp: tuple[float, float] = RAMP,
    feature_weights: ArrayLike | None = None,
    precision: Precision = "exact",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Score features by Relief (Kira and Rendell 1992; Robnik-Sikonja and Kononenko 2003, fig. 1).

    For each of m samples R, with H its nearest hit (same class) and M its nearest miss, whatever
    other class that is of::

        W[A] = sum_R (diff(A, R, M) - diff(A, R, H)) / m

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class labels of any type.
    n_instances, discrete_features, missing, diff, ramp, feature_weights, precision, random_state, \
n_jobs
        As for :func:`relieff`.

    Returns
    -------
    ndarray of shape (n_features,)
        Scores in [-1, 1], greater is better; 0 for a constant feature.

    Raises
    ------
    ValueError
        If y is numeric or has one class, or an option is out of its range.

    References
    ----------
    K. Kira and L. Rendell (1992), The feature selection problem: traditional methods and a new
    algorithm, AAAI. Differences are not squared, as in Robnik-Sikonja and
    Kononenko (2003).

    Examples
    --------
    >>> X = [[0.0, 5.0], [0.2, 1.0], [0.8, 4.0], [1.0, 2.0]]
    >>> relief(X, ["a", "a", "b", "b"])
    array([ 0.6, -0.5])
    """
    problem = make_problem(
        X,
        y,
        task="classification",
        n_instances=n_instances,
        discrete_features=discrete_features,
        missing=missing,
        diff=diff,
        ramp=ramp,
        feature_weights=feature_weights,
        precision=precision,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return relief_scores(problem, Method("relief", np.ones(1)))
