"""Log2 or not, z-scores, and shrunken linear discriminants from a Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scaler", "ShrunkenLDA", "log_floor"]

CLIP = 20.0
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


def log_floor(X: F64) -> float | None:
    """Floor to raise values to before log2; None for values that look like logs already."""
    median, high = np.quantile(X, [0.5, 0.99])
    if high <= 100 or high <= 8 * max(median, 1.0) or np.mean(X < 0) >= 0.5:
        return None
    return float(high / 100)


@dataclass(frozen=True)
class Scaler:
    """Log2 by the rule, then z-scores clipped at 20, all learned from the training part."""

    floor: float | None
    center: F64
    scale: F64

    @classmethod
    def fit(cls, X: F64) -> Scaler:
        floor = log_floor(X)
        if floor is not None:
            X = np.log2(np.maximum(X, floor))
        scale = X.std(axis=0)
        return cls(floor, X.mean(axis=0), np.where(scale > 0, scale, 1.0))

    def apply(self, X: F64) -> F64:
        if self.floor is not None:
            X = np.log2(np.maximum(X, self.floor))
        return np.clip((X - self.center) / self.scale, -CLIP, CLIP)


@dataclass(frozen=True)
class ShrunkenLDA:
    """Linear discriminants whose pooled covariance is shrunk as Ledoit and Wolf (2004) say.

    Everything is in inner products of samples, so that 12,600 features cost what 100 samples do:
    with the within-class centred rows W, S = W'W / n and Sigma = (1 - a) S + a mu I, Woodbury gives
    the inverse of Sigma out of the inverse of a matrix of n x n.
    """

    coefficients: F64
    intercept: F64

    @classmethod
    def fit(cls, K: F64, codes: I64, n_classes: int, n_features: int) -> ShrunkenLDA:
        n = codes.size
        indicator = np.eye(n_classes)[codes]
        counts = indicator.sum(axis=0)
        means = indicator / np.maximum(counts, 1)  # column c averages the samples of class c
        center = np.eye(n) - means @ indicator.T
        G = center @ K @ center.T
        mu = np.trace(G) / (n * n_features)
        norm = np.sum(G * G) / n**2
        beta = (np.sum(np.diag(G) ** 2) / n - norm) / (n * n_features)
        delta = norm / n_features - mu**2
        a = min(max(beta / delta, 1e-6), 1.0) if delta > 0 else 1.0
        dual = means.copy()
        if a < 1:
            ridge = a * mu * n / (1 - a)
            dual -= center.T @ np.linalg.solve(G + ridge * np.eye(n), center @ K @ means)
        dual /= a * mu
        half = 0.5 * np.einsum("ic,ij,jc->c", means, K, dual)
        with np.errstate(divide="ignore"):
            return cls(dual, np.log(counts / n) - half)

    def decide(self, K_test: F64) -> F64:
        return np.asarray(K_test @ self.coefficients + self.intercept)
