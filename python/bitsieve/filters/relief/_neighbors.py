"""Who counts for a sample, and how much: one rule for each member of the Relief family.

A *group* is the neighbors of one sample that are averaged together: those of one class, near or
far. The mean of their differences enters the scores times the group's factor, which is -1 for
hits and P(c) / (1 - P(class)) for misses of class c, with the opposite sign for far ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitsieve.filters.relief._exact import ExactSides
from bitsieve.filters.relief._problem import Problem

__all__ = ["Group", "Limits", "Method", "group_neighbors"]

Floats = NDArray[np.float64]
Groups = list["Group"]

# Distances that tie but for the rounding of their terms, as 1/7 + 2/7 and 3/7 do, tie.
_STEPS = 2.0**30


@dataclass(frozen=True, eq=False)
class Method:
    """A member of the family.

    Attributes
    ----------
    name : str
        "relief", "relieff", "rrelieff", "surf", "surf_star", "multisurf", "multisurf_star" or
        "swrf_star".
    rank_weights : ndarray of shape (n_neighbors,)
        Weights by rank; one for Relief, none where all within a distance count.
    """

    name: str
    rank_weights: Floats


@dataclass(frozen=True, eq=False)
class Group:
    """Neighbors that are averaged together.

    Attributes
    ----------
    members : ndarray of shape (n_members,)
        Int64 positions.
    weights : ndarray of shape (n_members,)
        Not negative; the mean is the sum of weights times differences.
    factor : float
    """

    members: NDArray[np.int64]
    weights: Floats
    factor: float


@dataclass(frozen=True, eq=False)
class Limits:
    """What SURF, SURF* and SWRF* compare distances with.

    Attributes
    ----------
    mean, deviation : float
        Of the distances of all pairs that are looked at.
    """

    mean: float
    deviation: float

    @classmethod
    def of(cls, distances: Floats, rows: NDArray[np.int64]) -> Limits:
        """From all distances at once; that of a row to itself is 0 and counts for nothing."""
        count = distances.size - len(rows)
        mean = float(distances.sum()) / count
        off = distances - mean
        off[np.arange(len(rows)), rows] = 0.0
        return cls(mean, float(np.sqrt((off * off).sum() / count)))


def group_neighbors(
    problem: Problem, method: Method, distances: Floats, reach: float
) -> Iterator[Groups]:
    """Yield the groups of each row of the problem.

    Parameters
    ----------
    problem : Problem
    method : Method
    distances : ndarray of shape (n_rows, n_samples)
    reach : float
        How close to a limit a distance must be to be decided without rounding.
    """
    if method.name == "rrelieff":
        everyone = [np.arange(problem.n_samples)]
        for row, i in enumerate(problem.rows):
            yield list(_nearest(distances[row], int(i), everyone, [1.0], method.rank_weights))
        return
    members = [np.flatnonzero(problem.codes == c) for c in range(problem.n_classes)]
    factors = _factors(problem)
    if method.name == "relieff":
        for row, i in enumerate(problem.rows):
            own = factors[problem.codes[i]]
            yield list(_nearest(distances[row], int(i), members, own, method.rank_weights))
    elif method.name == "relief":
        sides = [[m, np.flatnonzero(problem.codes != c)] for c, m in enumerate(members)]
        for row, i in enumerate(problem.rows):
            side = sides[problem.codes[i]]
            yield list(_nearest(distances[row], int(i), side, [-1.0, 1.0], method.rank_weights))
    else:
        limits = Limits.of(distances, problem.rows)
        threshold = _Threshold(method, limits, ExactSides(problem, method.name), reach)
        for row, i in enumerate(problem.rows):
            yield list(threshold(distances[row], int(i), members, factors[problem.codes[i]]))


def _factors(problem: Problem) -> Floats:
    """Factor of class c for a sample of class d, at [d, c]."""
    prior = np.bincount(problem.codes, minlength=problem.n_classes) / problem.n_samples
    factors: Floats = prior[None, :] / (1.0 - prior[:, None])
    np.fill_diagonal(factors, -1.0)
    return factors


def _nearest(
    distances: Floats,
    i: int,
    classes: list[NDArray[np.int64]],
    factors: Floats | list[float],
    rank_weights: Floats,
) -> Iterator[Group]:
    for members, factor in zip(classes, factors, strict=True):
        others = members[members != i]
        if others.size == 0:
            continue
        order = np.argsort(np.floor(distances[others] * _STEPS + 0.5), kind="stable")[
            : len(rank_weights)
        ]
        weights = rank_weights[: len(order)]
        yield Group(others[order], weights / weights.sum(), float(factor))


class _Threshold:
    """Groups of all that are near, and far for the starred methods."""

    def __init__(self, method: Method, limits: Limits, sides: ExactSides, reach: float) -> None:
        self._own = method.name.startswith("multisurf")
        self._star = method.name.endswith("_star")
        self._sigmoid = method.name == "swrf_star"
        self._mean, self._deviation = limits.mean, limits.deviation
        self._sides, self._reach = sides, reach

    def __call__(
        self,
        distances: Floats,
        i: int,
        classes: list[NDArray[np.int64]],
        factors: Floats,
    ) -> Iterator[Group]:
        if self._own:
            others = np.delete(distances, i)
            half = float(others.std()) / 2.0
            low, high = float(others.mean()) - half, float(others.mean()) + half
        else:
            low = high = self._mean
        near = distances < low
        far = ~near if self._star and not (self._own or self._sigmoid) else distances > high
        close = np.minimum(np.abs(distances - low), np.abs(distances - high)) <= self._reach
        close[i] = False
        if close.any():
            at = np.flatnonzero(close)
            sides = self._sides(np.column_stack([np.full(len(at), i), at]))
            near[at], far[at] = sides < 0, sides > 0
        near[i] = far[i] = False
        for sign, side in ((1.0, near), (-1.0, far))[: 2 if self._star else 1]:
            for members, factor in zip(classes, factors, strict=True):
                chosen = members[side[members]]
                if chosen.size == 0:
                    continue
                weights = np.full(len(chosen), 1.0 / len(chosen))
                if self._sigmoid and self._deviation > 0.0:
                    off = np.abs(distances[chosen] - self._mean) / self._deviation
                    weights *= np.tanh(2.0 * off)
                yield Group(chosen, weights, sign * float(factor))
