"""EnsembleRanker: one ranker on many bootstrap samples, and how much its rankings agree."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.utils import _safe_indexing

from bitsieve._checks import check_flag, check_int, check_number, is_whole, key_of
from bitsieve._errors import plural
from bitsieve._random import SeedWords, Stream
from bitsieve._threads import effective_n_jobs
from bitsieve.data.validation import check_target
from bitsieve.filters.aggregation import METHODS, Method, combine, lacking_of, positions_of
from bitsieve.filters.named import N_GREEDY, NamedFilter
from bitsieve.filters.positions import positions_of_scores
from bitsieve.selectors._bootstrap import draw
from bitsieve.selectors._ranked import N_FEATURES, RankSelector, Scored
from bitsieve.selectors._rankers import (
    needs_target,
    positive_only,
    rank_with,
    resolve,
    table_of,
    takes,
)

__all__ = ["EnsembleRanker"]


class EnsembleRanker(RankSelector):
    """Rank with one method on many bootstrap samples and combine the rankings.

    The combined ranking moves less with the choice of samples than a single one does, and the
    figures beside it say how far each feature's position may be trusted.

    Parameters
    ----------
    ranker : str, callable or estimator, default "relieff"
        A name such as ``"relieff"``, a function of (X, y) that returns scores, or an estimator
        with ``scores_`` or ``ranking_`` after fit (it is cloned).
    n_bootstraps : int, default 50
    aggregation : {"mean", "borda", "median", "rra"}, default "mean"
        How to combine the positions; see :func:`bitsieve.filters.rank_aggregation`.
    stratify : bool or None, default None
        Draw within each class, so that all keep their size. None: where y holds classes.
    replace : bool, default True
        Draw with replacement. False draws subsamples without duplicates, which methods that look
        at neighbors may prefer; ``sample_size`` must then be below 1.
    sample_size : float, default 1.0
        Part of the samples (of each class) to draw, in (0, 1].
    n_top : int or None, default None
        A feature is counted in ``frequency_`` where it is among so many; None means as many as
        are to be kept (10 where a threshold decides).
    n_features_to_select : int, float or None, default None
        How many features to keep, or a fraction of them; None keeps 10, or all where there are
        fewer.
    threshold : float or None, default None
        Keep features with a combined score above it.
    random_state : int, Generator, RandomState or None, default None
        Seed of the samples, and of a ranker that has none.
    n_jobs : int or None, default None
        Threads of the ranker, or over the bootstrap samples where it has none; None means all
        cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Combined scores, greater is better.
    ranking_ : ndarray of shape (n_features,)
        1 for the best; equal scores by index.
    support_ : ndarray of shape (n_features,)
    frequency_ : ndarray of shape (n_features,)
        Part of the bootstrap samples in which the feature was among the first ``n_top_``.
    mean_rank_, sd_rank_ : ndarray of shape (n_features,)
        Mean and standard deviation of the position over the bootstrap samples (1 is the best).
    n_top_ : int
    seed_ : int
        Of this fit; as ``random_state`` it gives the same again.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where X has names.

    See Also
    --------
    RankAggregation : Several rankers on all samples.

    Notes
    -----
    All figures are about the samples at hand: a feature that comes first in every bootstrap sample
    has a stable rank, which is no error estimate. ``nested_cross_validate`` gives one.

    References
    ----------
    Saeys, Abeel, Van de Peer, "Robust feature selection using ensemble feature selection
    techniques", ECML PKDD 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from bitsieve import EnsembleRanker
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = EnsembleRanker("f", n_bootstraps=20, n_features_to_select=4, random_state=0)
    >>> sorted(selector.fit(X, y).get_feature_names_out())  # doctest: +NORMALIZE_WHITESPACE
    ['mean concave points', 'worst concave points', 'worst perimeter', 'worst radius']
    """

    def __init__(
        self,
        ranker: Any = "relieff",
        *,
        n_bootstraps: int = 50,
        aggregation: Method = "mean",
        stratify: bool | None = None,
        replace: bool = True,
        sample_size: float = 1.0,
        n_top: int | None = None,
        n_features_to_select: int | float | None = None,
        threshold: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.ranker = ranker
        self.n_bootstraps = n_bootstraps
        self.aggregation = aggregation
        self.stratify = stratify
        self.replace = replace
        self.sample_size = sample_size
        self.n_top = n_top
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _needs_target(self) -> bool:
        return needs_target(self.ranker)

    @property
    def _allows_nan(self) -> bool:
        return takes(self.ranker, "nan")

    @property
    def _allows_sparse(self) -> bool:
        return takes(self.ranker, "sparse")

    @property
    def _positive_only(self) -> bool:
        return positive_only(self.ranker)

    def _score(self, X: Any, y: Any) -> Scored:
        ranker = resolve(self.ranker, "ranker")
        n_bootstraps = check_int("n_bootstraps", self.n_bootstraps, 1)
        if self.aggregation not in METHODS:
            combine(np.ones((1, 1)), self.aggregation)  # says so
        self._check_sampling()
        table = table_of(X, allow_nan=self._allows_nan, allow_sparse=self._allows_sparse)
        n_samples, n_features = table.shape
        n_top = self._top(n_features)
        y, groups = self._groups(ranker, y, n_samples)
        key = key_of(self.random_state)
        # A ranker with threads of its own keeps them: its kernels look for Ctrl-C meanwhile.
        n_threads = 1 if _has_threads(ranker) else effective_n_jobs(self.n_jobs)
        lacking = lacking_of(self.aggregation)

        def one(index: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
            rows = draw(groups, self.sample_size, replace=self.replace, key=key, index=index)
            try:
                ranked = rank_with(
                    ranker,
                    _safe_indexing(table, rows),
                    None if y is None else y[rows],
                    n_features=n_features,
                    n_greedy=min(n_features, max(N_GREEDY, n_top)),
                    n_jobs=self.n_jobs,
                    key=SeedWords(key, Stream.rankers).one(index),
                    # A sample that was drawn twice must not be trained on where it is tested.
                    groups=rows if self.replace else None,
                )
            except ValueError as error:
                raise ValueError(
                    f"{error} (in bootstrap sample {index + 1} of {n_bootstraps})"
                ) from error
            positions = positions_of([ranked.keys], given="rankings", lacking=lacking)[0]
            # Half positions of up to four million features are exact in float32.
            first = positions_of_scores(-ranked.keys) <= n_top
            return positions.astype(np.float32), first & ~np.isnan(ranked.keys)

        found = _each(one, n_bootstraps, n_threads)
        positions = np.array([ranks for ranks, _ in found])
        self.n_top_ = n_top
        self.seed_ = key
        self.frequency_ = np.mean([first for _, first in found], axis=0)
        self.mean_rank_ = positions.mean(axis=0, dtype=np.float64)
        self.sd_rank_ = positions.std(axis=0, dtype=np.float64)
        return combine(positions, self.aggregation)

    def _top(self, n_features: int) -> int:
        if self.n_top is None:
            return self._n_wanted(n_features) or min(N_FEATURES, n_features)
        if not is_whole(self.n_top) or not 1 <= self.n_top <= n_features:
            raise ValueError(
                f"n_top must be a whole number from 1 to {plural(n_features, 'feature')} or None, "
                f"got {self.n_top!r}"
            )
        return int(self.n_top)

    def _check_sampling(self) -> None:
        check_flag("stratify", self.stratify, optional=True)
        check_flag("replace", self.replace)
        size = check_number("sample_size", self.sample_size, 0, 1, closed="right")
        if not self.replace and size == 1.0:
            raise ValueError(
                "sample_size=1.0 without replacement draws all samples every time; lower it, for "
                "example to 0.632, or set replace=True"
            )

    def _groups(
        self, ranker: Any, y: Any, n_samples: int
    ) -> tuple[NDArray[Any] | None, list[NDArray[np.int64]]]:
        """Return y as an array, and the samples that are drawn from together."""
        everything = [np.arange(n_samples)]
        if y is None:
            if self.stratify:
                raise ValueError("stratify=True needs y, the classes to draw within")
            return None, everything
        numeric = isinstance(ranker, NamedFilter) and ranker.target == "numbers"
        target = check_target(y, n_samples, "regression" if numeric else None)
        if target.codes is None or self.stratify is False:
            if self.stratify:
                raise ValueError("stratify=True needs classes, but y holds numbers")
            return target.y, everything
        counts = np.bincount(target.codes)
        # Numbers that are whole by chance: nearly every sample is a class of its own.
        if self.stratify is None and 2 * len(counts) > n_samples:
            return target.y, everything
        return target.y, [np.flatnonzero(target.codes == c) for c in range(len(counts))]


def _has_threads(ranker: Any) -> bool:
    if isinstance(ranker, NamedFilter):
        return ranker.takes("n_jobs")
    return hasattr(ranker, "fit") and "n_jobs" in ranker.get_params(deep=False)


def _each(one: Callable[[int], Any], count: int, n_threads: int) -> list[Any]:
    """Return ``one(0)`` to ``one(count - 1)``; after an error or Ctrl-C none is begun any more."""
    if min(count, n_threads) == 1:
        return [one(index) for index in range(count)]
    settings = get_config()

    def with_settings(index: int) -> Any:
        with config_context(**settings):  # of scikit-learn, one a thread
            return one(index)

    with ThreadPoolExecutor(min(count, n_threads)) as pool:
        futures = [pool.submit(with_settings, index) for index in range(count)]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
