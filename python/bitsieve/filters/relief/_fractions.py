"""Differences of the Relief family as fractions of whole numbers, nothing rounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate

import numpy as np

from bitsieve.filters.relief._differences import NARROWEST
from bitsieve.filters.relief._problem import Problem

__all__ = ["FeatureFractions", "feature_fractions"]

# What a sample has of a feature: (0, value in steps), or (1, class) where it is missing.
_State = tuple[int, int]


def feature_fractions(problem: Problem) -> list[FeatureFractions]:
    """Return the features that vary and have a weight."""
    X, largest = problem.X, Fraction(float(problem.feature_weights.max()))
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    varies = high.astype(np.float64) - low >= NARROWEST
    return [
        FeatureFractions(problem, int(f), Fraction(float(problem.feature_weights[f])) / largest)
        for f in np.flatnonzero(varies & (problem.feature_weights > 0.0))
    ]


class FeatureFractions:
    """One feature's share of every distance.

    A difference is ``clip(slope * steps - offset, 0, top) / top``, with the steps between two
    values, or the mean of that over what a missing value may be.

    Parameters
    ----------
    problem : Problem
    f : int
        The feature.
    weight : Fraction
        As a share of the largest.
    """

    def __init__(self, problem: Problem, f: int, weight: Fraction) -> None:
        self.weight = weight
        values = [None if v != v else v.as_integer_ratio() for v in problem.X[:, f].tolist()]
        shared = max(denominator for _, denominator in filter(None, values))
        steps = [None if v is None else v[0] * (shared // v[1]) for v in values]
        known = [v for v in steps if v is not None]
        spread = max(known) - min(known)
        self._nominal = bool(problem.discrete[f])
        self._slope, self._offset, self._top = 1, 0, 1 if self._nominal else spread
        if problem.ramp is not None and not self._nominal:
            # As they are written: one tenth of a range is at 0.1, whatever float64 makes of that.
            (a, b), (c, d) = (Fraction(str(share)).as_integer_ratio() for share in problem.ramp)
            self._slope, self._offset = b * d, a * d * spread
            self._top = (c * b - a * d) * spread
        codes = problem.codes.tolist()
        self._states: list[_State] = [
            (1, c) if v is None else (0, v) for v, c in zip(steps, codes, strict=True)
        ]
        self.has_holes = len(known) < len(steps)
        self._plain = not self.has_holes and not self._nominal and problem.ramp is None
        self._pools: dict[int, Counter[int]] = {}
        if self.has_holes:
            for c in set(codes):
                own = [v for v, k in zip(steps, codes, strict=True) if k == c and v is not None]
                self._pools[c] = Counter(own or known)
        self._expected: dict[tuple[_State, _State], tuple[int, int]] = {}

    @property
    def spare(self) -> int:
        """Bits that the weight takes away."""
        return max(0, self.weight.denominator.bit_length() - self.weight.numerator.bit_length())

    def has_hole(self, i: int) -> bool:
        """Whether the value of a sample is missing."""
        return self._states[i][0] == 1

    def difference(self, i: int, j: int) -> tuple[int, int]:
        """Return numerator and denominator of the weighted difference of two samples."""
        steps, count = self._between(self._states[i], self._states[j])
        return self._weighted(steps, count)

    def totals(self, rows: list[int]) -> Iterator[tuple[int, int]]:
        """Yield fractions whose sum is that of all differences of the rows to other samples."""
        if self._plain:
            yield self._weighted(self._plain_total(rows), 1)
            return
        sums: Counter[int] = Counter()
        everyone = Counter(self._states)
        for own, n_rows in Counter(self._states[i] for i in rows).items():
            for other, n_others in everyone.items():
                steps, count = self._between(own, other)
                sums[count] += steps * n_rows * (n_others - (own == other))
        for count, steps in sums.items():
            yield self._weighted(steps, count)

    def _plain_total(self, rows: list[int]) -> int:
        """Sum of the steps between the rows and all samples, from the order of the values."""
        values = sorted(v for _, v in self._states)
        n, before = len(values), [0, *accumulate(values)]
        position = {v: k for k, v in enumerate(values)}
        total = 0
        for i in rows:
            v = self._states[i][1]
            k = position[v]
            total += v * k - before[k] + before[n] - before[k] - v * (n - k)
        return total

    def _weighted(self, steps: int, count: int) -> tuple[int, int]:
        return steps * self.weight.numerator, count * self._top * self.weight.denominator

    def _between(self, a: _State, b: _State) -> tuple[int, int]:
        """Return the sum of the clipped steps over what both may be, and of how many pairs."""
        if a[0] == b[0] == 0:
            return self._clipped(a[1], b[1]), 1
        key = (a, b) if a <= b else (b, a)
        if key not in self._expected:
            left, right = (
                self._pools[value] if missing else Counter((value,)) for missing, value in key
            )
            steps = sum(
                self._clipped(v, w) * n * m for v, n in left.items() for w, m in right.items()
            )
            self._expected[key] = steps, left.total() * right.total()
        return self._expected[key]

    def _clipped(self, a: int, b: int) -> int:
        if self._nominal:
            return int(a != b)
        return min(self._top, max(0, self._slope * abs(a - b) - self._offset))
