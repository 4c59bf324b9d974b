"""Cut points of every column, and how each method of discretisation finds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._errors import plural, shorten

__all__ = ["Cuts", "equal_frequency", "equal_width", "from_columns", "mdl", "mean_sd", "user"]

_BLOCK = 1 << 18  # values sorted at a time
_UNIT = 600  # power of two that takes great numbers where their squares are numbers


@dataclass(frozen=True, eq=False)
class Cuts:
    """Ascending cut points of all columns, one after the other.

    Attributes
    ----------
    values : ndarray of shape (n_cuts,)
        Float64.
    begin : ndarray of shape (n_features + 1,)
        Int64; the cuts of column f are ``values[begin[f]:begin[f + 1]]``.
    """

    values: NDArray[np.float64]
    begin: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Cuts a column."""
        return np.diff(self.begin)

    def columns(self) -> list[NDArray[np.float64]]:
        """One array a column."""
        return np.split(self.values, self.begin[1:-1])

    def replaced(self, mask: NDArray[np.bool_], other: Cuts) -> Cuts:
        """The columns under the mask from another."""
        if not mask.any():
            return self
        counts = np.where(mask, other.counts, self.counts)
        taken = np.repeat(mask, counts)
        values = np.empty(len(taken))
        values[taken] = other.values[np.repeat(mask, other.counts)]
        values[~taken] = self.values[np.repeat(~mask, self.counts)]
        return Cuts(values, _begin(counts))

    def apply(self, X: NDArray[Any], *, missing_level: bool, n_threads: int) -> NDArray[np.uint8]:
        """Levels (n_samples, n_features): how many cuts of its column lie below a value."""
        return _core.apply_cut_points(
            X, self.values, self.begin, missing_level=missing_level, n_threads=n_threads
        )


def _begin(counts: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def mdl(
    X: NDArray[Any], codes: NDArray[np.int32], n_classes: int, *, cut_cost: str, n_threads: int
) -> Cuts:
    """Fayyad and Irani's recursive splits."""
    found = _core.mdl_cut_points(
        X, codes, n_classes=n_classes, distinct=cut_cost == "distinct", n_threads=n_threads
    )
    return Cuts(*found)


def mean_sd(X: NDArray[Any], width: float, *, n_threads: int) -> Cuts:
    """Below, around and above the mean; a cut beyond float64 is infinite, and its level empty."""
    cuts = Cuts(*_core.mean_sd_cut_points(X, width=width, n_threads=n_threads))
    if np.isfinite(cuts.values).all():
        return cuts
    # Squares overflowed: these columns again in a unit in which they do not.
    great = np.zeros(X.shape[1], dtype=bool)
    lost = np.flatnonzero(~np.isfinite(cuts.values))
    great[np.searchsorted(cuts.begin, lost, "right") - 1] = True
    scaled = np.where(great, np.ldexp(X, -_UNIT), X).astype(X.dtype)
    again = Cuts(*_core.mean_sd_cut_points(scaled, width=width, n_threads=n_threads))
    with np.errstate(over="ignore"):
        again = Cuts(np.ldexp(again.values, _UNIT), again.begin)
    return cuts.replaced(great, again)


def equal_width(X: NDArray[Any], n_bins: int) -> Cuts:
    """Bins of one width between the least and the greatest value of each column."""
    low = np.fmin.reduce(X, axis=0).astype(np.float64)
    high = np.fmax.reduce(X, axis=0).astype(np.float64)
    share = np.arange(1, n_bins) / n_bins
    parts = []
    for part in _blocks(len(low), n_bins):
        # Not low + share * (high - low), which overflows where the ends have opposite signs.
        grid = low[part, None] * (1.0 - share) + high[part, None] * share
        parts.append(_useful(np.sort(grid, axis=1), low[part], high[part]))
    return _joined(parts)


def equal_frequency(X: NDArray[Any], n_bins: int) -> Cuts:
    """Bins of one number of samples, as far as equal values allow."""
    n, p = X.shape
    return _joined([_useful(*_quantiles(X[:, f], n_bins)) for f in _blocks(p, max(n, n_bins))])


def _blocks(n_features: int, width: int) -> list[slice]:
    """Slices of columns, `width` values each, that are worked on at a time."""
    step = max(1, _BLOCK // width)
    return [slice(f, min(f + step, n_features)) for f in range(0, n_features, step)]


def _joined(parts: list[Cuts]) -> Cuts:
    """Cuts of blocks of columns as one."""
    return Cuts(
        np.concatenate([part.values for part in parts]),
        _begin(np.concatenate([part.counts for part in parts])),
    )


def _quantiles(X: NDArray[Any], n_bins: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    columns = np.sort(X.T, axis=1).astype(np.float64)  # NaN last
    n_there = (~np.isnan(columns)).sum(axis=1)[:, None]
    last = np.maximum(n_there - 1, 0)
    at = np.clip((np.arange(1, n_bins) * n_there + n_bins // 2) // n_bins - 1, 0, last)
    below = np.take_along_axis(columns, at, axis=1)
    above = np.take_along_axis(columns, np.minimum(_last_equal(columns, at) + 1, last), axis=1)
    middle = below / 2 + above / 2
    # Never so far that the greater of two neighboring numbers would be below.
    grid = np.where((middle >= below) & (middle < above), middle, below)
    return grid, columns[:, 0], np.take_along_axis(columns, last, axis=1)[:, 0]


def _last_equal(columns: NDArray[Any], at: NDArray[Any]) -> NDArray[Any]:
    """Last position that holds the value at each position of a sorted column."""
    n = columns.shape[1]
    rises = np.ones(columns.shape, dtype=bool)
    rises[:, :-1] = columns[:, 1:] != columns[:, :-1]
    if rises.all():
        return at
    ends = np.where(rises, np.arange(n), n - 1)
    ends = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return np.take_along_axis(ends, at, axis=1)


def _useful(grid: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> Cuts:
    """Drop cuts that come twice and those with no value on one side."""
    with np.errstate(invalid="ignore"):
        kept = (grid >= low[:, None]) & (grid < high[:, None])
    kept[:, 1:] &= grid[:, 1:] > grid[:, :-1]
    return Cuts(grid[kept], _begin(kept.sum(axis=1)))


def from_columns(columns: Sequence[NDArray[np.float64]]) -> Cuts:
    """Join one array of cuts a column."""
    values = np.concatenate([np.empty(0), *columns])
    return Cuts(values, _begin(np.array([len(c) for c in columns])))


def user(bins: Any, n_features: int) -> Cuts:
    """Cut points as they were given: the same for all columns, or one list a column.

    Raises
    ------
    ValueError
        If they are not finite numbers in ascending order, or not one list a column.
    """
    if bins is None:
        raise ValueError("method='user' needs bins: cut points for all columns, or a list a column")
    if isinstance(bins, (str, bytes)) or not hasattr(bins, "__iter__"):
        raise _no_cut_points(bins)
    bins = list(bins)
    shared = all(np.ndim(b) == 0 for b in bins)
    if not shared and len(bins) != n_features:
        raise ValueError(
            f"bins holds cut points of {plural(len(bins), 'column')}, but X has "
            f"{plural(n_features, 'column')}; pass one list a column, or one for all"
        )
    try:
        columns = [np.array(b, dtype=np.float64, ndmin=1) for b in ([bins] if shared else bins)]
    except (TypeError, ValueError):
        raise _no_cut_points(bins) from None
    for j, cuts in enumerate(columns):
        if cuts.ndim != 1 or not np.isfinite(cuts).all() or (np.diff(cuts) <= 0).any():
            where = "" if shared else f" of column {j}"
            raise ValueError(
                f"bins{where} must be finite numbers in ascending order, got {cuts.tolist()}"
            )
    return from_columns(columns * n_features if shared else columns)


def _no_cut_points(bins: Any) -> ValueError:
    return ValueError(
        "bins must be cut points, numbers in ascending order, for all columns, or a list a "
        f"column, got {shorten([bins])}"
    )
