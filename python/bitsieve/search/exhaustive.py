"""Every subset once: the optimum of a small problem, to compare others with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int
from bitsieve._errors import TooManySubsets
from bitsieve.masks import Masks
from bitsieve.search.checks import check_parameters_of_state, check_told
from bitsieve.search.protocol import Scores, State
from bitsieve.search.sizes import size_range

__all__ = ["ExhaustiveMaskSearch"]

_MOST_SUBSETS = 2**25
_BITS = 64


class ExhaustiveMaskSearch:
    """Ask for every subset of the sizes allowed, and recommend the best.

    Where all sizes are allowed the subsets come in the order of the binary reflected Gray code
    [1]_, so that each differs from the one before in one feature. Otherwise size after size, those
    of a size in colexicographic order, of which the smallest feature changes fastest: many in a
    row are neighbors of the same base.

    Of equal scores the smaller subset is recommended, of equally many features the one that holds
    the first feature in which two differ.

    Parameters
    ----------
    n_features : int
    min_size, max_size : int, optional
        Features of a subset, at least and at most; by default 1 and all.
    n_asked : int
        Subsets in an ask.

    Raises
    ------
    ValueError
        If an argument is out of its range, or there are more than 2**25 subsets.

    References
    ----------
    .. [1] D. E. Knuth, The Art of Computer Programming 4A, 7.2.1.1 (Gray code) and 7.2.1.3
       (combinatorial number system).

    Examples
    --------
    >>> import numpy as np
    >>> search = ExhaustiveMaskSearch(3)
    >>> masks = search.ask()
    >>> [masks.indices_of(i).tolist() for i in range(len(masks))]
    [[0], [0, 1], [1], [1, 2], [0, 1, 2], [0, 2], [2]]
    >>> search.tell(masks, np.array([1.0, 4.0, 2.0, 4.0, 4.0, 3.0, 1.0]))
    >>> search.recommend().indices_of(0), search.stop()
    (array([0, 1]), {'subsets': 7})
    """

    stops_itself = True

    def __init__(
        self,
        n_features: int,
        *,
        min_size: int = 1,
        max_size: int | None = None,
        n_asked: int = 1024,
    ) -> None:
        self._n_features = check_int("n_features", n_features, 1)
        least, most = size_range(self._n_features, min_size, max_size)
        self._min_size, self._max_size = least, most
        self._n_asked = check_int("n_asked", n_asked, 1)
        self._sizes: list[int] = []
        for size in range(least, most + 1):
            self._sizes.append(math.comb(self._n_features, size))
            if sum(self._sizes) > _MOST_SUBSETS:
                raise TooManySubsets(
                    f"subsets of {least} to {most} of {self._n_features} features are too many for "
                    f"an exhaustive search, which takes {_MOST_SUBSETS:,} at most (all of 25 "
                    "features)",
                    size - 1 if size > least else 0,
                )
        self._total = sum(self._sizes)
        self._is_gray = least == 1 and most == self._n_features
        self._done = 0
        self._best: NDArray[np.int64] = np.empty(0, np.int64)
        self._score = math.nan
        self._asked: Masks | None = None

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return self._n_features

    @property
    def n_subsets(self) -> int:
        """How many subsets there are."""
        return self._total

    def ask(self) -> Masks:
        """Return the next subsets, the last time maybe fewer."""
        last = min(self._total, self._done + self._n_asked)
        if last == self._done:
            raise ValueError("every subset has been asked for: the search has stopped")
        if self._is_gray:
            self._asked = _gray_codes(self._n_features, self._done + 1, last + 1)
        else:
            self._asked = self._of_sizes(self._done, last)
        return self._asked

    def tell(self, masks: Masks, scores: Scores) -> None:
        """Take the scores of the subsets of the last ask, float64 of shape (n_masks,)."""
        scores = check_told(self._asked, masks, scores)
        top = float(np.max(scores))
        if math.isnan(self._score) or top >= self._score:
            found = _first_of(masks[np.flatnonzero(scores == top)])
            if top != self._score or _comes_before(found, self._best):
                self._score, self._best = top, found
        self._done += len(masks)
        self._asked = None

    def recommend(self) -> Masks:
        """Return the best subset so far, none before the first tell."""
        if math.isnan(self._score):
            return Masks.from_words(
                np.empty((0, -(-self._n_features // _BITS)), np.uint64), self._n_features
            )
        return Masks.from_indices([self._best.tolist()], self._n_features)

    def eligible(self) -> NDArray[np.bool_]:
        """Return which masks of the last ask may become the best: all."""
        return np.ones(0 if self._asked is None else len(self._asked), dtype=bool)

    def stop(self) -> dict[str, object]:
        """Return ``{"subsets": n}`` once all n have been measured."""
        return {"subsets": self._total} if self._done == self._total else {}

    def evaluations_left(self) -> tuple[int, str]:
        """Return how many subsets are to be measured yet, and that these are all."""
        return self._total - self._done, "at most"

    def _parameters(self) -> dict[str, int]:
        return {
            "n_features": self._n_features,
            "min_size": self._min_size,
            "max_size": self._max_size,
            "n_asked": self._n_asked,
        }

    def state(self) -> State:
        """Return the parameters, how many subsets were measured, and the best of them."""
        return {
            **self._parameters(),
            "done": self._done,
            "best": self._best.copy(),
            "score": self._score,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a search with the same parameters.

        Raises
        ------
        ValueError
            If an entry is missing, a parameter differs, or the state is none of such a search.
        """
        check_parameters_of_state(self.state(), self._parameters(), state)
        done, score = check_int("done", state["done"], 0), float(state["score"])
        best = np.asarray(state["best"], dtype=np.int64)
        if (
            done > self._total
            or (done % self._n_asked and done != self._total)
            or best.ndim != 1
            or (done == 0) != math.isnan(score)
            or math.isinf(score)
            or not (self._min_size <= len(best) <= self._max_size if done else len(best) == 0)
            or (np.diff(best) <= 0).any()
            or (len(best) > 0 and not 0 <= best[0] <= best[-1] < self._n_features)
        ):
            raise ValueError("the state is none that an exhaustive search gets to")
        self._done, self._best, self._score = done, best.copy(), score
        self._asked = None

    def _of_sizes(self, first: int, last: int) -> Masks:
        """Subsets number ``first`` to ``last`` - 1, as flips of what all of them hold."""
        lists: list[NDArray[np.int64]] = []
        begin = 0
        for size, count in zip(range(self._min_size, self._max_size + 1), self._sizes, strict=True):
            low, high = max(first, begin), min(last, begin + count)
            if low < high:
                lists.append(_combinations(self._n_features, size, low - begin, high - begin))
            begin += count
        base = np.zeros(self._n_features, dtype=bool)
        if len(lists) == 1:  # those that share their largest features are near to these
            rows = lists[0]
            shared = int(np.cumprod((rows[0] == rows[-1])[::-1]).sum())
            if shared:
                base[rows[0, -shared:]] = True
                lists = [rows[:, :-shared]]
        widths = np.concatenate([np.full(len(rows), rows.shape[1]) for rows in lists])
        indptr = np.concatenate([[0], np.cumsum(widths)])
        return Masks.from_flips(base, indptr, np.concatenate([rows.ravel() for rows in lists]))

    def __repr__(self) -> str:
        return (
            f"<ExhaustiveMaskSearch: {self._n_features} features, {self._done} of "
            f"{self._total} subsets>"
        )


def _gray_codes(n_features: int, first: int, last: int) -> Masks:
    numbers = np.arange(first, last, dtype=np.uint64)
    return Masks.from_words((numbers ^ (numbers >> np.uint64(1)))[:, None], n_features, copy=False)


def _combinations(n: int, size: int, first: int, last: int) -> NDArray[np.int64]:
    """Subsets number ``first`` to ``last`` - 1 of n in colexicographic order, ascending rows.

    The number of c_1 < ... < c_k is the sum of the binomials (c_i over i).
    """
    rest = np.arange(first, last, dtype=np.int64)
    rows = np.empty((len(rest), size), dtype=np.int64)
    for i in range(size, 0, -1):
        # Beyond the numbers there are nothing is looked up.
        counts = np.array([min(math.comb(c, i), _MOST_SUBSETS) for c in range(n)], dtype=np.int64)
        chosen = np.searchsorted(counts, rest, side="right") - 1
        rows[:, i - 1] = chosen
        rest = rest - counts[chosen]
    return rows


def _first_of(masks: Masks) -> NDArray[np.int64]:
    """The subset that is recommended of equal ones: few features, the first features."""
    counts = masks.counts()
    words = masks[np.flatnonzero(counts == counts.min())].words
    for word in range(words.shape[1]):
        if len(words) == 1:
            break
        for bit in range(_BITS):
            has = (words[:, word] >> np.uint64(bit)) & np.uint64(1) != 0
            if has.any():
                words = words[has]
    return Masks.from_words(words[:1], masks.n_features).indices_of(0)


def _comes_before(a: NDArray[np.int64], b: NDArray[np.int64]) -> bool:
    return (len(a), a.tolist()) < (len(b), b.tolist())
