"""Which code scores a problem of the Relief family: the compiled core, or the general path.

The core takes complete tables and linear differences. SWRF* weighs every pair, so its distances
and its sums are compiled and its coefficients are numpy's. All else goes the general way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve.filters._relief_general import general_scores
from bitsieve.filters._relief_neighbours import Limits, Method, group_neighbours
from bitsieve.filters._relief_problem import Problem

__all__ = ["relief_scores"]

Floats = NDArray[np.float64]

# More levels of a discrete feature than these are not for the core, which makes a column of each.
_LEVELS = 256
# So few differences that SWRF* need not be content with the core's distances: whether a sample at
# the mean distance is near or far is then decided exactly.
_FEW = 1 << 22
# Distances of SWRF* that are held at once.
_STRIP = 1 << 23


def relief_scores(problem: Problem, method: Method) -> Floats:
    """Score all features of a problem."""
    if method.name == "rrelieff" and np.ptp(problem.y) == 0.0:
        return np.zeros(problem.n_features)  # N_dC is 0: nothing to tell apart
    few = len(problem.rows) * problem.n_samples * problem.n_features <= _FEW
    if not _suits_core(problem) or (few and method.name == "swrf_star"):
        return general_scores(problem, method)
    if method.name == "swrf_star":
        return _weighted_scores(problem, method)
    everyone = len(problem.rows) == problem.n_samples
    regression = method.name == "rrelieff"
    weights = method.rank_weights
    same = bool((weights == 1.0).all())
    scores: Floats = _core.relief(
        problem.X,
        algorithm=method.name,
        codes=None if regression else problem.codes,
        n_classes=problem.n_classes,
        target=problem.y if regression else None,
        rows=None if everyone else problem.rows,
        n_neighbors=max(1, len(weights)),
        rank_weights=None if same else weights,
        discrete=_flags(problem),
        feature_weights=_weights(problem),
        precision=problem.precision,
        n_threads=problem.n_threads,
    )
    return scores


def _suits_core(problem: Problem) -> bool:
    if problem.ramp is not None or problem.incomplete:
        return False
    nominal = np.flatnonzero(problem.discrete)
    return not any(problem.X[:, f].max() >= _LEVELS for f in nominal)


def _weighted_scores(problem: Problem, method: Method) -> Floats:
    """SWRF* by strips of rows, in a first round of which the limits come together."""
    step = max(1, _STRIP // problem.n_samples)
    strips = [
        replace(problem, rows=problem.rows[first : first + step])
        for first in range(0, len(problem.rows), step)
    ]
    distances = _distances(strips[0])
    limits = Limits.of(distances, strips[0].rows)
    if len(strips) > 1:
        limits = _limits_of_all(limits.mean, strips)
    scores = np.zeros(problem.n_features)
    for k, strip in enumerate(strips):
        if k > 0:
            distances = _distances(strip)
        coefficients = np.zeros_like(distances)
        for row, groups in enumerate(group_neighbours(strip, method, distances, limits)):
            for group in groups:
                coefficients[row, group.members] = group.factor * group.weights
        coefficients /= len(problem.rows)
        scores += _core.relief_weights(
            problem.X,
            strip.rows,
            coefficients,
            discrete=_flags(problem),
            n_threads=problem.n_threads,
        )
    return scores


def _limits_of_all(about: float, strips: list[Problem]) -> Limits:
    """Mean and deviation over several strips, from sums of distances less a number near them."""
    count = sum(len(strip.rows) * (strip.n_samples - 1) for strip in strips)
    total = squares = 0.0
    for strip in strips:
        off = _distances(strip) - about
        off[np.arange(len(strip.rows)), strip.rows] = 0.0
        total += float(off.sum())
        squares += float(np.vdot(off, off))
    mean = total / count
    return Limits(about + mean, float(np.sqrt(max(0.0, squares / count - mean * mean))))


def _distances(problem: Problem) -> Floats:
    return _core.relief_distances(
        problem.X,
        rows=problem.rows,
        discrete=_flags(problem),
        feature_weights=_weights(problem),
        n_threads=problem.n_threads,
    )


def _flags(problem: Problem) -> NDArray[np.uint8] | None:
    return problem.discrete.astype(np.uint8) if problem.discrete.any() else None


def _weights(problem: Problem) -> Floats | None:
    weights = problem.feature_weights
    return None if bool((weights == 1.0).all()) else weights
