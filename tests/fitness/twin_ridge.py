"""Ridge regression from the normal equations of each training part: slow, and obviously right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def fit_split(
    X: Floats, Y: Floats, split: Split, *, alpha: float, fit_intercept: bool, weights: Floats
) -> Floats:
    """Predict the test part from the least of sum w (y - x'b - c)^2 + alpha |b|^2."""
    train, test = split
    w = weights[train]
    means = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    if fit_intercept:
        means = np.average(X[train], axis=0, weights=w), np.average(Y[train], axis=0, weights=w)
    Z, T = X[train] - means[0], Y[train] - means[1]
    penalised = (Z * w[:, None]).T @ Z + alpha * np.eye(X.shape[1])
    return (X[test] - means[0]) @ np.linalg.solve(penalised, (Z * w[:, None]).T @ T) + means[1]


def joined(
    X: Floats,
    x: Floats,
    scale: float,
    Y: Floats,
    split: Split,
    *,
    alpha: float,
    fit_intercept: bool,
    weights: Floats,
) -> Floats:
    """Predict the test part from X and scale * x by way of the fit on X: a bordered system."""
    train, test = split
    w = weights[train]
    means, offset, middle = np.zeros(X.shape[1]), np.zeros(Y.shape[1]), 0.0
    if fit_intercept:
        means, offset = (
            np.average(X[train], axis=0, weights=w),
            np.average(Y[train], axis=0, weights=w),
        )
        middle = np.average(x[train], weights=w)
    Z, z, rest = X - means, x - middle, Y - offset
    A = (Z[train] * w[:, None]).T @ Z[train] + alpha * np.eye(X.shape[1])
    b = np.linalg.solve(A, (Z[train] * w[:, None]).T @ rest[train])
    h = np.linalg.solve(A, (Z[train] * w[:, None]).T @ z[train])
    e = (w * z[train]) @ (rest[train] - Z[train] @ b)
    d = alpha / scale**2 + (w * z[train]) @ (z[train] - Z[train] @ h)
    return offset + Z[test] @ b + np.outer(z[test] - Z[test] @ h, e / d)


def left_out(
    K: Floats, Y: Floats, splits: Sequence[Split], *, alpha: float, weights: Floats
) -> list[Floats]:
    """Predict all test parts from one inverse of the bordered system of all samples."""
    n = len(K)
    one = np.ones((n, 1))
    M = np.linalg.inv(np.block([[K + np.diag(alpha / weights), one], [one.T, np.zeros((1, 1))]]))
    M = M[:n, :n]
    out = []
    for train, test in splits:
        left = np.concatenate([test, np.setdiff1d(np.arange(n), np.concatenate([train, test]))])
        residuals = np.linalg.solve(M[np.ix_(left, left)], (M @ Y)[left])
        out.append((Y[left] - residuals)[: len(test)])
    return out
