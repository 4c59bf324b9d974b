"""The feature-major copy: the table as the kernels read it.

Kernels walk feature by feature, so the copy is feature-major; each row is padded to a whole
number of cache lines, so that vector loops need no tails. Columns are centred, which keeps
float32 products small, and the centre is chosen so that nothing is lost where that can be done:

* values on a dyadic grid of step s (integers, counts, halves, float32 data in a narrow range)
  get the mean rounded to that grid, so every difference is a multiple of s and exact as long
  as it needs no more bits than the format has;
* values that are exact in the copy's format already, with a mean below half a standard deviation,
  stay where they are: the centre is 0;
* all others get the mean in float64, and each difference is rounded once.

The copy is made block by block: a block of columns is transposed inside the second-level cache,
then all passes over it are cheap. Temporaries stay below 16 MB whatever the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from bitsieve._errors import name_columns

__all__ = ["FeatureMajor", "aligned_zeros", "make_feature_major"]

_ALIGNMENT = 64
_BLOCK_ELEMENTS = 1 << 16  # 512 KB of float64: a block stays in the second-level cache
_LINE = 16  # elements a row is padded to
_NO_GRID, _ANY_GRID = -(1 << 31), 1 << 31


@dataclass(frozen=True, eq=False)
class FeatureMajor:
    """Centred, feature-major, padded copy of a table.

    Attributes
    ----------
    features : ndarray of shape (n_features, ld)
        Float32 or float64, C order, 64-byte aligned, read-only. ``ld`` is the number of samples
        rounded up to 16; the elements past the last sample are zero.
    centre : ndarray of shape (n_features,)
        Float64; what was subtracted from each column.
    max_abs : ndarray of shape (n_features,)
        Float64; largest absolute centred value of each feature.
    exact_features : ndarray of shape (n_features,)
        Bool; True where every centred value equals ``x - centre`` exactly.
    """

    features: NDArray[Any]
    centre: NDArray[np.float64]
    max_abs: NDArray[np.float64]
    exact_features: NDArray[np.bool_]

    @property
    def exact(self) -> bool:
        """True if every centred value of every feature equals ``x - centre`` exactly."""
        return bool(self.exact_features.all())


def aligned_zeros(shape: tuple[int, int], dtype: DTypeLike) -> NDArray[Any]:
    """Zeroed C-ordered array that starts on a 64-byte boundary.

    Examples
    --------
    >>> aligned_zeros((3, 16), np.float32).ctypes.data % 64
    0
    """
    dtype = np.dtype(dtype)
    size = shape[0] * shape[1] * dtype.itemsize
    raw = np.zeros(size + _ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


def make_feature_major(
    X: NDArray[Any],
    *,
    dtype: DTypeLike = np.float32,
    names: Sequence[str] | None = None,
    block_columns: int | None = None,
) -> FeatureMajor:
    """Copy a finite table into the form that the kernels read.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite float32 or float64 values.
    dtype : {numpy.float32, numpy.float64}
        Type of the copy.
    names : sequence of str, optional
        Feature names, for messages.
    block_columns : int, optional
        Columns worked on at once; the answer does not depend on it.

    Returns
    -------
    FeatureMajor
        The copy, its centres and ranges.

    Raises
    ------
    ValueError
        If centred values of a column overflow in float32, or vanish in ``dtype``.

    Examples
    --------
    >>> copied = make_feature_major(np.array([[1.0, 0.5], [2.0, 0.0], [6.0, 0.0]]))
    >>> copied.features[:, :3]
    array([[-2. , -1. ,  3. ],
           [ 0.5,  0. ,  0. ]], dtype=float32)
    >>> copied.centre, copied.exact
    (array([3., 0.]), True)
    """
    dtype = np.dtype(dtype)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be numpy.float32 or numpy.float64, got {dtype}")
    n_samples, n_features = X.shape
    if block_columns is None:
        # Whole cache lines of a row where that is possible, but never much memory.
        block_columns = max(_LINE, _BLOCK_ELEMENTS // n_samples)
        block_columns = max(1, min(block_columns, n_features, 4 * _BLOCK_ELEMENTS // n_samples))
    features = aligned_zeros((n_features, -(-n_samples // _LINE) * _LINE), dtype)
    centre = np.empty(n_features)
    max_abs = np.empty(n_features)
    exact = np.empty(n_features, dtype=bool)
    varies = np.empty(n_features, dtype=bool)
    scratch = np.empty((min(block_columns, n_features), n_samples))
    for start in range(0, n_features, block_columns):
        part = slice(start, min(start + block_columns, n_features))
        block = scratch[: part.stop - start]
        block[...] = X[:, part].T
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            low, high = block.min(axis=1), block.max(axis=1)
            varies[part] = high > low
            centre[part], exact[part] = _choose_centres(block, low, high, dtype)
            block -= centre[part, None]
            features[part, :n_samples] = block
            ends = np.stack([low, high]) - centre[part]
            max_abs[part] = np.abs(ends.astype(dtype)).max(axis=0)
    _refuse_range(max_abs, varies, dtype, names)
    for array in (features, centre, max_abs, exact):
        array.setflags(write=False)
    return FeatureMajor(features, centre, max_abs, exact)


def _choose_centres(
    block: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    dtype: np.dtype[Any],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Centre of each row of a block, and whether subtracting it is exact in dtype."""
    bits = np.finfo(dtype).nmant + 1
    mean = block.mean(axis=1)
    overflown = ~np.isfinite(np.maximum(high - mean, mean - low))
    mean[overflown] = low[overflown] / 2 + high[overflown] / 2
    mean = np.clip(mean, low, high)  # rounding may carry the mean of equal values past them
    reach = np.maximum(high - mean, mean - low)
    centre, exact = mean.copy(), np.zeros(len(mean), dtype=bool)

    # The finest step on which every difference fits: reach < 2**bits steps, the rounding of the
    # centre moves it by half a step, and whole numbers up to 2**bits inclusive are exact.
    finest = np.frexp(reach)[1].astype(np.int64) - bits
    constant = reach == 0
    centre[constant], exact[constant] = low[constant], True
    top = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1].astype(np.int64)
    # A few values tell most columns that are on no grid.
    few = block[:, :8].copy()
    candidates = np.flatnonzero(~constant & (_coarsest_grid(few, finest, top) > _NO_GRID))
    if candidates.size:
        if 2 * candidates.size > len(block):  # cheaper than to gather the rows
            coarsest = _coarsest_grid(block, finest, top)[candidates]
        else:
            coarsest = _coarsest_grid(block[candidates], finest[candidates], top[candidates])
        candidates, coarsest = candidates[coarsest > _NO_GRID], coarsest[coarsest > _NO_GRID]
        # Integers keep step 1 even where a coarser grid would do: a finer centre is a better one.
        step = np.maximum(np.minimum(coarsest, 0), finest[candidates])
        centre[candidates] = _round_to_grid(mean[candidates], step)
        exact[candidates] = True

    rest = np.flatnonzero(~exact)
    if rest.size:
        spread = np.square(reach[rest])  # above the variance: a cheap first sieve
        rest = rest[4 * np.square(mean[rest]) <= spread]
    if rest.size:
        rows = block[rest]
        variance = np.maximum(np.square(rows).mean(axis=1) - np.square(mean[rest]), 0)
        keep = (4 * np.square(mean[rest]) <= variance) & (rows.astype(dtype) == rows).all(axis=1)
        centre[rest[keep]] = 0.0
        exact[rest[keep]] = True
    return centre, exact


def _coarsest_grid(
    rows: NDArray[np.float64], finest: NDArray[np.int64], top: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Largest e >= finest such that every value of a row is a multiple of 2**e, or _NO_GRID.

    Values are below 2**top. Counting in steps of 2**(top - 62) keeps counts in int64 and loses
    nothing: a finer grid would mean that values differ so little that all are near 2**top, where
    float64 itself has no finer steps.
    """
    exponent = np.clip(np.maximum(finest, top - 62), -1022, 1022)
    steps = rows * np.ldexp(1.0, -exponent)[:, None]
    counts = steps.astype(np.int64)
    on_grid = (counts == steps).all(axis=1)
    bits = np.bitwise_or.reduce(counts, axis=1)
    lowest = np.frexp((bits & -bits).astype(np.float64))[1] - 1
    coarsest: NDArray[np.int64] = np.where(bits == 0, _ANY_GRID, exponent + lowest)
    return np.where(on_grid, coarsest, _NO_GRID)


def _round_to_grid(values: NDArray[np.float64], exponent: NDArray[np.int64]) -> NDArray[np.float64]:
    """Nearest multiple of 2**exponent; ties to even."""
    # Values beyond 2**52 steps are on the grid already, and scaling them could overflow.
    fine = np.frexp(values)[1] - exponent > 52
    power = np.clip(np.where(fine, 0, exponent), -1022, 1023).astype(np.int64)
    scaled = np.ldexp(np.rint(np.ldexp(values, -power)), power)
    return np.where(fine, values, scaled)


def _refuse_range(
    max_abs: NDArray[np.float64],
    varies: NDArray[np.bool_],
    dtype: np.dtype[Any],
    names: Sequence[str] | None,
) -> None:
    way_out = "scale these columns (StandardScaler, a logarithm)"
    if dtype == np.float32:
        way_out = f"pass dtype=numpy.float64 or {way_out}"
    over = np.flatnonzero(~np.isfinite(max_abs))
    if over.size:
        raise ValueError(
            f"centred values of {name_columns(over.tolist(), names)} do not fit in {dtype} "
            f"(largest {np.finfo(dtype).max:.3g}); {way_out}"
        )
    # Below this the significand of the largest value itself loses bits to underflow.
    least = float(np.finfo(dtype).tiny) * 2.0 ** (np.finfo(dtype).nmant + 1)
    under = np.flatnonzero(varies & (max_abs < least))
    if under.size:
        raise ValueError(
            f"centred values of {name_columns(under.tolist(), names)} are too small for {dtype} "
            f"(all below {least:.3g}); {way_out}"
        )
