"""What every compiled model shares: data and splits handed to the core, seeds, flips, scores."""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._once import info_once
from bitsieve.data.feature_major import make_feature_major
from bitsieve.fitness.base import Fitness
from bitsieve.fitness.general import GeneralFitness
from bitsieve.fitness.options import Problem
from bitsieve.fitness.output_scorer import OutputScorer
from bitsieve.fitness.scoring import Reads, compiled_score, refusal_of_scoring
from bitsieve.fitness.splits import FixedSplits, FreshFolds, Split
from bitsieve.masks import Masks

__all__ = ["CompiledFitness", "refusal_of_data"]

# What a trial is made of: enough to be measured, little enough not to be noticed.
_TRIAL_SAMPLES, _TRIAL_FEATURES = 2048, 256

_OUTPUT_NUMBERS = 1 << 20  # of a batch that scikit-learn scores: 8 MB


def refusal_of_data(
    problem: Problem, reads: tuple[Reads, ...], *, weights: bool = False
) -> str | None:
    """Return why no compiled model can serve scorer, table and splits, or None if one can.

    Parameters
    ----------
    problem : Problem
    reads : tuple of {"classes", "probabilities", "decisions", "numbers"}
        What the model gives scorers to read.
    weights : bool, default=False
        Whether the model takes ``sample_weight``.

    Returns
    -------
    str or None
        In the words of :meth:`bitsieve.fitness.Kernel.refusal`.
    """
    table, splits, options = problem.table, problem.splits, problem.options
    if options.sample_weight is not None:
        if not weights:
            return "sample_weight has no kernel"
        kind = options.sample_weight.dtype.kind
        if (
            kind not in "biuf"
            or not (np.isfinite(options.sample_weight) & (options.sample_weight >= 0)).all()
        ):
            return "sample_weight that is negative or no number has no kernel"
    reason = refusal_of_scoring(options.estimator, options.scoring, reads)
    if reason is not None:
        return reason
    if isinstance(splits, FixedSplits) and splits.repeats_samples():
        return "a split that lists a sample twice has no kernel"
    if isinstance(splits, FixedSplits) and splits.trains_on_tests():
        return "a split that trains on what it tests has no kernel"
    try:
        _ = table.max_abs
    except ValueError:
        return "values beyond the range of float32 have no kernel"
    return None


class CompiledFitness(Fitness):
    """A compiled model; see :class:`Fitness`.

    A subclass names its ``kernel``, the class of its core in ``_core_class``, in :meth:`_settings`
    what that takes of the estimator, and in ``_least_classes`` how many it must have to train on.

    Attributes
    ----------
    n_declined : int
        Masks so far that the kernel had no good answer for, such as singular ones: their scores
        are scikit-learn's. Which these are is a function of mask and splits alone. The logger
        ``bitsieve`` says so at the first of them (at the level INFO).
    """

    _core_class: ClassVar[Any]
    #: Settings of a trial, in place of the model's own.
    _trial_settings: ClassVar[dict[str, Any]] = {}
    #: Classes that the estimator must have in each training part.
    _least_classes: int = 1

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        splits, options = self._splits, problem.options
        self._fits_by_seed = self._depends_on_seed()
        if not self._fits_by_seed:
            self._check_splits(splits.splits(0))
        self._score = compiled_score(options.estimator, options.scoring, self.table)
        self._is_accuracy = self._score is not None and self._score.metric == "accuracy"
        self._scorer = OutputScorer(options.estimator, options.scoring, self.table)
        fresh = splits if isinstance(splits, FreshFolds) else None
        self._core = self._core_class(
            self.table.core,
            target=self._target,
            n_classes=self._n_classes,
            n_repeats=0 if fresh is None else fresh.n_repeats,
            n_folds=0 if fresh is None else fresh.n_folds,
            stratified=fresh is not None and fresh.strata is not None,
            **self._settings(),
        )
        if isinstance(splits, FixedSplits):
            self._core.set_splits(
                *lists_of([train for train, _ in splits.pairs]),
                *lists_of([test for _, test in splits.pairs]),
            )
        elif splits.groups is not None:
            self._core.set_groups(splits.groups, splits.n_groups)
        if options.sample_weight is not None:
            self._core.set_weights(np.ascontiguousarray(options.sample_weight, dtype=np.float64))
        self.n_declined = 0
        self._general: GeneralFitness | None = None

    def _settings(self) -> dict[str, Any]:
        """Return what the core takes of the estimator."""
        return {}

    def _check_splits(self, splits: list[Split]) -> None:
        """Refuse splits of which the estimator cannot be fitted to a training part.

        Raises
        ------
        ValueError
        """
        codes, least = self.table.codes, self._least_classes
        if codes is None or least == 1:
            return
        for k, (train, _) in enumerate(splits):
            found = len(np.unique(codes[train]))
            if found < least:
                raise ValueError(
                    f"{type(self.problem.model).__name__} trains on at least {least} "
                    f"classes, and split {k} trains on {found}; lower cv, or give folds that "
                    "spread the classes"
                )

    def _depends_on_seed(self) -> bool:
        """Tell whether :meth:`_check_splits` has to see the fresh folds of every seed."""
        codes, splits = self.table.codes, self._splits
        if codes is None or self._least_classes == 1 or isinstance(splits, FixedSplits):
            return False
        # Of a class with two samples stratified folds leave one to train on.
        is_sure = splits.strata is not None and splits.groups is None
        return not is_sure or int((np.bincount(codes) > 1).sum()) < self._least_classes

    @property
    def _n_classes(self) -> int:
        return 0 if self.table.classes is None else len(self.table.classes)

    @property
    def _target(self) -> NDArray[np.int32] | NDArray[np.float64]:
        """Classes as codes, or numbers."""
        if self.table.codes is not None:
            return self.table.codes
        assert self.table.y is not None
        return np.ascontiguousarray(self.table.y, dtype=np.float64)

    def seconds_per_evaluation(self) -> float:
        # n (a k + b) for a mask of k features, or n^2 (a k + b) where all pairs of samples are
        # compared, with a and b from a trial on this machine.
        rows = np.linspace(0, self.n_samples - 1, min(self.n_samples, _TRIAL_SAMPLES), dtype=int)
        p = min(self.n_features, _TRIAL_FEATURES)
        part = np.ascontiguousarray(self.table.X[rows, :p])
        copy = make_feature_major(part)
        trial = self._core_class(
            _core.Table(
                copy.features, n_samples=len(rows), X=part, max_abs=copy.max_abs, exact=False
            ),
            target=np.ascontiguousarray(self._target[rows]),
            n_classes=self._n_classes,
            n_repeats=1,
            n_folds=2,
            stratified=False,
            **(self._settings() | self._trial_settings),
        )
        if self._n_classes:
            score = _core.Score("accuracy")
        else:
            score = _core.Score("mean_squared_error", reads="numbers")
        seed = np.zeros(1, np.uint64)
        seconds = []
        for k in (1, p):
            words = Masks.from_indices([range(k)], p).words
            took = []
            for _ in range(3):  # the first wakes the threads and touches the memory
                start = time.perf_counter()
                trial.evaluate(words, seed, score, self._n_jobs)
                took.append(time.perf_counter() - start)
            seconds.append(min(took))
        each = max(seconds[1] - seconds[0], 0.0) / max(p - 1, 1)
        half = max(self.n_features / 2, 1.0)
        share = (self.n_samples / len(rows)) ** (2 if self.pairs_of_samples else 1)
        return float(share * (seconds[0] + each * (half - 1.0)))

    def _evaluate(self, masks: Masks, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        if self._fits_by_seed:
            for seed in np.unique(seeds):
                self._check_splits(self._splits.splits(int(seed)))
        scores: NDArray[np.float64]
        declined = np.zeros(len(masks), dtype=bool) if self._core.may_decline else None
        if self._score is None:
            scores = np.full((len(masks), self.n_splits), np.nan)
        elif masks.is_compact:
            scores = self._core.evaluate_flips(
                masks.base, masks.indices, masks.indptr, seeds, self._score, self._n_jobs, declined
            )
        else:
            scores = self._core.evaluate(masks.words, seeds, self._score, self._n_jobs, declined)
        if declined is not None and declined.any():
            rows = np.flatnonzero(declined)
            scores[rows] = self._ask_sklearn(masks[rows], seeds[rows])
        if self._is_accuracy:  # always defined
            return scores
        # What the core makes no score of, or calls undefined, scikit-learn does, on its outputs.
        missing = np.isnan(scores)
        if missing.any():
            self._score_outputs(masks, seeds, np.flatnonzero(missing.any(axis=1)), scores)
        return scores

    def _ask_sklearn(self, masks: Masks, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return scikit-learn's scores of masks that the kernel has no good answer for."""
        with self._counter:
            self.n_declined += len(masks)
            is_first = self._general is None
            if self._general is None:
                self._general = GeneralFitness(self.problem, "the kernel declined")
        if is_first:  # of a search they may be all
            reason = f"{type(self.problem.model).__name__}: kernel {self.kernel!r} declines them"
            info_once(f"scikit-learn evaluates some masks ({reason})", fallback_reason=reason)
        return self._general._evaluate(masks, seeds)

    def _score_outputs(
        self,
        masks: Masks,
        seeds: NDArray[np.uint64],
        rows: NDArray[np.intp],
        scores: NDArray[np.float64],
    ) -> None:
        """Let scikit-learn's scorer fill what is NaN in the scores of some masks."""
        step = max(1, _OUTPUT_NUMBERS // (self._core.n_tests * max(self._core.n_values, 1)))
        known: dict[int, list[Split]] = {}
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            keys = seeds[part]
            declined = np.zeros(len(part), dtype=bool)
            words = masks[part].words
            classes, values = self._core.outputs(words, keys, self._n_jobs, declined)
            reads = None if values is None else self._core.kind
            for m, row in enumerate(part):
                if declined[m]:
                    if self._score is None:
                        scores[row] = self._ask_sklearn(masks[[row]], keys[[m]])[0]
                    continue
                seed = int(keys[m]) if self.resample else 0
                if seed not in known:
                    known = {seed: self._splits.splits(seed)}
                scores[row] = self._scorer.score(
                    known[seed],
                    classes=None if classes is None else classes[m],
                    values=None if values is None else values[m],
                    reads=reads,
                    scores=scores[row],
                )


def lists_of(parts: list[NDArray[np.intp]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the concatenation of index lists and where each begins."""
    begin = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return np.concatenate(parts).astype(np.int64), begin
