"""Pairs of a feature that leaves and one that comes, the best of them, and what a kick is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int, check_number, is_whole
from bitsieve.search.protocol import Scores, StateValue

__all__ = ["Best", "Pairs", "Ranked", "swaps_of_a_kick"]

Positions = NDArray[np.int64]


class Pairs:
    """The grid of features that leave and features that come, cut into parts.

    Where a part can hold all that may come it is of whole rows, else of a piece of one row. The
    parts in their order, each row by row, are the grid row by row.

    Parameters
    ----------
    leave, come : int64 array
        The rows and the columns, none of them empty.
    most : int
        Pairs of a part.

    Examples
    --------
    >>> pairs = Pairs(np.array([0, 1, 2]), np.array([7, 8]), 4)
    >>> [[side.tolist() for side in pairs.part(i)] for i in range(pairs.n_parts)]
    [[[0, 1], [7, 8]], [[2], [7, 8]]]
    """

    def __init__(self, leave: Positions, come: Positions, most: int) -> None:
        self.leave, self.come = leave, come
        self._rows = max(1, most // len(come))
        self._columns = min(most, len(come))
        self._per_row = -(-len(come) // self._columns)

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return -(-len(self.leave) // self._rows) * self._per_row

    def part(self, number: int) -> tuple[Positions, Positions]:
        """Return the features that leave and those that come of one part."""
        row, column = divmod(number, self._per_row)
        first, left = row * self._rows, column * self._columns
        return (
            self.leave[first : first + self._rows],
            self.come[left : left + self._columns],
        )


@dataclass(frozen=True)
class Best:
    """The best swap so far, the first of equal ones.

    Attributes
    ----------
    score : float
        Minus infinity where there is none.
    out, into : int
        The features that leave and come; -1 where there is none.
    """

    score: float = -math.inf
    out: int = -1
    into: int = -1

    @property
    def is_one(self) -> bool:
        """Whether there is a swap."""
        return self.out >= 0

    def with_part(self, leave: Positions, come: Positions, scores: Scores) -> Best:
        """Return the better of this one and the best of a part, scores row by row."""
        place = int(np.argmax(scores))
        if not scores[place] > self.score:
            return self
        row, column = divmod(place, len(come))
        return Best(float(scores[place]), int(leave[row]), int(come[column]))

    def state(self) -> dict[str, StateValue]:
        """Return it in numbers."""
        return {"found_score": self.score, "found_out": self.out, "found_into": self.into}

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> Best:
        """Return what :meth:`state` gave.

        Raises
        ------
        ValueError
            If it is no swap.
        """
        score = float(state["found_score"])
        out = check_int("found_out", state["found_out"], -1)
        into = check_int("found_into", state["found_into"], -1)
        if (
            math.isnan(score)
            or score == math.inf
            or len({out < 0, into < 0, score == -math.inf}) > 1
        ):
            raise ValueError(f"no swap is {out} for {into} with the score {score}")
        return cls(score, out, into)


def _no_features() -> Positions:
    return np.empty(0, np.int64)


def _no_scores() -> Scores:
    return np.empty(0)


@dataclass(frozen=True)
class Ranked:
    """The best single features so far, to add or to drop, best first; ties stay in their order.

    Attributes
    ----------
    features : int64 array
    scores : float64 array
    """

    features: Positions = field(default_factory=_no_features)
    scores: Scores = field(default_factory=_no_scores)

    def __len__(self) -> int:
        return len(self.features)

    def with_part(self, features: Positions, scores: Scores, most: int) -> Ranked:
        """Return the best of these and of a part more, so many at most."""
        both = np.concatenate([self.features, features])
        values = np.concatenate([self.scores, scores])
        first = np.argsort(-values, kind="stable")[:most]
        return Ranked(both[first], values[first])

    def state(self, name: str) -> dict[str, StateValue]:
        """Return them in arrays, by the name of what they are for."""
        return {f"{name}s": self.features.copy(), f"{name}_scores": self.scores.copy()}

    @classmethod
    def of_state(cls, state: Mapping[str, Any], name: str, most: int) -> Ranked:
        """Return what :meth:`state` gave.

        Raises
        ------
        ValueError
            If there are too many, or not a score for each.
        """
        features = np.array(state[f"{name}s"], dtype=np.int64)
        scores = np.array(state[f"{name}_scores"], dtype=np.float64)
        if features.shape != scores.shape or len(features) > most:
            raise ValueError(f"the state has {len(features)} {name}s, of {len(scores)} scores")
        return cls(features, scores)


def swaps_of_a_kick(kick_size: float, size: int) -> int:
    """Return how many swaps a kick is: a number, or a fraction of the size, at least one."""
    if is_whole(kick_size):
        return min(size, check_int("kick_size", kick_size, 1))
    fraction = check_number(
        "kick_size", kick_size, 0, 1, closed="right", instead="or a whole number"
    )
    return max(1, round(fraction * size))
