"""Levels of a sparse table, in time proportional to its entries and columns.

::

    entries --sorted by column and value--> runs of equal values, the zeros between them
        few entries:  levels by the values themselves, by cuts of the column's sums and ends, or,
                      where order and classes decide (mdl, equal_frequency), from one column of
                      each pattern
        others:       dense, a few columns at a time
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve.data.inputs import Inputs
from bitsieve.discrete._cuts import equal_width
from bitsieve.discrete._levels import MAX_LEVELS, Options, levels, max_auto_levels

__all__ = ["BLOCK", "SparseLevels", "sparse_levels"]

#: Values of a sparse table that are dense at a time.
BLOCK = 1 << 21

#: A column of more entries than this part of the samples is dense, as in the compiled core.
_FEW = 32


@dataclass(frozen=True, eq=False)
class SparseLevels:
    """A discretised sparse table.

    Attributes
    ----------
    begin : ndarray of shape (n_features + 1,)
        Int64; the entries of column f are ``begin[f]`` to ``begin[f + 1] - 1``.
    rows, codes : ndarray of shape (n_entries,)
        Int32 samples and uint8 levels of the entries.
    rest : ndarray of shape (n_features,)
        Uint8 levels of all other samples.
    n_levels : ndarray of shape (n_features,)
        Int32.
    n_samples : int
    """

    begin: NDArray[np.int64]
    rows: NDArray[np.int32]
    codes: NDArray[np.uint8]
    rest: NDArray[np.uint8]
    n_levels: NDArray[np.int32]
    n_samples: int

    def table(self, n_threads: int) -> _core.DiscreteTable:
        """Return the table as the information kernels take it."""
        return _core.sparse_discrete_table(
            self.begin, self.rows, self.codes, self.rest, self.n_levels, self.n_samples, n_threads
        )

    def column(self, feature: int) -> NDArray[np.uint8]:
        """Levels of one column."""
        own = slice(self.begin[feature], self.begin[feature + 1])
        out = np.full(self.n_samples, self.rest[feature], dtype=np.uint8)
        out[self.rows[own]] = self.codes[own]
        return out


def sparse_levels(inputs: Inputs, options: Options) -> SparseLevels:
    """Code the entries that are there, and the zeros of each column.

    Parameters
    ----------
    inputs : Inputs
        With a sparse X, and classes where the method is "mdl".
    options : Options

    Raises
    ------
    ValueError
        As :func:`bitsieve.discrete._levels.levels` does.
    """
    matrix = inputs.X
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    p = matrix.shape[1]
    found = SparseLevels(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        np.zeros(matrix.nnz, dtype=np.uint8),
        np.zeros(p, dtype=np.uint8),
        np.ones(p, dtype=np.int32),
        matrix.shape[0],
    )
    table = replace(inputs, X=matrix)
    left = _code_few(table, options, found)
    step = max(1, BLOCK // found.n_samples)
    for first in range(0, len(left), step):
        _code_dense(table, left[first : first + step], options, found)
    return found


def _code_dense(
    inputs: Inputs, features: NDArray[np.int64], options: Options, found: SparseLevels
) -> None:
    """Code some columns by their dense form."""
    dense = np.ascontiguousarray(inputs.X[:, features].toarray())
    own = replace(
        inputs,
        X=dense,
        discrete=inputs.discrete[features],
        names=[f"number {f}" for f in features],
    )
    coded = levels(own, options)
    counts = np.diff(found.begin)[features]
    entries = _entries(found.begin[features], counts)
    columns = np.repeat(np.arange(len(features)), counts)
    found.codes[entries] = coded.codes[found.rows[entries], columns]
    found.rest[features] = coded.codes[(dense == 0).argmax(axis=0), np.arange(len(features))]
    found.n_levels[features] = coded.n_levels


def _code_few(inputs: Inputs, options: Options, found: SparseLevels) -> NDArray[np.int64]:
    """Code columns of few entries; return those that must be looked at in their dense form."""
    known = inputs.discrete
    counts, n, p = np.diff(found.begin), found.n_samples, len(known)
    few = (counts > 0) & (counts <= n // _FEW)
    left = counts > n // _FEW
    runs = _Runs(inputs.X, few)
    method = options.method
    limit = max_auto_levels(n) if options.max_levels is None else options.max_levels
    most = np.where(known, MAX_LEVELS - (options.missing == "level"), limit)
    fits = runs.whole & (runs.n_distinct < most)  # and the zeros
    unasked = fits & runs.small if method == "auto" else np.full(p, method is None)
    as_levels = few & (known | unasked)
    left |= as_levels & ~fits  # the dense form refuses them, in its words
    as_levels &= fits
    runs.write_levels(as_levels, found)
    cut = few & ~as_levels & ~left
    if not cut.any():
        return np.flatnonzero(left)
    if method in ("auto", "mean_sd"):
        runs.write_cuts(cut, _mean_sd_cuts(runs, n), found)
    elif method == "equal_width":
        runs.write_cuts(cut, _equal_width_cuts(runs, cut, options.n_bins), found)
    else:
        _code_patterns(inputs, runs, cut, options, found)
    return np.flatnonzero(left)


class _Runs:
    """Entries sorted by column and value, and what the columns among ``few`` hold."""

    def __init__(self, matrix: Any, few: NDArray[np.bool_]) -> None:
        counts = np.diff(matrix.indptr)
        p = len(counts)
        column = np.repeat(np.arange(p), counts)
        chosen = np.flatnonzero(few[column])
        chosen = chosen[np.lexsort((matrix.data[chosen], column[chosen]))]
        self.entries = chosen
        self.column, self.values = column[chosen], matrix.data[chosen]
        values, own = self.values, self.column
        first = np.ones(len(values), dtype=bool)
        first[1:] = own[1:] != own[:-1]
        self.fresh = first.copy()  # the first of equal values
        self.fresh[1:] |= values[1:] != values[:-1]
        self.n_distinct = np.bincount(own[self.fresh], minlength=p)
        below = np.concatenate(([0], np.cumsum(self.n_distinct)[:-1]))
        self.rank = np.cumsum(self.fresh) - 1 - below[own] if len(values) else own
        self.n_negative = np.bincount(own[self.fresh & (values < 0)], minlength=p)
        self.counts = np.bincount(own, minlength=p)
        fraction = values != np.rint(values)
        self.whole = np.bincount(own[fraction], minlength=p) == 0
        self.small = np.bincount(own[np.abs(values) >= 2.0**53], minlength=p) == 0
        self.begin = np.concatenate(([0], np.cumsum(self.counts)))
        self.least, self.most = np.zeros(p), np.zeros(p)
        there = self.counts > 0
        self.least[there] = np.minimum(values[self.begin[:-1][there]], 0.0)
        self.most[there] = np.maximum(values[self.begin[1:][there] - 1], 0.0)

    def write_levels(self, wanted: NDArray[np.bool_], found: SparseLevels) -> None:
        """Give each value of some columns, and their zeros, a level of its own."""
        own = wanted[self.column]
        code = self.rank + (self.values > 0)
        found.codes[self.entries[own]] = code[own]
        found.rest[wanted] = self.n_negative[wanted]
        found.n_levels[wanted] = self.n_distinct[wanted] + 1

    def write_cuts(
        self,
        wanted: NDArray[np.bool_],
        cuts: Iterable[NDArray[np.float64]],
        found: SparseLevels,
    ) -> None:
        """Count the cuts below each value; each cut has one number a column, inf where none."""
        own = wanted[self.column]
        column, values = self.column[own], self.values[own]
        code = np.zeros(len(values), dtype=np.uint8)
        rest = np.zeros(len(wanted), dtype=np.uint8)
        n_levels = np.ones(len(wanted), dtype=np.int32)
        for cut in cuts:
            code += values > cut[column]
            rest += cut < 0.0
            n_levels += np.isfinite(cut)
        found.codes[self.entries[own]] = code
        found.rest[wanted], found.n_levels[wanted] = rest[wanted], n_levels[wanted]


def _mean_sd_cuts(runs: _Runs, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cuts one standard deviation about the mean; as :func:`bitsieve.discrete._cuts.mean_sd`."""
    span = np.maximum(runs.most, -runs.least)
    exponent = np.frexp(np.where(span > 0, span, 1.0))[1]  # so that squares fit into float64
    values = np.ldexp(runs.values, -exponent[runs.column])
    p = len(span)
    mean = np.bincount(runs.column, weights=values, minlength=p) / n
    off = values - mean[runs.column]
    apart = np.bincount(runs.column, weights=off * off, minlength=p)
    reach = np.sqrt((apart + (n - runs.counts) * mean**2) / (n - 1))
    with np.errstate(over="ignore"):
        low, high = np.ldexp(mean - reach, exponent), np.ldexp(mean + reach, exponent)
    return np.nextafter(low, -np.inf), high


def _equal_width_cuts(
    runs: _Runs, wanted: NDArray[np.bool_], n_bins: int
) -> Iterator[NDArray[np.float64]]:
    """Cuts of some columns, the first of each, the second ...; they follow from the ends."""
    features = np.flatnonzero(wanted)
    cuts = equal_width(np.stack([runs.least[features], runs.most[features]]), n_bins)
    for k in range(int(cuts.counts.max(initial=0))):
        out = np.full(len(wanted), np.inf)
        there = cuts.counts > k
        out[features[there]] = cuts.values[cuts.begin[:-1][there] + k]
        yield out


def _code_patterns(
    inputs: Inputs,
    runs: _Runs,
    cut: NDArray[np.bool_],
    options: Options,
    found: SparseLevels,
) -> None:
    """Code columns whose levels depend on the order of their values and the classes alone.

    Two columns are alike if, sorted by value, they have the same classes, signs and ties: one of
    them is cut, and the others get its levels, entry by entry.
    """
    labels = np.zeros(found.n_samples, dtype=np.int64)
    if options.method == "mdl":
        labels += inputs.codes
    label = labels[found.rows[runs.entries]]
    sign = 4 * label + 2 * (runs.values < 0) + runs.fresh
    step = max(1, BLOCK // found.n_samples)
    for size in np.unique(runs.counts[cut]):
        features = np.flatnonzero(cut & (runs.counts == size))
        places = runs.begin[features][:, None] + np.arange(size)  # in the sorted entries
        _, first, alike = np.unique(sign[places], axis=0, return_index=True, return_inverse=True)
        leaders = features[first]
        for part in range(0, len(leaders), step):
            _code_dense(inputs, leaders[part : part + step], options, found)
        leader = first[alike.reshape(-1)]
        found.codes[runs.entries[places]] = found.codes[runs.entries[places[leader]]]
        found.rest[features] = found.rest[features[leader]]
        found.n_levels[features] = found.n_levels[features[leader]]


def _entries(begin: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of the entries of some columns."""
    ends = np.cumsum(counts)
    shift: NDArray[np.int64] = np.repeat(begin - (ends - counts), counts)
    return shift + np.arange(len(shift))
