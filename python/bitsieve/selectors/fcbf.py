"""FCBF: relevant features that no more relevant one makes redundant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.discrete import CutCost, Missing
from bitsieve.filters import fcbf
from bitsieve.filters.information import Cut
from bitsieve.selectors._ranked import RankSelector

__all__ = ["FCBF"]


class FCBF(RankSelector):
    """The fast correlation-based filter.

    Takes features by falling symmetrical uncertainty with the classes, SU(f, y), and drops those
    that a taken one predicts at least as well as they predict the classes [1]_. See
    :func:`bitsieve.filters.fcbf`.

    Parameters
    ----------
    n_features_to_select : int, float or None, default None
        Keep the first so many of them, or a fraction in (0, 1) of all features; None keeps all
        that the filter takes.
    threshold : float, default 0.0
        Least SU(f, y), in [0, 1]. Features with none are never taken.
    discretization : {"mdl", "equal_width", "equal_frequency", "mean_sd"} or None, default "mdl"
        How continuous columns are cut; None takes all columns as levels and refuses others.
    n_bins : int, default 10
        For ``"equal_width"`` and ``"equal_frequency"``.
    cut_cost : {"distinct", "samples"}, default "distinct"
        What a cut costs in ``"mdl"``: as Weka counts, or as in Fayyad and Irani's paper.
    missing : {"error", "level"}, default "error"
        NaN is refused, or counts as a level of its own.
    discrete_features : "auto", bool mask, positions or names, default "auto"
        Columns that hold levels already; see :func:`bitsieve.filters.discretize`.
    n_jobs : int or None, default None
        Threads.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        True for the selected features.
    order_ : ndarray of shape (n_taken,)
        Int64, the features that the filter takes, the most relevant first.
    scores_ : ndarray of shape (n_features_in_,)
        SU(f, y) of the features in `order_`; NaN for the others.
    ranking_ : ndarray of shape (n_features_in_,)
        Place in `order_` from 1 on; all others share the next number.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a data frame.

    References
    ----------
    .. [1] L. Yu, H. Liu, "Efficient feature selection via analysis of relevance and redundancy",
       JMLR 5 (2004) 1205-1224.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> selector = FCBF().fit(*load_iris(return_X_y=True))
    >>> selector.order_, selector.scores_.round(3)
    (array([3, 2]), array([  nan,   nan, 0.806, 0.871]))
    """

    _decides_size = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float = 0.0,
        discretization: Cut | None = "mdl",
        n_bins: int = 10,
        cut_cost: CutCost = "distinct",
        missing: Missing = "error",
        discrete_features: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.discretization = discretization
        self.n_bins = n_bins
        self.cut_cost = cut_cost
        self.missing = missing
        self.discrete_features = discrete_features
        self.n_jobs = n_jobs

    _allows_sparse = True

    @property
    def _allows_nan(self) -> bool:
        return self.missing == "level"

    def _order(self, X: Any, y: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return fcbf(
            X,
            y,
            threshold=0.0 if self.threshold is None else self.threshold,
            discretization=self.discretization,
            n_bins=self.n_bins,
            cut_cost=self.cut_cost,
            missing=self.missing,
            discrete_features=self.discrete_features,
            return_scores=True,
            n_jobs=self.n_jobs,
        )

    def _keep(self, scores: NDArray[np.float64], ranking: NDArray[np.int64]) -> NDArray[np.bool_]:
        # The filter itself holds to the threshold, which a score may equal.
        wanted = self._n_wanted(len(scores))
        return ~np.isnan(scores) & (ranking <= (len(scores) if wanted is None else wanted))
