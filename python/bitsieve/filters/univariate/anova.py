"""F, Fisher score and variance, by sums of squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int
from bitsieve._errors import plural
from bitsieve.data.inputs import check_input
from bitsieve.data.validation import Task
from bitsieve.filters.p_values import upper_f
from bitsieve.filters.univariate._moments import Moments, class_moments, in_blocks
from bitsieve.filters.univariate.association import squared_correlation

__all__ = ["f_test", "fisher_score", "variance"]

Floats = NDArray[np.float64]
Scores = Floats | tuple[Floats, Floats]


def f_test(
    X: Any,
    y: Any = None,
    *,
    task: Task | None = None,
    p_values: bool = False,
    n_jobs: int | None = None,
) -> Scores:
    """F of the one-way analysis of variance, or of a linear regression on a numeric target.

    Classes: ``(B / (C - 1)) / (W / (n - C))`` with B and W the sums of squares between and within
    C classes, as scikit-learn's ``f_classif``. Numbers: ``r^2 (n - 2) / (1 - r^2)`` with Pearson's
    r, as ``f_regression``.

    Parameters
    ----------
    X : array-like, DataFrame, Table or sparse matrix of shape (n_samples, n_features)
        In any unit; the score has none. Zeros of a sparse matrix are numbers like others.
    y : array-like of shape (n_samples,)
        Class labels, or numbers; those of a Table by default.
    task : {"classification", "regression"}, optional
        What y holds; by default numbers with a fractional part are a regression target and
        everything else is classes.
    p_values : bool, default False
        Return p-values as well.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        In [0, inf]; infinite where classes do not vary within, and for a line without any
        deviation, as whole numbers decide, not rounding.
    p_values : ndarray of shape (n_features,)
        Only if asked for.

    Raises
    ------
    ValueError
        If X or y are not fit for use; if there are as many classes as samples, or two samples.

    Examples
    --------
    >>> from bitsieve.filters import f_test
    >>> X = [[1.0, 5.0], [3.0, 5.0], [7.0, 5.0], [9.0, 5.0]]
    >>> f_test(X, ["a", "a", "b", "b"])
    array([18.,  0.])
    """
    columns = check_input(X, y, task=task, sparse=True, defer=True)
    n, n_classes = columns.n_samples, len(columns.classes)
    if n_classes == 0:
        if n < 3:
            raise ValueError("F needs 3 samples or more, since 2 always lie on a line; got 2")
        square, rest = squared_correlation(columns, n_jobs)
        with np.errstate(divide="ignore"):
            scores = square / rest * (n - 2)
        between, within = 1, n - 2
    else:
        if n <= n_classes:
            raise ValueError(
                f"F needs more samples than classes, got {plural(n, 'sample')} of "
                f"{n_classes} classes"
            )
        between, within = n_classes - 1, n - n_classes
        moments = class_moments(columns, columns.codes, n_classes, n_jobs)
        scores = in_blocks(lambda part: _fisher(part) * (within / between), moments)
    return (scores, upper_f(scores, between, within)) if p_values else scores


def fisher_score(X: Any, y: Any = None, *, n_jobs: int | None = None) -> Floats:
    """Spread of the class means over the spread within classes.

    ``sum_c n_c (mean_c - mean)^2 / sum_c n_c s_c^2`` with variances s_c^2 with n_c [1]_: the F of
    the analysis of variance times (C - 1) / (n - C), so it ranks as F does.

    Parameters
    ----------
    X : array-like, DataFrame, Table or sparse matrix of shape (n_samples, n_features)
        In any unit; the score has none. Zeros of a sparse matrix are numbers like others.
    y : array-like of shape (n_samples,)
        Class labels; those of a Table by default.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    ndarray of shape (n_features,)
        In [0, inf].

    Raises
    ------
    ValueError
        If X or y are not fit for use.

    References
    ----------
    .. [1] R. O. Duda, P. E. Hart, D. G. Stork, "Pattern Classification", 2001, section 3.8.

    Examples
    --------
    >>> from bitsieve.filters import fisher_score
    >>> fisher_score([[1.0], [3.0], [7.0], [9.0]], [0, 0, 1, 1])
    array([9.])
    """
    columns = check_input(X, y, task="classification", sparse=True, defer=True)
    moments = class_moments(columns, columns.codes, len(columns.classes), n_jobs)
    return in_blocks(_fisher, moments)


def variance(X: Any, y: Any = None, *, ddof: int = 0, n_jobs: int | None = None) -> Floats:
    """Variance of each feature; the target is not looked at.

    Parameters
    ----------
    X : array-like, DataFrame, Table or sparse matrix of shape (n_samples, n_features)
        Zeros of a sparse matrix are numbers like others.
    y : object
        Ignored.
    ddof : int, default 0
        The sum of squares is divided by ``n_samples - ddof``.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    ndarray of shape (n_features,)
        In [0, inf), in the square of the feature's unit: scale features first where the units
        differ.

    Raises
    ------
    ValueError
        If X is not fit for use, or ``ddof`` is not a whole number below ``n_samples``.

    Examples
    --------
    >>> from bitsieve.filters import variance
    >>> variance([[1.0, 4.0], [3.0, 4.0]])
    array([1., 0.])
    """
    check_int("ddof", ddof, 0)
    columns = check_input(X, sparse=True, target=False, defer=True)
    if ddof >= columns.n_samples:
        raise ValueError(
            f"ddof must be below the number of samples ({columns.n_samples}), got {ddof}"
        )
    codes = np.zeros(columns.n_samples, dtype=np.int32)
    moments = class_moments(columns, codes, 1, n_jobs)
    out: Floats = moments.square[0] / (columns.n_samples - ddof)
    if moments.exponent is not None:
        with np.errstate(over="ignore"):
            out = np.ldexp(out, 2 * moments.exponent)
    return out


def _fisher(part: Moments) -> Floats:
    """Sum of squares between over that within."""
    n = part.counts[:, None]
    # From the first class's mean, so that equal means differ by nothing.
    offset = part.mean - part.mean[0]
    centre = (n * offset).sum(axis=0) / n.sum()
    out: Floats = (n * (offset - centre) ** 2).sum(axis=0) / part.square.sum(axis=0)
    return out
