"""SURF, MultiSURF and their starred forms: every sample within a distance is a neighbor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve.filters.relief._dispatch import relief_scores
from bitsieve.filters.relief._neighbors import Method
from bitsieve.filters.relief._problem import RAMP, Difference, Missing, Precision, make_problem

__all__ = ["multisurf", "multisurf_star", "surf", "surf_star", "swrf_star"]


def surf(
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
    """Score features by SURF (Greene et al. 2009).

    A sample's neighbors are all that are nearer than T, the mean distance of the pairs that are
    looked at. Hits count against a feature and misses for it, as in ReliefF: each class is a mean
    over its neighbors, and other classes are weighted by P(C) / (1 - P(class))::

        W[A] = sum_R (sum_C P(C) / (1 - P(class(R))) mean_near diff(A, R, M(C))
                      - mean_near diff(A, R, H)) / m

    A class without a neighbor adds nothing. A sample at the limit T exactly, as rational
    arithmetic on the numbers of X decides, is not nearer.

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
    C. Greene, N. Penrod, J. Kiralis and J. Moore (2009), Spatially Uniform ReliefF (SURF) for
    computationally-efficient filtering of gene-gene interactions, BioData Mining 2:5.

    Examples
    --------
    >>> X = [[0.0, 5.0], [0.1, 1.0], [0.3, 3.0], [0.6, 4.0], [0.9, 1.0], [1.0, 3.5]]
    >>> surf(X, ["a", "a", "a", "b", "b", "b"]).round(3)
    array([ 0.392, -0.302])
    """
    return _scores(
        "surf",
        X,
        y,
        n_instances,
        discrete_features,
        missing,
        diff,
        ramp,
        feature_weights,
        precision,
        random_state,
        n_jobs,
    )


def surf_star(
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
    """Score features by SURF* (Greene et al. 2010).

    As :func:`surf`, and samples not nearer than T, those at T exactly among them, count with the
    opposite signs: hits for a feature, misses against it. Far misses differ most in the features
    that matter by themselves, so the starred forms suit interactions and may score a plain main
    effect low.

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
        Scores in [-2, 2], greater is better; 0 for a constant feature.

    Raises
    ------
    ValueError
        If y is numeric or has one class, or an option is out of its range.

    References
    ----------
    C. Greene, D. Himmelstein, J. Kiralis and J. Moore (2010), The informative extremes: using both
    nearest and farthest individuals can improve Relief algorithms in the domain of human genetics,
    EvoBIO, LNCS 6023, 182-193.

    Examples
    --------
    >>> X = [[0.0, 5.0], [0.1, 1.0], [0.3, 3.0], [0.6, 4.0], [0.9, 1.0], [1.0, 3.5]]
    >>> surf_star(X, ["a", "a", "a", "b", "b", "b"]).round(3)
    array([-0.217, -0.365])
    """
    return _scores(
        "surf_star",
        X,
        y,
        n_instances,
        discrete_features,
        missing,
        diff,
        ramp,
        feature_weights,
        precision,
        random_state,
        n_jobs,
    )


def multisurf(
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
    """Score features by MultiSURF (Urbanowicz et al. 2018).

    As :func:`surf`, but each sample has a limit of its own: neighbors are those nearer than the
    mean minus half of the standard deviation (of the population: divided by n - 1, the number of
    the others) of its distances to all others. A sample exactly at the limit is no neighbor. No
    parameter has to be chosen, which makes it a good first choice.

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
    R. Urbanowicz, R. Olson, P. Schmitt, M. Meeker and J. Moore (2018), Benchmarking Relief-based
    feature selection methods for bioinformatics data mining, Journal of Biomedical Informatics 85,
    168-188.

    Examples
    --------
    >>> X = [[0.0, 5.0], [0.1, 1.0], [0.3, 3.0], [0.6, 4.0], [0.9, 1.0], [1.0, 3.5]]
    >>> multisurf(X, ["a", "a", "a", "b", "b", "b"]).round(3)
    array([ 0.225, -0.312])
    """
    return _scores(
        "multisurf",
        X,
        y,
        n_instances,
        discrete_features,
        missing,
        diff,
        ramp,
        feature_weights,
        precision,
        random_state,
        n_jobs,
    )


def multisurf_star(
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
    """Score features by MultiSURF* (Granizo-Mackenzie and Moore 2013).

    As :func:`multisurf`, and samples farther than the mean plus half of the standard deviation
    count with the opposite signs: hits for a feature, misses against it. A sample exactly at
    either limit counts in neither way.

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
        Scores in [-2, 2], greater is better; 0 for a constant feature.

    Raises
    ------
    ValueError
        If y is numeric or has one class, or an option is out of its range.

    References
    ----------
    D. Granizo-Mackenzie and J. Moore (2013), Multiple threshold spatially uniform ReliefF for the
    genetic analysis of complex human diseases, EvoBIO, LNCS 7833, 1-10.

    Examples
    --------
    >>> X = [[0.0, 5.0], [0.1, 1.0], [0.3, 3.0], [0.6, 4.0], [0.9, 1.0], [1.0, 3.5]]
    >>> multisurf_star(X, ["a", "a", "a", "b", "b", "b"]).round(3)
    array([-0.483, -0.927])
    """
    return _scores(
        "multisurf_star",
        X,
        y,
        n_instances,
        discrete_features,
        missing,
        diff,
        ramp,
        feature_weights,
        precision,
        random_state,
        n_jobs,
    )


def swrf_star(
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
    """Score features by SWRF* (Stokes and Visweswaran 2012).

    As :func:`surf_star`, but a neighbor at distance d weighs 2 / (1 + exp(-4 (T - d) / u)) - 1,
    which is negative for far ones, with T the mean and u the standard deviation of the distances
    of the pairs that are looked at. Sums of weighted differences are divided by the number of
    near, or of far, samples of the class, so that a steep sigmoid gives SURF*; a sample exactly at
    T has no weight and is in neither number. The weights follow distances that, in large tables
    without a common denominator, are whole steps of 2^-24 of a range, which leaves scores right to
    about 1e-7.

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
        Scores in [-2, 2], greater is better; 0 for a constant feature.

    Raises
    ------
    ValueError
        If y is numeric or has one class, or an option is out of its range.

    References
    ----------
    M. Stokes and S. Visweswaran (2012), Application of a spatially-weighted Relief algorithm for
    ranking genetic predictors of disease, BioData Mining 5:20.

    Examples
    --------
    >>> X = [[0.0, 5.0], [0.1, 1.0], [0.3, 3.0], [0.6, 4.0], [0.9, 1.0], [1.0, 3.5]]
    >>> swrf_star(X, ["a", "a", "a", "b", "b", "b"]).round(3)
    array([-0.33 , -0.617])
    """
    return _scores(
        "swrf_star",
        X,
        y,
        n_instances,
        discrete_features,
        missing,
        diff,
        ramp,
        feature_weights,
        precision,
        random_state,
        n_jobs,
    )


def _scores(
    name: str,
    X: Any,
    y: Any,
    n_instances: int | None,
    discrete_features: Any,
    missing: Missing,
    diff: Difference,
    ramp: tuple[float, float],
    feature_weights: ArrayLike | None,
    precision: Precision,
    random_state: Any,
    n_jobs: int | None,
) -> NDArray[np.float64]:
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
    return relief_scores(problem, Method(name, np.empty(0)))
