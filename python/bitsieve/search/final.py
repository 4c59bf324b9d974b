"""After the search: the best masks measured again on fresh folds, and one chosen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitsieve._random import SeedWords, Stream
from bitsieve.masks import Masks
from bitsieve.search.archive import Archive, Entry
from bitsieve.search.protocol import Fitness, Scores
from bitsieve.search.result import Finalist
from bitsieve.search.scoring import checked_scores, is_fresh

__all__ = [
    "Deadline",
    "Final",
    "measure_again",
    "measure_finalists",
    "measure_first",
    "unmeasured",
]


@dataclass(frozen=True)
class Deadline:
    """When the whole run is to end, and what an evaluation costs.

    Attributes
    ----------
    ends : float
        As :func:`time.perf_counter` counts, in seconds.
    cost : float
        Seconds that the search took for each evaluation.
    """

    ends: float
    cost: float

    def allows(self, seconds: float) -> bool:
        """Whether so much more time is left."""
        return time.perf_counter() + seconds <= self.ends

    def affordable(self, n_finalists: int, n_measurements: int) -> tuple[int, int]:
        """How many finalists there is time to measure, and how often: each at least once.

        Repeats are given up before finalists are.
        """
        left = self.ends - time.perf_counter()
        count = max(1, int(min(left / max(self.cost, 1e-9), 1e9)))
        if count >= (n_finalists + 1) * n_measurements:
            return n_finalists, n_measurements
        n_passes = min(n_measurements, max(1, count // (n_finalists + 1)))
        n_kept = min(n_finalists, max(1, count // n_passes - 1))
        return n_kept, max(1, min(n_measurements - 1, count)) if n_kept == 1 else n_passes


@dataclass(frozen=True)
class Final:
    """The finalists best first, the score of the first, and what that cost."""

    finalists: list[Finalist]
    order: list[int]  # their places in the ranking by what was observed
    best_score: float
    n_evaluations: int
    cut: str | None = None  # what a limit of time left out


def _fresh(fitness: Fitness) -> Fitness | None:
    if is_fresh(fitness):
        return fitness
    resampled = getattr(fitness, "resampled", None)
    fresh: Fitness | None = resampled() if callable(resampled) else None
    return fresh


def _mean_score(
    fitness: Fitness, masks: Masks, seeds: NDArray[np.uint64], deadline: Deadline | None
) -> tuple[Scores, int]:
    """Return the mean over the seeds, fewer of them where time runs out, and how many they were."""
    total = np.zeros(len(masks))
    done = 0
    for seed in seeds:
        began = time.perf_counter()
        total += checked_scores(fitness, masks, int(seed))
        done += 1
        # The choice of one of several is measured once more after this.
        passes = 1.0 + (1.0 / len(masks) if len(masks) > 1 else 0.0)
        if deadline and not deadline.allows(passes * (time.perf_counter() - began)):
            break
    return total / done, done


def _order(entries: list[Entry], measured: Sequence[float]) -> list[int]:
    return sorted(
        range(len(entries)),
        key=lambda i: (-measured[i], entries[i].n_selected, entries[i].evaluation),
    )


def _finalists(
    archive: Archive, entries: list[Entry], order: list[int], measured: Sequence[float]
) -> list[Finalist]:
    masks = archive.masks(entries)
    return [
        Finalist(
            mask=masks[i],
            observed_score=entries[i].best,
            mean_score=entries[i].total / entries[i].count,
            n_measurements=entries[i].count,
            measured_score=measured[i],
            n_selected=entries[i].n_selected,
            iteration=entries[i].iteration,
        )
        for i in order
    ]


def measure_finalists(
    archive: Archive,
    entries: list[Entry],
    fitness: Fitness,
    key: int,
    n_measurements: int,
    deadline: Deadline | None = None,
) -> Final:
    """Measure the finalists on the same ``n_measurements`` seeds, choose, and measure the choice.

    The choice has the highest mean; among equals the fewest features, then the earliest. It is
    then measured on as many further seeds, which had no part in choosing it. A fitness with fixed
    folds that offers no fresh ones keeps the scores of its folds: they would come out the same.

    Before a deadline fewer finalists are measured, and on fewer of those seeds; a single one, of
    which nothing is chosen, once.
    """
    fresh = _fresh(fitness)
    if fresh is None:
        return _as_observed(archive, entries)
    n_wanted, n_passes = len(entries), n_measurements
    if deadline is not None:
        n_kept, n_passes = deadline.affordable(n_wanted, n_measurements)
        entries = entries[:n_kept]
    seeds = SeedWords(key, Stream.measurement).take(0, 2 * n_measurements)
    is_alone = len(entries) == 1 and n_passes < n_measurements
    measured, order, n_first = [float("nan")], [0], 0
    if not is_alone:
        scores, n_first = _mean_score(fresh, archive.masks(entries), seeds[:n_passes], deadline)
        measured = scores.tolist()
        order = _order(entries, measured)
    chosen = archive.masks([entries[order[0]]])
    second = seeds[n_measurements : n_measurements + n_passes]
    scores, n_second = _mean_score(fresh, chosen, second, deadline)
    if is_alone:
        measured = scores.tolist()
    cut = None
    if n_second < n_measurements or n_first < n_measurements or len(entries) < n_wanted:
        cut = (
            f"{len(entries)} of {n_wanted} finalists were measured again, {n_first} + {n_second} "
            f"times instead of {n_measurements} + {n_measurements}"
        )
    finalists = _finalists(archive, entries, order, measured)
    n_evaluations = len(entries) * n_first + n_second
    return Final(finalists, order, float(scores[0]), n_evaluations, cut)


def measure_first(
    archive: Archive,
    entries: list[Entry],
    fitness: Fitness,
    key: int,
    n_measurements: int,
    deadline: Deadline | None = None,
) -> Final:
    """Measure the first finalist alone, on ``n_measurements`` seeds that had no part in anything.

    They are those that :func:`measure_finalists` measures its choice with. Before a deadline they
    are fewer, one at least.
    """
    fresh = _fresh(fitness)
    if fresh is None:
        return _as_observed(archive, entries)
    seeds = SeedWords(key, Stream.measurement).take(n_measurements, n_measurements)
    scores, n_done = _mean_score(fresh, archive.masks(entries[:1]), seeds, deadline)
    cut = None
    if n_done < n_measurements:
        cut = f"the recommended mask was measured {n_done} times instead of {n_measurements}"
    score = float(scores[0])
    places = list(range(len(entries)))
    measured = [score, *[float("nan")] * (len(entries) - 1)]
    return Final(_finalists(archive, entries, places, measured), places, score, n_done, cut)


def measure_again(
    fitness: Fitness,
    mask: Masks,
    key: int,
    *,
    n_before: int,
    n_measurements: int,
    deadline: Deadline | None = None,
) -> tuple[float, int] | None:
    """Measure the choice among several runs on seeds that had no part in it.

    Parameters
    ----------
    fitness : Fitness
    mask : Masks
        A batch of one.
    key : int
        The first run's key.
    n_before : int
        How many seeds the runs took of their streams of measurement.
    n_measurements : int
    deadline : Deadline, optional
        Before it they are fewer, one at least.

    Returns
    -------
    float and int, or None
        Mean score and number of measurements; None where the folds are fixed and there are no
        fresh ones, so that it would be the score that is known.
    """
    fresh = _fresh(fitness)
    if fresh is None:
        return None
    seeds = SeedWords(key, Stream.measurement).take(n_before, n_measurements)
    scores, n_done = _mean_score(fresh, mask, seeds, deadline)
    return float(scores[0]), n_done


def _as_observed(archive: Archive, entries: list[Entry]) -> Final:
    """Measured again on the same folds, the scores would come out the same."""
    places = list(range(len(entries)))
    finalists = _finalists(archive, entries, places, [entry.best for entry in entries])
    return Final(finalists, places, finalists[0].observed_score, 0)


def unmeasured(archive: Archive, entries: list[Entry]) -> Final:
    """The finalists as they were observed, where there is no time to measure."""
    nan, places = float("nan"), list(range(len(entries)))
    return Final(_finalists(archive, entries, places, [nan] * len(entries)), places, nan, 0)
