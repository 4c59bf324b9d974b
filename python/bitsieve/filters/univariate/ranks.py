"""Classes told apart by ranks: the area under the ROC curve (Mann-Whitney), Kruskal-Wallis."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core
from bitsieve._checks import check_choice
from bitsieve._errors import shorten
from bitsieve._threads import effective_n_jobs
from bitsieve.data.inputs import Inputs, check_input
from bitsieve.filters.p_values import two_sided_normal, upper_chi2

__all__ = ["auc", "kruskal_wallis"]

Floats = NDArray[np.float64]
Scores = Floats | tuple[Floats, Floats]

#: Up to as many pairs of samples may be compared one by one, where keys do not tell them apart.
PAIRS = 20_000


def auc(
    X: Any,
    y: Any = None,
    *,
    multiclass: Literal["mean", "largest"] = "mean",
    signed: bool = False,
    p_values: bool = False,
    n_jobs: int | None = None,
) -> Scores:
    """Area under the ROC curve of each feature, whichever way round is better.

    ``A = U / (n_1 n_2)`` with Mann and Whitney's U [1]_: the share of pairs of samples, one of each
    class, in which that of the second class has the greater value, ties counting a half. The score
    is max(A, 1 - A). With more than two classes each is held against the rest, and the score is
    the mean over classes (each counting the same), or the largest.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        In any unit; the score has none.
    y : array-like of shape (n_samples,)
        Class labels; those of a Table by default.
    multiclass : {"mean", "largest"}, default "mean"
        What is made of several classes.
    signed : bool, default False
        A itself: above 0.5 where the second of two classes (in sorted order) is greater.
    p_values : bool, default False
        Return two-sided p-values of the Mann-Whitney test as well, by the normal distribution with
        corrections for ties and continuity, as
        ``scipy.stats.mannwhitneyu(method="asymptotic")``. With more than two classes the least of
        one class against the rest, times the number of classes (Bonferroni).
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        In [0.5, 1], or in [0, 1] with ``signed``; 0.5 for a constant feature.
    p_values : ndarray of shape (n_features,)
        Only if asked for.

    Raises
    ------
    ValueError
        If X or y are not fit for use, or ``signed`` and there are more than two classes.

    Notes
    -----
    The samples are sorted, many features at a time, or where that is dearer all pairs are counted:
    either is exact, and both give the same bits.

    References
    ----------
    .. [1] H. B. Mann, D. R. Whitney, "On a test of whether one of two random variables is
       stochastically larger than the other", Annals of Mathematical Statistics 18, 1947.

    Examples
    --------
    >>> from bitsieve.filters import auc
    >>> auc([[1.0, 9.0], [2.0, 4.0], [2.0, 6.0], [3.0, 1.0]], ["a", "a", "b", "b"])
    array([0.875, 0.75 ])
    """
    check_choice("multiclass", multiclass, ("mean", "largest"))
    columns = check_input(X, y, task="classification", distinct="all", defer=True)
    n_classes, counts = len(columns.classes), columns.counts
    if n_classes > 2 and signed:
        raise ValueError(
            f"a sign needs two classes, but y has {n_classes}: "
            f"{shorten(columns.classes.tolist())}; use signed=False"
        )
    pairs = counts * (columns.n_samples - counts)
    if n_classes == 2 and not p_values and pairs[0] <= PAIRS:
        threads = effective_n_jobs(n_jobs)
        wins = _finite(columns, _core.pair_wins(columns.X, columns.codes, threads))
        area: Floats = wins / pairs[0]
        return area if signed else np.maximum(area, 1 - area)
    sums, ties = _rank_sums(columns, n_jobs)
    wins = sums - (counts * (counts + 1) / 2)[:, None]
    p = _mann_whitney(wins, ties, counts) if p_values else None
    if n_classes == 2:
        area = wins[1] / pairs[0]
        scores = area if signed else np.maximum(area, 1 - area)
    else:
        wins /= pairs[:, None]
        np.maximum(wins, 1 - wins, out=wins)
        scores = wins.mean(axis=0) if multiclass == "mean" else wins.max(axis=0)
    return scores if p is None else (scores, p)


def kruskal_wallis(
    X: Any, y: Any = None, *, p_values: bool = False, n_jobs: int | None = None
) -> Scores:
    """H of the rank test for several classes.

    ``H = 12 / (n (n + 1)) sum_c n_c (R_c - (n + 1) / 2)^2`` over the mean ranks R_c, divided by
    ``1 - sum (t^3 - t) / (n^3 - n)`` over groups of t equal values [1]_; as
    ``scipy.stats.kruskal``.

    Parameters
    ----------
    X : array-like, DataFrame or Table of shape (n_samples, n_features)
        In any unit; the score has none.
    y : array-like of shape (n_samples,)
        Class labels; those of a Table by default.
    p_values : bool, default False
        Return p-values as well, by chi-squared with C - 1 degrees of freedom.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        In [0, n_samples - 1]; 0 for a constant feature.
    p_values : ndarray of shape (n_features,)
        Only if asked for.

    Raises
    ------
    ValueError
        If X or y are not fit for use.

    References
    ----------
    .. [1] W. H. Kruskal, W. A. Wallis, "Use of ranks in one-criterion variance analysis", Journal
       of the American Statistical Association 47, 1952.

    Examples
    --------
    >>> from bitsieve.filters import kruskal_wallis
    >>> kruskal_wallis([[1.0, 5.0], [2.0, 5.0], [7.0, 5.0], [9.0, 5.0]], [0, 0, 1, 1])
    array([2.4, 0. ])
    """
    columns = check_input(X, y, task="classification", distinct="all", defer=True)
    scores = kruskal_statistic(columns, n_jobs)
    return (scores, upper_chi2(scores, len(columns.classes) - 1)) if p_values else scores


def kruskal_statistic(columns: Inputs, n_jobs: int | None) -> Floats:
    """H of columns that were checked."""
    sums, ties = _rank_sums(columns, n_jobs)
    n = float(columns.n_samples)
    counts = columns.counts[:, None]
    sums /= counts
    sums -= (n + 1) / 2
    total = (counts * sums**2).sum(axis=0) * (12.0 / (n * (n + 1)))
    rest = 1.0 - ties / (n**3 - n)
    constant = ties >= n**3 - n
    return np.where(constant, 0.0, total / np.where(constant, 1.0, rest))


def _rank_sums(columns: Inputs, n_jobs: int | None) -> tuple[Floats, Floats]:
    threads = effective_n_jobs(n_jobs)
    n_classes = len(columns.classes)
    sums, ties, _ = _core.rank_sums(columns.X, columns.codes, n_classes, None, threads)
    return _finite(columns, sums), ties


def _finite(columns: Inputs, values: Floats) -> Floats:
    if not np.isfinite(values.sum()):
        columns.refuse()
    return values


def _mann_whitney(wins: Floats, ties: Floats, counts: Floats) -> Floats:
    """Two-sided p-values, corrected for ties and continuity; the least over classes times them."""
    n = counts.sum()
    best = np.ones(len(ties))
    one_by_one = range(len(counts)) if len(counts) > 2 else (1,)
    for c in one_by_one:
        pairs = counts[c] * (n - counts[c])
        squared = pairs / 12.0 * ((n + 1) - ties / (n * (n - 1)))
        away = np.maximum(wins[c], pairs - wins[c]) - pairs / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (away - 0.5) / np.sqrt(squared)
        np.minimum(best, two_sided_normal(z) * len(one_by_one), out=best)
    return np.where(ties >= n**3 - n, 1.0, best)
