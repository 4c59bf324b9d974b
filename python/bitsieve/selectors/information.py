"""Selectors by mutual information: mRMR, and the other greedy criteria."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve.data.inputs import width_of
from bitsieve.data.validation import Task
from bitsieve.discrete import Discretization, Missing
from bitsieve.filters import information_selection, mrmr
from bitsieve.filters.information import Correction
from bitsieve.filters.information.mrmr import Criterion as MRMRCriterion
from bitsieve.filters.information.mrmr import Redundancy, Relevance
from bitsieve.filters.information.selection import Criterion
from bitsieve.selectors._ranked import RankSelector

__all__ = ["MRMR", "InformationSelector"]


class _Greedy(RankSelector):
    """How many features a greedy method must take, and what it accepts."""

    missing: Missing

    @property
    def _allows_nan(self) -> bool:
        return self.missing == "level"

    @property
    def _allows_sparse(self) -> bool:
        return True


class MRMR(_Greedy):
    """Minimum redundancy, maximum relevance.

    Takes features one by one, each time the one that says most about y and least that the
    features taken so far say. See :func:`bitsieve.filters.mrmr`.

    Parameters
    ----------
    n_features_to_select : int, float or None, default None
        How many features to keep, or a fraction in (0, 1); None keeps 10, or all where there are
        fewer.
    threshold : float or None, default None
        Keep only features whose value of the criterion, when they were taken, was above it.
    criterion : {"MID", "MIQ", "FCD", "FCQ"}, default "MID"
        Relevance minus or over mean redundancy: of mutual information of levels (MID, MIQ), or
        of F and absolute correlation of numbers (FCD, FCQ).
    relevance : {"f", "ks", "random_forest"} or callable, default "f"
        Of FCD and FCQ.
    redundancy : {"pearson", "spearman"}, default "pearson"
        Of FCD and FCQ.
    discretization : {"auto", "mdl", "equal_width", "equal_frequency", "mean_sd"} or None
        Of MID and MIQ: how columns become levels. ``"auto"``, the default, takes columns of few
        whole numbers as they are and cuts others in three, one standard deviation around the
        mean; None refuses columns that hold no levels.
    n_bins : int, default 10
        For ``"equal_width"`` and ``"equal_frequency"``.
    missing : {"error", "level"}, default "error"
        NaN is refused, or counts as a level of its own (MID, MIQ).
    discrete_features : "auto", bool mask, positions or names, default "auto"
        Columns that hold levels already (MID, MIQ).
    correction : {"miller_madow", "dirichlet"} or None, default None
        Of entropies, for few samples (MID, MIQ).
    prior : float, default 1.0
        Samples that the prior of ``"dirichlet"`` is worth.
    task : {"classification", "regression"} or None, default None
        What y is; by default numbers with a fractional part are a numeric target.
    random_state : int, numpy Generator or RandomState, or None, default None
        Of ``relevance="random_forest"``.
    n_jobs : int or None, default None
        Threads.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        True for the selected features.
    order_ : ndarray of shape (n_taken,)
        Int64, the features taken, the first first.
    scores_ : ndarray of shape (n_features_in_,)
        The criterion when the feature was taken; NaN for the others.
    ranking_ : ndarray of shape (n_features_in_,)
        Place in `order_` from 1 on; all others share the next number.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a data frame.

    References
    ----------
    .. [1] C. Ding, H. Peng, "Minimum redundancy feature selection from microarray gene expression
       data", J. Bioinform. Comput. Biol. 3 (2005) 185-205.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> selector = MRMR(2, criterion="FCQ").fit(*load_iris(return_X_y=True))
    >>> selector.order_
    array([2, 3])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | None = None,
        criterion: MRMRCriterion = "MID",
        relevance: Relevance = "f",
        redundancy: Redundancy = "pearson",
        discretization: Discretization | None = "auto",
        n_bins: int = 10,
        missing: Missing = "error",
        discrete_features: Any = "auto",
        correction: Correction | None = None,
        prior: float = 1.0,
        task: Task | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.criterion = criterion
        self.relevance = relevance
        self.redundancy = redundancy
        self.discretization = discretization
        self.n_bins = n_bins
        self.missing = missing
        self.discrete_features = discrete_features
        self.correction = correction
        self.prior = prior
        self.task = task
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _order(self, X: Any, y: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return mrmr(
            X,
            y,
            self._n_wanted(width_of(X)),
            criterion=self.criterion,
            relevance=self.relevance,
            redundancy=self.redundancy,
            discretization=self.discretization,
            n_bins=self.n_bins,
            missing=self.missing,
            discrete_features=self.discrete_features,
            correction=self.correction,
            prior=self.prior,
            task=self.task,
            random_state=self.random_state,
            return_scores=True,
            n_jobs=self.n_jobs,
        )


class InformationSelector(_Greedy):
    """Greedy selection by a criterion of mutual information.

    See :func:`bitsieve.filters.information_selection`, which has the table of the criteria.

    Parameters
    ----------
    n_features_to_select : int, float or None, default None
        How many features to keep, or a fraction in (0, 1); None keeps 10, or all where there are
        fewer.
    threshold : float or None, default None
        Keep only features whose value of the criterion, when they were taken, was above it.
    criterion : str, default "jmi"
        "mim", "mifs", "mid", "miq", "cife", "icap", "cmim", "jmi", "jmim", "disr", "njmim" or
        "jmi3".
    beta : float, default 1.0
        Weight of the redundancy in mifs.
    discretization : {"auto", "mdl", "equal_width", "equal_frequency", "mean_sd"} or None
        How columns become levels. ``"auto"``, the default, takes columns of few whole numbers as
        they are and cuts others in three, one standard deviation around the mean; None refuses
        columns that hold no levels.
    n_bins : int, default 10
        For ``"equal_width"`` and ``"equal_frequency"``.
    missing : {"error", "level"}, default "error"
        NaN is refused, or counts as a level of its own.
    discrete_features : "auto", bool mask, positions or names, default "auto"
        Columns that hold levels already.
    correction : {"miller_madow", "dirichlet"} or None, default None
        Of entropies, for few samples.
    prior : float, default 1.0
        Samples that the prior of ``"dirichlet"`` is worth.
    task : {"classification", "regression"} or None, default None
        What y is; by default numbers with a fractional part are a numeric target.
    n_jobs : int or None, default None
        Threads.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        True for the selected features.
    order_ : ndarray of shape (n_taken,)
        Int64, the features taken, the first first.
    scores_ : ndarray of shape (n_features_in_,)
        The criterion when the feature was taken; NaN for the others.
    ranking_ : ndarray of shape (n_features_in_,)
        Place in `order_` from 1 on; all others share the next number.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Where X was a data frame.

    References
    ----------
    .. [1] G. Brown et al., "Conditional likelihood maximisation: a unifying framework for
       information theoretic feature selection", JMLR 13 (2012) 27-66.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> selector = InformationSelector(2, criterion="cmim").fit(*load_iris(return_X_y=True))
    >>> selector.order_
    array([2, 3])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | None = None,
        criterion: Criterion = "jmi",
        beta: float = 1.0,
        discretization: Discretization | None = "auto",
        n_bins: int = 10,
        missing: Missing = "error",
        discrete_features: Any = "auto",
        correction: Correction | None = None,
        prior: float = 1.0,
        task: Task | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.criterion = criterion
        self.beta = beta
        self.discretization = discretization
        self.n_bins = n_bins
        self.missing = missing
        self.discrete_features = discrete_features
        self.correction = correction
        self.prior = prior
        self.task = task
        self.n_jobs = n_jobs

    def _order(self, X: Any, y: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return information_selection(
            X,
            y,
            self._n_wanted(width_of(X)),
            criterion=self.criterion,
            beta=self.beta,
            discretization=self.discretization,
            n_bins=self.n_bins,
            missing=self.missing,
            discrete_features=self.discrete_features,
            correction=self.correction,
            prior=self.prior,
            task=self.task,
            return_scores=True,
            n_jobs=self.n_jobs,
        )
