"""Samples that stand more than once in a table, which no fold keeps apart by itself.

A copy in the training part answers for its twin in the test part: every score that was measured
across them is too good. Tables of few or coarse values hold equal rows by nature, so only tables
with ten columns of more than twenty levels are looked at.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import DuplicateSamplesWarning, plural

__all__ = ["Copies", "find_copies", "warn_of_copies"]

_COLUMNS, _LEVELS = 10, 20  # a warning needs so many columns of more than so many levels
_SAMPLED = 16  # columns that tell most samples apart
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Copies:
    """Samples with equal rows that stand in different groups.

    Attributes
    ----------
    sets : list of list of int
        Samples that are equal, counted from 0; a set of the first sample each.
    n_samples : int
        Of the table.
    """

    sets: list[list[int]]
    n_samples: int

    @property
    def n_copies(self) -> int:
        """Samples that are the copy of an earlier one."""
        return sum(len(each) - 1 for each in self.sets)

    def text(self, names: Sequence[str] | None = None) -> str:
        """Return how many, which, what that does, and a hint, as one sentence.

        Parameters
        ----------
        names : sequence of str, optional
            Of the samples; their positions, counted from 0, without.
        """
        shown = [
            " = ".join(str(i) if names is None else str(names[i]) for i in each[:3])
            for each in self.sets[:3]
        ]
        more = len(self.sets) - len(shown)
        which = ", ".join(shown) + (f" and {plural(more, 'more set')}" if more else "")
        are = "is a copy" if self.n_copies == 1 else "are copies"
        return (
            f"{self.n_copies} of {plural(self.n_samples, 'sample')} {are} of another one, equal in "
            f"every column ({which}{'' if names else ', counted from 0'}): where one is trained on "
            "and its copy tested, every score is too good; drop the copies, or say with groups= "
            "(--groups on the command line) which samples belong together"
        )


def find_copies(X: Any, groups: NDArray[np.int32] | None = None) -> Copies | None:
    """Look for samples with equal rows.

    Parameters
    ----------
    X : array, frame or sparse matrix of shape (n_samples, n_features)
        -0.0 equals 0.0, and a missing value another one. What is no table of numbers is not
        looked at.
    groups : int32 array of shape (n_samples,), optional
        Copies within one group are no danger to folds that keep it together.

    Returns
    -------
    Copies or None
        None without copies, or where ten columns of more than twenty levels are lacking.

    Notes
    -----
    A few columns tell nearly all samples apart; whole rows are hashed (BLAKE2b, 128 bits) only of
    those that are equal there, so the cost is a fraction of reading the table once.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 12))
    >>> find_copies(X)
    >>> find_copies(np.r_[X, X[4:5]]).sets
    [[4, 30]]
    """
    rows = _rows(X)
    if rows is None:
        return None
    by_digest: dict[bytes, list[int]] = {}
    for i in _candidates(rows):
        by_digest.setdefault(_digest(rows, int(i)), []).append(int(i))
    sets = [each for each in by_digest.values() if len(each) > 1]
    if groups is not None:
        sets = [each for each in sets if len(set(groups[each].tolist())) > 1]
    if not sets or not _has_levels(rows):
        return None
    return Copies(sorted(sets), rows.shape[0])


def warn_of_copies(
    X: Any, groups: NDArray[np.int32] | None = None, *, stacklevel: int = 1
) -> Copies | None:
    """Warn of samples that stand twice, and return them.

    Parameters
    ----------
    X, groups
        As in :func:`find_copies`.
    stacklevel : int, default 1
        As in :func:`warnings.warn`, seen from the caller.
    """
    copies = find_copies(X, groups)
    if copies is not None:
        warnings.warn(copies.text(), DuplicateSamplesWarning, stacklevel=stacklevel + 1)
    return copies


def _rows(X: Any) -> Any:
    """Return X as an array of numbers or a CSR matrix, None where it is neither."""
    if hasattr(X, "tocsr"):
        rows = X.tocsr(copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        return rows
    try:
        array = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)
        if array.dtype.kind == "O" and hasattr(X, "iloc"):
            array = X.to_numpy(dtype=np.float64, na_value=np.nan)  # columns that hold pandas' NA
        if array.dtype.kind not in "biuf":
            array = array.astype(np.float64)
    except (TypeError, ValueError):  # columns of text: a step of a pipeline will encode them
        return None
    return array if array.ndim == 2 and array.size else None


def _candidates(rows: Any) -> NDArray[np.intp]:
    """Return the samples that are equal to another one in a few columns."""
    n, p = rows.shape
    if not isinstance(rows, np.ndarray):
        return np.arange(n)
    key = np.zeros(n, dtype=np.uint64)
    for j in np.unique(np.linspace(0, p - 1, _SAMPLED).astype(int)):
        bits = _plain(rows[:, j]).view(np.uint64)
        key = (key ^ bits) * _MULTIPLIER
        key ^= key >> np.uint64(29)
    _, of, counts = np.unique(key, return_inverse=True, return_counts=True)
    return np.flatnonzero(counts[of] > 1)


def _digest(rows: Any, i: int) -> bytes:
    if isinstance(rows, np.ndarray):
        return blake2b(_plain(rows[i]).tobytes(), digest_size=16).digest()
    row = rows[[i]]
    row.sort_indices()
    digest = blake2b(row.indices.astype(np.int64).tobytes(), digest_size=16)
    digest.update(_plain(row.data).tobytes())
    return digest.digest()


def _plain(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return float64 with one zero and one NaN."""
    plain = values.astype(np.float64) + 0.0
    plain[np.isnan(plain)] = np.nan
    return plain


def _has_levels(rows: Any) -> bool:
    """Whether ten columns have more than twenty levels each; NaN is none."""
    found = 0
    columns = rows if isinstance(rows, np.ndarray) else rows.tocsc()
    for start in range(0, rows.shape[1], 256):
        block = columns[:, start : start + 256]
        block = np.sort(block if isinstance(block, np.ndarray) else block.toarray(), axis=0)
        # NaN is sorted to the end, and is never greater than what stands before it.
        found += int((1 + (block[1:] > block[:-1]).sum(axis=0) > _LEVELS).sum())
        if found >= _COLUMNS:
            return True
    return False
