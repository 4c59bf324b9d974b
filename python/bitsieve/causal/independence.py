"""The contract of a test of independence, which every blanket algorithm asks.

    data --> IndependenceTest --test(x, y, given)--> Independence (statistic, p, reliable)
                   |
                   '--separate(x, y, pool)--> Separation: which subset of pool separates them

A test of too few samples for its table is not *reliable*: it is skipped, so that it neither
removes a variable nor adds one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Independence", "IndependenceTest", "Separation"]


@dataclass(frozen=True)
class Independence:
    """What one test says.

    Attributes
    ----------
    statistic : float
        Of the null hypothesis that the two are independent; greater speaks against it.
    log_p : float
        Natural logarithm of the p-value, which itself may be too small for a float.
    dof : int
        Degrees of freedom; samples left, of a test of correlation.
    reliable : bool
        Whether the samples are enough for it. Where not, log_p is 0.
    """

    statistic: float
    log_p: float
    dof: int
    reliable: bool

    @property
    def p_value(self) -> float:
        """The p-value."""
        return float(np.exp(self.log_p))


@dataclass(frozen=True)
class Separation:
    """What the subsets of a pool say of two variables.

    Attributes
    ----------
    separator : tuple of int or None
        The first subset given which they are independent; None where there is none.
    weakest : Independence
        The reliable test with the greatest p-value: that of the separator where there is one. Not
        reliable where no test was.
    weakest_given : tuple of int
        What that one conditioned on.
    n_tests : int
    """

    separator: tuple[int, ...] | None
    weakest: Independence
    weakest_given: tuple[int, ...]
    n_tests: int


class IndependenceTest(ABC):
    """Tells of any two of some variables whether they are independent given others.

    Attributes
    ----------
    n_samples, n_variables : int
    names : list of str or None
    """

    n_samples: int
    n_variables: int
    names: list[str] | None

    @abstractmethod
    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Independence:
        """Test x and y given a set, in any order of the three."""

    def test_many(
        self, xs: NDArray[np.int64], y: int, given: Sequence[int] = ()
    ) -> list[Independence]:
        """Test each of xs and y given one set."""
        return [self.test(int(x), y, given) for x in xs]

    def test_arrays(
        self, xs: NDArray[np.int64], y: int, given: Sequence[int] = ()
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
        """Test each of xs and y given one set; statistic, log p, dof and reliable as arrays."""
        found = self.test_many(xs, y, given)
        return (
            np.array([one.statistic for one in found], dtype=np.float64),
            np.array([one.log_p for one in found], dtype=np.float64),
            np.array([one.dof for one in found], dtype=np.int64),
            np.array([one.reliable for one in found], dtype=np.bool_),
        )

    def hopeful(
        self, xs: NDArray[np.int64], y: int, given: Sequence[int] = ()
    ) -> NDArray[np.bool_]:
        """Tell of each of xs whether its test with y, given at least a set, may be reliable."""
        return np.ones(len(xs), dtype=np.bool_)

    def separate(
        self,
        x: int,
        y: int,
        pool: Sequence[int],
        *,
        alpha: float,
        max_size: int,
        among: Sequence[int] = (),
        min_size: int = 0,
    ) -> Separation:
        """Look for a subset of a pool that makes x and y independent (p > alpha).

        Subsets go from small to large, those of a size in the lexicographic order of the pool.
        ``among``: every subset holds all of these, which count to its size and are no part of pool.
        """
        weakest, n_tests = Independence(np.inf, 0.0, 0, False), 0
        weakest_given: tuple[int, ...] = ()
        for size in range(max(min_size - len(among), 0), max_size - len(among) + 1):
            for subset in combinations(pool, size):
                given = (*among, *subset)
                found = self.test(x, y, given)
                n_tests += 1
                if not found.reliable:
                    continue
                if not weakest.reliable or found.log_p > weakest.log_p:
                    weakest, weakest_given = found, given
                if found.log_p > np.log(alpha):
                    return Separation(given, found, given, n_tests)
        return Separation(None, weakest, weakest_given, n_tests)
