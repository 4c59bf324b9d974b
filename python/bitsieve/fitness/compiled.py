"""What every compiled model shares: data and splits handed to the core, seeds, flips, scores."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bitsieve.data.hot import make_hot_copy
from bitsieve.fitness.base import Fitness
from bitsieve.fitness.options import Problem
from bitsieve.fitness.scoring import Predicted, built_in, needs_predictions_only
from bitsieve.fitness.splits import FixedSplits, FreshFolds, Split
from bitsieve.masks import Masks

__all__ = ["CompiledFitness", "refusal_of_data"]

# What a trial is made of: enough to be measured, little enough not to be noticed.
_TRIAL_SAMPLES, _TRIAL_FEATURES = 2048, 256

# float32 sums of squares must stay far from overflow. (Underflow is within the error bounds.)
_LARGEST_SQUARE = 1e36


def refusal_of_data(problem: Problem) -> str | None:
    """Return why no compiled model can serve scorer, table and splits, or None if one can.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    str or None
        In the words of :meth:`bitsieve.fitness.Kernel.refusal`.
    """
    table, splits, scoring = problem.table, problem.splits, problem.options.scoring
    if problem.options.sample_weight is not None:
        return "sample_weight has no kernel"
    if not needs_predictions_only(scoring):
        return "a scoring function of your own has no kernel"
    if isinstance(splits, FixedSplits) and splits.repeats_samples():
        return "a split that lists a sample twice has no kernel"
    if isinstance(splits, FixedSplits) and splits.trains_on_tests():
        return "a split that trains on what it tests has no kernel"
    try:
        most = table.max_abs
    except ValueError:
        return "values beyond the range of float32 have no kernel"
    if float(np.dot(most, most)) > _LARGEST_SQUARE:
        return "values whose squares overflow in float32 have no kernel"
    return None


class CompiledFitness(Fitness):
    """A compiled model; see :class:`Fitness`.

    A subclass names its ``kernel``, the class of its core in ``_core_class``, and in
    :meth:`_settings` what that takes of the estimator.
    """

    _core_class: ClassVar[Any]
    #: Settings of a trial, in place of the model's own.
    _trial_settings: ClassVar[dict[str, Any]] = {}

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        table, splits, options = self.table, self._splits, problem.options
        self._fits_by_seed = self._depends_on_seed()
        if not self._fits_by_seed:
            self._check_splits(splits.splits(0))
        self._built_in = built_in(options.estimator, options.scoring)
        fresh = splits if isinstance(splits, FreshFolds) else None
        self._core = self._core_class(
            features=table.features,
            n_samples=table.n_samples,
            X=table.X,
            max_abs=table.max_abs,
            exact=table.exact,
            codes=table.codes,
            n_classes=self._n_classes,
            n_repeats=0 if fresh is None else fresh.n_repeats,
            n_folds=0 if fresh is None else fresh.n_folds,
            stratified=fresh is None or fresh.strata is not None,
            **self._settings(),
        )
        if isinstance(splits, FixedSplits):
            self._core.set_splits(
                *_lists([train for train, _ in splits.pairs]),
                *_lists([test for _, test in splits.pairs]),
            )
        elif splits.groups is not None:
            self._core.set_groups(splits.groups, splits.n_groups)

    def _check_splits(self, splits: list[Split]) -> None:
        """Refuse splits of which the estimator cannot be fitted to a training part.

        Raises
        ------
        ValueError
        """

    def _depends_on_seed(self) -> bool:
        """Tell whether :meth:`_check_splits` has to see the fresh folds of every seed."""
        return False

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """Return what the core takes of the estimator."""

    @abstractmethod
    def _probabilities(self, words: Any, seeds: Any) -> NDArray[np.float64]:
        """Return out-of-fold probabilities of one mask, shape (n_tests, n_classes)."""

    @property
    def _n_classes(self) -> int:
        assert self.table.classes is not None
        return len(self.table.classes)

    def seconds_per_evaluation(self) -> float:
        # n^2 (a k + b) for a mask of k features, with a and b from a trial on this machine.
        rows = np.linspace(0, self.n_samples - 1, min(self.n_samples, _TRIAL_SAMPLES), dtype=int)
        p = min(self.n_features, _TRIAL_FEATURES)
        hot = make_hot_copy(self.table.X[rows, :p])
        assert self.table.codes is not None
        trial = self._core_class(
            features=hot.features,
            n_samples=len(rows),
            X=np.ascontiguousarray(self.table.X[rows, :p]),
            max_abs=hot.max_abs,
            exact=False,
            codes=np.ascontiguousarray(self.table.codes[rows]),
            n_classes=self._n_classes,
            n_repeats=1,
            n_folds=2,
            stratified=False,
            **(self._settings() | self._trial_settings),
        )
        seconds = []
        for k in (1, p):
            words = Masks.from_indices([range(k)], p).words
            took = []
            for _ in range(3):  # the first wakes the threads and touches the memory
                start = time.perf_counter()
                trial.evaluate(words, np.zeros(1, np.uint64), False, self._n_jobs)
                took.append(time.perf_counter() - start)
            seconds.append(min(took))
        each = max(seconds[1] - seconds[0], 0.0) / max(p - 1, 1)
        half = max(self.n_features / 2, 1.0)
        share = (self.n_samples / len(rows)) ** 2
        return float(share * (seconds[0] + each * (half - 1.0)))

    def _evaluate(self, masks: Masks, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        if self._fits_by_seed:
            for seed in np.unique(seeds):
                self._check_splits(self._splits.splits(int(seed)))
        if self._built_in is None:
            return self._score_predictions(masks, seeds)
        balanced = self._built_in == "balanced_accuracy"
        scores: NDArray[np.float64]
        if masks.is_compact:
            scores = self._core.evaluate_flips(
                masks.base, masks.indices, masks.indptr, seeds, balanced, self._n_jobs
            )
        else:
            scores = self._core.evaluate(masks.words, seeds, balanced, self._n_jobs)
        return scores

    def _score_predictions(self, masks: Masks, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Score out-of-fold predictions by any scikit-learn scorer, mask by mask."""
        from sklearn.dummy import DummyClassifier
        from sklearn.metrics import check_scoring

        assert self.table.y is not None and self.table.classes is not None
        assert self.table.codes is not None
        y, codes, classes = self.table.y, self.table.codes, self.table.classes
        options = self.problem.options
        scorer = check_scoring(options.estimator, scoring=options.scoring)
        out = np.empty((len(masks), self.n_splits))
        counts = masks.counts()
        for m in range(len(masks)):
            words = masks[m].words  # one at a time: a neighborhood stays compact
            probabilities = self._probabilities(words, seeds[m : m + 1])
            features = masks.indices_of(m) if counts[m] else np.arange(1)
            position = 0
            for s, (train, test) in enumerate(self._splits.splits(int(seeds[m]))):
                X_test = self.table.X[np.ix_(test, features)]
                if counts[m] == 0:
                    fitted = DummyClassifier(strategy="prior").fit(self.table.X[train], y[train])
                else:
                    present = np.unique(codes[train])
                    part = probabilities[position : position + len(test)]
                    fitted = Predicted(part[:, present], classes[present])
                out[m, s] = scorer(fitted, X_test, y[test])
                position += len(test)
        return out


def _lists(parts: list[NDArray[np.intp]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the concatenation of index lists and where each begins."""
    begin = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return np.concatenate(parts).astype(np.int64), begin
