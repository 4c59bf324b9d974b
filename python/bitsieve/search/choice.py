"""Which mask is the answer of a run: the best of those measured again, or the search's own.

::

    Remeasured    eligible masks of each ask --> archive --> the best are measured again, one chosen
    Recommended   search.recommend() --> archive; the last recommendation is the answer, measured
"""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bitsieve.masks import Masks
from bitsieve.search.archive import Archive, Entry
from bitsieve.search.final import Deadline, Final, unmeasured
from bitsieve.search.protocol import Fitness, Scores, Search

__all__ = ["Choice", "Choose", "part_of"]

Choose: TypeAlias = Literal["remeasured", "recommended"]

_ARCHIVE_FACTOR = 4  # masks remembered for each finalist


class Choice(abc.ABC):
    """What a run remembers of its masks, and how it ends with one of them.

    Attributes
    ----------
    archive : Archive
        The masks that count, and the best so far of them.
    best_iteration : int
        When that came; -1 before there is one.
    n_scored : int
        Masks scored beside those of the asks.
    """

    def __init__(self, search: Search, n_finalists: int, n_measurements: int) -> None:
        self.search = search
        self.n_finalists = n_finalists
        self.n_measurements = n_measurements
        self.archive = Archive(_ARCHIVE_FACTOR * n_finalists, search.n_features)
        self.best_iteration = -1
        self.n_scored = 0

    @property
    @abc.abstractmethod
    def n_final(self) -> int:
        """Evaluations of the final measurement."""

    @property
    def recommended(self) -> Masks | None:
        """The mask that the search recommends now, where that counts."""
        return None

    @abc.abstractmethod
    def look(self, scores: Scores) -> None:
        """See the scores of an ask before the search is told them."""

    @abc.abstractmethod
    def take(
        self, masks: Masks, scores: Scores, iteration: int, evaluation: int
    ) -> tuple[float, int]:
        """After the tell: remember what counts; the score of the iteration and its mask's size."""

    @abc.abstractmethod
    def entries(self) -> list[Entry]:
        """The finalists, as the search saw them; none where there is no mask to give back."""

    @abc.abstractmethod
    def measure(self, fitness: Fitness, key: int, deadline: Deadline | None) -> Final:
        """Measure on fresh folds, and settle on the first finalist."""

    @abc.abstractmethod
    def nothing(self, n_evaluations: int) -> str:
        """Say that there is no mask to give back, and what to do."""

    def unmeasured(self) -> Final | None:
        """The finalists without a measurement, or None where there are none."""
        entries = self.entries()
        return unmeasured(self.archive, entries) if entries else None

    def add(
        self, key: bytes, score: float, n_selected: int, iteration: int, evaluation: int
    ) -> None:
        """Remember a measurement."""
        if self.archive.add(key, score, n_selected, iteration, evaluation):
            self.best_iteration = iteration

    # -- checkpoints ---------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint holds, arrays by name."""
        return {f"archive/{name}": array for name, array in self.archive.state().items()}

    def set_state(self, arrays: Mapping[str, NDArray[Any]], score: float) -> None:
        """Take what :meth:`state` gave; ``score`` is that of the last iteration."""
        self.archive.set_state(part_of(arrays, "archive"))

    def restored(
        self, arrays: Mapping[str, NDArray[Any]], best_score: float, n_evaluations: int, cut: Any
    ) -> Final:
        """Return the final measurement that a file holds.

        Raises
        ------
        ValueError
            If it is not one of these masks.
        """
        if not (cut is None or isinstance(cut, str)):
            raise ValueError(f"final_cut is {cut!r}")
        if not math.isfinite(best_score):
            raise ValueError(f"best_score is {best_score}")
        ranked = unmeasured(self.archive, self.entries()).finalists
        stored = part_of(arrays, "final")
        order: list[int] = stored["order"].tolist()
        measured: NDArray[np.float64] = stored["measured"]
        if not (
            sorted(order) == list(range(len(order)))
            and len(order) == len(measured)
            and self._could_measure(order, measured, len(ranked), cut)
        ):
            raise ValueError("the finalists are not those of the archive")
        finalists = [
            replace(ranked[place], measured_score=float(score))
            for place, score in zip(order, measured, strict=True)
        ]
        return Final(finalists, order, best_score, n_evaluations, cut)

    @abc.abstractmethod
    def _could_measure(
        self, order: list[int], measured: NDArray[np.float64], n_ranked: int, cut: str | None
    ) -> bool:
        """Whether a file's final measurement is one that a run makes."""


def part_of(arrays: Mapping[str, NDArray[Any]], room: str) -> dict[str, NDArray[Any]]:
    """Return the arrays whose names begin with a room and a slash, by the rest of their names."""
    prefix = f"{room}/"
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
