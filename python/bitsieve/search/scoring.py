"""Masks to scores: the seeds of the folds, the cache, and what a fitness must answer."""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._random import SeedWords, Stream
from bitsieve.masks import Masks
from bitsieve.search.protocol import Fitness, Scores

__all__ = ["Folds", "Scorer", "checked_scores", "is_fresh"]

Folds: TypeAlias = Literal["common", "independent"]


def is_fresh(fitness: Fitness) -> bool:
    """Whether a seed means fresh folds to a fitness.

    Raises
    ------
    ValueError
        If it does not say.
    """
    resample = getattr(fitness, "resample", None)
    if not isinstance(resample, (bool, np.bool_)):
        raise ValueError(
            f"{type(fitness).__name__}.resample must be True (another seed is another score) or "
            f"False (a mask has one score), got {resample!r}"
        )
    return bool(resample)


def checked_scores(fitness: Fitness, masks: Masks, seeds: int | NDArray[np.uint64]) -> Scores:
    """Evaluate, and refuse an answer of the wrong shape or without a finite number a mask."""
    scores = np.ascontiguousarray(fitness.evaluate(masks, seeds), dtype=np.float64)
    if scores.shape != (len(masks),):
        raise ValueError(
            f"the fitness must return one score a mask, shape ({len(masks)},), "
            f"got shape {scores.shape}"
        )
    # Of one number Python knows sooner, and most asks of a walk are one mask.
    if not (math.isfinite(scores[0]) if len(scores) == 1 else _core.all_finite(scores)):
        bad = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise ValueError(
            f"the fitness returned {scores[bad]} for mask {bad} of {len(masks)} (with "
            f"{int(masks[bad].counts()[0])} of {masks.n_features} features); a search needs "
            f"finite scores: does the scorer fit the target and the folds?"
        )
    return scores


class Scorer:
    """Score asks in turn, each on the folds that are due, and no mask of them twice.

    With fresh folds, ask ``k`` gets word ``k`` of the stream of folds (common), or its masks get
    the words numbered by the evaluations before them (independent). With fixed folds
    (``fitness.resample`` is False) a mask has one score, and the latest ``max_cached`` are kept.

    Masks that stand twice in an ask on the same folds are measured once. A compact neighborhood
    is handed on as it is: it costs less to score than to compare.

    Parameters
    ----------
    fitness : Fitness
    key : int
    folds : {"common", "independent"}
    max_cached : int
        Sixteen bytes of hash and a number each.
    """

    def __init__(self, fitness: Fitness, key: int, folds: Folds, max_cached: int = 100_000) -> None:
        self.fitness = fitness
        self.is_fresh = is_fresh(fitness)
        self._words = SeedWords(key, Stream.folds)
        self._independent = folds == "independent"
        self._max_cached = max_cached
        self._cache: dict[bytes, float] = {}

    def score(self, masks: Masks, iteration: int, evaluation: int) -> Scores:
        """Scores of an ask; ``evaluation`` is the number of masks scored before it."""
        if self.is_fresh and self._independent:
            seeds = self._words.take(evaluation, len(masks))
            return checked_scores(self.fitness, masks, seeds)
        seed = self._words.one(iteration) if self.is_fresh else 0
        if masks.is_compact:
            return checked_scores(self.fitness, masks, seed)
        if self.is_fresh or self._max_cached == 0:
            return self._each_once(masks, seed)
        return self._from_cache(masks)

    def _each_once(self, masks: Masks, seed: int) -> Scores:
        # Masks with different first words, or folded ones, are different: mostly that is all.
        words = masks.words
        if len(set(words[:, 0].tolist())) == len(words):
            return checked_scores(self.fitness, masks, seed)
        if len(set(np.bitwise_xor.reduce(words, axis=1).tolist())) == len(words):
            return checked_scores(self.fitness, masks, seed)
        place: dict[bytes, int] = {}
        rows: list[int] = []
        places = []
        for i in range(len(masks)):
            places.append(place.setdefault(masks.key(i), len(rows)))
            if len(place) > len(rows):
                rows.append(i)
        scores: Scores = checked_scores(self.fitness, masks[rows], seed)[places]
        return scores

    def _from_cache(self, masks: Masks) -> Scores:
        cache = self._cache
        if len(masks) == 1:
            return self._one_from_cache(masks)
        keys = [blake2b(masks.key(i), digest_size=16).digest() for i in range(len(masks))]
        first: dict[bytes, int] = {}
        for i, key in enumerate(keys):
            if key not in cache:
                first.setdefault(key, i)
        new: dict[bytes, float] = {}
        if first:
            rows = np.fromiter(first.values(), np.int64, len(first))
            chosen = masks if len(rows) == len(masks) else masks[rows]
            scores = checked_scores(self.fitness, chosen, 0)
            new = dict(zip(first, scores.tolist(), strict=True))
        result = np.array([new[key] if key in new else cache[key] for key in keys], np.float64)
        cache.update(new)
        self._forget_oldest()
        return result

    def _one_from_cache(self, masks: Masks) -> Scores:
        # What _from_cache does, for a step of a walk, which may be measured in microseconds.
        key = blake2b(masks.key(0), digest_size=16).digest()
        known = self._cache.get(key)
        if known is not None:
            return np.array([known])
        scores = checked_scores(self.fitness, masks, 0)
        self._cache[key] = float(scores[0])
        self._forget_oldest()
        return scores

    def _forget_oldest(self) -> None:
        while len(self._cache) > self._max_cached:
            del self._cache[next(iter(self._cache))]
