"""TuRF: the worst features leave, the rest are scored again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_int, check_number
from bitsieve._errors import closest
from bitsieve.filters.positions import best_first
from bitsieve.filters.relief._dispatch import relief_scores
from bitsieve.filters.relief._neighbors import Method
from bitsieve.filters.relief._problem import (
    RAMP,
    Difference,
    Missing,
    Precision,
    Problem,
    Weighting,
    make_problem,
    nearest_weights,
)

__all__ = ["Scorer", "turf"]

Scorer = Literal[
    "relief",
    "relieff",
    "rrelieff",
    "surf",
    "surf_star",
    "multisurf",
    "multisurf_star",
    "swrf_star",
]
_SCORERS: tuple[str, ...] = get_args(Scorer)


def turf(
    X: Any,
    y: ArrayLike | None = None,
    *,
    scorer: Scorer = "relieff",
    n_iterations: int = 10,
    fraction: float | None = None,
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
    """Score features by TuRF, in rounds that each drop the worst (Moore and White 2007).

    In each of ``n_iterations`` rounds the features that are left are scored, with distances over
    these features alone, and all rounds but the last drop the worst ``fraction`` of the features
    there were at the start. Noise thus leaves the distances.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class labels of any type; numbers for ``scorer="rrelieff"``.
    scorer : str, default "relieff"
        "relief", "relieff", "rrelieff", "surf", "surf_star", "multisurf", "multisurf_star" or
        "swrf_star": the function of this module that scores a round.
    n_iterations : int, default 10
        Rounds.
    fraction : float or None, default None
        Share of all features that a round drops, in (0, 1), at least one feature; None is
        1 / n_iterations, as Moore and White have it. One feature is always left.
    n_neighbors, weighting, sigma
        As for :func:`relieff`; no effect where all within a distance are neighbors.
    n_instances, discrete_features, missing, diff, ramp, feature_weights, precision, random_state, \
n_jobs
        As for :func:`relieff`. The same samples are looked at in every round.

    Returns
    -------
    ndarray of shape (n_features,)
        Greater is better. Those left at the end have their scores of the last round. Those
        dropped in a round have their scores of that round moved down as a whole, so that the best
        of them lies one below the worst that stayed longer.

    Raises
    ------
    ValueError
        If y does not suit the scorer, or an option is out of its range.

    References
    ----------
    J. Moore and B. White (2007), Tuning ReliefF for genome-wide genetic analysis, EvoBIO, LNCS
    4447, 166-175.

    Examples
    --------
    >>> X = [[0.0, 5.0, 1.0], [0.2, 1.0, 1.0], [0.8, 4.0, 2.0], [1.0, 2.0, 0.0]]
    >>> turf(X, ["a", "a", "b", "b"], n_iterations=3, n_neighbors=1)
    array([ 0.5, -1.5, -0.5])
    """
    rounds = check_int("n_iterations", n_iterations, 1)
    if scorer not in _SCORERS:
        raise ValueError(f"scorer {scorer!r} is unknown; {closest(str(scorer), _SCORERS)}")
    share = (
        1.0 / rounds
        if fraction is None
        else check_number("fraction", fraction, 0, 1, instead="or None")
    )
    problem = make_problem(
        X,
        y,
        task="regression" if scorer == "rrelieff" else "classification",
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
    method = Method(scorer, np.ones(1) if scorer == "relief" else weights)
    return _rounds(problem, lambda part: relief_scores(part, method), rounds, share)


def _rounds(
    problem: Problem,
    score: Callable[[Problem], NDArray[np.float64]],
    n_rounds: int,
    share: float,
) -> NDArray[np.float64]:
    n_dropped = max(1, int(share * problem.n_features))
    left = np.arange(problem.n_features)
    scores = score(problem)
    dropped: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    for _ in range(n_rounds - 1):
        if len(left) == 1:
            break
        order = best_first(scores)
        stay = np.sort(order[: max(1, len(left) - n_dropped)])
        leave = np.setdiff1d(np.arange(len(left)), stay)
        dropped.append((left[leave], scores[leave]))
        left = left[stay]
        scores = score(_narrow(problem, left))
    out = np.empty(problem.n_features)
    out[left] = scores
    floor = float(scores.min())
    for features, own in reversed(dropped):
        out[features] = own - own.max() + floor - 1.0
        floor = float(out[features].min())
    return out


def _narrow(problem: Problem, features: NDArray[np.int64]) -> Problem:
    weights = problem.feature_weights[features]
    return replace(
        problem,
        X=np.ascontiguousarray(problem.X[:, features]),
        discrete=problem.discrete[features],
        feature_weights=weights if weights.any() else np.ones(len(features)),
    )
