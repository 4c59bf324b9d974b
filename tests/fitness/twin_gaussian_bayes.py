"""Gaussian naive Bayes in plain numpy, split by split, by the formulas of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def costs(
    X: Array,
    codes: Array,
    n_classes: int,
    train: Array,
    test: Array,
    *,
    var_smoothing: float = 1e-9,
    priors: Array | None = None,
    weights: Array | None = None,
) -> Array:
    """Return the negative joint log-likelihoods (n_test, n_classes), infinite without a class."""
    X = X.astype(np.float64)
    w = np.ones(len(X)) if weights is None else weights
    smoothing = var_smoothing * X[train].var(axis=0).max()
    out = np.full((len(test), n_classes), np.inf)
    for c in range(n_classes):
        members = train[codes[train] == c]
        if len(members) == 0 or w[members].sum() == 0:
            continue
        mean = np.average(X[members], axis=0, weights=w[members])
        variance = np.average((X[members] - mean) ** 2, axis=0, weights=w[members]) + smoothing
        prior = w[members].sum() / w[train].sum() if priors is None else priors[c]
        with np.errstate(divide="ignore"):
            out[:, c] = -np.log(prior) + 0.5 * np.log(2 * np.pi * variance).sum()
        out[:, c] += 0.5 * ((X[test] - mean) ** 2 / variance).sum(axis=1)
    return out


def probabilities(costs: Array) -> Array:
    """Return those of log-likelihoods ``-costs``."""
    shares = np.exp(costs.min(axis=1, keepdims=True) - costs)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
