"""After the search: the best masks measured again on fresh folds, and one chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitsieve.masks import Masks
from bitsieve.search.archive import Archive, Entry
from bitsieve.search.protocol import Fitness, Scores
from bitsieve.search.result import Finalist
from bitsieve.search.scoring import checked_scores, is_fresh
from bitsieve.search.seeds import MEASUREMENT, SeedWords

__all__ = ["Final", "measure_finalists", "unmeasured"]


@dataclass(frozen=True)
class Final:
    """The finalists best first, the score of the first, and what that cost."""

    finalists: list[Finalist]
    order: list[int]  # their places in the ranking by what was observed
    best_score: float
    n_evaluations: int


def _fresh(fitness: Fitness) -> Fitness | None:
    if is_fresh(fitness):
        return fitness
    resampled = getattr(fitness, "resampled", None)
    fresh: Fitness | None = resampled() if callable(resampled) else None
    return fresh


def _mean_score(fitness: Fitness, masks: Masks, seeds: NDArray[np.uint64]) -> Scores:
    total = np.zeros(len(masks))
    for seed in seeds:
        total += checked_scores(fitness, masks, int(seed))
    return total / len(seeds)


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
    archive: Archive, fitness: Fitness, key: int, n_finalists: int, n_measurements: int
) -> Final:
    """Measure the finalists on the same ``n_measurements`` seeds, choose, and measure the choice.

    The choice has the highest mean; among equals the fewest features, then the earliest. It is
    then measured on as many further seeds, which had no part in choosing it. A fitness with fixed
    folds that offers no fresh ones keeps the scores of its folds: they would come out the same.
    """
    entries = archive.ranked(n_finalists)
    fresh = _fresh(fitness)
    if fresh is None:
        places = list(range(len(entries)))
        finalists = _finalists(archive, entries, places, [entry.best for entry in entries])
        return Final(finalists, places, finalists[0].observed_score, 0)
    seeds = SeedWords(key, MEASUREMENT).take(0, 2 * n_measurements)
    measured = _mean_score(fresh, archive.masks(entries), seeds[:n_measurements]).tolist()
    order = _order(entries, measured)
    finalists = _finalists(archive, entries, order, measured)
    score = float(_mean_score(fresh, finalists[0].mask, seeds[n_measurements:])[0])
    return Final(finalists, order, score, (len(entries) + 1) * n_measurements)


def unmeasured(archive: Archive, n_finalists: int) -> Final:
    """Rank the finalists by what was observed, where there is no time to measure."""
    entries = archive.ranked(n_finalists)
    nan, places = float("nan"), list(range(len(entries)))
    return Final(_finalists(archive, entries, places, [nan] * len(entries)), places, nan, 0)
