"""Counts, means and sums of squares a class, and products with a numeric target.

Dense tables go through the compiled core, sparse ones through sums over their entries, in time
proportional to the number of those. Means are less a constant of the feature's own, so that an
offset of 1e9 does not eat their digits: only differences between them have a meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._threads import effective_n_jobs
from bitsieve.data.inputs import Inputs

__all__ = [
    "BLOCK",
    "Moments",
    "centred_numbers",
    "class_moments",
    "in_blocks",
    "scaled_columns",
    "scaled_sparse",
    "target_moments",
]

Floats = NDArray[np.float64]

#: Features that numpy works on at a time: the arrays in between stay in cache.
BLOCK = 16_384

#: Sums of squares below this may have lost digits to underflow.
_TINY = 1e-280

#: Sparse columns with values beyond this, or below its inverse, are scaled.
_GREAT = 1e120


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums a class, or several features' slice of them.

    Attributes
    ----------
    counts : ndarray of shape (n_classes,)
        Samples of each class.
    mean : ndarray of shape (n_classes, n_features)
        Means, less a constant a feature.
    square : ndarray of shape (n_classes, n_features)
        Sums of squared differences from the class's mean.
    exponent : ndarray of shape (n_features,) or None
        Features whose squares would not fit into float64 were divided by 2 to this power.
    """

    counts: Floats
    mean: Floats
    square: Floats
    exponent: NDArray[np.int64] | None = None


def class_moments(
    columns: Inputs, codes: NDArray[np.int32], n_classes: int, n_jobs: int | None
) -> Moments:
    """Sums over the classes that ``codes`` stand for.

    Raises
    ------
    ValueError
        For NaN or infinity in X.
    """
    threads = effective_n_jobs(n_jobs)
    counts = np.bincount(codes, minlength=n_classes).astype(np.float64)
    if columns.is_sparse:
        fitting, exponents = scaled_sparse(columns.X)
        return Moments(counts, *_sparse_moments(fitting, codes, counts), exponents)
    X = columns.X
    mean, square = _core.class_moments(X, codes, n_classes, threads)
    bad = _doubtful(columns, mean, square)
    if bad is None:
        return Moments(counts, mean, square)
    scaled, exponent = scaled_columns(X, bad)
    mean[:, bad], square[:, bad] = _core.class_moments(scaled, codes, n_classes, threads)
    exponents = np.zeros(X.shape[1], dtype=np.int64)
    exponents[bad] = exponent
    return Moments(counts, mean, square, exponents)


def target_moments(columns: Inputs, y: Floats, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Return sums of squares of each feature, and of its products with y, which sums to zero.

    Both are centred; squares and products of one feature may share a power of two and its square
    root, so that only product / sqrt(square) has a meaning.

    Raises
    ------
    ValueError
        For NaN or infinity in X.
    """
    threads = effective_n_jobs(n_jobs)
    if columns.is_sparse:
        return _sparse_products(scaled_sparse(columns.X)[0], y)
    square, cross = _core.target_moments(columns.X, y, threads)
    bad = _doubtful(columns, cross[None], square[None])
    if bad is not None:
        square[bad], cross[bad] = _core.target_moments(
            scaled_columns(columns.X, bad)[0], y, threads
        )
    return square, cross


def centred_numbers(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return y, which varies, less its mean, in a unit in which its squares fit into float64."""
    with np.errstate(over="ignore"):
        shifted = y - y[0]  # first, so that an offset does not eat the digits
    if not np.isfinite(shifted).all():
        shifted = y / 4 - y[0] / 4
    shifted /= np.abs(shifted).max()
    out: NDArray[np.float64] = shifted - shifted.mean()
    return out


def in_blocks(function: Callable[[Moments], Floats], moments: Moments) -> Floats:
    """Apply a formula to a few thousand features at a time, so that what it makes stays in cache.

    Division by zero is silent inside, and 0 / 0 counts as 0: a feature that nowhere differs.
    """
    n_features = moments.mean.shape[1]
    out = np.empty(n_features)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for begin in range(0, n_features, BLOCK):
            part = slice(begin, begin + BLOCK)
            values = function(
                Moments(moments.counts, moments.mean[:, part], moments.square[:, part])
            )
            np.copyto(out[part], values)
            out[part][np.isnan(values)] = 0.0
    return out


def _doubtful(columns: Inputs, mean: Floats, square: Floats) -> NDArray[np.int64] | None:
    """Features whose squares left the range of float64, after NaN and infinity were refused."""
    with np.errstate(over="ignore", invalid="ignore"):
        fine = bool(np.isfinite(mean.sum() + square.sum()))
    if not fine:
        columns.refuse()
    if columns.X.dtype == np.float32:  # cannot leave it
        return None
    most = square.max(axis=0) if len(square) > 1 else square[0]
    low = most < _TINY
    if fine and not low.any():
        return None
    bad = low
    if not fine:
        bad = low | ~(np.isfinite(mean).all(axis=0) & np.isfinite(square).all(axis=0))
    where = np.flatnonzero(bad)
    first = columns.X[0, where]
    varies = np.zeros(len(where), dtype=bool)
    for i in range(1, columns.n_samples):
        varies |= columns.X[i, where] != first
    where = where[varies]
    return where if len(where) else None


def scaled_columns(X: NDArray[Any], where: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """Some columns of float64, less their first value, over powers of two; and these powers."""
    chosen = X[:, where]
    quarter = 2 * (np.abs(chosen).max(axis=0) > 1.0)  # so that differences of great numbers fit
    shifted = np.ldexp(chosen, -quarter)
    shifted -= shifted[0].copy()
    exponent = np.frexp(np.abs(shifted).max(axis=0))[1].astype(np.int64)
    return np.ascontiguousarray(np.ldexp(shifted, -exponent)), exponent + quarter


def scaled_sparse(X: Any) -> tuple[Any, NDArray[np.int64] | None]:
    """Columns whose squares fit into float64, and the power of two each was divided by."""
    size = np.abs(X.data)
    if not size.any() or (size.max() < _GREAT and size[size > 0].min() > 1 / _GREAT):
        return X, None
    most = np.zeros(X.shape[1])
    column = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    np.maximum.at(most, column, size)
    exponents = np.frexp(most)[1].astype(np.int64)
    exponents[(most < _GREAT) & (most > 1 / _GREAT)] = 0
    out = X.copy()
    out.data = np.ldexp(X.data, -exponents[column])
    return out, exponents


def _sparse_moments(X: Any, codes: NDArray[np.int32], counts: Floats) -> tuple[Floats, Floats]:
    """Means and sums of squares, a class and feature each."""
    n_classes, p = len(counts), X.shape[1]
    column = np.repeat(np.arange(p), np.diff(X.indptr))
    place = codes[X.indices].astype(np.int64) * p + column
    stored = np.bincount(place, minlength=n_classes * p)
    # Where a class has no zero in a feature, differences are taken from its first value.
    shift = np.zeros(n_classes * p)
    shift[place[::-1]] = X.data[::-1]
    shift[stored < np.repeat(counts, p)] = 0.0
    difference = X.data - shift[place]
    size = np.repeat(np.maximum(counts, 1), p)
    inner = np.bincount(place, weights=difference, minlength=n_classes * p) / size
    zeros = np.repeat(counts, p) - stored
    difference -= inner[place]
    square: Floats = zeros * inner**2
    square += np.bincount(place, weights=difference * difference, minlength=n_classes * p)
    shape = (n_classes, p)
    return (shift + inner).reshape(shape), square.reshape(shape)


def _sparse_products(X: Any, y: Floats) -> tuple[Floats, Floats]:
    p = X.shape[1]
    none = np.zeros(X.shape[0], dtype=np.int32)
    mean, square = _sparse_moments(X, none, np.array([float(len(y))]))
    column = np.repeat(np.arange(p), np.diff(X.indptr))
    # Differences from the mean, at every sample: those at zeros sum to minus that of the others.
    difference = X.data - mean[0][column]
    inside = y[X.indices]
    cross = np.bincount(column, weights=difference * inside, minlength=p)
    cross += mean[0] * (np.bincount(column, weights=inside, minlength=p) - y.sum())
    return square[0], np.where(square[0] > 0, cross, 0.0)
