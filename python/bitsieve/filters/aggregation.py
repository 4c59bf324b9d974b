"""One ranking out of several: mean position, Borda, median, robust rank aggregation.

::

    scores or rankings (r, p) -> positions_of (a position a list and feature) -> combine (p,)

A position is 1 for the best feature of a list. Features with equal scores share the mean of the
positions that they occupy (``ties="average"``), so that a duplicated feature gets the same score;
features that a list lacks (NaN) share those that are left.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_choice
from bitsieve._errors import closest, plural, shorten

__all__ = [
    "METHODS",
    "Method",
    "Ties",
    "combine",
    "lacking_of",
    "positions_of",
    "rank_aggregation",
]

Method = Literal["mean", "borda", "median", "rra"]
Ties = Literal["average", "index"]
Given = Literal["scores", "rankings"]

#: Ways to combine positions.
METHODS: tuple[str, ...] = get_args(Method)

_BLOCK = 1 << 20  # numbers of one block of features
_TINY = 1e-280  # below it an order statistic is computed as a logarithm
_LN10 = float(np.log(10.0))


def rank_aggregation(
    lists: ArrayLike,
    *,
    method: Method = "mean",
    given: Given = "scores",
    weights: ArrayLike | None = None,
    ties: Ties = "average",
    p_values: bool = False,
) -> Any:
    r"""Combine several rankings of the same features into one score a feature.

    Parameters
    ----------
    lists : array-like of shape (n_lists, n_features)
        Scores (greater is better) or rankings (smaller is better); only their order within a list
        counts, so infinite ones are welcome. NaN: the list lacks that feature.
    method : {"mean", "borda", "median", "rra"}, default "mean"
        * ``"mean"``: :math:`1 / \sum_j w_j r_{ij}`, equation 2 of [1]_ with :math:`r_{ij}` the
          position of feature i in list j. Orders features by their mean position.
        * ``"borda"``: the mean Borda count :math:`\sum_j w_j (p - r_{ij}) / r` [2]_. The order of
          the mean, on a scale from 0 (last everywhere) to p - 1 (first everywhere).
        * ``"median"``: p + 1 minus the (weighted) median position. A minority of bad lists cannot
          move it far.
        * ``"rra"``: minus the decimal logarithm of the robust rank aggregation score
          :math:`\rho` [3]_: how improbable the best of the feature's positions are if all lists
          were shuffled. A feature that only some lists rank high still gets ahead.
    given : {"scores", "rankings"}, default "scores"
    weights : array-like of shape (n_lists,) or None, default None
        How much each list counts, at least 0; they are scaled to a mean of 1. Not for ``"rra"``.
    ties : {"average", "index"}, default "average"
        Features of equal score share the mean of their positions, or the lower index goes first.
    p_values : bool, default False
        Return p-values too, for ``"rra"`` alone.

    Returns
    -------
    scores : ndarray of shape (n_features,)
        Float64, greater is better.
    p_values : ndarray of shape (n_features,)
        If asked for: :math:`\min(1, r \rho)`, the Bonferroni bound of [3]_ for r lists.

    Raises
    ------
    ValueError
        If lists are not two-dimensional, or one ranks no feature at all; if weights do not fit;
        for an unknown method; for p-values of another method than ``"rra"``.

    Notes
    -----
    Positions are divided by the number of features for ``"rra"``; a feature that a list lacks gets
    1 there, as in [3]_. With sorted normalised positions :math:`r_{(1)} \le \dots \le r_{(n)}`,
    :math:`\rho = \min_k P(B_{k, n-k+1} \le r_{(k)})` with beta-distributed order statistics. The
    p-values hold for independent lists; lists computed from the same samples are not, so read them
    as an order, not as an error rate.

    References
    ----------
    .. [1] Escalante, Montes, Sucar, "An energy-based model for feature selection", 2008, eq. 2.
    .. [2] Dwork, Kumar, Naor, Sivakumar, "Rank aggregation methods for the Web", WWW 2001.
    .. [3] Kolde, Laur, Adler, Vilo, "Robust rank aggregation for gene list integration and
           meta-analysis", Bioinformatics 28(4), 2012, eq. 1 to 3.

    Examples
    --------
    >>> from bitsieve.filters import rank_aggregation
    >>> lists = [[0.9, 0.5, 0.1], [7.0, 9.0, 2.0]]
    >>> rank_aggregation(lists)  # positions 1 + 2, 2 + 1, 3 + 3
    array([0.33333333, 0.33333333, 0.16666667])
    >>> scores, p_values = rank_aggregation(lists, method="rra", p_values=True)
    >>> p_values.round(3)
    array([0.889, 0.889, 1.   ])
    """
    if p_values and method != "rra":
        raise ValueError(
            f"p_values need method='rra'; {method!r} combines positions and has no p-value"
        )
    positions = positions_of(lists, given=given, ties=ties, lacking=lacking_of(method))
    scores = combine(positions, method, weights)
    if not p_values:
        return scores
    return scores, np.minimum(1.0, len(positions) * np.exp(-scores * _LN10))


def positions_of(
    lists: ArrayLike,
    *,
    given: Given = "scores",
    ties: Ties = "average",
    lacking: Literal["shared", "last"] = "shared",
) -> NDArray[np.float64]:
    """Return the position of every feature in every list, 1 for the best.

    Parameters
    ----------
    lists : array-like of shape (n_lists, n_features)
    given : {"scores", "rankings"}, default "scores"
    ties : {"average", "index"}, default "average"
    lacking : {"shared", "last"}, default "shared"
        Features that a list lacks get the mean of the positions that are left, or the last one.

    Returns
    -------
    ndarray of shape (n_lists, n_features)

    Raises
    ------
    ValueError
        As :func:`rank_aggregation`.

    Examples
    --------
    >>> positions_of([[3.0, 1.0, 3.0, float("nan"), float("nan")]])
    array([[1.5, 3. , 1.5, 4.5, 4.5]])
    """
    check_choice("given", given, get_args(Given))
    check_choice("ties", ties, get_args(Ties))
    values = _checked(lists)
    out = np.empty(values.shape)
    for row, keys in zip(out, -values if given == "scores" else values, strict=True):
        _positions(keys, ties, lacking, row)
    return out


def lacking_of(method: str) -> Literal["shared", "last"]:
    """Return what a method makes of the features that a list lacks; see :func:`positions_of`."""
    return "last" if method == "rra" else "shared"


def combine(
    positions: NDArray[Any], method: Method, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return one score a feature from its positions; see :func:`rank_aggregation`.

    Parameters
    ----------
    positions : array of shape (n_lists, n_features)
        From :func:`positions_of`.
    method : {"mean", "borda", "median", "rra"}
    weights : array-like of shape (n_lists,) or None, default None

    Returns
    -------
    ndarray of shape (n_features,)

    Raises
    ------
    ValueError
        For an unknown method, or weights that do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> combine(np.array([[1.0, 2.0], [1.0, 2.0]]), "borda")
    array([1., 0.])
    """
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}: {closest(str(method), METHODS)}")
    n_lists, n_features = positions.shape
    scale = _weights(weights, n_lists)
    if method == "rra" and weights is not None:
        raise ValueError("weights cannot be used with method='rra'; choose another, or none")
    scores = np.empty(n_features)
    step = max(1, _BLOCK // n_lists)
    for start in range(0, n_features, step):
        part = slice(start, start + step)
        scores[part] = _combined(positions[:, part].astype(np.float64), method, scale, n_features)
    return scores


def _combined(
    block: NDArray[np.float64], method: str, weights: NDArray[np.float64], n_features: int
) -> NDArray[np.float64]:
    if method == "mean":
        return np.asarray(1.0 / (weights @ block))
    if method == "borda":
        return np.asarray(weights @ (n_features - block) / len(block))
    if method == "median":
        return n_features + 1.0 - _weighted_median(block, weights)
    return 0.0 - _log_rho(block / n_features) / _LN10  # no -0.0


def _weighted_median(
    block: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Median of each column: the mean of the two middle values where the weights split evenly."""
    order = np.argsort(block, axis=0, kind="stable")
    ordered = np.take_along_axis(block, order, axis=0)
    below = np.cumsum(weights[order], axis=0)
    half = 0.5 * below[-1]
    near = 1e-12 * below[-1]
    low = np.argmax(below >= half - near, axis=0)
    high = np.argmax(below > half + near, axis=0)
    columns = np.arange(block.shape[1])
    return np.asarray(0.5 * (ordered[low, columns] + ordered[high, columns]))


def _log_rho(normalised: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logarithm of the least of the order statistics' probabilities, a column each."""
    from scipy.special import betainc

    ordered = np.sort(normalised, axis=0)
    n = len(ordered)
    k = np.arange(1, n + 1)[:, np.newaxis]
    least = betainc(k, n - k + 1, ordered)
    with np.errstate(divide="ignore"):
        logs = np.log(least)
    tiny = np.nonzero(least < _TINY)
    if tiny[0].size:
        logs[tiny] = _log_tail(ordered[tiny], k[tiny[0], 0], n)
    return np.asarray(logs.min(axis=0))


def _log_tail(r: NDArray[np.float64], k: NDArray[Any], n: int) -> NDArray[np.float64]:
    """Logarithm of P(at least k of n uniform numbers lie below r), where it underflows."""
    from scipy.special import gammaln, logsumexp

    at = np.arange(n + 1)
    terms = (
        gammaln(n + 1) - gammaln(at + 1) - gammaln(n - at + 1)
        + at * np.log(r)[:, np.newaxis]
        + (n - at) * np.log1p(-r)[:, np.newaxis]
    )  # fmt: skip
    terms[at < k[:, np.newaxis]] = -np.inf
    return np.asarray(logsumexp(terms, axis=1))


def _positions(
    keys: NDArray[np.float64], ties: str, lacking: str, out: NDArray[np.float64]
) -> None:
    """Write the positions of one list whose least key is the best; NaN sorts last."""
    order = np.argsort(keys, kind="stable")
    n_features = len(keys)
    n_listed = n_features - int(np.isnan(keys).sum())
    at = np.arange(1.0, n_features + 1.0)
    if ties == "average" and n_listed:
        ordered = keys[order[:n_listed]]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        ends = np.concatenate([starts[1:], [n_listed]])
        at[:n_listed] = np.repeat(0.5 * (starts + 1 + ends), ends - starts)
    at[n_listed:] = n_features if lacking == "last" else 0.5 * (n_listed + 1 + n_features)
    out[order] = at


def _checked(lists: ArrayLike) -> NDArray[np.float64]:
    try:
        values = np.asarray(lists, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"lists must hold numbers, one row a list, all of one length: {error}"
        ) from None
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(
            "lists must have the shape (n_lists, n_features), at least one of each, got "
            f"{values.shape}; a single list goes in brackets: [scores]"
        )
    empty = np.flatnonzero(np.isnan(values).all(axis=1))
    if empty.size:
        raise ValueError(
            f"{plural(empty.size, 'list')} (number {shorten(empty.tolist())}) "
            f"{'ranks' if empty.size == 1 else 'rank'} no feature at all: every value is NaN; "
            "leave it out"
        )
    return values


def _weights(weights: ArrayLike | None, n_lists: int) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(n_lists)
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (n_lists,):
        raise ValueError(
            f"expected {plural(n_lists, 'weight')}, one a list, got an array of shape "
            f"{values.shape}"
        )
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise ValueError(
            f"weights must be numbers from 0 on, not all of them 0, got {shorten(values.tolist())}"
        )
    return np.asarray(values * (n_lists / values.sum()))
