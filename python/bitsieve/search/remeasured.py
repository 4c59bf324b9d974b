"""The answer of a run is the best of the masks that were measured again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitsieve.masks import Masks
from bitsieve.search.archive import Entry
from bitsieve.search.choice import Choice
from bitsieve.search.final import Deadline, Final, measure_finalists
from bitsieve.search.protocol import Fitness, Scores, Search

__all__ = ["Remeasured"]


class Remeasured(Choice):
    """The best eligible masks are measured again on the same folds, and the best is chosen."""

    def __init__(self, search: Search, n_finalists: int, n_measurements: int) -> None:
        super().__init__(search, n_finalists, n_measurements)
        self._rows: list[int] = []

    @property
    def n_final(self) -> int:
        return (self.n_finalists + 1) * self.n_measurements

    def look(self, scores: Scores) -> None:
        """Rank the eligible masks that can matter, the best first; ties to the lowest index."""
        rows = np.flatnonzero(self.search.eligible())
        if len(rows) != 1:
            order = np.argsort(-scores[rows], kind="stable")[: self.archive.capacity]
            rows = rows[order]
        self._rows = rows.tolist()

    def take(
        self, masks: Masks, scores: Scores, iteration: int, evaluation: int
    ) -> tuple[float, int]:
        # Of a compact neighborhood only the masks that can matter are written down.
        looked, rows = masks, self._rows
        if masks.is_compact:
            looked, rows = masks[self._rows], list(range(len(self._rows)))
        counts = looked.counts()
        first, n_selected = float("nan"), 0
        for rank, (i, row) in enumerate(zip(self._rows, rows, strict=True)):
            score, count = float(scores[i]), int(counts[row])
            if rank == 0:
                first, n_selected = score, count
            if count > 0:  # an empty mask is no selection
                self.add(looked.key(row), score, count, iteration, evaluation + i)
        return first, n_selected

    def entries(self) -> list[Entry]:
        return self.archive.ranked(self.n_finalists)

    def measure(self, fitness: Fitness, key: int, deadline: Deadline | None) -> Final:
        entries = self.entries()
        return measure_finalists(self.archive, entries, fitness, key, self.n_measurements, deadline)

    def nothing(self, n_evaluations: int) -> str:
        return (
            f"the search scored {n_evaluations} masks and all of them were empty: "
            "start it from a mask with features in it, or give it more iterations"
        )

    def _could_measure(
        self, order: list[int], measured: NDArray[np.float64], n_ranked: int, cut: str | None
    ) -> bool:
        # A limit of time may have left out the last of them.
        is_whole = len(order) == n_ranked if cut is None else 0 < len(order) <= n_ranked
        return is_whole and bool(np.isfinite(measured).all())
