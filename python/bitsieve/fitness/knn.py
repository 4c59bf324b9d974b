"""Cross-validated k-nearest-neighbour classification by the compiled kernel."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve.data import Table
from bitsieve.data.hot import make_hot_copy
from bitsieve.fitness.base import Fitness
from bitsieve.fitness.scoring import Predicted, built_in, needs_predictions_only
from bitsieve.fitness.splits import FixedSplits, FreshFolds
from bitsieve.masks import Masks

# What a trial is made of: enough to be measured, little enough not to be noticed.
_TRIAL_SAMPLES, _TRIAL_FEATURES = 2048, 256

# float32 sums of squares must stay far from overflow. (Underflow is within the error bounds.)
_LARGEST_SQUARE = 1e36


def refusal(
    estimator: Any, scoring: Any, table: Table, splits: FreshFolds | FixedSplits
) -> str | None:
    """Return why the kernel cannot serve this estimator on these data, or None if it can."""
    from sklearn.neighbors import KNeighborsClassifier

    if type(estimator) is not KNeighborsClassifier:
        return "not a KNeighborsClassifier"
    metric = (
        "euclidean" if estimator.metric == "minkowski" and estimator.p == 2 else estimator.metric
    )
    if metric != "euclidean" or estimator.metric_params is not None:
        return f"metric {estimator.metric!r}"
    if estimator.weights not in ("uniform", None):
        return f"weights {estimator.weights!r}"
    if not isinstance(estimator.n_neighbors, (int, np.integer)) or estimator.n_neighbors < 1:
        return "n_neighbors"
    if not needs_predictions_only(scoring):
        return "a scorer that may ask for more than predictions"
    if table.codes is None:
        return "no classes"
    if isinstance(splits, FixedSplits) and splits.repeats_samples():
        return "a split lists a sample twice"
    if isinstance(splits, FixedSplits) and splits.trains_on_tests():
        return "a split trains on a sample that it tests"
    try:
        most = table.max_abs
    except ValueError:
        return "values beyond float32"
    if float(np.dot(most, most)) > _LARGEST_SQUARE:
        return "values beyond the range of float32 squares"
    return None


class KnnFitness(Fitness):
    """k nearest neighbours, uniform weights, Euclidean distance; see :class:`Fitness`.

    One matrix of squared distances serves every split of a mask. Distances are those of float64
    arithmetic on X (eight partial sums, by the feature's position in the mask); where two are
    equal, the sample with the lower index is nearer.
    """

    kernel = "knn"

    def __init__(
        self,
        table: Table,
        splits: FreshFolds | FixedSplits,
        arguments: dict[str, Any],
        n_jobs: int,
    ) -> None:
        super().__init__(table, splits, arguments, n_jobs)
        estimator = arguments["estimator"]
        assert table.codes is not None and table.classes is not None
        self._n_neighbors = int(estimator.n_neighbors)
        fewest = splits.smallest_training_set()
        fresh = splits if isinstance(splits, FreshFolds) else None
        # Fresh folds of groups have other sizes for every seed: looked at as they come.
        self._must_count = (
            fresh is not None and fresh.groups is not None and fewest < self._n_neighbors
        )
        if fewest < self._n_neighbors and not self._must_count:
            raise ValueError(
                f"n_neighbors={self._n_neighbors} is more than the {fewest} training samples of "
                f"the smallest split; lower n_neighbors or raise cv"
            )
        self._built_in = built_in(estimator, arguments["scoring"])
        self._core = _core.KnnFitness(
            table.features,
            n_samples=table.n_samples,
            X=table.X,
            max_abs=table.max_abs,
            codes=table.codes,
            n_classes=len(table.classes),
            n_neighbors=self._n_neighbors,
            exact=table.exact,
            n_repeats=0 if fresh is None else fresh.n_repeats,
            n_folds=0 if fresh is None else fresh.n_folds,
            stratified=fresh is None or fresh.stratified,
        )
        if isinstance(splits, FixedSplits):
            self._core.set_splits(
                *_lists([train for train, _ in splits.pairs]),
                *_lists([test for _, test in splits.pairs]),
            )

        if fresh is not None and fresh.groups is not None:
            self._core.set_groups(fresh.groups, fresh.n_groups)

    def _count_training(self, seeds: NDArray[np.uint64]) -> None:
        """Refuse folds that train on fewer samples than there are neighbours."""
        for seed in np.unique(seeds):
            fewest = min(len(train) for train, _ in self._splits.splits(int(seed)))
            if fewest < self._n_neighbors:
                raise ValueError(
                    f"n_neighbors={self._n_neighbors} is more than the {fewest} training samples "
                    "that folds of whole groups left; lower n_neighbors or raise cv"
                )

    def seconds_per_evaluation(self) -> float:
        # n^2 (a k + b) for a mask of k features, with a and b from a trial on this machine.
        rows = np.linspace(0, self.n_samples - 1, min(self.n_samples, _TRIAL_SAMPLES), dtype=int)
        p = min(self.n_features, _TRIAL_FEATURES)
        hot = make_hot_copy(self.table.X[rows, :p])
        assert self.table.codes is not None and self.table.classes is not None
        trial = _core.KnnFitness(
            hot.features,
            n_samples=len(rows),
            X=np.ascontiguousarray(self.table.X[rows, :p]),
            max_abs=hot.max_abs,
            codes=np.ascontiguousarray(self.table.codes[rows]),
            n_classes=len(self.table.classes),
            n_neighbors=1,
            exact=False,
            n_repeats=1,
            n_folds=2,
            stratified=False,
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
        if self._must_count:
            self._count_training(seeds)
        if self._built_in is None:
            return self._score_predictions(masks, seeds)
        balanced = self._built_in == "balanced_accuracy"
        if masks.is_compact:
            assert masks.base is not None
            assert masks.indices is not None and masks.indptr is not None
            return self._core.evaluate_flips(
                masks.base, masks.indices, masks.indptr, seeds, balanced, self._n_jobs
            )
        return self._core.evaluate(masks.words, seeds, balanced, self._n_jobs)

    def _score_predictions(self, masks: Masks, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Score out-of-fold votes by any scikit-learn scorer, mask by mask."""
        from sklearn.dummy import DummyClassifier
        from sklearn.metrics import check_scoring

        assert self.table.y is not None and self.table.classes is not None
        assert self.table.codes is not None
        y, codes, classes = self.table.y, self.table.codes, self.table.classes
        scorer = check_scoring(self._arguments["estimator"], scoring=self._arguments["scoring"])
        out = np.empty((len(masks), self.n_splits))
        counts = masks.counts()
        for m in range(len(masks)):
            words = masks[m].words  # one at a time: a neighbourhood stays compact
            votes = self._core.votes(words, seeds[m : m + 1], self._n_jobs)[0]
            features = masks.indices_of(m) if counts[m] else np.arange(1)
            position = 0
            for s, (train, test) in enumerate(self._splits.splits(int(seeds[m]))):
                X_test = self.table.X[np.ix_(test, features)]
                if counts[m] == 0:
                    fitted = DummyClassifier(strategy="prior").fit(self.table.X[train], y[train])
                else:
                    present = np.unique(codes[train])
                    shares = votes[position : position + len(test)][:, present] / self._n_neighbors
                    fitted = Predicted(shares, classes[present])
                out[m, s] = scorer(fitted, X_test, y[test])
                position += len(test)
        return out


def _lists(parts: list[NDArray[np.intp]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the concatenation of index lists and where each begins."""
    begin = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return np.concatenate(parts).astype(np.int64), begin
