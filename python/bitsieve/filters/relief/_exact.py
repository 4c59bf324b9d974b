"""On which side of a limit a pair of samples lies, where rounding would decide.

Every float64 is a rational number, so distances, their mean and their variance are rational too.
With S and Q the sums of a sample's N distances d and of their squares, a pair is beyond the limit
of MultiSURF where::

    4 (S - N d)^2 > N Q - S^2

and near where also N d < S; of SURF, with the total T of M pairs, where M d < T. Both sides are
compared in fixed point with bits to spare. What is closer than that is equal if the difference
vanishes modulo a prime of 255 bits, which happens to no other number by chance; if it does not,
bits are added until the sign shows. So common denominators, which may have a million digits, are
never formed.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.filters.relief._fractions import FeatureFractions, feature_fractions
from bitsieve.filters.relief._problem import Problem

__all__ = ["ExactSides"]

#: The second where a denominator is a multiple of the first.
_PRIMES = (2**255 - 19, 2**521 - 1)
_BITS = 256


class _Fixed:
    """Numbers in steps of 2^-bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def times(self, value: int, numerator: int, denominator: int) -> int:
        """Return value * numerator / denominator."""
        return value * numerator // denominator

    @property
    def one(self) -> int:
        """The number 1."""
        return 1 << self.bits


class _Modular:
    """Remainders of a division by a prime."""

    one = 1

    def __init__(self, prime: int) -> None:
        self.prime = prime
        self._inverses: dict[int, int] = {}

    def times(self, value: int, numerator: int, denominator: int) -> int:
        """Return value * numerator / denominator; a ValueError where there is no inverse."""
        inverse = self._inverses.get(denominator)
        if inverse is None:
            inverse = self._inverses[denominator] = pow(denominator, -1, self.prime)
        return value * numerator * inverse % self.prime


Ring = _Fixed | _Modular


class ExactSides:
    """Sides of pairs of samples, for all members of the family that have limits.

    Parameters
    ----------
    problem : Problem
    name : str
        Of the method.

    Examples
    --------
    >>> from bitsieve.filters import surf
    >>> surf([[3, 0], [1, 0], [0, 1]], [0, 0, 1])  # samples 1 and 2 are at the limit
    array([-0.44444444,  0.        ])
    """

    def __init__(self, problem: Problem, name: str) -> None:
        self._problem = problem
        self._own = name.startswith("multisurf")
        self._at_limit = 1 if name == "surf_star" else 0
        self._rings: dict[tuple[type, int], _Distances] = {}
        self._sides: dict[tuple[int, int], int] = {}

    def __call__(self, pairs: NDArray[np.int64]) -> NDArray[np.int8]:
        """Sides of pairs (n_pairs, 2): -1 near, 0 between, 1 far from the first sample."""
        kinds = self._kinds[pairs].tolist()
        known = self._sides
        for (i, j), (a, b) in zip(pairs.tolist(), kinds, strict=True):
            if (a, b) not in known:
                known[a, b] = self._side(i, j)
        return np.array([known[a, b] for a, b in kinds], dtype=np.int8)

    @cached_property
    def _features(self) -> list[FeatureFractions]:
        return feature_fractions(self._problem)

    @cached_property
    def _kinds(self) -> NDArray[np.int64]:
        """One number for all samples that are alike in every value."""
        problem = self._problem
        alike: dict[Any, int] = {}
        own = problem.codes.tolist() if problem.incomplete else [0] * problem.n_samples
        keys = [(row.tobytes(), c) for row, c in zip(problem.X, own, strict=True)]
        return np.array([alike.setdefault(key, len(alike)) for key in keys])

    def _distances(self, ring: type, size: int) -> _Distances:
        key = ring, size
        if key not in self._rings:
            self._rings[key] = _Distances(self._problem, self._features, self._kinds, ring(size))
        return self._rings[key]

    def _side(self, i: int, j: int) -> int:
        bits = _BITS + 2 * max((f.spare for f in self._features), default=0)
        while True:
            below, beyond = self._beyond(self._distances(_Fixed, bits), i, j)
            # The sums' own roundings are far below half of the bits.
            if abs(beyond) > 1 << (bits // 2 + (bits if self._own else 0)):
                return 0 if beyond < 0 and self._own else -1 if below > 0 else 1
            if self._vanishes(i, j):
                return self._at_limit
            bits *= 2

    def _vanishes(self, i: int, j: int) -> bool:
        for prime in _PRIMES:
            try:
                return self._beyond(self._distances(_Modular, prime), i, j)[1] % prime == 0
            except ValueError:  # a denominator is a multiple
                continue
        raise ArithmeticError(f"samples {i} and {j} cannot be compared with the limit exactly")

    def _beyond(self, distances: _Distances, i: int, j: int) -> tuple[int, int]:
        """How far below the mean a pair is, and how far beyond the limit."""
        d = distances.between(i, j)
        if not self._own:
            below = distances.total - distances.n_pairs * d
            return below, below
        n = self._problem.n_samples - 1
        total, squares = distances.sums(i)
        below = total - n * d
        return below, 4 * below * below - (n * squares - total * total)


class _Distances:
    """Distances in one ring, each pair of kinds of samples computed once."""

    def __init__(
        self,
        problem: Problem,
        features: list[FeatureFractions],
        kinds: NDArray[np.int64],
        ring: Ring,
    ) -> None:
        self._problem, self._features, self._ring = problem, features, ring
        self._kinds = kinds.tolist()
        self._known: dict[tuple[int, int], int] = {}
        self._sums: dict[int, tuple[int, int]] = {}
        self._scaled = problem.ignore and any(f.has_holes for f in features)
        self.n_pairs = len(problem.rows) * (problem.n_samples - 1)

    def between(self, i: int, j: int) -> int:
        """Distance of two samples."""
        a, b = self._kinds[i], self._kinds[j]
        key = (a, b) if a <= b else (b, a)
        if key not in self._known:
            self._known[key] = self._between(i, j)
        return self._known[key]

    def sums(self, i: int) -> tuple[int, int]:
        """Sum of a sample's distances to all others, and of their squares."""
        kind = self._kinds[i]
        if kind not in self._sums:
            own = [self.between(i, j) for j in range(self._problem.n_samples) if j != i]
            self._sums[kind] = sum(own), sum(d * d for d in own)
        return self._sums[kind]

    @cached_property
    def total(self) -> int:
        """Sum over all pairs that are looked at."""
        rows = self._problem.rows.tolist()
        if self._scaled:
            return sum(self.sums(i)[0] for i in rows)
        ring = self._ring
        return sum(
            ring.times(ring.one, numerator, denominator)
            for feature in self._features
            for numerator, denominator in feature.totals(rows)
        )

    def _between(self, i: int, j: int) -> int:
        times, one = self._ring.times, self._ring.one
        if not self._scaled:
            return sum(times(one, *feature.difference(i, j)) for feature in self._features)
        known = [f for f in self._features if not f.has_hole(i) and not f.has_hole(j)]
        possible = sum((f.weight for f in self._features), Fraction(0))
        seen = sum((f.weight for f in known), Fraction(0))
        if not seen:
            share, whole = possible if i != j else Fraction(0), one
        else:
            share = possible / seen
            whole = sum(times(one, *feature.difference(i, j)) for feature in known)
        return times(whole, share.numerator, share.denominator)
