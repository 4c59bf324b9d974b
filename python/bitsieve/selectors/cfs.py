"""CFS: the set of features that predicts the classes and not itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.discrete import CutCost, Missing
from bitsieve.filters.information import Cut, class_table, search_cfs
from bitsieve.selectors._ranked import RankSelector

__all__ = ["CFS"]


class CFS(RankSelector):
    """Correlation-based feature selection with best-first search.

    Finds the set of k features with the greatest merit
    ``k r_cf / sqrt(k + k (k - 1) r_ff)`` [1]_, where r_cf is the mean symmetrical uncertainty of
    a feature with the classes and r_ff that of two features. The size of the set is the search's
    own choice. See :func:`bitsieve.filters.cfs`.

    Parameters
    ----------
    max_stale : int, default 5
        Expansions without a better set before the search ends.
    locally_predictive : bool, default True
        Whether to add, after the search, features that are correlated with none of the set more
        than with the classes.
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
        True for the features of the set. All False where no feature tells anything.
    merit_ : float
        Merit of the set that the search found, in [0, 1]; without locally predictive features.
    order_ : ndarray of shape (n_selected,)
        Int64, the features as they joined the set, locally predictive ones last.
    scores_ : ndarray of shape (n_features_in_,)
        Merit of the set up to and with the feature; NaN for features outside.
    ranking_ : ndarray of shape (n_features_in_,)
        Place in `order_` from 1 on; all features outside share the next number.
    history_ : dict of str to ndarray
        A value an expansion of the search: ``merit`` and ``n_selected`` of the best set so far,
        ``n_evaluations`` of sets so far.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a data frame.

    References
    ----------
    .. [1] M. A. Hall, "Correlation-based feature selection for machine learning", PhD thesis,
       University of Waikato, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> selector = CFS().fit(*load_iris(return_X_y=True))
    >>> selector.get_support(), round(selector.merit_, 3)
    (array([False, False,  True,  True]), 0.887)
    """

    n_features_to_select = None
    threshold = None
    _decides_size = True

    def __init__(
        self,
        *,
        max_stale: int = 5,
        locally_predictive: bool = True,
        discretization: Cut | None = "mdl",
        n_bins: int = 10,
        cut_cost: CutCost = "distinct",
        missing: Missing = "error",
        discrete_features: Any = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.max_stale = max_stale
        self.locally_predictive = locally_predictive
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
        table = class_table(
            X,
            y,
            discretization=self.discretization,
            n_bins=self.n_bins,
            cut_cost=self.cut_cost,
            missing=self.missing,
            discrete_features=self.discrete_features,
            n_jobs=self.n_jobs,
        )
        found = search_cfs(
            table, max_stale=self.max_stale, locally_predictive=self.locally_predictive
        )
        self.merit_ = float(found.merits[found.n_searched - 1]) if found.n_searched else 0.0
        self.history_ = found.history
        return found.order, found.merits
