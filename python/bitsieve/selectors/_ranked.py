"""What every selector that ranks features has in common.

A subclass stores its parameters in its constructor, ``n_features_to_select`` and ``threshold``
among them, and fills in one of two hooks, which get X and y as the user passed them and do
their own checks (every function of :mod:`bitsieve.filters` does):

``_score(X, y)``
    Scores of all features, greater is better; or scores and p-values.
``_order(X, y)``
    For greedy methods: the features taken, best first, and the criterion's value at each step.
    ``_n_wanted(n_features)`` tells how many will be kept.

Tags follow four properties, which a subclass may override with a plain class attribute or with a
property of its own: ``_needs_target``, ``_allows_nan``, ``_allows_sparse``, ``_positive_only``.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from bitsieve._checks import check_number, is_whole
from bitsieve._errors import plural
from bitsieve.data.refusals import needs_target, refuse_what_scikit_learn_refuses
from bitsieve.filters.positions import positions_of_order, positions_of_scores

__all__ = ["RankSelector"]

#: Features kept where the user names neither a number nor a threshold.
N_FEATURES = 10

Scored = NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]
Taken = tuple[NDArray[np.int64], NDArray[np.float64]]


class RankSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A feature selector that keeps the best of a ranking.

    Expects two parameters on the instance:

    n_features_to_select : int, float or None
        How many features to keep: a number of at most ``n_features_in_``, or a fraction in (0, 1)
        of them (at least one). None keeps 10 (all where there are fewer), unless a threshold is
        given or the method itself decides how many it takes.
    threshold : float or None
        Keep features with a score above it; where both are given, both must hold.

    After fit: ``scores_``, ``ranking_`` (1 is the best), ``support_``, ``n_features_`` (how many
    it keeps), ``n_features_in_``,
    ``feature_names_in_``; ``order_`` for greedy methods and ``pvalues_`` where there are some.
    """

    n_features_to_select: int | float | None
    threshold: float | None

    #: True for methods that stop by themselves: None then keeps all that they took.
    _decides_size: bool = False

    scores_: NDArray[np.float64]
    ranking_: NDArray[np.int64]
    support_: NDArray[np.bool_]

    @property
    def _needs_target(self) -> bool:
        return True

    @property
    def _allows_nan(self) -> bool:
        return False

    @property
    def _allows_sparse(self) -> bool:
        return False

    @property
    def _positive_only(self) -> bool:
        return False

    def _score(self, X: Any, y: Any) -> Scored:
        """Return a score for every feature, or scores and p-values."""
        raise NotImplementedError(f"{type(self).__name__} has neither _score nor _order")

    def _order(self, X: Any, y: Any) -> Taken | None:
        """Return the features taken and their values; None where all features have a score."""
        return None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Rank the features and keep the best.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Pandas and polars frames keep their names.
        y : array-like of shape (n_samples,)
            Class labels of any type, or numbers, as the method needs.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Where X or y are not fit for use, or a parameter is out of its range.
        """
        refuse_what_scikit_learn_refuses(X)
        if y is None and self._needs_target:
            raise needs_target(self)
        if getattr(y, "ndim", 1) == 2:
            y = column_or_1d(y, warn=True)
        self._check_threshold()
        shape: tuple[int, ...] = getattr(X, "shape", ())
        self._n_wanted(shape[1] if len(shape) == 2 else None)  # before a long computation
        taken = self._order(X, y)
        if taken is None:
            scored = self._score(X, y)
            found, p_values = scored if isinstance(scored, tuple) else (scored, None)
            scores = np.asarray(found, dtype=np.float64)
            ranking = positions_of_scores(scores)
        # The values of X were checked; what is left are names and number of the features.
        validate_data(self, X, skip_check_array=True)
        n_features = int(self.n_features_in_)
        for stale in {"order_", "pvalues_"} & set(vars(self)):  # of an earlier fit
            delattr(self, stale)
        if taken is None:
            if p_values is not None:
                self.pvalues_ = np.asarray(p_values, dtype=np.float64)
        else:
            self.order_ = np.asarray(taken[0], dtype=np.int64)
            scores = np.full(n_features, np.nan)
            scores[self.order_] = taken[1]
            ranking = positions_of_order(self.order_, n_features)
        self.scores_, self.ranking_ = scores, ranking
        self.support_ = self._keep(scores, ranking)
        self.n_features_ = int(self.support_.sum())
        return self

    def _keep(self, scores: NDArray[np.float64], ranking: NDArray[np.int64]) -> NDArray[np.bool_]:
        wanted = self._n_wanted(len(scores))
        kept = ~np.isnan(scores)
        if wanted is not None:
            kept &= ranking <= wanted
        if self.threshold is not None:
            kept &= scores > self.threshold
        return kept

    def _n_wanted(self, n_features: int | None) -> int | None:
        """Return how many features to keep, or None for as many as there are by other rules.

        Raises
        ------
        ValueError
            If ``n_features_to_select`` is no such number, or more than there are features.
        """
        value = self.n_features_to_select
        if value is None:
            if self._decides_size or self.threshold is not None:
                return None
            return N_FEATURES if n_features is None else min(N_FEATURES, n_features)
        if is_whole(value) and value >= 1:
            if n_features is not None and value > n_features:
                raise ValueError(
                    f"n_features_to_select is {value}, but X has "
                    f"{plural(n_features, 'feature')}; ask for at most as many, or pass a "
                    "fraction in (0, 1)"
                )
            return int(value)
        if isinstance(value, (float, np.floating)) and 0.0 < value < 1.0:
            return None if n_features is None else max(1, int(value * n_features + 1e-9))
        raise ValueError(
            "n_features_to_select must be a whole number from 1 on, a fraction in (0, 1) or None, "
            f"got {value!r}"
        )

    def _check_threshold(self) -> None:
        if self.threshold is not None:
            check_number("threshold", self.threshold, closed="both", instead="or None")

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_target
        tags.input_tags.sparse = self._allows_sparse
        tags.input_tags.allow_nan = self._allows_nan
        tags.input_tags.positive_only = self._positive_only
        return tags
