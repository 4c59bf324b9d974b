"""Where a walk by flips has been, and the best mask that it met of each size."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Walked"]


class Walked:
    """A start, the features flipped since, and after how many flips each size was at its best.

    So every mask on the way can be had again, in memory of order p and the number of flips.

    Parameters
    ----------
    start : bool array of shape (n_features,)

    Attributes
    ----------
    flips : array of int
        In order; those of a step that has not been scored yet too.

    Examples
    --------
    >>> import numpy as np
    >>> walked = Walked(np.zeros(4, dtype=bool))
    >>> walked.flips.append(2), walked.record(1, 0.5)
    (None, True)
    >>> walked.flips.append(0), walked.record(2, 0.7), walked.record(2, 0.7)
    (None, True, False)
    >>> walked.sizes(), walked.mask_of(1), walked.mask_of(2)
    ([1, 2], array([False, False,  True, False]), array([ True, False,  True, False]))
    """

    def __init__(self, start: NDArray[np.bool_]) -> None:
        self.start = start
        self.flips = array("q")
        self._scores: dict[int, float] = {}
        self._places: dict[int, int] = {}

    def record(self, size: int, score: float) -> bool:
        """Take the score of the mask that the flips lead to; True if it is the best of its size.

        The first one of the highest score counts.
        """
        if score <= self._scores.get(size, -np.inf):
            return False
        self._scores[size], self._places[size] = score, len(self.flips)
        return True

    def score_of(self, size: int, default: float) -> float:
        """The best score of a size, or ``default`` where none was met."""
        return self._scores.get(size, default)

    def sizes(self) -> list[int]:
        """The sizes that were met, ascending."""
        return sorted(self._scores)

    def scores(self) -> list[float]:
        """The best score of each of these sizes."""
        return [self._scores[size] for size in self.sizes()]

    def mask_of(self, size: int) -> NDArray[np.bool_]:
        """The best mask of a size."""
        return self.mask_after(self._places[size])

    def masks_of(self, sizes: Sequence[int]) -> NDArray[np.bool_]:
        """The best masks of some sizes, bool of shape (n_sizes, n_features)."""
        masks = np.empty((len(sizes), len(self.start)), dtype=bool)
        places = [self._places[size] for size in sizes]
        done = min(places, default=0)
        mask = self.mask_after(done)
        for row in np.argsort(places, kind="stable"):
            for feature in self.flips[done : places[row]]:
                mask[feature] ^= True
            done = places[row]
            masks[row] = mask
        return masks

    def mask_after(self, n_flips: int) -> NDArray[np.bool_]:
        """The mask after so many flips."""
        mask = self.start.copy()
        features, times = np.unique(np.array(self.flips[:n_flips], np.int64), return_counts=True)
        mask[features[times % 2 == 1]] ^= True
        return mask

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything but the start, as arrays."""
        sizes = self.sizes()
        return {
            "flips": np.array(self.flips, np.int64),
            "sizes": np.array(sizes, np.int64),
            "scores": np.array([self._scores[size] for size in sizes], np.float64),
            "places": np.array([self._places[size] for size in sizes], np.int64),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Take what :meth:`state` gave.

        Raises
        ------
        ValueError
            If it is nothing that a walk from this start can have left.
        """
        found = {}
        for name, kind in (("flips", "i"), ("sizes", "i"), ("scores", "f"), ("places", "i")):
            value = np.asarray(state[name])
            if value.ndim != 1 or value.dtype.kind != kind:
                raise ValueError(f"{name} must be one row of numbers, got {value!r:.60}")
            found[name] = value
        flips, sizes, places = found["flips"], found["sizes"], found["places"]
        p = len(self.start)
        changes = np.where(self.start[flips % p], -1, 1) if len(flips) else np.empty(0, int)
        if not (
            np.all((flips >= 0) & (flips < p))
            and len(sizes) == len(found["scores"]) == len(places)
            and np.all(np.diff(sizes) > 0)
            and np.all((places >= 0) & (places <= len(flips)))
            and np.isfinite(found["scores"]).all()
        ):
            raise ValueError("the flips, sizes and scores are none that a walk leaves")
        # A feature that is flipped for the second time goes back to what it was.
        order = np.argsort(flips, kind="stable")
        first = np.searchsorted(flips[order], flips[order])
        again = np.empty(len(flips), bool)
        again[order] = (np.arange(len(flips)) - first) % 2 == 1
        counts = self.start.sum() + np.concatenate(
            [[0], np.cumsum(np.where(again, -changes, changes))]
        )
        if not np.array_equal(counts[places], sizes):
            raise ValueError("the sizes are not those of the masks on the way")
        self.flips = array("q", flips.tolist())
        self._scores = dict(zip(sizes.tolist(), found["scores"].tolist(), strict=True))
        self._places = dict(zip(sizes.tolist(), places.tolist(), strict=True))

    def order(self, is_forward: bool) -> NDArray[np.float64]:
        """Return up to 1 for features that came early or, not forward, that went late."""
        flips = np.array(self.flips, np.int64)
        scores = np.zeros(len(self.start))
        when = (1.0 + np.arange(len(flips))) / (len(flips) + 1.0)
        if is_forward:  # the first flip of each counts
            scores[flips[::-1]] = (1.0 - when)[::-1]
            scores[self.start] = 1.0
        else:  # the last one
            scores[flips] = when
            scores[np.setdiff1d(np.flatnonzero(self.start), flips)] = 1.0
        return scores
