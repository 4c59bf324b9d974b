"""The fast correlation-based filter: relevant features that no better one makes redundant."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_number
from bitsieve.discrete import CutCost, Missing
from bitsieve.filters.information.entropy_scores import Cut
from bitsieve.filters.information.uncertainty import ClassTable, class_table
from bitsieve.filters.positions import best_first

__all__ = ["fcbf"]

Order = NDArray[np.int64]
Scores = NDArray[np.float64]


@overload
def fcbf(
    X: Any,
    y: Any = ...,
    *,
    threshold: float = ...,
    discretization: Cut | None = ...,
    n_bins: int = ...,
    cut_cost: CutCost = ...,
    missing: Missing = ...,
    discrete_features: Any = ...,
    return_scores: Literal[False] = ...,
    n_jobs: int | None = ...,
) -> Order: ...
@overload
def fcbf(
    X: Any,
    y: Any = ...,
    *,
    threshold: float = ...,
    discretization: Cut | None = ...,
    n_bins: int = ...,
    cut_cost: CutCost = ...,
    missing: Missing = ...,
    discrete_features: Any = ...,
    return_scores: Literal[True],
    n_jobs: int | None = ...,
) -> tuple[Order, Scores]: ...


def fcbf(
    X: Any,
    y: Any = None,
    *,
    threshold: float = 0.0,
    discretization: Cut | None = "mdl",
    n_bins: int = 10,
    cut_cost: CutCost = "distinct",
    missing: Missing = "error",
    discrete_features: Any = "auto",
    return_scores: bool = False,
    n_jobs: int | None = None,
) -> Order | tuple[Order, Scores]:
    """Take relevant features that no more relevant one makes redundant.

    Features whose symmetrical uncertainty with the classes, SU(f, y), reaches the threshold are
    sorted by it. The first is taken, every later one that it predicts at least as well as that
    one predicts the classes, ``SU(f, g) >= SU(g, y)``, is dropped; and so on with the next that
    is left [1]_. What remains are the predominant features.

    Parameters
    ----------
    X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
        Numbers. Text, categories and booleans of a data frame are levels by themselves. Entries
        that a sparse matrix does not hold are zeros, and it is never made dense as a whole.
    y : array-like of shape (n_samples,)
        Class labels of any type; those of a Table by default.
    threshold : float, default 0.0
        Least SU(f, y), in [0, 1] (delta of [1]_). Features with none are never taken.
    discretization : {"mdl", "equal_width", "equal_frequency", "mean_sd"} or None, default "mdl"
        How continuous columns are cut; None takes all columns as levels (whole numbers) and
        refuses others.
    n_bins : int, default 10
        For ``"equal_width"`` and ``"equal_frequency"``.
    cut_cost : {"distinct", "samples"}, default "distinct"
        What the choice of a cut costs in ``"mdl"``: log2 of the number of cuts between distinct
        values, Weka's rule and the default here, or log2(N - 1) for N samples, the rule of Fayyad
        and Irani's paper (equation 9) and of :func:`bitsieve.filters.discretize`.
    missing : {"error", "level"}, default "error"
        NaN is refused, or counts as a level of its own.
    discrete_features : "auto", bool mask, positions or names, default "auto"
        Columns that hold levels already; see :func:`bitsieve.filters.discretize`.
    return_scores : bool, default False
        Whether to return SU(f, y) of the taken features too.
    n_jobs : int or None, default None
        Threads.

    Returns
    -------
    order : ndarray of shape (n_taken,)
        Int64, the most relevant feature first, the lower index first among equals. Empty where
        no feature is relevant.
    scores : ndarray of shape (n_taken,)
        Float64 in [0, 1]; with ``return_scores=True``.

    Raises
    ------
    ValueError
        If X or y are not fit for use, or a parameter is out of its range.

    Notes
    -----
    Uncertainties are compared as float32, so that two that are equal but for rounding are equal.
    Of p features, only pairs with a predominant one are ever compared.

    References
    ----------
    .. [1] L. Yu, H. Liu, "Efficient feature selection via analysis of relevance and redundancy",
       JMLR 5 (2004) 1205-1224, figure 2.

    Examples
    --------
    >>> X = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]]
    >>> fcbf(X, ["a", "a", "b", "b"], discretization=None)
    array([0])
    """
    check_number("threshold", threshold, 0, 1, closed="both")
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
    relevance = table.uncertainty()
    order = predominant(table, relevance, float(threshold))
    return (order, relevance[order]) if return_scores else order


def predominant(table: ClassTable, relevance: Scores, threshold: float) -> Order:
    """Return the predominant features, the most relevant first."""
    rounded = relevance.astype(np.float32)
    left = best_first(rounded)
    left = left[(relevance[left] >= threshold) & (rounded[left] > 0)]
    taken = []
    while left.size:
        first, left = left[0], left[1:]
        taken.append(first)
        if left.size:
            shared = table.uncertainty_with(int(first), left).astype(np.float32)
            left = left[shared < rounded[left]]
    return np.array(taken, dtype=np.int64)
