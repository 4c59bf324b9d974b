"""Twins: tests of independence in plain numpy and scipy, slow and obvious."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import stats

from bitsieve import _core
from bitsieve.causal.independence import Independence, IndependenceTest

NOT_RELIABLE = Independence(0.0, 0.0, 0, False)


class TwinDiscrete(IndependenceTest):
    """G-squared or chi-squared of codes."""

    def __init__(
        self, codes: Any, *, min_samples_per_cell: float = 5.0, chi_squared: bool = False
    ) -> None:
        self.codes = np.asarray(codes)
        self.n_samples, self.n_variables = self.codes.shape
        self.names = None
        self.min_samples_per_cell = min_samples_per_cell
        self.chi_squared = chi_squared
        self.n_levels = [len(np.unique(column)) for column in self.codes.T]

    def strata(self, given: Sequence[int]) -> list[np.ndarray]:
        """Samples of each combination of levels that occurs, the first variable slowest."""
        if not len(given):
            return [np.arange(self.n_samples)]
        place = np.unique(self.codes[:, list(given)], axis=0, return_inverse=True)[1].ravel()
        return [np.flatnonzero(place == k) for k in range(place.max() + 1)]

    def statistic(self, tables: Iterator[np.ndarray]) -> tuple[float, int]:
        statistic, dof = 0.0, 0
        for table in tables:
            table = table[table.sum(1) > 0][:, table.sum(0) > 0]
            expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
            if self.chi_squared:
                statistic += float(((table - expected) ** 2 / expected).sum())
            else:
                there = table > 0
                ratios = np.log(table[there] / expected[there])
                statistic += 2 * float((table[there] * ratios).sum())
            dof += (table.shape[0] - 1) * (table.shape[1] - 1)
        return statistic, dof

    @staticmethod
    def table(a: Any, b: Any) -> np.ndarray:
        table = np.zeros((a.max() + 1, b.max() + 1))
        np.add.at(table, (a, b), 1)
        return table

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Independence:
        cells = np.prod([self.n_levels[v] for v in (x, y, *given)], dtype=float)
        if self.n_samples < self.min_samples_per_cell * cells:
            return NOT_RELIABLE
        a, b = self.codes[:, x], self.codes[:, y]
        statistic, dof = self.statistic(self.table(a[s], b[s]) for s in self.strata(given))
        log_p = float(stats.chi2.logsf(statistic, dof)) if dof else 0.0
        return Independence(statistic, log_p, dof, True)


class TwinFisherZ(IndependenceTest):
    """Fisher's z of the correlation of residuals of least squares, two-sided."""

    def __init__(self, X: Any) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.n_samples, self.n_variables = self.X.shape
        self.names = None

    def residual(self, v: int, given: Sequence[int]) -> np.ndarray:
        """Return what is left of a variable, of length 1; zeros where nothing is."""
        values = self.X[:, v] - self.X[:, v].mean()
        length = np.linalg.norm(values)
        if np.ptp(self.X[:, v]) == 0:
            return np.zeros(self.n_samples)
        some = self.X[:, list(given)]
        some = some - some.mean(0)
        sizes = np.linalg.norm(some, axis=0)
        some = some[:, sizes > 0] / sizes[sizes > 0]
        rest = values - some @ np.linalg.lstsq(some, values, rcond=1e-5)[0]
        left = np.linalg.norm(rest)
        return rest / left if left > 1e-5 * length else np.zeros(self.n_samples)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Independence:
        dof = self.n_samples - len(given) - 3
        if dof < 1:
            return NOT_RELIABLE
        r = abs(float(self.residual(x, given) @ self.residual(y, given)))
        z = float(np.sqrt(dof) * np.arctanh(min(r, 1 - 1e-15)))
        return Independence(z, float(np.log(2) + stats.norm.logsf(z)), dof, True)


class _Orders:
    """The orders that belong to one test, drawn from its own lane."""

    def __init__(self, seed: int, x: int, y: int, given: Sequence[int]) -> None:
        lane = 0
        for v in (min(x, y), max(x, y), *sorted(given)):
            lane = int(_core.philox(lane, v + 1, 0, 1)[0])
        self.key, self.lane, self.word = seed, lane, 0

    def shuffled(self, values: np.ndarray) -> np.ndarray:
        stream = int(_core.Stream.permutations)
        order, self.word = _core.random_permutation(
            self.key, stream, self.lane, self.word, len(values)
        )
        return values[order]


def _p(hits: Iterator[bool], most: int | None) -> float:
    found = drawn = 0
    for hit in hits:
        drawn += 1
        found += hit
        if found == most:
            break
    return (1 + found) / (1 + drawn)


def permuted_discrete(
    twin: TwinDiscrete, x: int, y: int, given: Sequence[int], seed: int, n: int, most: int | None
) -> float:
    """Return p of a test by permutation."""
    x, y = min(x, y), max(x, y)
    orders = _Orders(seed, x, y, given)
    strata = twin.strata(sorted(given))
    a, b = twin.codes[:, x].copy(), twin.codes[:, y]

    def statistic() -> float:
        return twin.statistic(twin.table(a[s], b[s]) for s in strata)[0]

    observed = statistic()

    def hits() -> Iterator[bool]:
        for _ in range(n):
            for s in strata:
                a[s] = orders.shuffled(a[s])
            yield statistic() >= observed * (1 - 1e-12) - 1e-12

    return _p(hits(), most)


def permuted_fisher(
    twin: TwinFisherZ, x: int, y: int, given: Sequence[int], seed: int, n: int, most: int | None
) -> float:
    """Return p of a test by permutation."""
    x, y = min(x, y), max(x, y)
    orders = _Orders(seed, x, y, given)
    a, b = twin.residual(x, given), twin.residual(y, given)
    observed = abs(a @ b)

    def hits() -> Iterator[bool]:
        nonlocal a
        for _ in range(n):
            a = orders.shuffled(a)
            yield abs(a @ b) >= observed * (1 - 1e-12)

    return _p(hits(), most)
