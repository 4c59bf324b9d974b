"""Differences of all pairs, a block of features at a time, whatever is missing.

A missing value stands for any of those known in the sample's class, each as likely as it is
frequent there, so the difference becomes an expectation (Robnik-Sikonja and Kononenko 2003,
section 2.2): one minus the probability of the other's value for a discrete feature, the mean
distance to the known values of the class for a continuous one. A class without a known value
takes those of all samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.filters.relief._problem import Problem

__all__ = ["NARROWEST", "Differences", "feature_blocks"]

Floats = NDArray[np.float64]

# Values of a block: few enough to stay in cache while the rows go by.
_BLOCK = 1 << 16
#: A range so narrow that its reciprocal would overflow is none, as in the compiled core.
NARROWEST = 1e-290


def feature_blocks(problem: Problem) -> list[slice]:
    """Slices of features that together cover the table."""
    step = max(1, _BLOCK // problem.n_samples)
    p = problem.n_features
    return [slice(begin, min(p, begin + step)) for begin in range(0, p, step)]


class Differences:
    """Differences of one sample to others, for the features of a block.

    Parameters
    ----------
    problem : Problem
    part : slice
        Features of the block.

    Attributes
    ----------
    varies : ndarray of shape (n_block,)
        Bool: some two known values differ. Other features have no difference to anything.
    """

    varies: NDArray[np.bool_]

    def __init__(self, problem: Problem, part: slice) -> None:
        values = np.array(problem.X[:, part].T, dtype=np.float64, order="C")  # a copy, always
        unknown = np.isnan(values)
        low = np.min(values, axis=1, initial=np.inf, where=~unknown)
        high = np.max(values, axis=1, initial=-np.inf, where=~unknown)
        with np.errstate(over="ignore", invalid="ignore"):
            self.varies = high - low >= NARROWEST
        values[~self.varies] = 0.0
        spread = np.ones(len(values))
        with np.errstate(over="ignore"):
            np.subtract(high, low, out=spread, where=self.varies)
        if np.isinf(spread).any():
            raise ValueError(
                f"column {part.start + int(np.isinf(spread).argmax())} spans more than float64 "
                "can hold; divide it by a number"
            )
        self._spread = spread[:, None]
        self._values = values
        self._ramp = problem.ramp
        self._nominal = np.flatnonzero(problem.discrete[part])
        self._numeric = np.flatnonzero(~problem.discrete[part])
        self._codes = problem.codes
        holes = np.isnan(values)
        self._holed = np.flatnonzero(holes.any(axis=1))
        self._holes = holes[self._holed]
        self._expect = not problem.ignore and self._holed.size > 0
        if self._expect:
            self._make_expectations(problem.n_classes)

    @property
    def complete(self) -> bool:
        """Whether every difference is a number."""
        return self._expect or self._holed.size == 0

    def of(self, i: int, others: NDArray[np.int64] | slice) -> Floats:
        """Differences of sample i to others: (n_block, n_others), NaN where they are ignored."""
        values = self._values[:, others]
        out: Floats = np.abs(values - self._values[:, i : i + 1])
        out /= self._spread
        if self._ramp is not None:
            low, high = self._ramp
            if self._nominal.size == 0:
                np.clip((out - low) / (high - low), 0.0, 1.0, out=out)
            else:
                slope = (out[self._numeric] - low) / (high - low)
                out[self._numeric] = np.clip(slope, 0.0, 1.0)
        if self._nominal.size:
            distant = out[self._nominal]
            out[self._nominal] = np.where(np.isnan(distant), np.nan, distant > 0)
        if self._expect:
            self._fill(out, i, others)
        return out

    def _fill(self, out: Floats, i: int, others: NDArray[np.int64] | slice) -> None:
        codes = self._codes[others]
        own = self._codes[i]
        holes = self._holes[:, others]
        here = self._holes[:, i]
        for mine, theirs in ((False, True), (True, False), (True, True)):
            h, j = np.nonzero((here == mine)[:, None] & (holes == theirs))
            if h.size == 0:
                continue
            if not mine:
                filled = self._to_class[h, codes[j], i]
            elif not theirs:
                sample = np.arange(self._values.shape[1])[others][j]
                filled = self._to_class[h, own, sample]
            else:
                filled = self._between[h, own, codes[j]]
            out[self._holed[h], j] = filled

    def _make_expectations(self, n_classes: int) -> None:
        n = self._values.shape[1]
        self._to_class = np.zeros((self._holed.size, n_classes, n))
        self._between = np.zeros((self._holed.size, n_classes, n_classes))
        nominal = np.zeros(len(self._values), dtype=bool)
        nominal[self._nominal] = True
        for h, f in enumerate(self._holed):
            column, known = self._values[f], ~self._holes[h]
            spread = float(self._spread[f, 0])
            pools = [column[known & (self._codes == c)] for c in range(n_classes)]
            pools = [pool if pool.size else column[known] for pool in pools]
            for c, pool in enumerate(pools):
                mean = _MeanDifference(pool, spread, bool(nominal[f]), self._ramp)
                self._to_class[h, c, known] = mean(column[known])
            # Expected over the known values of each class; a class without any takes all.
            self._between[h] = _class_means(self._to_class[h][:, known], self._codes[known])


def _class_means(values: Floats, codes: NDArray[np.int32]) -> Floats:
    """Mean over the samples of each class a row, (n_classes, n_rows); of all where it has none."""
    n_classes = len(values)
    means: Floats = np.repeat(values.mean(axis=1)[None, :], n_classes, axis=0)
    order = np.argsort(codes, kind="stable")
    there, begin, count = np.unique(codes[order], return_index=True, return_counts=True)
    means[there] = np.add.reduceat(values[:, order], begin, axis=1).T / count[:, None]
    return means


class _MeanDifference:
    """Mean difference of a value to a pool of known ones."""

    def __init__(
        self, pool: Floats, spread: float, nominal: bool, ramp: tuple[float, float] | None
    ) -> None:
        self._origin = float(pool.min())
        self._spread = spread
        self._pool = np.sort((pool - self._origin) / (1.0 if nominal else spread))
        self._sums = np.concatenate(([0.0], np.cumsum(self._pool)))
        self._nominal = nominal
        self._ramp = ramp

    def __call__(self, values: Floats) -> Floats:
        scaled: Any = (values - self._origin) / (1.0 if self._nominal else self._spread)
        size = len(self._pool)
        if self._nominal:
            first = np.searchsorted(self._pool, scaled, side="left")
            last = np.searchsorted(self._pool, scaled, side="right")
            equal: Floats = (last - first) / size
            return 1.0 - equal
        if self._ramp is None:
            return self._beyond(scaled, 0.0)
        # The ramp is the difference of two hinges of the distance.
        low, high = self._ramp
        rise: Floats = (self._beyond(scaled, low) - self._beyond(scaled, high)) / (high - low)
        return np.clip(rise, 0.0, 1.0)

    def _beyond(self, scaled: Floats, margin: float) -> Floats:
        """Mean of max(0, |value - pooled| - margin)."""
        size, total = len(self._pool), self._sums[-1]
        left = np.searchsorted(self._pool, scaled - margin)
        right = np.searchsorted(self._pool, scaled + margin)
        below = (scaled - margin) * left - self._sums[left]
        above = (total - self._sums[right]) - (scaled + margin) * (size - right)
        mean: Floats = (below + above) / size
        return np.maximum(mean, 0.0)
