"""Entropies and mutual information of levels.

All counts are whole numbers and sums of ``k log k`` are taken in fixed point, so that neither the
order of samples, features and labels nor the number of threads changes a bit. Values are in nats.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_choice, check_int
from bitsieve._errors import plural
from bitsieve._random import seed_of_32_bits
from bitsieve._threads import effective_n_jobs
from bitsieve.data.inputs import check_input, is_sparse, refuse_constant
from bitsieve.data.validation import Task
from bitsieve.discrete import (
    DiscreteTable,
    Discretization,
    Missing,
    Options,
    Variable,
    check_discretization,
    inputs_for,
)
from bitsieve.filters.information._tables import (
    Correction,
    correction_of,
    table_and_target,
    variable_of_numbers,
)

__all__ = [
    "conditional_mutual_information",
    "entropy",
    "joint_mutual_information",
    "mutual_information",
]

Scores = NDArray[np.float64]

_BLOCK = 1 << 21  # values of a sparse table that are dense at a time


def entropy(
    X: Any,
    y: Any = None,
    *,
    discretization: Discretization | None = "auto",
    n_bins: int = 10,
    missing: Missing = "error",
    discrete_features: Any = "auto",
    correction: Correction | None = None,
    prior: float = 1.0,
    n_jobs: int | None = None,
) -> Scores:
    """Entropy of every feature, ``H(X) = -sum_x p(x) log p(x)``, in nats.

    Parameters
    ----------
    X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
        See :func:`mutual_information`.
    y : array-like of shape (n_samples,), optional
        Looked at by ``discretization="mdl"`` alone.
    discretization, n_bins, missing, discrete_features, correction, prior, n_jobs
        See :func:`mutual_information`.

    Returns
    -------
    ndarray of shape (n_features,)
        Float64, 0 for a constant feature.

    Raises
    ------
    ValueError
        As :func:`mutual_information`.

    Examples
    --------
    >>> entropy([[0, 5], [0, 5], [1, 5], [1, 5]]).round(6)
    array([0.693147, 0.      ])
    """
    name, weight = correction_of(correction, prior)
    options = Options(
        method=check_discretization(discretization),
        n_bins=n_bins,
        missing=missing,
        n_threads=effective_n_jobs(n_jobs),
    )
    inputs = inputs_for(X, y, options, discrete_features, sparse=True, wholes=True)
    return _from_zero(DiscreteTable.of_inputs(inputs, options).core.entropies(name, weight))


def mutual_information(
    X: Any,
    y: Any = None,
    *,
    discretization: Discretization | None = "auto",
    n_bins: int = 10,
    missing: Missing = "error",
    discrete_features: Any = "auto",
    estimator: Literal["counts", "knn"] = "counts",
    n_neighbors: int = 3,
    correction: Correction | None = None,
    prior: float = 1.0,
    task: Task | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Scores:
    """Score features by their mutual information with y, in nats.

    ``I(X;Y) = H(X) + H(Y) - H(X, Y)``, from the table of counts of a feature and y [1]_.

    Parameters
    ----------
    X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
        Numbers. Text, categories and booleans of a data frame are levels by themselves. Entries
        that a sparse matrix does not hold are zeros, and it is never made dense as a whole.
    y : array-like of shape (n_samples,)
        Class labels of any type, or numbers; those of a Table by default.
    discretization : {"auto", "mdl", "equal_width", "equal_frequency", "mean_sd"} or None
        How columns become levels. ``"auto"``, the default, takes a column of whole numbers as it
        is if it has no more distinct values than half of the samples (10 are always granted, 64
        is the limit), and cuts every other one in three: below, within and above one standard
        deviation around its mean, as Peng did [2]_. None takes all columns as they are and
        refuses those that are no levels. The other names cut all columns; see
        :func:`bitsieve.filters.discretize`. A numeric y is cut in the same way (not by
        ``"mdl"``, which needs classes).
    n_bins : int, default 10
        For ``"equal_width"`` and ``"equal_frequency"``.
    missing : {"error", "level"}, default "error"
        NaN is refused, or counts as a level of its own.
    discrete_features : "auto", bool, bool mask, positions or names, default "auto"
        Columns that hold levels already, up to 255 of them; True means all, False those of
        categories, text and booleans alone, as ``"auto"``.
    estimator : {"counts", "knn"}, default "counts"
        ``"knn"`` takes continuous columns as they are and estimates from the distances to the
        `n_neighbors` nearest neighbors (Kraskov 2004, Ross 2014), by scikit-learn's
        ``mutual_info_classif`` or ``mutual_info_regression``. Columns of a sparse matrix are
        dense a few at a time, and continuous like others unless they are named discrete.
    n_neighbors : int, default 3
        Of ``"knn"``.
    correction : {"miller_madow", "dirichlet"} or None, default None
        For few samples. Counts alone make entropies too small and information too great.
        ``"miller_madow"`` adds (occupied cells - 1) / (2 n_samples) to each entropy [3]_.
        ``"dirichlet"`` is the entropy under the mean of the posterior with a symmetric Dirichlet
        prior: `prior` samples are spread evenly over all combinations of levels. Estimates below
        0 are 0.
    prior : float, default 1.0
        Samples that the prior of ``"dirichlet"`` is worth (1: Perks' prior).
    task : {"classification", "regression"} or None, default None
        What y is; by default numbers with a fractional part are a numeric target.
    random_state : int, numpy Generator or RandomState, or None, default None
        ``"knn"`` adds a little noise to continuous columns, to part equal values; None draws a
        seed.
    n_jobs : int or None, default None
        Threads; see :class:`bitsieve.BinarySPSA`.

    Returns
    -------
    ndarray of shape (n_features,)
        Float64, none negative, 0 for a constant feature.

    Raises
    ------
    ValueError
        If X or y are not fit for use, a column holds no levels where it must, or a parameter is
        out of its range.

    Notes
    -----
    The values are those of ``sklearn.metrics.mutual_info_score`` to 1e-10. Equal columns get the
    same bits, and so do columns whose levels have other names.

    References
    ----------
    .. [1] T. M. Cover, J. A. Thomas, "Elements of Information Theory", 2nd ed., Wiley 2006,
       chapter 2.
    .. [2] C. Ding, H. Peng, "Minimum redundancy feature selection from microarray gene expression
       data", J. Bioinform. Comput. Biol. 3 (2005) 185-205.
    .. [3] G. A. Miller, "Note on the bias of information estimates", Information Theory in
       Psychology, Free Press 1955, 95-100.

    Examples
    --------
    >>> X = [[0, 3, 7], [0, 3, 8], [1, 3, 7], [1, 3, 8]]
    >>> mutual_information(X, ["a", "a", "b", "b"]).round(6)
    array([0.693147, 0.      , 0.      ])
    """
    name, weight = correction_of(correction, prior)
    if estimator == "knn":
        if discretization != "auto" or correction is not None or missing != "error":
            raise ValueError(
                "discretization, correction and missing belong to estimator='counts'; 'knn' takes "
                "columns as they are"
            )
        return _by_neighbors(X, y, n_neighbors, discrete_features, task, random_state, n_jobs)
    check_choice("estimator", estimator, ("counts", "knn"))
    found, target = table_and_target(
        X, y, task, discretization, n_bins, missing, discrete_features, n_jobs
    )
    values = found.core.mutual_information(
        target.codes, target.n_levels, correction=name, prior=weight
    )
    return _from_zero(values)


def conditional_mutual_information(
    X: Any,
    y: Any,
    given: Any,
    *,
    discretization: Discretization | None = "auto",
    n_bins: int = 10,
    missing: Missing = "error",
    discrete_features: Any = "auto",
    correction: Correction | None = None,
    prior: float = 1.0,
    task: Task | None = None,
    n_jobs: int | None = None,
) -> Scores:
    """Score features by what they tell about y beyond a variable that is known, in nats.

    ``I(X;Y|Z) = H(X, Z) + H(Y, Z) - H(X, Y, Z) - H(Z)``.

    Parameters
    ----------
    X, y : as for :func:`mutual_information`
    given : array-like of shape (n_samples,) or (n_samples, n_variables)
        Z: labels of any type, or numbers that `discretization` cuts; of several columns each
        combination is a level.
    discretization, n_bins, missing, discrete_features, correction, prior, task, n_jobs
        See :func:`mutual_information`.

    Returns
    -------
    ndarray of shape (n_features,)
        Float64, none negative, 0 for a constant feature.

    Raises
    ------
    ValueError
        As :func:`mutual_information`, or if `given` has another number of samples.

    Examples
    --------
    Neither input of an exclusive or says anything by itself, and all beside the other.

    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> conditional_mutual_information(X, [0, 1, 1, 0], [0, 0, 1, 1]).round(6)
    array([0.      , 0.693147])
    """
    name, weight = correction_of(correction, prior)
    found, target = table_and_target(
        X, y, task, discretization, n_bins, missing, discrete_features, n_jobs
    )
    known = _condition(given, found.n_samples, discretization, n_bins)
    values = found.core.conditional_mutual_information(
        target.codes,
        target.n_levels,
        known.codes,
        known.n_levels,
        correction=name,
        prior=weight,
    )
    return _from_zero(values)


def joint_mutual_information(
    X: Any,
    y: Any,
    given: Any,
    *,
    discretization: Discretization | None = "auto",
    n_bins: int = 10,
    missing: Missing = "error",
    discrete_features: Any = "auto",
    correction: Correction | None = None,
    prior: float = 1.0,
    task: Task | None = None,
    n_jobs: int | None = None,
) -> Scores:
    """Score features by what they and another variable together tell about y, in nats.

    ``I(X,Z;Y) = H(X, Z) + H(Y) - H(X, Y, Z)``, by the chain rule ``I(Z;Y) + I(X;Y|Z)``.

    Parameters
    ----------
    X, y, given : as for :func:`conditional_mutual_information`
    discretization, n_bins, missing, discrete_features, correction, prior, task, n_jobs
        See :func:`mutual_information`.

    Returns
    -------
    ndarray of shape (n_features,)
        Float64; ``I(Z;Y)`` for a constant feature, and nowhere less without a correction.

    Raises
    ------
    ValueError
        As :func:`conditional_mutual_information`.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> joint_mutual_information(X, [0, 1, 1, 0], [0, 0, 1, 1]).round(6)
    array([0.      , 0.693147])
    """
    name, weight = correction_of(correction, prior)
    found, target = table_and_target(
        X, y, task, discretization, n_bins, missing, discrete_features, n_jobs
    )
    known = _condition(given, found.n_samples, discretization, n_bins)
    values = found.core.joint_mutual_information(
        target.codes,
        target.n_levels,
        known.codes,
        known.n_levels,
        correction=name,
        prior=weight,
    )
    return _from_zero(values)


def _from_zero(values: Scores) -> Scores:
    """Rounding, or a correction, may leave less than nothing."""
    return np.maximum(values, 0.0, out=values)


def _condition(given: Any, n_samples: int, discretization: str | None, n_bins: int) -> Variable:
    columns = np.asarray(given)
    if columns.ndim not in (1, 2) or columns.size == 0:
        raise ValueError(
            f"given must have shape (n_samples,) or (n_samples, n_variables), got {columns.shape}"
        )
    if len(columns) != n_samples:
        raise ValueError(
            f"X has {plural(n_samples, 'sample')} but given has {len(columns)}; pass one value a "
            "sample"
        )
    both: Variable | None = None
    for column in columns.reshape(n_samples, -1).T:
        _refuse_missing(column)
        try:
            part = Variable.of(column)
        except ValueError:
            raise ValueError(
                "given must hold numbers or text, but a column holds both; pass it as text"
            ) from None
        if column.dtype.kind == "f" and (column != np.rint(column)).any():
            part = variable_of_numbers(column, discretization, n_bins)
        both = part if both is None else both.combined(part)
    assert both is not None
    return both


def _refuse_missing(column: NDArray[Any]) -> None:
    """Refuse None, NaN and NaT: whether they are a level is for the caller to say."""
    absent = np.array([v is None or bool(v != v) for v in column.tolist()], dtype=bool)
    if absent.any():
        raise ValueError(
            f"given has {plural(int(absent.sum()), 'missing value')} (the first at "
            f"{int(absent.argmax())}, counted from 0); drop these samples, or put a label in their "
            "place"
        )


def _by_neighbors(
    X: Any,
    y: Any,
    n_neighbors: int,
    discrete_features: Any,
    task: Task | None,
    random_state: Any,
    n_jobs: int | None,
) -> Scores:
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    checked = check_input(
        X, y, task=task, sparse=True, categories=True, discrete_features=discrete_features
    )
    # As many columns of a sparse matrix at a time as may be dense.
    step = max(1, _BLOCK // checked.n_samples) if checked.is_sparse else checked.n_features
    classes = len(checked.classes) > 0
    if not classes:
        refuse_constant(checked.y)
    estimate = mutual_info_classif if classes else mutual_info_regression
    options = {
        "n_neighbors": check_int("n_neighbors", n_neighbors, 1),
        "random_state": seed_of_32_bits(random_state),
        "n_jobs": effective_n_jobs(n_jobs),
    }
    parts = []
    for first in range(0, checked.n_features, step):
        block: Any = checked.X[:, first : first + step]
        parts.append(
            estimate(
                block.toarray() if is_sparse(block) else block,
                checked.codes if classes else checked.y,
                discrete_features=checked.discrete[first : first + step],
                **options,
            )
        )
    return np.concatenate(parts).astype(np.float64)
