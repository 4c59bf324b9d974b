"""Plain numpy tests, to be replaced by compiled ones (and to become their twins under tests/)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from bitsieve.causal.independence import Independence, IndependenceTest


class GSquared(IndependenceTest):
    """G-squared of discrete codes."""

    def __init__(self, codes: Any, *, min_samples_per_cell: float = 5.0) -> None:
        self.codes = np.asarray(codes)
        self.n_samples, self.n_variables = self.codes.shape
        self.names = None
        self.min_samples_per_cell = min_samples_per_cell
        self.n_levels = [len(np.unique(column)) for column in self.codes.T]

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Independence:
        cells = self.n_levels[x] * self.n_levels[y]
        for z in given:
            cells *= self.n_levels[z]
        if self.n_samples < self.min_samples_per_cell * cells:
            return Independence(0.0, 0.0, 0, False)
        strata = np.zeros(self.n_samples, dtype=np.int64)
        if len(given):
            strata = np.unique(self.codes[:, list(given)], axis=0, return_inverse=True)[1].ravel()
        g2, dof = 0.0, 0
        for stratum in np.unique(strata):
            a, b = self.codes[strata == stratum][:, [x, y]].T
            table = np.zeros((a.max() + 1, b.max() + 1))
            np.add.at(table, (a, b), 1)
            table = table[table.sum(1) > 0][:, table.sum(0) > 0]
            expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
            there = table > 0
            g2 += 2 * float((table[there] * np.log(table[there] / expected[there])).sum())
            dof += (table.shape[0] - 1) * (table.shape[1] - 1)
        log_p = float(stats.chi2.logsf(g2, dof)) if dof else 0.0
        return Independence(g2, log_p, dof, True)


class FisherZ(IndependenceTest):
    """Fisher's z of partial correlations, two-sided."""

    def __init__(self, X: Any) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.n_samples, self.n_variables = self.X.shape
        self.names = None
        with np.errstate(invalid="ignore"):
            self.correlations = np.nan_to_num(np.corrcoef(self.X, rowvar=False))

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Independence:
        dof = self.n_samples - len(given) - 3
        if dof < 1:
            return Independence(0.0, 0.0, dof, False)
        some = [x, y, *given]
        precision = np.linalg.pinv(self.correlations[np.ix_(some, some)], hermitian=True)
        scale = precision[0, 0] * precision[1, 1]
        r = -precision[0, 1] / np.sqrt(scale) if scale > 0 else 0.0
        r = float(np.clip(r, -1 + 1e-15, 1 - 1e-15))
        z = float(np.sqrt(dof) * np.arctanh(r))
        return Independence(z, float(np.log(2) + stats.norm.logsf(abs(z))), dof, True)
