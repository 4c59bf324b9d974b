"""All pairs of a feature that leaves and one that comes, part by part, and the best of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int
from bitsieve.search.protocol import Scores, StateValue

__all__ = ["Best", "Pairs"]

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
