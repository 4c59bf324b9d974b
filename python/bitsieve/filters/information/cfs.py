"""Correlation-based feature selection: a set that predicts the classes and not itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_flag, check_int
from bitsieve.discrete import CutCost, Missing
from bitsieve.filters.information.entropy_scores import Cut
from bitsieve.filters.information.uncertainty import ClassTable, class_table
from bitsieve.filters.positions import best_first

__all__ = ["CFSResult", "cfs", "search_cfs"]

Order = NDArray[np.int64]
Scores = NDArray[np.float64]

#: A set is better where its merit is greater by more than this, as in Weka.
_BETTER = 1e-5


@overload
def cfs(
    X: Any,
    y: Any = ...,
    *,
    max_stale: int = ...,
    locally_predictive: bool = ...,
    discretization: Cut | None = ...,
    n_bins: int = ...,
    cut_cost: CutCost = ...,
    missing: Missing = ...,
    discrete_features: Any = ...,
    return_scores: Literal[False] = ...,
    n_jobs: int | None = ...,
) -> Order: ...
@overload
def cfs(
    X: Any,
    y: Any = ...,
    *,
    max_stale: int = ...,
    locally_predictive: bool = ...,
    discretization: Cut | None = ...,
    n_bins: int = ...,
    cut_cost: CutCost = ...,
    missing: Missing = ...,
    discrete_features: Any = ...,
    return_scores: Literal[True],
    n_jobs: int | None = ...,
) -> tuple[Order, Scores]: ...


def cfs(
    X: Any,
    y: Any = None,
    *,
    max_stale: int = 5,
    locally_predictive: bool = True,
    discretization: Cut | None = "mdl",
    n_bins: int = 10,
    cut_cost: CutCost = "distinct",
    missing: Missing = "error",
    discrete_features: Any = "auto",
    return_scores: bool = False,
    n_jobs: int | None = None,
) -> Order | tuple[Order, Scores]:
    """Search the set of features that are correlated with the classes but not with each other.

    A set of k features has the merit ``k r_cf / sqrt(k + k (k - 1) r_ff)`` [1]_, where r_cf is
    the mean correlation of a feature with the classes and r_ff that of two features of the set.
    The correlation of two discrete variables is their symmetrical uncertainty
    ``2 I(a; b) / (H(a) + H(b))``.

    The search goes best first: it starts from the empty set, adds each feature in turn to the
    best set not yet expanded, keeps the best sets found in a short list, and ends when
    `max_stale` expansions in a row brought nothing better.

    Parameters
    ----------
    X : array-like, DataFrame, Table or scipy.sparse matrix of shape (n_samples, n_features)
        Numbers. Text, categories and booleans of a data frame are levels by themselves. Entries
        that a sparse matrix does not hold are zeros, and it is never made dense as a whole.
    y : array-like of shape (n_samples,)
        Class labels of any type; those of a Table by default.
    max_stale : int, default 5
        Expansions without a better set before the search ends; also the length of the list.
    locally_predictive : bool, default True
        After the search, go through the other features from the one most correlated with the
        classes on, and add each that is correlated with none of the set more than with the
        classes: such a feature may predict in a small part of the space.
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
        Whether to return merits too.
    n_jobs : int or None, default None
        Threads.

    Returns
    -------
    order : ndarray of shape (n_taken,)
        Int64, in the order in which the features joined the set. Empty where no feature says
        anything about the classes.
    scores : ndarray of shape (n_taken,)
        Merit, in [0, 1], of the set up to and with each feature; with ``return_scores=True``.

    Raises
    ------
    ValueError
        If X or y are not fit for use, or a parameter is out of its range.

    Notes
    -----
    With the defaults these are the sets of Weka's ``CfsSubsetEval`` with ``BestFirst``.
    Correlations are rounded to float32 as there, so that two that are equal but for rounding are
    equal; of equal sets the one with the lower index is first. Two features that share no
    information at all count as uncorrelated (in Weka as fully correlated, which is meant for
    constant ones). Features that tell nothing about the classes, constant ones among them, are
    never taken.

    Only correlations with features of sets that the search expands are computed.

    References
    ----------
    .. [1] M. A. Hall, "Correlation-based feature selection for machine learning", PhD thesis,
       University of Waikato, 1999, equation 4.2 and section 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> order, merits = cfs(*load_iris(return_X_y=True), return_scores=True)
    >>> order, merits.round(4)
    (array([3, 2]), array([0.8705, 0.8874]))
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
    found = search_cfs(table, max_stale=max_stale, locally_predictive=locally_predictive)
    return (found.order, found.merits) if return_scores else found.order


@dataclass(frozen=True, eq=False)
class CFSResult:
    """What a search found.

    Attributes
    ----------
    order : ndarray of shape (n_taken,)
        Int64, as the features joined the set.
    merits : ndarray of shape (n_taken,)
        Merit of the set after each.
    n_searched : int
        How many of them the search took; locally predictive ones follow.
    history : dict of str to ndarray
        A value an expansion: ``merit`` of the best set so far, ``n_selected`` in it,
        ``n_evaluations`` so far, of sets of features that tell something by themselves.
    """

    order: NDArray[np.int64]
    merits: NDArray[np.float64]
    n_searched: int
    history: dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class _Node:
    """A set, and sums over its correlations; `shared` is that of the set without the last."""

    members: tuple[int, ...]
    merit: float
    relevance: float
    redundancy: float
    shared: NDArray[np.float64]


class _Correlations:
    """Symmetrical uncertainties as float32 values, each row computed when it is asked for.

    Only of features that tell something about the classes: one that does not lowers the merit of
    every set, so that no set with it is ever better than without. Positions count these features.
    """

    def __init__(self, table: ClassTable) -> None:
        self._table = table
        rounded = table.uncertainty().astype(np.float32)
        self.features = np.flatnonzero(rounded > 0).astype(np.int64)
        self.relevance = rounded[self.features].astype(np.float64)
        self._rows: dict[int, NDArray[np.float32]] = {}

    def row(self, position: int, *, keep: bool) -> NDArray[np.float64]:
        """Correlations of a feature with all, kept where they will be asked for again."""
        found = self._rows.get(position)
        if found is None:
            feature = int(self.features[position])
            found = self._table.uncertainty_with(feature, self.features).astype(np.float32)
            if keep:
                self._rows[position] = found
        return found.astype(np.float64)


def search_cfs(
    table: ClassTable, *, max_stale: int = 5, locally_predictive: bool = True
) -> CFSResult:
    """Search the best set of a table of levels; see :func:`cfs`."""
    check_int("max_stale", max_stale, 1)
    check_flag("locally_predictive", locally_predictive)
    correlations = _Correlations(table)
    found, history = _best_first_search(correlations, max_stale)
    members = _Members(correlations)
    for feature in found:
        members.join(feature)
    if locally_predictive:
        _add_locally_predictive(correlations, members)
    order = correlations.features[np.array(members.order, dtype=np.int64)]
    return CFSResult(order, np.array(members.merits), len(found), history)


def _best_first_search(
    correlations: _Correlations, max_stale: int
) -> tuple[list[int], dict[str, NDArray[Any]]]:
    p = len(correlations.relevance)
    best = _Node((), 0.0, 0.0, 0.0, np.zeros(p))
    waiting = [best]
    stale = n_evaluations = 0
    steps: list[tuple[float, int, int]] = []
    while stale < max_stale and waiting:
        node = waiting.pop(0)
        children, merits = _expand(correlations, node)
        better = _last_record(merits, best.merit)
        stale = stale + 1 if better is None else 0
        if better is not None:
            best = children(better)
        for feature in best_first(merits)[:max_stale].tolist():
            if merits[feature] == -np.inf:
                break
            _insert(waiting, children(feature), max_stale)
        n_evaluations += p - len(node.members)
        steps.append((best.merit, len(best.members), n_evaluations))
    merit, n_selected, counts = zip(*steps, strict=True)
    history = {
        "merit": np.array(merit),
        "n_selected": np.array(n_selected, dtype=np.int64),
        "n_evaluations": np.array(counts, dtype=np.int64),
    }
    return list(best.members), history


def _expand(correlations: _Correlations, node: _Node) -> tuple[Any, NDArray[np.float64]]:
    """Return merits of the set with each other feature (-inf for its own), and a maker of nodes."""
    shared = node.shared
    if node.members:
        shared = shared + correlations.row(node.members[-1], keep=True)
    relevance = node.relevance + correlations.relevance
    redundancy = node.redundancy + shared
    merits = relevance / np.sqrt(len(node.members) + 1 + 2.0 * redundancy)
    merits[list(node.members)] = -np.inf

    def child(feature: int) -> _Node:
        return _Node(
            (*node.members, int(feature)),
            float(merits[feature]),
            float(relevance[feature]),
            float(redundancy[feature]),
            shared,
        )

    return child, merits


def _last_record(merits: NDArray[np.float64], best: float) -> int | None:
    """Go through the features in order; each that beats the best so far becomes the best."""
    found, start = None, 0
    while True:
        above = np.flatnonzero(merits[start:] - best > _BETTER)
        if not above.size:
            return found
        found = start + int(above[0])
        best, start = float(merits[found]), found + 1


def _insert(waiting: list[_Node], node: _Node, limit: int) -> None:
    """Keep the list sorted, earlier ones first among equals, and no longer than the limit."""
    place = next((i for i, w in enumerate(waiting) if node.merit > w.merit), len(waiting))
    waiting.insert(place, node)
    del waiting[limit:]


class _Members:
    """Features as they join the set, and what has to be known of them to let others join."""

    def __init__(self, correlations: _Correlations) -> None:
        self._correlations = correlations
        self.order: list[int] = []
        self.merits: list[float] = []
        self.most = np.zeros(len(correlations.relevance))  # greatest correlation with any member
        self._shared = np.zeros(len(correlations.relevance))  # sum of correlations with members
        self._relevance = self._redundancy = 0.0

    def join(self, feature: int) -> None:
        """Add a feature."""
        self._relevance += float(self._correlations.relevance[feature])
        self._redundancy += float(self._shared[feature])
        self.order.append(feature)
        self.merits.append(
            self._relevance / float(np.sqrt(len(self.order) + 2.0 * self._redundancy))
        )
        row = self._correlations.row(feature, keep=False)
        np.maximum(self.most, row, out=self.most)
        self._shared += row


def _add_locally_predictive(correlations: _Correlations, members: _Members) -> None:
    relevance = correlations.relevance
    inside = set(members.order)
    for feature in best_first(relevance).tolist():
        if feature not in inside and members.most[feature] <= relevance[feature]:
            members.join(feature)
