"""A slow and obvious twin of linear discriminant analysis: a covariance matrix, inverted."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def scores(
    X: Array,
    codes: Array,
    split: tuple[Array, Array],
    *,
    shrinkage: float = 0.0,
    priors: Array | None = None,
    weights_of_svd: bool = False,
) -> tuple[Array, Array]:
    """Scores of test samples (n_test, n_present) from the mean of the class means, and classes."""
    train, test = split
    X = X.astype(np.float64)
    present = np.unique(codes[train])
    sizes = np.array([(codes[train] == c).sum() for c in present])
    shares = sizes / len(train) if priors is None else priors[present]
    means = np.array([X[train][codes[train] == c].mean(axis=0) for c in present])
    covariance = np.zeros((X.shape[1], X.shape[1]))
    for c, share, size, mean in zip(present, shares, sizes, means, strict=True):
        apart = X[train][codes[train] == c] - mean
        weight = 1 / len(train) if weights_of_svd else share / size
        covariance += weight * apart.T @ apart
    ridge = np.trace(covariance) / X.shape[1]
    covariance = (1 - shrinkage) * covariance + shrinkage * ridge * np.eye(X.shape[1])
    origin = shares @ means
    coefficients = np.linalg.solve(covariance, (means - origin).T)
    offsets = np.log(shares) - 0.5 * np.einsum("cf,fc->c", means - origin, coefficients)
    return (X[test] - origin) @ coefficients + offsets, present
