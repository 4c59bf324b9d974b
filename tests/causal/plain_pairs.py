"""The plain twin of PairErrors: numpy, the formulas as they stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TIE = 2.0**-44

Array = NDArray[np.float64]


def _moments(rows: Array) -> tuple[Array, Array]:
    """Means and variances; those of a constant are exact."""
    constant = rows.min(axis=0) == rows.max(axis=0)
    mean = np.where(constant, rows[0], rows.mean(axis=0))
    return mean, np.where(constant, 0.0, rows.var(axis=0))


class PlainPairErrors:
    """Balanced error rates on splits that test each sample once."""

    def __init__(self, X: Any, y: Any, splits: Any, var_smoothing: float = 1e-9) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.splits = splits
        self.var_smoothing = var_smoothing
        self.n_features = self.X.shape[1]
        self.classes, self.codes = np.unique(np.asarray(y), return_inverse=True)
        self.sizes = np.bincount(self.codes)

    def of(self, pairs: Any) -> Array:
        """Of pairs (a, b), or of a alone where both are the same."""
        asked = np.asarray(pairs)
        wrong = np.zeros((len(self.classes), len(asked)))
        for train, test in self.splits:
            codes = self.codes[train]
            top = _moments(self.X[train])[1]
            smoothing = self.var_smoothing * top[asked].max(axis=1)
            present = np.unique(codes)
            parts = {c: _moments(self.X[train[codes == c]]) for c in present}
            prior = {c: np.log(np.mean(codes == c)) for c in present}
            for y in np.unique(self.codes[test]):
                rows = self.X[test[self.codes[test] == y]]
                right = np.full((len(rows), len(asked)), y in present)
                for c in present:
                    if c == y or y not in present:
                        continue
                    margin = np.full(right.shape, prior[y] - prior[c])
                    numbers = np.zeros(right.shape)
                    for k in range(2):
                        f = asked[:, k]
                        if k == 1:  # no second feature
                            alone = asked[:, 0] == asked[:, 1]
                        else:
                            alone = np.zeros(len(asked), dtype=bool)
                        still = (top[f] == 0) | alone
                        with np.errstate(divide="ignore", invalid="ignore"):
                            own = self._score(rows[:, f], *parts[y], f, smoothing)
                            other = self._score(rows[:, f], *parts[c], f, smoothing)
                        margin += np.where(still, 0.0, own[0] - other[0])
                        numbers += np.where(still, 1.0, own[1] + other[1] + 1.0)
                    right &= margin > TIE * numbers if c < y else margin > -TIE * numbers
                wrong[y] += (~right).sum(axis=0)
        return np.asarray((wrong / self.sizes[:, None]).mean(axis=0))

    @staticmethod
    def _score(x: Array, mean: Array, variance: Array, f: Any, smoothing: Array) -> Any:
        """Log-likelihoods, and the size of the numbers that they are made of."""
        spread = variance[f] + smoothing
        half, square = 0.5 * np.log(spread), 0.5 * (x - mean[f]) ** 2 / spread
        return -half - square, np.abs(half) + square

    @property
    def single(self) -> Array:
        every = np.arange(self.n_features)
        return self.of(np.column_stack([every, every]))

    def matrix(self) -> Array:
        p = self.n_features
        first, second = np.indices((p, p)).reshape(2, -1)
        return self.of(np.column_stack([first, second])).reshape(p, p)
