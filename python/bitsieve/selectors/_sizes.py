"""What a search found of each size: masks, scores of the folds, and the size to take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from bitsieve.masks import Masks
from bitsieve.search import SequentialSearch, UnitSearch
from bitsieve.search.walked import Walked

__all__ = ["FeaturesOfSizes", "Path", "results_of_sizes", "within_one_standard_error"]

_CELLS = 1 << 24  # masks x features that are written out at once, a byte each


class FeaturesOfSizes(Sequence[NDArray[np.int64]]):
    """The features of the best mask of each size, made when they are asked for.

    Written down for all sizes they would take memory that grows with the square of their number.

    Parameters
    ----------
    masks : callable
        From some sizes to their masks, a batch.
    sizes : sequence of int
    """

    def __init__(self, masks: Callable[[list[int]], Masks], sizes: Sequence[int]) -> None:
        self._masks, self._sizes = masks, list(sizes)

    def mask(self, row: int) -> Masks:
        """The mask of a row, a batch of one."""
        return self._masks([self._sizes[row]])

    def blocks(self) -> Iterator[Masks]:
        """The masks of all rows in order, a batch of some at a time."""
        if not self._sizes:
            return
        step = max(1, min(256, _CELLS // self.mask(0).n_features))
        for first in range(0, len(self), step):
            yield self._masks(self._sizes[first : first + step])

    def __len__(self) -> int:
        return len(self._sizes)

    @overload
    def __getitem__(self, row: int) -> NDArray[np.int64]: ...
    @overload
    def __getitem__(self, row: slice) -> FeaturesOfSizes: ...
    def __getitem__(self, row: int | slice) -> NDArray[np.int64] | FeaturesOfSizes:
        if isinstance(row, slice):
            return FeaturesOfSizes(self._masks, self._sizes[row])
        return self.mask(row).indices_of(0)

    def __repr__(self) -> str:
        return f"<features of {len(self)} masks>"


def results_of_sizes(
    found: FeaturesOfSizes, fitness: Any, known: Sequence[float] | None
) -> dict[str, Any]:
    """Return ``cv_results_``: one row a size, with the scores of its mask on every split.

    Parameters
    ----------
    found : FeaturesOfSizes
    fitness : bitsieve.fitness.Fitness
    known : sequence of float or None
        The mean scores, where nothing is to be measured: those of the splits are NaN then.

    Returns
    -------
    dict of str to array or sequence
        ``n_features``, ``mean_test_score``, ``std_test_score`` (as scikit-learn's, divided by the
        number of splits), ``standard_error`` (of the mean), ``split0_test_score`` and so on,
        ``features``.
    """
    counts, scores = [], []
    for masks in found.blocks():
        counts.append(masks.counts())
        if known is None:
            scores.append(fitness.evaluate_splits(masks))
    n_splits = int(fitness.n_splits)
    if known is None:
        splits = np.concatenate([np.empty((0, n_splits)), *scores])
        mean = splits.mean(axis=1)
    else:
        splits = np.full((len(found), n_splits), np.nan)
        mean = np.array(known, dtype=np.float64)
    if n_splits > 1:
        errors = splits.std(axis=1, ddof=1) / np.sqrt(n_splits)
    else:
        errors = np.full(len(found), np.nan)
    return {
        "n_features": np.concatenate([np.empty(0, np.int64), *counts]),
        "mean_test_score": mean,
        "std_test_score": splits.std(axis=1),
        "standard_error": errors,
        **{f"split{k}_test_score": splits[:, k].copy() for k in range(n_splits)},
        "features": found,
    }


def within_one_standard_error(
    scores: NDArray[np.float64], errors: NDArray[np.float64], wanted: NDArray[np.bool_]
) -> int:
    """Return the first row whose score is within one standard error of the best.

    Parameters
    ----------
    scores, errors : float64 array of shape (n_sizes,)
        Mean scores and their standard errors, from the smallest size to the largest. The error is
        that of the best; of equal scores the first is the best.
    wanted : bool array of shape (n_sizes,)
        The rows that may be taken.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> scores, errors = np.array([0.70, 0.84, 0.90]), np.array([0.01, 0.02, 0.07])
    >>> within_one_standard_error(scores, errors, np.array([True, True, True]))
    1
    """
    rows = np.flatnonzero(wanted)
    best = rows[int(np.argmax(scores[rows]))]
    return int(rows[scores[rows] >= scores[best] - errors[best]][0])


@dataclass(frozen=True)
class Path:
    """The masks of features that a search has come by, whatever it moved.

    Attributes
    ----------
    outer : SequentialSearch or UnitSearch
    """

    outer: Any

    @property
    def search(self) -> SequentialSearch:
        found = self.outer.inner if isinstance(self.outer, UnitSearch) else self.outer
        assert isinstance(found, SequentialSearch)
        return found

    @property
    def walked(self) -> Walked:
        return self.search.walked

    def masks_of(self, sizes: list[int]) -> Masks:
        masks = Masks.from_bool(self.walked.masks_of(sizes))
        return self.outer.widen(masks) if isinstance(self.outer, UnitSearch) else masks
