"""Small tables with the troubles that real ones have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Rng = np.random.Generator


def _duplicates(rng: Rng, n: int, p: int) -> Array:
    return rng.normal(size=(max(2, n // 3), p))[rng.integers(0, max(2, n // 3), n)]


def _outlier(rng: Rng, n: int, p: int) -> Array:
    X = rng.normal(size=(n, p))
    X[n // 2] *= 1e5
    return X


def _close(rng: Rng, n: int, p: int) -> Array:
    # Pairs of samples that differ in the last bits of float64 only.
    X = np.repeat(rng.normal(size=((n + 1) // 2, p)), 2, axis=0)[:n]
    return X * (1 + rng.integers(-2, 3, (n, p)) * 2.0**-52)


def _long(rng: Rng, n: int, p: int) -> Array:
    # Whole numbers that float32 holds, but whose squares it does not; pairs differ by one.
    X = np.repeat(rng.integers(-(2**20), 2**20, ((n + 1) // 2, p)), 2, axis=0)[:n]
    X[np.arange(n), rng.integers(0, p, n)] += rng.integers(0, 2, n)
    return X


KINDS: dict[str, Callable[[Rng, int, int], Array]] = {
    "float64": lambda rng, n, p: rng.normal(size=(n, p)),
    "float32": lambda rng, n, p: rng.normal(size=(n, p)).astype(np.float32),
    "integers": lambda rng, n, p: rng.integers(0, 4, (n, p)),
    "binary": lambda rng, n, p: rng.integers(0, 2, (n, p)).astype(np.int8),
    "halves": lambda rng, n, p: rng.integers(-9, 9, (n, p)) / 2 + 100.0,
    "duplicates": _duplicates,
    "close": _close,
    "offset": lambda rng, n, p: 1e9 + rng.normal(size=(n, p)),
    "scales": lambda rng, n, p: rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-6, 6, p),
    "outlier": _outlier,
    "counts": lambda rng, n, p: rng.poisson(3.0, (n, p)) ** 3,
    "long": _long,
    "constants": lambda rng, n, p: rng.integers(0, 3, (n, p)) * (np.arange(p) % 3 == 0),
}


def table(kind: str, rng: Rng, n: int, p: int) -> Array:
    """Samples x features; at least one value varies."""
    X = KINDS[kind](rng, n, p)
    if not np.ptp(X, axis=0).any():
        X[0, 0] += 1
    return X


def labels(rng: Rng, n: int, n_classes: int) -> Array:
    """Unbalanced labels; the last class has a single member where there are three or more."""
    n_classes = min(n_classes, n)
    weights = 1.0 / (1 + np.arange(n_classes))
    y = rng.choice(n_classes, n, p=weights / weights.sum())
    if n_classes > 2:
        y[y == n_classes - 1] = 0
    y[rng.permutation(n)[:n_classes]] = np.arange(n_classes)
    return y


def splits(rng: Rng, n: int, k: int) -> list[tuple[Array, Array]]:
    """Random folds, then splits that leave samples out; every training set has k samples."""
    n_folds = int(rng.integers(2, 6)) if n > 5 else n
    n_folds = min(n_folds, n)
    order = rng.permutation(n)
    out = [
        (np.setdiff1d(order, order[f::n_folds]), np.sort(order[f::n_folds])) for f in range(n_folds)
    ]
    if n > k + 1:
        order = rng.permutation(n)
        out.append((order[: k + 1], order[k + 1 :]))  # neither sorted nor complete
    return [(train, test) for train, test in out if len(train) >= k]


def masks(rng: Rng, p: int) -> Array:
    """Empty, full, single, of all sizes, and some that are close to one another."""
    near = np.tile(rng.random(p) < 0.5, (3, 1))
    near[1, rng.integers(p)] ^= True
    near[2, rng.integers(0, p, 3)] ^= True
    sizes = rng.random((4, 1))
    rows = [np.zeros((1, p), bool), np.ones((1, p), bool), rng.random((4, p)) < sizes, near]
    single = np.zeros((1, p), bool)
    single[0, rng.integers(p)] = True
    return np.concatenate([*rows, single, ~near[:1]])
