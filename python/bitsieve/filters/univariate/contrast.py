"""Two classes told apart by the difference of their means: signal-to-noise and t.

More than two are taken one against the rest, and the largest difference counts. The rules of
:mod:`bitsieve.filters.univariate` for constants and infinities hold here too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import shorten
from bitsieve.data.inputs import Inputs, check_input
from bitsieve.filters.p_values import two_sided_t
from bitsieve.filters.univariate._moments import Moments, class_moments, in_blocks

__all__ = ["signal_to_noise", "t_test"]

Floats = NDArray[np.float64]
Scores = Floats | tuple[Floats, Floats]


def signal_to_noise(
    X: Any, y: Any = None, *, signed: bool = False, n_jobs: int | None = None
) -> Floats:
    """Difference of the class means over the sum of the class standard deviations.

    ``(mean_2 - mean_1) / (s_1 + s_2)`` [1]_, standard deviations with n - 1; a class of one sample
    has 0. With more than two classes the largest of one class against the rest.

    Parameters
    ----------
    X : array-like, DataFrame, Table or sparse matrix of shape (n_samples, n_features)
        In any unit; the score has none. Zeros of a sparse matrix are numbers like others.
    y : array-like of shape (n_samples,)
        Class labels; those of a Table by default.
    signed : bool, default False
        Keep the sign: positive where the second of two classes (in sorted order) is greater.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    ndarray of shape (n_features,)
        In [0, inf], or in [-inf, inf] with ``signed``.

    Raises
    ------
    ValueError
        If X or y are not fit for use; if ``signed`` and there are more than two classes.

    References
    ----------
    .. [1] T. Golub et al., "Molecular classification of cancer", Science 286, 1999, note 16;
       as ``s2n`` in H. J. Escalante, M. Montes, L. E. Sucar, "An energy-based model for feature
       selection", 2008, table 1.

    Examples
    --------
    >>> from bitsieve.filters import signal_to_noise
    >>> X = [[1.0, 5.0], [3.0, 5.0], [7.0, 5.0], [9.0, 5.0]]
    >>> signal_to_noise(X, ["a", "a", "b", "b"]).round(4)
    array([2.1213, 0.    ])
    """
    columns = check_input(X, y, task="classification", sparse=True, defer=True)
    _check_signed(columns, signed)
    moments = class_moments(columns, columns.codes, len(columns.classes), n_jobs)

    def ratio(two: Moments) -> Floats:
        deviation = np.sqrt(two.square / np.maximum(two.counts - 1, 1)[:, None])
        out: Floats = (two.mean[1] - two.mean[0]) / (deviation[0] + deviation[1])
        return out

    if signed:
        return in_blocks(ratio, moments)
    return in_blocks(lambda part: _largest(part, ratio), moments)


def t_test(
    X: Any,
    y: Any = None,
    *,
    equal_var: bool = True,
    signed: bool = False,
    p_values: bool = False,
    n_jobs: int | None = None,
) -> Scores:
    """Absolute t of two independent samples, Student's or Welch's.

    Student: ``(mean_2 - mean_1) / sqrt(s^2 (1 / n_1 + 1 / n_2))`` with the pooled variance s^2 and
    n - 2 degrees of freedom; Welch: ``(mean_2 - mean_1) / sqrt(s_1^2 / n_1 + s_2^2 / n_2)`` with
    Satterthwaite's degrees of freedom [1]_. As ``scipy.stats.ttest_ind``. With more than two
    classes the largest |t| of one class against the rest, and its p-value times the number of
    classes (Bonferroni).

    On two classes Student's t, the F-test and Pearson's correlation rank alike; Welch's t does
    not where the classes differ in size and spread.

    Parameters
    ----------
    X : array-like, DataFrame, Table or sparse matrix of shape (n_samples, n_features)
        In any unit; the score has none. Zeros of a sparse matrix are numbers like others.
    y : array-like of shape (n_samples,)
        Class labels; those of a Table by default.
    equal_var : bool, default True
        Student's t; False is Welch's.
    signed : bool, default False
        Keep the sign: positive where the second of two classes (in sorted order) is greater.
    p_values : bool, default False
        Return two-sided p-values as well.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        In [0, inf], or in [-inf, inf] with ``signed``.
    p_values : ndarray of shape (n_features,)
        Only if asked for.

    Raises
    ------
    ValueError
        If X or y are not fit for use; with two samples in all; for Welch's t if a class has one
        sample; if ``signed`` and there are more than two classes.

    References
    ----------
    .. [1] B. L. Welch, "The generalization of Student's problem when several different population
       variances are involved", Biometrika 34, 1947.

    Examples
    --------
    >>> from bitsieve.filters import t_test
    >>> X = [[1.0, 5.0], [3.0, 5.0], [7.0, 5.0], [9.0, 5.0]]
    >>> t, p = t_test(X, ["a", "a", "b", "b"], p_values=True)
    >>> t.round(4), p.round(4)
    (array([4.2426, 0.    ]), array([0.0513, 1.    ]))
    """
    columns = check_input(X, y, task="classification", sparse=True, defer=True)
    _check_signed(columns, signed)
    counts = columns.counts
    if columns.n_samples < 3:
        raise ValueError("t needs 3 samples or more, since 2 have no degree of freedom; got 2")
    if not equal_var:
        _check_welch(columns, counts)
    moments = class_moments(columns, columns.codes, len(columns.classes), n_jobs)

    def statistic(two: Moments) -> Floats:
        error = _student_error(two) if equal_var else _welch_error(two)[0]
        out: Floats = (two.mean[1] - two.mean[0]) / np.sqrt(error)
        return out

    if signed:
        scores = in_blocks(statistic, moments)
    else:
        scores = in_blocks(lambda part: _largest(part, statistic), moments)
    if not p_values:
        return scores
    if equal_var:
        p = two_sided_t(scores, float(columns.n_samples - 2))
        return scores, _bonferroni(p, len(counts))

    def chance(two: Moments) -> Floats:
        return two_sided_t(np.nan_to_num(statistic(two), posinf=np.inf), _welch_error(two)[1])

    p = in_blocks(lambda part: -_largest(part, lambda two: -chance(two), absolute=False), moments)
    return scores, _bonferroni(p, len(counts))


def _student_error(two: Moments) -> Floats:
    pooled: Floats = (two.square[0] + two.square[1]) / (two.counts.sum() - 2)
    pooled *= 1 / two.counts[0] + 1 / two.counts[1]
    return pooled


def _welch_error(two: Moments) -> tuple[Floats, Floats]:
    """Squared standard error of the difference, and its degrees of freedom."""
    each = two.square / ((two.counts - 1) * two.counts)[:, None]
    total = each[0] + each[1]
    share = each / total  # as each^2 could underflow
    freedom = 1.0 / (share**2 / (two.counts - 1)[:, None]).sum(axis=0)
    return total, np.where(total > 0, freedom, 1.0)


def _largest(part: Moments, score: Any, *, absolute: bool = True) -> Floats:
    """Of two classes the score; of more the largest of one against the rest."""
    n_classes = len(part.counts)
    if n_classes == 2:
        values: Floats = score(part)
        return np.abs(values) if absolute else values
    best = np.full(part.mean.shape[1], -np.inf)
    for two in _against_rest(part):
        values = np.nan_to_num(score(two), posinf=np.inf, neginf=-np.inf)
        np.maximum(best, np.abs(values) if absolute else values, out=best)
    return best


_Merged = tuple[float, Floats, Floats]  # samples, mean, sum of squares


def _against_rest(part: Moments) -> Iterator[Moments]:
    """Yield the rest and the class, for each class: the rest is what is before and after it."""
    each = list(zip(part.counts.tolist(), part.mean, part.square, strict=True))
    before: list[_Merged | None] = [None, each[0]]
    for one in each[1:-1]:
        before.append(_merged(before[-1], one))
    after: _Merged | None = None
    for c in range(len(each) - 1, -1, -1):
        size, mean, square = _merged(before[c], after)
        counts = np.array([size, part.counts[c]])
        yield Moments(counts, np.stack([mean, part.mean[c]]), np.stack([square, part.square[c]]))
        after = _merged(after, each[c])


def _merged(a: _Merged | None, b: _Merged | None) -> _Merged:
    """Moments of two groups together; None is a group of no sample."""
    if a is None or b is None:
        found = a if b is None else b
        assert found is not None
        return found
    size, apart = a[0] + b[0], b[1] - a[1]
    square = a[2] + b[2] + apart**2 * (a[0] * b[0] / size)
    return size, a[1] + apart * (b[0] / size), square


def _bonferroni(p: Floats, n_classes: int) -> Floats:
    return p if n_classes == 2 else np.minimum(p * n_classes, 1.0)


def _check_signed(columns: Inputs, signed: bool) -> None:
    if signed and len(columns.classes) != 2:
        raise ValueError(
            f"a sign needs two classes, but y has {len(columns.classes)}: "
            f"{shorten(columns.classes.tolist())}; use signed=False"
        )


def _check_welch(columns: Inputs, counts: Floats) -> None:
    alone = columns.classes[counts < 2].tolist()
    if alone:
        raise ValueError(
            "Welch's t needs two samples or more of each class, but there is one of "
            f"{shorten(alone)}; use equal_var=True, or drop the class"
        )
