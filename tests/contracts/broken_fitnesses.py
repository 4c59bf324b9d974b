"""Toys, each of which breaks a clause of the fitness contract."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy import random as shared

from bitsieve import Masks
from bitsieve.fitness import KnnFitness


class Dtype(KnnFitness):
    def evaluate(self, masks: Any, seeds: Any = 0) -> Any:
        return super().evaluate(masks, seeds).astype(np.float32)


class Median(KnnFitness):
    def evaluate(self, masks: Any, seeds: Any = 0) -> Any:
        return np.median(self.evaluate_splits(masks, seeds), axis=1)


class OfItsBatch(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        scores = super().evaluate_splits(masks, seeds)
        return scores + 1e-15 * len(scores)


class OfThePast(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        return super().evaluate_splits(masks, seeds) * (1.0 + 1e-15 * (self.n_evaluations > 25))


class OfTheForm(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        form = isinstance(masks, Masks) and masks.is_compact
        return super().evaluate_splits(masks, seeds) + 1e-15 * form


class ForgetsWhatIsShared(KnnFitness):
    """Lists of two flips, some of which begin alike, score as the base with that flip alone."""

    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        scores = super().evaluate_splits(masks, seeds)
        if isinstance(masks, Masks) and masks.indptr is not None and masks.indices is not None:
            pairs = np.flatnonzero(np.diff(masks.indptr) == 2)
            first = masks.indices[masks.indptr[pairs]]
            if len(np.unique(first)) < len(first):
                base = masks.base ^ Masks.from_indices([first[:1]], masks.n_features).words
                near = Masks.from_words(base, masks.n_features)
                scores[pairs] = super().evaluate_splits(near, seeds)[0]
        return scores


class KeepsItsFolds(KnnFitness):
    """One state for all neighborhoods, whatever the seed: right on fixed folds alone."""

    folds: int | None = None

    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        if isinstance(masks, Masks) and masks.is_compact and isinstance(seeds, int):
            self.folds = seeds = seeds if self.folds is None else self.folds
        return super().evaluate_splits(masks, seeds)


class OfTheWalk(KnnFitness):
    seen = 0.0

    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        scores = super().evaluate_splits(masks, seeds)
        if len(scores) == 2:  # what a kept state in floating point would do
            self.seen += 1e-16
        return scores * (1.0 + 10.0 * self.seen)


class OfTheThreads(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        return super().evaluate_splits(masks, seeds) + 1e-15 * self.asked_for


class OneCallerOnly(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        self.at_work = masks, seeds
        time.sleep(0.002)
        return super().evaluate_splits(*self.at_work)


class OfTheIsa(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        from bitsieve import get_isa

        return super().evaluate_splits(masks, seeds) + 1e-15 * (get_isa() == "baseline")


class SeedShows(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        return super().evaluate_splits(masks, seeds) + 1e-3 * np.mean(np.asarray(seeds) % 8)


class NeverFresh(KnnFitness):
    def resampled(self) -> Any:
        return self


class CountsCalls(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        scores = super().evaluate_splits(masks, seeds)
        self.n_evaluations += 1 - len(scores)
        return scores


class TakesIntegers(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        whole = isinstance(masks, np.ndarray) and masks.dtype.kind == "i"
        return super().evaluate_splits(masks.astype(bool) if whole else masks, seeds)


class TakesAnySeed(KnnFitness):
    def evaluate(self, masks: Any, seeds: Any = 0) -> Any:
        return super().evaluate(masks, abs(seeds) if isinstance(seeds, int) else seeds)


class TakesMasksOnly(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        if isinstance(masks, list):
            masks = np.array(masks)[::-1]
        return super().evaluate_splits(masks, seeds)


class CannotPickle(KnnFitness):
    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle a lock")


class OneFingerprint(KnnFitness):
    def fingerprint(self) -> str:
        return "knn"


class PrintOfTheThreads(KnnFitness):
    def fingerprint(self) -> str:
        return super().fingerprint() + str(self.asked_for)


class NoName(KnnFitness):
    def __repr__(self) -> str:
        return "<a fitness>"


class DrawsFolds(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        shared.seed(0)  # noqa: NPY002
        return super().evaluate_splits(masks, seeds)


class OneMoreNeighbor(KnnFitness):
    def evaluate_splits(self, masks: Any, seeds: Any = 0) -> Any:
        scores = super().evaluate_splits(masks, seeds)
        return np.where(np.arange(scores.shape[1]) == 1, scores - 1e-6, scores)


BROKEN_FITNESSES: dict[str, list[Any]] = {
    "one_score_a_mask": [Dtype],
    "mean_over_splits": [Median],
    "alone_or_together": [OfItsBatch, OfThePast],
    "compact_or_expanded": [OfTheForm],
    "swaps_and_flips": [ForgetsWhatIsShared],
    "walks_end_alike": [OfTheWalk],
    "threads": [OfTheThreads],
    "callers_at_once": [OneCallerOnly],
    "instruction_sets": [OfTheIsa],
    "seeds": [SeedShows],
    "resampled": [NeverFresh],
    "counts_evaluations": [CountsCalls],
    "refuses_bad_masks": [TakesIntegers],
    "refuses_bad_seeds": [TakesAnySeed],
    "takes_bool_arrays": [TakesMasksOnly],
    "pickles": [CannotPickle],
    "fingerprints": [OneFingerprint, PrintOfTheThreads],
    "says_what_serves_it": [NoName],
    "leaves_global_generators": [DrawsFolds],
    "equals_cross_val_score": [OneMoreNeighbor],
}
