"""Greedy selection by mutual information of levels."""

from __future__ import annotations

from typing import Any, Literal, get_args, overload

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import check_choice, check_int, check_number
from bitsieve._threads import effective_n_jobs
from bitsieve.data.validation import Task
from bitsieve.discrete import Discretization, Missing
from bitsieve.filters.information._tables import Correction, correction_of, table_and_target
from bitsieve.filters.positions import wanted

__all__ = ["Criterion", "information_selection"]

Criterion = Literal[
    "mim", "mifs", "mid", "miq", "cife", "icap", "cmim", "jmi", "jmim", "disr", "njmim", "jmi3"
]
Order = NDArray[np.int64]
Scores = NDArray[np.float64]

#: Most features that can be taken one by one.
MOST = 1 << 17

_CRITERIA: tuple[str, ...] = get_args(Criterion)


@overload
def information_selection(
    X: Any,
    y: Any = ...,
    n_features: int | None = ...,
    *,
    criterion: Criterion = ...,
    beta: float = ...,
    discretization: Discretization | None = ...,
    n_bins: int = ...,
    missing: Missing = ...,
    discrete_features: Any = ...,
    correction: Correction | None = ...,
    prior: float = ...,
    task: Task | None = ...,
    return_scores: Literal[False] = ...,
    n_jobs: int | None = ...,
) -> Order: ...
@overload
def information_selection(
    X: Any,
    y: Any = ...,
    n_features: int | None = ...,
    *,
    criterion: Criterion = ...,
    beta: float = ...,
    discretization: Discretization | None = ...,
    n_bins: int = ...,
    missing: Missing = ...,
    discrete_features: Any = ...,
    correction: Correction | None = ...,
    prior: float = ...,
    task: Task | None = ...,
    return_scores: Literal[True],
    n_jobs: int | None = ...,
) -> tuple[Order, Scores]: ...


def information_selection(
    X: Any,
    y: Any = None,
    n_features: int | None = None,
    *,
    criterion: Criterion = "jmi",
    beta: float = 1.0,
    discretization: Discretization | None = "auto",
    n_bins: int = 10,
    missing: Missing = "error",
    discrete_features: Any = "auto",
    correction: Correction | None = None,
    prior: float = 1.0,
    task: Task | None = None,
    return_scores: bool = False,
    n_jobs: int | None = None,
) -> Order | tuple[Order, Scores]:
    """Take features one by one, each time the best beside those already taken.

    The first has the greatest I(c;y). With c a candidate and s the features taken so far, the
    next ones maximise [1]_:

    ========= ==================================================================
    criterion value
    ========= ==================================================================
    mim       I(c;y)
    mifs      I(c;y) - beta sum_s I(c;s) (Battiti 1994)
    mid       I(c;y) - mean_s I(c;s): mRMR (Peng 2005, equation 7)
    miq       I(c;y) / mean_s I(c;s) (Ding and Peng 2005); mean at least 1e-9
    cife      I(c;y) - sum_s [I(c;s) - I(c;s|y)] (Lin and Tang 2006)
    icap      I(c;y) - sum_s max(0, I(c;s) - I(c;s|y)) (Jakulin 2005)
    cmim      min(I(c;y), min_s I(c;y|s)) (Fleuret 2004)
    jmi       sum_s I(c,s;y) (Yang and Moody 1999)
    jmim      min_s I(c,s;y) (Bennasar 2015)
    disr      sum_s I(c,s;y) / H(c,s,y) (Meyer and Bontempi 2006)
    njmim     min_s I(c,s;y) / H(c,s,y) (Bennasar 2015)
    jmi3      sum over pairs s, t of I(c,s,t;y); jmi for the second feature [2]_
    ========= ==================================================================

    Parameters
    ----------
    X, y : as for :func:`mutual_information`
    n_features : int or None, default None
        How many to take; None ranks all, at a cost that grows with the square of their number
        (cube for jmi3).
    criterion : str, default "jmi"
        A name from the table; case does not count.
    beta : float, default 1.0
        Weight of the redundancy in mifs, not negative.
    discretization, n_bins, missing, discrete_features, correction, prior, task
        See :func:`mutual_information`.
    return_scores : bool, default False
        Whether to return the criterion's values too.
    n_jobs : int or None, default None
        Threads.

    Returns
    -------
    order : ndarray of shape (n_features,)
        Int64, the first taken first. Ties go to the lowest index.
    scores : ndarray of shape (n_features,)
        The criterion when the feature was taken, I(c;y) for the first: in nats, ratios for miq,
        disr and njmim. Only with ``return_scores=True``.

    Raises
    ------
    ValueError
        As :func:`mutual_information`; or if `n_features` is out of range, or the criterion is
        unknown.

    Notes
    -----
    In mifs, mid, miq, icap, cmim, jmim and njmim a score can but fall as features are taken, so
    most candidates are not looked at in most steps. The selection is exactly that of the plain
    loop.

    References
    ----------
    .. [1] G. Brown et al., "Conditional likelihood maximisation: a unifying framework for
       information theoretic feature selection", JMLR 13 (2012) 27-66.
    .. [2] K. Sechidis et al., "Efficient feature selection using shrinkage estimators", Machine
       Learning 108 (2019) 1261-1286.

    Examples
    --------
    The second feature repeats the first; the third adds to it.

    >>> X = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> information_selection(X, [0, 1, 2, 3], 2, criterion="jmi")
    array([0, 2])
    """
    name, weight = correction_of(correction, prior)
    chosen = criterion.lower() if isinstance(criterion, str) else criterion
    if chosen not in _CRITERIA:
        check_choice("criterion", criterion, _CRITERIA)
    check_number("beta", beta, 0, closed="left")
    if n_features is not None:  # before a long computation
        check_int("n_features", n_features, 1, instead="or None")
    found, target = table_and_target(
        X, y, task, discretization, n_bins, missing, discrete_features, n_jobs
    )
    n_select = wanted(n_features, found.n_features)
    if n_select > MOST:
        raise ValueError(
            f"{n_select} features would be taken one by one, but sums of information are exact up "
            f"to {MOST}; pass n_features"
        )
    order, scores, _ = _core.greedy_information(
        found.core,
        target.codes,
        target.n_levels,
        criterion=chosen,
        n_select=n_select,
        beta=float(beta),
        correction=name,
        prior=weight,
        n_threads=effective_n_jobs(n_jobs),
    )
    return (order, scores) if return_scores else order
