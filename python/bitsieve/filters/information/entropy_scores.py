"""What a feature tells about the classes: information gain and its two normalisations, and Gini.

All four count levels. Continuous columns are first cut by Fayyad and Irani's rule as Weka counts
its cost, so that a column that says nothing has one level and the score 0; see
:func:`bitsieve.filters.discretize`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_choice
from bitsieve.discrete import CutCost, Missing
from bitsieve.filters.information.uncertainty import class_table

__all__ = ["gain_ratio", "gini", "information_gain", "symmetrical_uncertainty"]

Cut = Literal["mdl", "equal_width", "equal_frequency", "mean_sd"]

_CELLS = 1 << 20  # counts at a time


def information_gain(
    X: Any,
    y: Any = None,
    *,
    discretization: Cut | None = "mdl",
    n_bins: int = 10,
    cut_cost: CutCost = "distinct",
    unit: Literal["bits", "nats"] = "bits",
    missing: Missing = "error",
    discrete_features: Any = "auto",
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Score features by how much they lower the entropy of the classes.

    ``H(y) - H(y | f) = sum_vc p(v, c) log(p(v, c) / (p(v) p(c)))`` over the levels v of a feature
    and the classes c [1]_, which is their mutual information.

    Parameters
    ----------
    X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
        Numbers. Text, categories and booleans of a data frame are levels by themselves. Entries
        that a sparse matrix does not hold are zeros, and it is never made dense as a whole.
    y : array-like of shape (n_samples,)
        Class labels of any type; those of a Table by default.
    discretization : {"mdl", "equal_width", "equal_frequency", "mean_sd"} or None, default "mdl"
        How continuous columns are cut; None takes all columns as levels (whole numbers) and
        refuses others.
    n_bins : int, default 10
        For ``"equal_width"`` and ``"equal_frequency"``.
    cut_cost : {"distinct", "samples"}, default "distinct"
        What the choice of a cut costs in ``"mdl"``: log2 of the number of cuts between distinct
        values, Weka's rule and the default here, or log2(N - 1) for N samples, the rule of Fayyad
        and Irani's paper (equation 9) and of :func:`bitsieve.filters.discretize`.
    unit : {"bits", "nats"}, default "bits"
        Base of the logarithm: 2 or e.
    missing : {"error", "level"}, default "error"
        NaN is refused, or counts as a level of its own.
    discrete_features : "auto", bool mask, positions or names, default "auto"
        Columns that hold levels already; see :func:`bitsieve.filters.discretize`.
    n_jobs : int or None, default None
        Threads.

    Returns
    -------
    ndarray of shape (n_features,)
        Float64, in `unit`, from 0 (nothing, or one level) to the entropy of y.

    Raises
    ------
    ValueError
        If X or y are not fit for use, or a parameter is out of its range.

    Notes
    -----
    With the defaults these are the numbers of Weka's ``InfoGainAttributeEval``.

    References
    ----------
    .. [1] J. R. Quinlan, "Induction of decision trees", Machine Learning 1 (1986) 81-106.

    Examples
    --------
    >>> X = [[1.0, 5.0], [2.0, 5.0], [8.0, 6.0], [9.0, 5.0], [1.5, 6.0], [8.5, 5.0]]
    >>> information_gain(X, ["a", "a", "b", "b", "a", "b"])
    array([1., 0.])
    """
    check_choice("unit", unit, ("bits", "nats"))
    table = class_table(
        X,
        y,
        discretization=discretization,
        n_bins=n_bins,
        cut_cost=cut_cost,
        missing=missing,
        discrete_features=discrete_features,
        n_jobs=n_jobs,
    )
    return table.information() / (np.log(2.0) if unit == "bits" else 1.0)


def gain_ratio(
    X: Any,
    y: Any = None,
    *,
    discretization: Cut | None = "mdl",
    n_bins: int = 10,
    cut_cost: CutCost = "distinct",
    missing: Missing = "error",
    discrete_features: Any = "auto",
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Score features by information gain a bit of their own entropy.

    ``(H(y) - H(y | f)) / H(f)`` [1]_: features of many levels gain much by chance, and pay for it.

    Parameters
    ----------
    X, y, discretization, n_bins, cut_cost, missing, discrete_features, n_jobs
        As for :func:`information_gain`.

    Returns
    -------
    ndarray of shape (n_features,)
        Float64 in [0, 1], without a unit; 0 for a feature of one level.

    Raises
    ------
    ValueError
        As :func:`information_gain`.

    Notes
    -----
    With the defaults these are the numbers of Weka's ``GainRatioAttributeEval``.

    References
    ----------
    .. [1] J. R. Quinlan, "Induction of decision trees", Machine Learning 1 (1986) 81-106.

    Examples
    --------
    >>> X = [["x", 0], ["y", 0], ["z", 1], ["z", 1]]
    >>> import pandas as pd
    >>> gain_ratio(pd.DataFrame(X, columns=["f", "g"]), [0, 0, 1, 1], discretization=None).round(3)
    array([0.667, 1.   ])
    """
    table = class_table(
        X,
        y,
        discretization=discretization,
        n_bins=n_bins,
        cut_cost=cut_cost,
        missing=missing,
        discrete_features=discrete_features,
        n_jobs=n_jobs,
    )
    ratio = np.zeros(table.n_features)
    np.divide(table.information(), table.entropies, out=ratio, where=table.entropies > 0)
    return np.minimum(ratio, 1.0)


def symmetrical_uncertainty(
    X: Any,
    y: Any = None,
    *,
    discretization: Cut | None = "mdl",
    n_bins: int = 10,
    cut_cost: CutCost = "distinct",
    missing: Missing = "error",
    discrete_features: Any = "auto",
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Score features by the information shared with the classes, as a part of what both hold.

    ``2 I(f; y) / (H(f) + H(y))`` [1]_.

    Parameters
    ----------
    X, y, discretization, n_bins, cut_cost, missing, discrete_features, n_jobs
        As for :func:`information_gain`.

    Returns
    -------
    ndarray of shape (n_features,)
        Float64 in [0, 1], without a unit; 0 for a feature of one level, 1 where feature and
        classes determine each other.

    Raises
    ------
    ValueError
        As :func:`information_gain`.

    Notes
    -----
    With the defaults these are the numbers of Weka's ``SymmetricalUncertAttributeEval``.

    References
    ----------
    .. [1] W. H. Press et al., Numerical Recipes in C, 1988; as a score of features: L. Yu, H. Liu,
       "Efficient feature selection via analysis of relevance and redundancy", JMLR 5 (2004)
       1205-1224, equation 5.

    Examples
    --------
    >>> symmetrical_uncertainty([[0, 0], [0, 1], [1, 2], [1, 2]], [0, 0, 1, 1], discretization=None)
    array([1. , 0.8])
    """
    return class_table(
        X,
        y,
        discretization=discretization,
        n_bins=n_bins,
        cut_cost=cut_cost,
        missing=missing,
        discrete_features=discrete_features,
        n_jobs=n_jobs,
    ).uncertainty()


def gini(
    X: Any,
    y: Any = None,
    *,
    discretization: Cut | None = "mdl",
    n_bins: int = 10,
    cut_cost: CutCost = "distinct",
    missing: Missing = "error",
    discrete_features: Any = "auto",
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Score features by how much a split into their levels lowers the Gini impurity.

    ``sum_v p(v) sum_c p(c | v)^2 - sum_c p(c)^2`` over the levels v and the classes c [1]_: how
    much likelier two samples of one level are of one class than any two samples.

    Parameters
    ----------
    X, y, discretization, n_bins, cut_cost, missing, discrete_features, n_jobs
        As for :func:`information_gain`.

    Returns
    -------
    ndarray of shape (n_features,)
        Float64, a difference of probabilities, from 0 (nothing, or one level) to the impurity of
        y, which is below 1.

    Raises
    ------
    ValueError
        As :func:`information_gain`.

    References
    ----------
    .. [1] L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, Classification and Regression
       Trees, 1984, section 4.3.

    Examples
    --------
    >>> gini([[0, 0], [0, 0], [1, 0], [1, 1]], [0, 0, 1, 1], discretization=None).round(3)
    array([0.5  , 0.167])
    """
    table = class_table(
        X,
        y,
        discretization=discretization,
        n_bins=n_bins,
        cut_cost=cut_cost,
        missing=missing,
        discrete_features=discrete_features,
        n_jobs=n_jobs,
    )
    prior = np.bincount(table.codes).astype(np.float64)
    impure = float(np.sum(prior**2)) / len(table.codes) ** 2
    n_features, widest = table.n_features, int(table.table.n_levels.max())
    step = max(1, _CELLS // (widest * len(prior)))
    counted = (
        table.table.contingency(table.codes, features=range(f, min(f + step, n_features)))
        for f in range(0, n_features, step)
    )
    scores = np.concatenate([_purity(counts) for counts in counted]) / len(table.codes) - impure
    return np.where(table.entropies > 0, np.maximum(scores, 0.0), 0.0)


def _purity(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """``sum_vc n_vc^2 / n_v`` of each feature."""
    squares, totals = np.sum(counts.astype(np.float64) ** 2, axis=2), np.sum(counts, axis=2)
    pure = np.divide(squares, totals, out=np.zeros_like(squares), where=totals > 0)
    shares: NDArray[np.float64] = np.sum(pure, axis=1)
    return shares
