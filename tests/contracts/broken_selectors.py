"""Toys, each of which breaks a clause of the selector contract."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import random as shared

from bitsieve.data import Table
from bitsieve.selectors._ranked import RankSelector


class Spread(RankSelector):
    """Range of the class means, the best kept."""

    def __init__(
        self, *, n_features_to_select: Any = 1, threshold: Any = None, random_state: Any = None,
        n_jobs: Any = None,
    ) -> None:  # fmt: skip
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _score(self, X: Any, y: Any) -> Any:
        given = Table(X, y, task="classification")
        assert given.codes is not None
        parts = [given.X[given.codes == c].astype(float) for c in range(len(given.classes))]
        return np.ptp([part.mean(axis=0) for part in parts], axis=0)


class Grouped(Spread):
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        if groups is not None and len(groups) != len(X):
            raise ValueError("groups must have one entry a sample")
        return super().fit(X, y)


class SetsInTheConstructor(Spread):
    def __init__(self, *, n_features_to_select: Any = 1, threshold: Any = None) -> None:
        super().__init__(n_features_to_select=int(n_features_to_select))
        self.n_left = 0


class FitSetsAParameter(Spread):
    def fit(self, X: Any, y: Any = None) -> Any:
        self.threshold = 0.0
        return super().fit(X, y)


class AlwaysFitted(Spread):
    support_ = np.array([True] * 3 + [False] * 9)


class TransformsAll(Spread):
    def transform(self, X: Any) -> Any:
        return X


class RanksBackwards(Spread):
    def fit(self, X: Any, y: Any = None) -> Any:
        super().fit(X, y)
        self.ranking_ = self.ranking_[::-1].copy()
        return self


class EliminatesBackwards(Spread):
    def fit(self, X: Any, y: Any = None) -> Any:
        super().fit(X, y)
        self.elimination_order_ = np.argsort(-self.scores_, kind="stable")
        return self


class KeepsOneMore(Spread):
    def _keep(self, scores: Any, ranking: Any) -> Any:
        return ranking <= (self._n_wanted(len(scores)) or 0) + 1


class OfTheFits(Spread):
    n_fits = 0

    def _score(self, X: Any, y: Any) -> Any:
        self.n_fits += 1
        return super()._score(X, y) * self.n_fits


class OfItsThreads(Spread):
    def _score(self, X: Any, y: Any) -> Any:
        return super()._score(X, y) * (1.0 + 1e-9 * (self.n_jobs or 1))


class Centres(Spread):
    def _score(self, X: Any, y: Any) -> Any:
        if isinstance(X, np.ndarray):
            X -= X.mean(axis=0)
        return super()._score(X, y)


class KeepsTheTable(Spread):
    def fit(self, X: Any, y: Any = None) -> Any:
        self.X_ = np.array(X)
        return super().fit(X, y)


class ClonesFitted(Spread):
    def __sklearn_clone__(self) -> Any:
        return self


class ForgetsNames(Spread):
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        return np.array([f"x{i}" for i in range(int(self.support_.sum()))], dtype=object)


class HatesPipelines(Spread):
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X[:, ::-1], y).transform(X)


class NumbersOnly(Spread):
    def fit(self, X: Any, y: Any = None) -> Any:
        is_text = np.asarray(y).dtype.kind == "U" and str(y[0]).startswith("class")
        return super().fit(X[:, ::-1] if is_text else X, y)


class DropsGroups(Spread):
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        return super().fit(X, y)


class Seeds(Spread):
    def _score(self, X: Any, y: Any) -> Any:
        shared.seed(0)  # noqa: NPY002
        return super()._score(X, y)


class NotOfScikitLearn(Spread):
    def fit(self, X: Any, y: Any = None) -> Any:
        return super().fit(np.nan_to_num(np.asarray(X, dtype=float)) if np.ndim(X) == 2 else X, y)


BROKEN_SELECTORS: dict[str, list[Any]] = {
    "constructor_only_stores": [SetsInTheConstructor, FitSetsAParameter],
    "not_fitted": [AlwaysFitted],
    "transform_keeps_the_support": [TransformsAll],
    "scores_ranking_and_support_agree": [RanksBackwards, EliminatesBackwards],
    "number_of_features": [KeepsOneMore],
    "same_every_time": [OfTheFits, OfItsThreads],
    "input_stays": [Centres],
    "pickles": [KeepsTheTable],
    "clones": [ClonesFitted],
    "frames_keep_their_names": [ForgetsNames],
    "works_in_a_pipeline": [HatesPipelines],
    "classes_by_any_name": [NumbersOnly],
    "takes_groups": [DropsGroups],
    "leaves_global_generators": [Seeds],
    "scikit_learn": [NotOfScikitLearn],
}
