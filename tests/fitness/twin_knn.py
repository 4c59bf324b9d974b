"""Slow and obvious twins of the compiled k-nearest-neighbor fitness, in plain numpy.

What they define: the distance of two samples under a mask (float64 on the values as given, eight
partial sums by the position of the feature in the mask, added pairwise), the order of neighbors
(distance, then index), the votes, the scores, and the Gram matrix in fixed point.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Split = tuple[Array, Array]


def distances(X: Array, mask: Array) -> Array:
    """Squared Euclidean distances of all pairs under a boolean mask, shape (n, n), read-only."""
    columns = np.asarray(X)[:, np.flatnonzero(mask)].astype(np.float64)
    return _distances(columns.shape, columns.tobytes())


@functools.lru_cache(maxsize=16)  # several scores and numbers of neighbors share them
def _distances(shape: tuple[int, int], data: bytes) -> Array:
    columns = np.frombuffer(data, np.float64).reshape(shape)
    n, n_chosen = shape
    out = np.empty((n, n))
    for start in range(0, n, 256):
        rows = slice(start, min(start + 256, n))
        partial = np.zeros((8, rows.stop - rows.start, n))
        for position in range(n_chosen):
            column = columns[:, position]
            difference = column[rows, None] - column[None, :]
            partial[position % 8] += difference * difference
        p = partial
        out[rows] = ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]))
    out.setflags(write=False)
    return out


def scaled_distances(X: Array, mask: Array, inverse: Array) -> Array:
    """The same of differences times a number a feature, those of one split."""
    features = np.flatnonzero(mask)
    columns = np.asarray(X)[:, features].astype(np.float64)
    p = np.zeros((8, len(columns), len(columns)))
    for position, f in enumerate(features):
        column = columns[:, position]
        difference = (column[:, None] - column[None, :]) * inverse[f]
        p[position % 8] += difference * difference
    return ((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7]))


def votes(d: Array, codes: Array, n_classes: int, split: Split, k: int) -> Array:
    """How many of the k nearest training samples are of each class, shape (n_test, n_classes)."""
    train, test = np.sort(split[0]), split[1]
    nearest = train[np.argsort(d[np.ix_(test, train)], axis=1, kind="stable")[:, :k]]
    return np.stack([(codes[nearest] == c).sum(axis=1) for c in range(n_classes)], axis=1)


def score(truth: Array, predicted: Array, n_classes: int, scoring: str) -> float:
    """Accuracy, or the mean recall over the classes that were tested."""
    total = terms = 0.0
    for c in range(n_classes):
        tested = int((truth == c).sum())
        right = int(((truth == c) & (predicted == c)).sum())
        if scoring == "accuracy":
            total += right
            terms += tested
        elif tested:
            total += right / tested
            terms += 1
    return total / terms


def evaluate_splits(
    X: Array,
    y: Array,
    masks: Array,
    splits: Sequence[Split],
    k: int = 1,
    scoring: str = "accuracy",
) -> Array:
    """Scores of boolean masks, shape (n_masks, n_splits)."""
    classes, codes = np.unique(y, return_inverse=True)
    n_classes = len(classes)
    out = np.empty((len(masks), len(splits)))
    for m, mask in enumerate(masks):
        d = distances(X, mask) if mask.any() else None
        for s, (train, test) in enumerate(splits):
            if d is None:
                majority = np.bincount(codes[train], minlength=n_classes).argmax()
                predicted = np.full(len(test), majority)
            else:
                predicted = votes(d, codes, n_classes, (train, test), k).argmax(axis=1)
            out[m, s] = score(codes[test], predicted, n_classes, scoring)
    return out


def exponent(value: float) -> int:
    """floor(log2(value)), exactly."""
    return math.frexp(value)[1] - 1


def unit(max_abs: Array) -> float:
    """Unit of the fixed-point Gram matrix: products below 2^50, sums of squares below 2^60."""
    total = most = 0.0
    for value in max_abs.tolist():
        total += value * value
        most = max(most, value * value)
    if most == 0:
        return 1.0
    return 2.0 ** max(exponent(most) + 1 - 50, exponent(total) + 1 - 60)


def fixed_gram(features: Array, n_samples: int, max_abs: Array, mask: Array) -> Array:
    """Gram matrix in units, int64 of shape (n, n); `features` is feature-major."""
    scale = unit(max_abs)
    out = np.zeros((n_samples, n_samples), dtype=np.int64)
    for f in np.flatnonzero(mask):
        row = features[f, :n_samples].astype(np.float64)
        # Products of float32 values are exact in float64; rint rounds halves to even.
        out += np.rint(row[:, None] * row[None, :] / scale).astype(np.int64)
    return out


def weighed(d: Array, target: Array, n_classes: int, split: Split, k: int, weights: str) -> Array:
    """Shares of the classes (n_test, n_classes), or means of the numbers (n_test, 1)."""
    train, test = np.sort(split[0]), split[1]
    out = np.zeros((len(test), max(n_classes, 1)))
    for row, i in zip(out, test, strict=True):
        nearest = train[np.argsort(d[i, train], kind="stable")[:k]]
        total = 0.0
        for j in nearest:  # nearest first
            if weights == "uniform" or k == 1:
                weight = 1.0
            elif d[i, nearest[0]] == 0:
                weight = float(d[i, j] == 0)
            else:
                weight = 1.0 / np.sqrt(d[i, j])
            if n_classes:
                row[target[j]] += weight
            else:
                row[0] += target[j] * weight
            total += weight
        if n_classes:
            total = sum(row.tolist())
        row /= total
    return out
