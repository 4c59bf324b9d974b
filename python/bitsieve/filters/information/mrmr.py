"""Minimum redundancy, maximum relevance: by information of levels, or by F and correlation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import check_choice
from bitsieve._errors import plural
from bitsieve._random import seed_of_32_bits
from bitsieve._threads import effective_n_jobs
from bitsieve.data.inputs import Inputs, check_input, refuse_constant
from bitsieve.data.validation import Task
from bitsieve.discrete import Discretization, Missing
from bitsieve.filters.information._tables import Correction
from bitsieve.filters.information.selection import information_selection
from bitsieve.filters.positions import wanted
from bitsieve.filters.univariate._moments import centred_numbers, scaled_columns, scaled_sparse

__all__ = ["mrmr"]

Criterion = Literal["MID", "MIQ", "FCD", "FCQ"]
Relevance = Literal["f", "ks", "random_forest"] | Callable[[Any, Any], Any]
Redundancy = Literal["pearson", "spearman"]
Order = NDArray[np.int64]
Scores = NDArray[np.float64]

#: Least |r| in the quotient: no feature is taken for being unlike the others alone.
LEAST_CORRELATION = 0.001

_KS_BLOCK = 1 << 20  # values sorted at a time


@overload
def mrmr(
    X: Any,
    y: Any = ...,
    n_features: int | None = ...,
    *,
    criterion: Criterion = ...,
    relevance: Relevance = ...,
    redundancy: Redundancy = ...,
    discretization: Discretization | None = ...,
    n_bins: int = ...,
    missing: Missing = ...,
    discrete_features: Any = ...,
    correction: Correction | None = ...,
    prior: float = ...,
    task: Task | None = ...,
    random_state: Any = ...,
    return_scores: Literal[False] = ...,
    n_jobs: int | None = ...,
) -> Order: ...
@overload
def mrmr(
    X: Any,
    y: Any = ...,
    n_features: int | None = ...,
    *,
    criterion: Criterion = ...,
    relevance: Relevance = ...,
    redundancy: Redundancy = ...,
    discretization: Discretization | None = ...,
    n_bins: int = ...,
    missing: Missing = ...,
    discrete_features: Any = ...,
    correction: Correction | None = ...,
    prior: float = ...,
    task: Task | None = ...,
    random_state: Any = ...,
    return_scores: Literal[True],
    n_jobs: int | None = ...,
) -> tuple[Order, Scores]: ...


def mrmr(
    X: Any,
    y: Any = None,
    n_features: int | None = None,
    *,
    criterion: Criterion = "MID",
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
    return_scores: bool = False,
    n_jobs: int | None = None,
) -> Order | tuple[Order, Scores]:
    """Take features that say much about y and little that the features taken so far say.

    The first is the most relevant one. With c a candidate and s the features taken so far, the
    next ones maximise [1]_ [2]_:

    ===  ============================================  ===========================
    MID  I(c;y) - mean_s I(c;s)                        levels
    MIQ  I(c;y) / mean_s I(c;s)                        levels
    FCD  relevance(c) - mean_s |r(c,s)|                numbers
    FCQ  relevance(c) / mean_s max(|r(c,s)|, 0.001)    numbers
    ===  ============================================  ===========================

    A negative correlation is as redundant as a positive one. The floor of 0.001 in FCQ is that of
    the package ``mrmr-selection``. A copy of a feature that was taken (|r| above 1 - 1e-10, a
    multiple or a shift of it among them) says nothing new: in FCD and FCQ copies come after all
    other features.

    Parameters
    ----------
    X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
        Numbers. For MID and MIQ text, categories and booleans of a data frame are levels by
        themselves. Entries that a sparse matrix does not hold are zeros, and it is never made
        dense as a whole.
    y : array-like of shape (n_samples,)
        Class labels of any type, or numbers; those of a Table by default.
    n_features : int or None, default None
        How many to take; None ranks all, at a cost that grows with the square of their number.
    criterion : {"MID", "MIQ", "FCD", "FCQ"}, default "MID"
        Case does not count.
    relevance : {"f", "ks", "random_forest"} or callable, default "f"
        Of FCD and FCQ. ``"f"``: F of the one-way analysis of variance for classes, of the linear
        regression for a numeric y (``f_classif`` and ``f_regression`` of scikit-learn). ``"ks"``:
        the Kolmogorov-Smirnov statistic of each class against all others, averaged over the
        classes. ``"random_forest"``: importances of scikit-learn's forest of trees at most 5 deep.
        A callable gets X and y as arrays and returns one number a feature, none negative for
        FCQ, or a tuple of these and p-values.
    redundancy : {"pearson", "spearman"}, default "pearson"
        Correlation of FCD and FCQ.
    discretization, n_bins, missing, discrete_features, correction, prior
        Of MID and MIQ; see :func:`mutual_information`. Continuous columns are cut in three levels
        around their mean by default.
    task : {"classification", "regression"} or None, default None
        What y is; by default numbers with a fractional part are a numeric target.
    random_state : int, numpy Generator or RandomState, or None, default None
        Of ``"random_forest"``; None draws a seed.
    return_scores : bool, default False
        Whether to return the criterion's values too.
    n_jobs : int or None, default None
        Threads; see :class:`bitsieve.BinarySPSA`.

    Returns
    -------
    order : ndarray of shape (n_features,)
        Int64, the first taken first. Ties go to the lowest index.
    scores : ndarray of shape (n_features,)
        The criterion when the feature was taken, its relevance for the first; information in
        nats. Only with ``return_scores=True``.

    Raises
    ------
    ValueError
        If X or y are not fit for use, a parameter is out of its range, or `relevance` or
        `redundancy` is given to MID or MIQ, `discretization`, `correction` or `missing` to FCD or
        FCQ. What else a criterion does not use is not looked at.

    Notes
    -----
    The redundancy of a candidate can but grow as features are taken, so that its best possible
    score is known without a look at its column, and most columns are not looked at in most steps.
    The selection is exactly that of the plain loop.

    References
    ----------
    .. [1] C. Ding, H. Peng, "Minimum redundancy feature selection from microarray gene expression
       data", J. Bioinform. Comput. Biol. 3 (2005) 185-205, table 1.
    .. [2] H. Peng, F. Long, C. Ding, "Feature selection based on mutual information: criteria of
       max-dependency, max-relevance, and min-redundancy", IEEE TPAMI 27 (2005) 1226-1238,
       equations 6 and 7.

    Examples
    --------
    The second feature is twice the first; the third says less about y, but something else.

    >>> X = [[1.0, 2.0, 0.3], [1.2, 2.4, 0.1], [1.1, 2.2, 0.9], [3.0, 6.0, 0.8], [3.1, 6.2, 1.0]]
    >>> mrmr(X, [0, 0, 0, 1, 1], criterion="FCQ")
    array([0, 2, 1])
    """
    name = criterion.upper() if isinstance(criterion, str) else criterion
    if name in ("MID", "MIQ"):
        if relevance != "f" or redundancy != "pearson":
            raise ValueError(
                f"relevance and redundancy belong to criterion='FCD' and 'FCQ'; {name} measures "
                "both by mutual information"
            )
        order, scores = information_selection(
            X,
            y,
            n_features,
            criterion="mid" if name == "MID" else "miq",
            discretization=discretization,
            n_bins=n_bins,
            missing=missing,
            discrete_features=discrete_features,
            correction=correction,
            prior=prior,
            task=task,
            return_scores=True,
            n_jobs=n_jobs,
        )
        return (order, scores) if return_scores else order
    if name not in ("FCD", "FCQ"):
        check_choice("criterion", criterion, ("MID", "MIQ", "FCD", "FCQ"))
    if discretization != "auto" or correction is not None:
        raise ValueError(
            f"discretization and correction belong to criterion='MID' and 'MIQ'; {name} takes "
            "numbers as they are"
        )
    if missing != "error":
        raise ValueError(f"missing='level' belongs to criterion='MID' and 'MIQ', not to {name}")
    check_choice("redundancy", redundancy, ("pearson", "spearman"))
    if not callable(relevance):
        known = ("f", "ks", "random_forest")
        check_choice("relevance", relevance, known, instead="or a function")
    columns = check_input(X, y, task=task, sparse=True, defer=True)
    if not len(columns.classes):
        refuse_constant(columns.y)
    n_select = wanted(n_features, columns.n_features)
    n_threads = effective_n_jobs(n_jobs)
    unit = _unit_columns(columns, redundancy == "spearman", relevance == "f", n_threads)
    values = (
        unit.f_values()
        if relevance == "f"
        else _relevance(columns, relevance, name, random_state, n_threads)
    )
    order, scores, _ = unit.select(
        values,
        n_select=n_select,
        quotient=name == "FCQ",
        least=LEAST_CORRELATION,
        n_threads=n_threads,
    )
    return (order, scores) if return_scores else order


def _unit_columns(columns: Inputs, ranks: bool, scored: bool, n_threads: int) -> _core.UnitColumns:
    n, n_classes = columns.n_samples, len(columns.classes)
    options: dict[str, Any] = {"ranks": ranks, "n_threads": n_threads}
    if scored and n_classes:
        if n_classes >= n:
            raise ValueError(
                f"F needs more samples than classes, but y has {n_classes} classes in "
                f"{plural(n, 'sample')}; pass task='regression' if y holds numbers"
            )
        options |= {"codes": columns.codes, "n_classes": n_classes}
    elif scored:
        if n < 3:
            raise ValueError("F of a regression needs 3 samples or more, got 2")
        options["numbers"] = centred_numbers(columns.y.astype(np.float64))
    if columns.is_sparse:
        X = scaled_sparse(columns.X)[0]
        return _core.sparse_unit_columns(
            X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, n, **options
        )
    unit = _core.UnitColumns(columns.X, **options)
    if not unit.is_finite:  # squares that do not fit into float64, or values that are none
        columns.refuse()
        fitting = scaled_columns(columns.X, np.arange(columns.n_features))[0]
        unit = _core.UnitColumns(fitting, **options)
    return unit


def _relevance(
    columns: Inputs, relevance: Any, criterion: str, random_state: Any, n_threads: int
) -> Scores:
    if relevance == "ks":
        return _kolmogorov_smirnov(columns)
    target = columns.codes if len(columns.classes) else columns.y
    if relevance == "random_forest":
        return _importances(columns, target, random_state, n_threads)
    found = relevance(columns.X, columns.y)
    values = np.asarray(found[0] if isinstance(found, tuple) else found, dtype=np.float64)
    if values.shape != (columns.n_features,):
        raise ValueError(
            f"relevance must return {plural(columns.n_features, 'number')}, one a feature, got an "
            f"array of shape {values.shape}"
        )
    if np.isnan(values).any() or (criterion == "FCQ" and (values < 0).any()):
        at = int(np.flatnonzero(np.isnan(values) | (values < 0))[0])
        raise ValueError(
            f"relevance must return numbers{', none negative' if criterion == 'FCQ' else ''}, but "
            f"feature {at} got {values[at]:.6g}"
        )
    return values


def _importances(columns: Inputs, y: Any, random_state: Any, n_threads: int) -> Scores:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestClassifier if len(columns.classes) else RandomForestRegressor
    model = forest(max_depth=5, random_state=seed_of_32_bits(random_state), n_jobs=n_threads)
    return np.asarray(model.fit(columns.X, y).feature_importances_, dtype=np.float64)


def _kolmogorov_smirnov(columns: Inputs) -> Scores:
    """Largest distance between the distributions of a class and of all others, in the mean."""
    if not len(columns.classes):
        raise ValueError("relevance='ks' compares classes, but y is numeric; use 'f'")
    n, p = columns.n_samples, columns.n_features
    counts = columns.counts
    out = np.zeros(p)
    step = max(1, _KS_BLOCK // n)
    for first in range(0, p, step):
        block = columns.X[:, first : first + step]
        values = (block.toarray() if columns.is_sparse else block).T
        order = np.argsort(values, axis=1, kind="stable")
        ordered = np.take_along_axis(values, order, axis=1)
        last = np.ones(ordered.shape, dtype=bool)  # of equal values
        last[:, :-1] = ordered[:, :-1] != ordered[:, 1:]
        codes = columns.codes[order]
        for k, count in enumerate(counts):
            inside = np.cumsum(codes == k, axis=1)
            outside = np.arange(1, n + 1) - inside
            apart = np.abs(inside / count - outside / (n - count))
            out[first : first + step] += np.where(last, apart, 0.0).max(axis=1) / len(counts)
    return out
