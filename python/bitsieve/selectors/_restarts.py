"""One search from several seeds: which of its answers is taken, and how alike they are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int
from bitsieve._random import SeedWords, Stream
from bitsieve.search import RunResult
from bitsieve.search.final import Deadline, measure_again
from bitsieve.selectors._penalty import without_penalty

__all__ = ["Restart", "Restarts"]

_N_MEASUREMENTS = 5  # of the choice, as often as a run measures its own
_N_BEFORE = 10  # seeds that the first run took to choose and to measure


@dataclass(frozen=True, eq=False)
class Restart:
    """What one restart of a search selected.

    Attributes
    ----------
    support : bool array of shape (n_features,)
    score : float
        Measured by the restart itself after its choice; NaN where it was interrupted.
    n_features : int
        Selected features.
    seed : int
        ``random_state`` of a search of its own with the same answer.
    """

    support: NDArray[np.bool_]
    score: float
    n_features: int
    seed: int


class Restarts:
    """The results of a search from several seeds; only the best is kept whole.

    Parameters
    ----------
    n_restarts : int
    penalty : float
        What a feature costs in the scores that the runs were told.

    Attributes
    ----------
    entries : list of Restart
    search : Search or None
        That of the best.

    Raises
    ------
    ValueError
        If ``n_restarts`` is no whole number from 1 on.
    """

    def __init__(self, n_restarts: int, penalty: float) -> None:
        self.n_restarts = check_int("n_restarts", n_restarts, 1)
        self.entries: list[Restart] = []
        self.search: Any = None
        self._penalty = penalty
        self._best: RunResult | None = None  # as it was told, with the penalty
        self._observed: tuple[float, float] = (-np.inf, np.nan)  # as told, and without the penalty
        self._key = 0
        self._totals = np.zeros(2, dtype=np.int64)
        self._seconds = 0.0

    def key(self, number: int, first: int | None) -> int | None:
        """Return the key of a restart, for that of the whole fit.

        Parameters
        ----------
        number : int
            Of the restart, from 0 on.
        first : int or None
            None where the first run draws it, or finds it in its checkpoint.
        """
        if number == 0:
            return first
        return SeedWords(self._key, Stream.restarts).one(number)

    @property
    def overlap(self) -> float | None:
        """Mean Jaccard index of the pairs of selections, None where there is no pair."""
        return mean_overlap([one.support for one in self.entries])

    def take(self, result: RunResult, search: Any) -> None:
        """Take the result of the next restart."""
        if not self.entries:
            self._key = result.seed
        told = without_penalty(result, self._penalty)
        support = told.support
        one = Restart(support, float(told.best_score), int(support.sum()), int(result.seed))
        self.entries.append(one)
        self._count(result)
        if result.best_observed_score > self._observed[0]:
            self._observed = (result.best_observed_score, told.best_observed_score)
        best = self._best
        if best is None or (
            (result.best_score, -one.n_features) > (best.best_score, -best.finalists[0].n_selected)
        ):
            self._best, self.search = result, search

    def _count(self, result: RunResult) -> None:
        self._totals += (result.n_evaluations, result.n_final_evaluations)
        self._seconds += result.seconds

    def interrupt(self, partial: RunResult | None, search: Any) -> None:
        """Take what an interrupted restart had, which counts only where none is finished."""
        if self._best is None and partial is not None:
            self.take(partial, search)
        elif partial is not None:
            self._count(partial)
        if self._best is not None:
            self._best = replace(self._best, stop_reason={"interrupted": True})

    def measure_again(self, fitness: Any, max_time: float | None) -> None:
        """Measure the best of several on seeds that had no part in the choice.

        Parameters
        ----------
        fitness : bitsieve.search.Fitness
            What the runs were told, with the penalty.
        max_time : float or None
            Seconds for everything, all restarts included.
        """
        best = self._best
        if best is None or len(self.entries) == 1:
            return
        deadline = None
        if max_time is not None:
            ends = time.perf_counter() + max_time - self._seconds
            deadline = Deadline(ends, best.seconds / max(1, best.n_evaluations))
        found = measure_again(
            fitness,
            best.mask,
            self._key,
            n_before=_N_BEFORE,
            n_measurements=_N_MEASUREMENTS,
            deadline=deadline,
        )
        if found is None:
            return
        score, n_done = found
        self._totals[1] += n_done
        cut = best.final_cut
        if n_done < _N_MEASUREMENTS:
            said = (
                f"the best of {len(self.entries)} restarts was measured {n_done} times instead of "
                f"{_N_MEASUREMENTS}"
            )
            cut = said if cut is None else f"{cut}; {said}"
        self._best = replace(best, best_score=score, final_cut=cut)

    def result(self) -> RunResult | None:
        """Return the best result with the counts of all restarts, scores without the penalty.

        None where nothing was found.
        """
        if self._best is None:
            return None
        told = without_penalty(self._best, self._penalty)
        if len(self.entries) == 1 and self._totals[0] == told.n_evaluations:
            return told
        return replace(
            told,
            best_observed_score=self._observed[1],
            n_evaluations=int(self._totals[0]),
            n_final_evaluations=int(self._totals[1]),
            seconds=self._seconds,
            seed=self._key,
        )


def mean_overlap(supports: Sequence[NDArray[np.bool_]]) -> float | None:
    """Return the mean Jaccard index of the pairs of selections, None where there is no pair.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([True, True, False]), np.array([False, True, True])
    >>> mean_overlap([a, b, a])
    0.5555555555555555
    """
    found = [
        np.count_nonzero(a & b) / np.count_nonzero(a | b) for a, b in combinations(supports, 2)
    ]
    return float(np.mean(found)) if found else None
