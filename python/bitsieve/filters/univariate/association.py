"""How closely features follow the target: Pearson's and Spearman's correlation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._errors import shorten
from bitsieve._threads import effective_n_jobs
from bitsieve.data.inputs import Inputs, check_input
from bitsieve.filters.p_values import two_sided_r, upper_chi2, upper_f
from bitsieve.filters.univariate._moments import (
    centred_numbers,
    class_moments,
    in_blocks,
    target_moments,
)

__all__ = ["pearson", "spearman"]

Floats = NDArray[np.float64]
Scores = Floats | tuple[Floats, Floats]

#: Features so near to a line that rounding hides how near are looked at without any.
_NEAR = 1e-11


def pearson(
    X: Any,
    y: Any = None,
    *,
    signed: bool = False,
    p_values: bool = False,
    n_jobs: int | None = None,
) -> Scores:
    """Absolute correlation of each feature with the target.

    ``r = sum (x - mean)(y - mean) / sqrt(sum (x - mean)^2 sum (y - mean)^2)``, as
    ``scipy.stats.pearsonr`` and scikit-learn's ``r_regression``. Numbers in y, whole ones too, are
    taken as they are; two text labels count as 0 and 1 in sorted order. More text labels have no
    order: then it is the correlation ratio ``sqrt(B / (B + W))``, with B and W the sums of squares
    between and within classes, which is |r| for two of them.

    Parameters
    ----------
    X : array-like, DataFrame, Table or sparse matrix of shape (n_samples, n_features)
        In any unit; the score has none. Zeros of a sparse matrix are numbers like others.
    y : array-like of shape (n_samples,)
        Numbers or labels; those of a Table by default.
    signed : bool, default False
        Keep the sign.
    p_values : bool, default False
        Return two-sided p-values as well, by t with n - 2 degrees of freedom (by F for more than
        two text labels).
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        In [0, 1], or in [-1, 1] with ``signed``; 0 for a constant feature.
    p_values : ndarray of shape (n_features,)
        Only if asked for.

    Raises
    ------
    ValueError
        If X or y are not fit for use, y does not vary, or ``signed`` and y has more than two text
        labels.

    Examples
    --------
    >>> from bitsieve.filters import pearson
    >>> pearson([[1.0, 2.0], [2.0, 2.0], [3.0, 5.0]], [0.1, 0.2, 0.3]).round(4)
    array([1.   , 0.866])
    """
    columns = check_input(X, y, task=None, sparse=True, defer=True)
    numbers = columns.numbers()
    if numbers is not None:
        r, rest = _correlation(columns, numbers, n_jobs)
        scores = r if signed else np.abs(r)
        return (scores, two_sided_r(scores, columns.n_samples, rest)) if p_values else scores
    _refuse_sign(columns, signed)
    n, n_classes = columns.n_samples, len(columns.classes)
    moments = class_moments(columns, columns.codes, n_classes, n_jobs)

    def ratio(part: Any) -> Floats:
        sizes = part.counts[:, None]
        offset = part.mean - part.mean[0]
        centre = (sizes * offset).sum(axis=0) / n
        between = (sizes * (offset - centre) ** 2).sum(axis=0)
        out: Floats = np.sqrt(between / (between + part.square.sum(axis=0)))
        return out

    scores = in_blocks(ratio, moments)
    if not p_values:
        return scores
    if n <= n_classes:
        return scores, np.ones_like(scores)
    with np.errstate(divide="ignore"):
        f = scores**2 / (1 - scores**2) * ((n - n_classes) / (n_classes - 1))
    return scores, upper_f(f, n_classes - 1, n - n_classes)


def spearman(
    X: Any,
    y: Any = None,
    *,
    signed: bool = False,
    p_values: bool = False,
    n_jobs: int | None = None,
) -> Scores:
    """Absolute rank correlation of each feature with the target.

    Pearson's r of ranks, equal values sharing the mean of theirs; as ``scipy.stats.spearmanr``.
    Labels as in :func:`pearson`: for more than two text labels it is the correlation ratio of the
    ranks, ``sqrt(H / (n - 1))`` with the H of Kruskal and Wallis.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        In any unit; the score has none.
    y : array-like of shape (n_samples,)
        Numbers or labels; those of a Table by default.
    signed : bool, default False
        Keep the sign.
    p_values : bool, default False
        Return two-sided p-values as well, by t with n - 2 degrees of freedom (by chi-squared for
        more than two text labels).
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        In [0, 1], or in [-1, 1] with ``signed``; 0 for a constant feature.
    p_values : ndarray of shape (n_features,)
        Only if asked for.

    Raises
    ------
    ValueError
        If X or y are not fit for use, y does not vary, or ``signed`` and y has more than two text
        labels.

    Examples
    --------
    >>> from bitsieve.filters import spearman
    >>> spearman([[1.0, 9.0], [8.0, 4.0], [9.0, 1.0]], [0.1, 0.2, 3.0], signed=True)
    array([ 1., -1.])
    """
    columns = check_input(X, y, task=None, distinct="all", defer=True)
    numbers = columns.numbers()
    if numbers is None:
        _refuse_sign(columns, signed)
        from bitsieve.filters.univariate.ranks import kruskal_statistic

        h = kruskal_statistic(columns, n_jobs)
        scores = np.sqrt(np.minimum(h / (columns.n_samples - 1), 1.0))
        return (scores, upper_chi2(h, len(columns.classes) - 1)) if p_values else scores
    n = columns.n_samples
    target = _ranks(numbers) - (n + 1) / 2
    codes = np.zeros(n, dtype=np.int32)
    sums, ties, cross = _core.rank_sums(columns.X, codes, 1, target, effective_n_jobs(n_jobs))
    if not np.isfinite(sums).all():
        columns.refuse()
    square = (float(n) ** 3 - n - ties) / 12.0
    with np.errstate(divide="ignore", invalid="ignore"):
        r = cross / np.sqrt(square * (target @ target))
    r = np.where(square > 0, np.clip(r, -1.0, 1.0), 0.0)
    scores = r if signed else np.abs(r)
    return (scores, two_sided_r(scores, n)) if p_values else scores


def squared_correlation(columns: Inputs, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Squared correlation with a numeric target, and what is missing to 1."""
    numbers = columns.numbers()
    assert numbers is not None
    r, rest = _correlation(columns, numbers, n_jobs)
    return r**2, rest


def _correlation(columns: Inputs, y: Floats, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Correlation with y, and 1 - r^2: of an exact line 0, and of no other feature."""
    centred = centred_numbers(y)
    unit = centred / np.sqrt(centred @ centred)
    square, cross = target_moments(columns, unit, n_jobs)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = cross / np.sqrt(square)
    r = np.where(square > 0, np.clip(r, -1.0, 1.0), 0.0)
    rest = (1.0 - r) * (1.0 + r)
    known: dict[bytes, float] = {}
    for f in np.flatnonzero(rest < _NEAR):
        column = columns.X[:, [f]].toarray().ravel() if columns.is_sparse else columns.X[:, f]
        key = column.tobytes()
        if key not in known:
            known[key] = _exact_rest(column, y)
        rest[f] = known[key]
        if rest[f] == 0.0:
            r[f] = np.sign(r[f])
    return r, rest


def _exact_rest(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Return 1 - r^2 of two vectors, in whole numbers until the last division."""
    xs, ys = _whole(x), _whole(y)
    n = len(xs)
    sx, sy = sum(xs), sum(ys)
    xx = n * sum(v * v for v in xs) - sx * sx
    yy = n * sum(v * v for v in ys) - sy * sy
    xy = n * sum(v * w for v, w in zip(xs, ys, strict=True)) - sx * sy
    return float(Fraction(xx * yy - xy * xy, xx * yy))


def _whole(values: NDArray[Any]) -> list[int]:
    """Return values over a power of two in common, which makes them whole."""
    ratios = [value.as_integer_ratio() for value in values.tolist()]
    shared = max(denominator for _, denominator in ratios)
    return [numerator * (shared // denominator) for numerator, denominator in ratios]


def _ranks(values: Floats) -> Floats:
    """Ranks from 1 on, equal values sharing the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    out: Floats = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return out


def _refuse_sign(columns: Inputs, signed: bool) -> None:
    if signed:
        raise ValueError(
            f"a sign needs numbers or two labels, but y has {len(columns.classes)} labels: "
            f"{shorten(columns.classes.tolist())}; use signed=False"
        )
