"""Lists of flips of one base mask: what can be said of the masks without writing them down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["are_single", "checked_lists", "counts_of", "expand", "rows_of", "rows_with"]

Words = NDArray[np.uint64]
Positions = NDArray[np.int64]


def checked_lists(n_features: int, indptr: object, indices: object) -> tuple[Positions, Positions]:
    """Return copies of both as int64, or say what is wrong with them.

    Raises
    ------
    ValueError
        If they are no whole numbers, an index is out of range, or the lists do not ascend from 0
        to the end of the indices.
    """
    arrays = []
    for name, given in (("indptr", indptr), ("indices", indices)):
        array = np.asarray(given)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise ValueError(
                f"{name} must be whole numbers of shape (n,), got {array.dtype} of shape "
                f"{array.shape}"
            )
        if array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise ValueError(f"{name} must be below 2**63, got {array.max()}")
        arrays.append(array.astype(np.int64))
    starts, flips = arrays
    if (
        starts.size == 0
        or starts[0] != 0
        or starts[-1] != flips.size
        or np.any(np.diff(starts) < 0)
    ):
        raise ValueError(
            "indptr must ascend from 0 to the number of indices, "
            f"{flips.size}, with n_masks + 1 entries"
        )
    if flips.size and (flips.min() < 0 or flips.max() >= n_features):
        raise ValueError(
            f"indices go from {flips.min()} to {flips.max()}; with {n_features} features they "
            f"must lie in [0, {n_features - 1}]"
        )
    return starts, flips


def expand(base: Words, indptr: Positions, indices: Positions) -> Words:
    """Return the masks as words, shape (n_masks, n_words)."""
    n_masks = len(indptr) - 1
    words = np.tile(base, (n_masks, 1))
    rows = np.repeat(np.arange(n_masks), np.diff(indptr))
    bits = np.uint64(1) << (indices % 64).astype(np.uint64)
    np.bitwise_xor.at(words, (rows, indices // 64), bits)
    return words


def rows_of(rows: Positions, indptr: Positions, indices: Positions) -> tuple[Positions, Positions]:
    """Return the lists of some masks, in their order."""
    lengths = indptr[rows + 1] - indptr[rows]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    # Each index of the new lists stands as far from where its list begins as it did.
    moved = np.repeat(indptr[rows] - starts[:-1], lengths)
    return starts, indices[moved + np.arange(starts[-1])]


def counts_of(base: NDArray[np.bool_], indptr: Positions, indices: Positions) -> Positions:
    """Return the number of features in each mask; a feature that stands twice is not flipped."""
    lengths = np.diff(indptr)
    change = np.where(base[indices], -1, 1)
    if np.all(lengths == 1):
        single: Positions = base.sum() + change
        return single
    if np.all(lengths == 2):
        first, second = indices[::2], indices[1::2]
        changes = change[::2] + change[1::2]
        pairs: Positions = base.sum() + np.where(first == second, 0, changes)
        return pairs
    n_masks = len(lengths)
    places = np.repeat(np.arange(n_masks), lengths) * len(base) + indices
    _, first, times = np.unique(places, return_index=True, return_counts=True)
    first = first[times % 2 == 1]
    rows = np.searchsorted(indptr, first, side="right") - 1
    counts = base.sum() + np.bincount(rows, weights=change[first], minlength=n_masks)
    sizes: Positions = counts.astype(np.int64)
    return sizes


def are_single(indptr: Positions) -> bool:
    """Whether every list has one flip."""
    return bool((indptr[1:] - indptr[:-1] == 1).all())


def rows_with(flips: Positions, indptr: Positions, indices: Positions) -> Positions:
    """Return the masks that may be the base with these flipped, ascending; hardly any other.

    Parameters
    ----------
    flips : int64 array
        Features, each once.
    indptr, indices : int64 arrays
    """
    if are_single(indptr):
        return np.flatnonzero(indices == flips[0]) if len(flips) == 1 else np.empty(0, np.int64)
    if bool((indptr[1:] - indptr[:-1] == 2).all()):
        first, second = indices[::2], indices[1::2]
        if len(flips) != 2:
            return np.flatnonzero(first == second) if len(flips) == 0 else np.empty(0, np.int64)
        low, high = flips
        either = (first == low) & (second == high)
        return np.flatnonzero(either | ((first == high) & (second == low)))
    # What stands twice in a list cancels out in an exclusive or, as it does in the mask.
    mixed = np.concatenate([[np.uint64(0)], np.bitwise_xor.accumulate(_mix(indices))])
    wanted = np.bitwise_xor.reduce(_mix(flips), initial=np.uint64(0))
    return np.flatnonzero(mixed[indptr[1:]] ^ mixed[indptr[:-1]] == wanted)


def _mix(numbers: Positions) -> Words:
    """Scatter numbers over 64 bits: the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    mixed = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
