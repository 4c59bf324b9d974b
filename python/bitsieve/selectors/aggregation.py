"""RankAggregation: one ranking out of several rankers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import key_of
from bitsieve.filters.aggregation import (
    Method,
    Ties,
    lacking_of,
    positions_of,
    rank_aggregation,
)
from bitsieve.filters.named import N_GREEDY
from bitsieve.selectors._ranked import RankSelector, Scored
from bitsieve.selectors._rankers import (
    name_of,
    needs_target,
    positive_only,
    rank_with,
    resolve,
    table_of,
    takes,
)

__all__ = ["RankAggregation"]

#: What ranks where the user names nothing: neighbors, means, ranks and entropy.
RANKERS = ("relieff", "f", "kruskal", "infogain")


class RankAggregation(RankSelector):
    """Rank with several methods and combine their rankings into one.

    Parameters
    ----------
    rankers : sequence or None, default None
        Names such as ``"relieff"`` (all are in :data:`bitsieve.filters.named.FILTERS`); functions
        of (X, y) that return scores, or scores and p-values, as ``score_func`` of scikit-learn's
        ``SelectKBest``; or estimators with ``scores_`` or ``ranking_`` after fit (they are
        cloned). None: ReliefF, F, Kruskal-Wallis and information gain.
    method : {"mean", "borda", "median", "rra"}, default "mean"
        How to combine the positions; see :func:`bitsieve.filters.rank_aggregation`.
    weights : array-like of shape (n_rankers,) or None, default None
        How much each ranker counts.
    ties : {"average", "index"}, default "average"
        What features of equal score get.
    n_features_to_select : int, float or None, default None
        How many features to keep, or a fraction of them; None keeps 10, or all where there are
        fewer.
    threshold : float or None, default None
        Keep features with a combined score above it.
    random_state : int, Generator, RandomState or None, default None
        Sets the seeds that rankers leave open.
    n_jobs : int or None, default None
        Threads of each ranker; None means all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Combined scores, greater is better.
    ranking_ : ndarray of shape (n_features,)
        1 for the best; equal scores by index.
    support_ : ndarray of shape (n_features,)
    pvalues_ : ndarray of shape (n_features,)
        With ``method="rra"``.
    ranker_names_ : list of str
    positions_ : ndarray of shape (n_rankers, n_features)
        Position of each feature in each ranking, 1 for the best.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where X has names.

    See Also
    --------
    EnsembleRanker : One ranker on many bootstrap samples.

    Notes
    -----
    A greedy method known by name takes 100 features, or as many as are to be kept where that is
    more; all others share the positions that are left.

    Student's t, F and the Pearson correlation rank a binary target alike: together they are one
    vote that counts three times.

    References
    ----------
    Escalante, Montes, Sucar, "An energy-based model for feature selection", 2008, equation 2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bitsieve import RankAggregation
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = RankAggregation(["relieff", "auc"], n_features_to_select=3).fit(X, y)
    >>> selector.positions_.shape
    (2, 30)
    """

    def __init__(
        self,
        rankers: Sequence[Any] | None = None,
        *,
        method: Method = "mean",
        weights: ArrayLike | None = None,
        ties: Ties = "average",
        n_features_to_select: int | float | None = None,
        threshold: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.rankers = rankers
        self.method = method
        self.weights = weights
        self.ties = ties
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _needs_target(self) -> bool:
        return any(needs_target(ranker) for ranker in self._named())

    @property
    def _allows_nan(self) -> bool:
        return all(takes(ranker, "nan") for ranker in self._named())

    @property
    def _allows_sparse(self) -> bool:
        return all(takes(ranker, "sparse") for ranker in self._named())

    @property
    def _positive_only(self) -> bool:
        return any(positive_only(ranker) for ranker in self._named())

    def _score(self, X: Any, y: Any) -> Scored:
        rankers = self._resolved()
        X = table_of(X, allow_nan=self._allows_nan, allow_sparse=self._allows_sparse)
        n_features = X.shape[1]
        # Refuse bad options before a long computation.
        rank_aggregation(np.zeros((len(rankers), 1)), **self._options())
        key = None if self.random_state is None else key_of(self.random_state)
        n_greedy = min(n_features, max(N_GREEDY, self._n_wanted(n_features) or 0))
        keys: NDArray[np.float64] = np.empty((len(rankers), n_features))
        for i, ranker in enumerate(rankers):
            keys[i] = rank_with(
                ranker, X, y,
                n_features=n_features, n_greedy=n_greedy, n_jobs=self.n_jobs, key=key,
            ).keys  # fmt: skip
        self.ranker_names_ = [name_of(ranker) for ranker in rankers]
        self.positions_ = positions_of(
            keys,
            given="rankings",
            ties=self.ties,
            lacking=lacking_of(self.method),
        )
        found = rank_aggregation(
            keys, given="rankings", p_values=self.method == "rra", **self._options()
        )
        scored: Scored = found
        return scored

    def _options(self) -> dict[str, Any]:
        return {"method": self.method, "weights": self.weights, "ties": self.ties}

    def _named(self) -> Sequence[Any]:
        return self.rankers if isinstance(self.rankers, (list, tuple)) else RANKERS

    def _resolved(self) -> list[Any]:
        rankers = RANKERS if self.rankers is None else self.rankers
        if isinstance(rankers, str) or not isinstance(rankers, Sequence):
            raise ValueError(
                "rankers must be a list of names, functions or estimators, such as "
                f"['relieff', 'f'], got {rankers!r}"
            )
        if not len(rankers):
            raise ValueError("rankers is empty: name one at least, such as 'relieff'")
        return [resolve(ranker) for ranker in rankers]
