"""Cross-validated k-nearest-neighbor classification by the compiled kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve.fitness.compiled import CompiledFitness, refusal_of_data
from bitsieve.fitness.options import Problem
from bitsieve.fitness.splits import FreshFolds
from bitsieve.masks import Masks

__all__ = ["KERNEL", "KnnFitness"]


class KnnFitness(CompiledFitness):
    """k nearest neighbors, uniform weights, Euclidean distance; see :class:`Fitness`.

    One matrix of squared distances serves every split of a mask. Distances are those of float64
    arithmetic on X (eight partial sums, by the feature's position in the mask); where two are
    equal, the sample with the lower index is nearer.
    """

    kernel = "knn"
    _core_class = _core.KnnFitness
    _trial_settings = {"n_neighbors": 1}  # noqa: RUF012

    def __init__(self, problem: Problem) -> None:
        splits = problem.splits
        self._n_neighbors = int(problem.options.estimator.n_neighbors)
        fewest = splits.smallest_training_set()
        # Fresh folds of groups have other sizes for every seed: looked at as they come.
        grouped = isinstance(splits, FreshFolds) and splits.groups is not None
        self._must_count = grouped and fewest < self._n_neighbors
        if fewest < self._n_neighbors and not self._must_count:
            raise ValueError(
                f"n_neighbors={self._n_neighbors} is more than the {fewest} training samples of "
                f"the smallest split; lower n_neighbors or raise cv"
            )
        super().__init__(problem)

    def _settings(self) -> dict[str, Any]:
        return {"n_neighbors": self._n_neighbors}

    def _probabilities(self, words: Any, seeds: Any) -> NDArray[np.float64]:
        votes = self._core.votes(words, seeds, self._n_jobs)[0]
        shares: NDArray[np.float64] = votes / self._n_neighbors
        return shares

    def _evaluate(self, masks: Masks, seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
        if self._must_count:
            self._count_training(seeds)
        return super()._evaluate(masks, seeds)

    def _count_training(self, seeds: NDArray[np.uint64]) -> None:
        """Refuse folds that train on fewer samples than there are neighbors."""
        for seed in np.unique(seeds):
            fewest = min(len(train) for train, _ in self._splits.splits(int(seed)))
            if fewest < self._n_neighbors:
                raise ValueError(
                    f"n_neighbors={self._n_neighbors} is more than the {fewest} training samples "
                    "that folds of whole groups left; lower n_neighbors or raise cv"
                )


class _Kernel:
    name = "knn"
    estimators = ("sklearn.neighbors.KNeighborsClassifier",)
    make = KnnFitness

    def refusal(self, problem: Problem) -> str | None:
        estimator = problem.options.estimator
        metric = estimator.metric
        if metric == "minkowski":
            metric = "euclidean"
            if estimator.p != 2:
                return f"metric 'minkowski' with p={estimator.p:g} has no kernel"
        if metric != "euclidean":
            return f"metric {_shown(metric)} has no kernel"
        if estimator.metric_params is not None:
            return "metric_params has no kernel"
        if estimator.weights not in ("uniform", None):
            return f"weights {_shown(estimator.weights)} has no kernel"
        if problem.table.codes is None:
            return "a target without classes has no kernel"
        return refusal_of_data(problem)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else "of your own"


KERNEL = _Kernel()
