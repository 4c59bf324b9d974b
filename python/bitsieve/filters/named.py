"""Short names of methods, as the command line and :class:`bitsieve.RankAggregation` take them.

A new method joins by adding one line to :data:`FILTERS`. Its function is imported when it is first
used, so that a list of names costs nothing.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest
from bitsieve.data.inputs import width_of
from bitsieve.filters.positions import positions_of_order

__all__ = ["FILTERS", "N_GREEDY", "NamedFilter", "Ranked", "filter_by_name"]

Target = Literal["classes", "numbers", "either", "none"]

#: Features that a greedy method takes, if there are so many, where its ranking meets others.
N_GREEDY = 100


@dataclass(frozen=True, eq=False)
class Ranked:
    """What a method says about every feature.

    Attributes
    ----------
    scores : float64 array of shape (n_features,)
        Greater is better; of a greedy method the criterion's value when the feature was taken, NaN
        for those that were not.
    order : int64 array or None
        Features that a greedy method took, best first; None where all have a score.
    p_values : float64 array of shape (n_features,) or None
    """

    scores: NDArray[np.float64]
    order: NDArray[np.int64] | None = None
    p_values: NDArray[np.float64] | None = None

    @property
    def keys(self) -> NDArray[np.float64]:
        """Numbers to sort by, the least is the best; NaN for features that were not taken."""
        if self.order is None:
            return -self.scores
        keys = positions_of_order(self.order, len(self.scores)).astype(np.float64)
        keys[np.isnan(self.scores)] = np.nan
        return keys


@dataclass(frozen=True)
class NamedFilter:
    """A function of :mod:`bitsieve.filters` with its options.

    Attributes
    ----------
    name : str
    source : str
        ``"module:function"``.
    about : str
        What it measures, in a few words.
    target : {"classes", "numbers", "either", "none"}
        What it needs to know of a sample.
    greedy : bool
        Whether it returns an order.
    has_p_values : bool
    takes_nan, takes_sparse : bool
        Whether NaN may stand for a missing value, and X be a sparse matrix.
    takes_categories : bool
        Whether columns may hold categories: text of a data frame, discrete columns of a Table.
    counts_levels : bool
        Whether columns become levels, of which missing values may be one (``missing="level"``).
    positive_only : bool
        Whether it refuses values below zero.
    options : mapping
        Keyword arguments of the function.
    """

    name: str
    source: str
    about: str
    target: Target = "classes"
    greedy: bool = False
    has_p_values: bool = False
    takes_nan: bool = False
    takes_sparse: bool = False
    takes_categories: bool = False
    counts_levels: bool = False
    positive_only: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself.

        Raises
        ------
        ImportError
            Where it is not there.
        """
        module, _, name = self.source.partition(":")
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        except AttributeError as error:
            raise ImportError(f"cannot import {name!r} from {module}") from error
        return found

    def takes(self, option: str) -> bool:
        """Tell whether the function has an option of this name."""
        return option in inspect.signature(self.function).parameters

    def rank(self, X: Any, y: Any, *, n_features: int | None = None, **options: Any) -> Ranked:
        """Compute what the method says about every feature.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or None
        n_features : int or None, default None
            How many features a greedy method should take; None leaves it to the function.
        **options
            ``n_jobs``, ``random_state``, ``n_neighbors``, ``n_instances``, ``missing``: handed
            on where the function has them and the value is not None.

        Returns
        -------
        Ranked

        Raises
        ------
        ValueError
            Where X or y are not fit for the method.
        """
        function = self.function
        known = inspect.signature(function).parameters
        given = dict(self.options)
        given |= {k: v for k, v in options.items() if v is not None and k in known}
        if not self.greedy:
            if self.has_p_values:
                scores, p_values = function(X, y, p_values=True, **given)
                return Ranked(np.asarray(scores, np.float64), None, np.asarray(p_values))
            return Ranked(np.asarray(function(X, y, **given), dtype=np.float64))
        if n_features is not None and "n_features" in known:
            given["n_features"] = n_features
        order, values = function(X, y, return_scores=True, **given)
        scores = np.full(width_of(X), np.nan)
        order = np.asarray(order, dtype=np.int64)
        scores[order] = values
        return Ranked(scores, order)


def _scores(
    name: str,
    function: str,
    about: str,
    target: Target = "classes",
    *,
    p: bool = False,
    sparse: bool = False,
    positive: bool = False,
    **options: Any,
) -> NamedFilter:
    source = f"bitsieve.filters:{function}"
    return NamedFilter(
        name, source, about, target, has_p_values=p, takes_sparse=sparse, positive_only=positive,
        options=options,
    )  # fmt: skip


def _relief(name: str, function: str, about: str, target: Target = "classes") -> NamedFilter:
    found = _scores(name, function, about, target)
    return replace(found, takes_nan=True, takes_categories=True)


def _levels(name: str, function: str, about: str, target: Target = "classes") -> NamedFilter:
    found = _scores(name, function, about, target, sparse=True)
    return replace(found, takes_categories=True, counts_levels=True)


def _greedy(
    name: str,
    function: str,
    about: str,
    target: Target = "classes",
    *,
    sparse: bool = False,
    levels: bool = False,
    **options: Any,
) -> NamedFilter:
    source = f"bitsieve.filters:{function}"
    return NamedFilter(
        name, source, about, target, greedy=True, takes_sparse=sparse, takes_categories=levels,
        counts_levels=levels, options=options,
    )  # fmt: skip


def _mrmr(name: str, criterion: str, about: str, *, levels: bool) -> NamedFilter:
    return _greedy(name, "mrmr", about, "either", sparse=True, levels=levels, criterion=criterion)


def _criterion(name: str, about: str) -> NamedFilter:
    return _greedy(
        name, "information_selection", about, "either", sparse=True, levels=True, criterion=name
    )


#: Every method by its name.
FILTERS: dict[str, NamedFilter] = {
    entry.name: entry
    for entry in (
        _relief("relief", "relief", "nearest hit and miss"),
        _relief("relieff", "relieff", "k nearest hits and misses of every class"),
        _relief("rrelieff", "rrelieff", "ReliefF for a numeric target", "numbers"),
        _relief("surf", "surf", "neighbors within the mean distance"),
        _relief("surf-star", "surf_star", "SURF, and far samples the other way"),
        _relief("multisurf", "multisurf", "neighbors within a sample's own reach"),
        _relief("multisurf-star", "multisurf_star", "MultiSURF, and far samples"),
        _relief("swrf-star", "swrf_star", "samples weighted by a sigmoid"),
        _relief("turf", "turf", "ReliefF, the worst features removed in turns"),
        _levels("mi", "mutual_information", "mutual information", "either"),
        _mrmr("mrmr", "MID", "relevance minus redundancy", levels=True),
        _mrmr("mrmr-miq", "MIQ", "relevance over redundancy", levels=True),
        _mrmr("mrmr-fcd", "FCD", "F minus |correlation|", levels=False),
        _mrmr("mrmr-fcq", "FCQ", "F over |correlation|", levels=False),
        _criterion("mim", "mutual information, one by one"),
        _criterion("mifs", "relevance minus beta times redundancy"),
        _criterion("jmi", "joint mutual information"),
        _criterion("jmim", "least joint mutual information"),
        _criterion("njmim", "least normalised joint mutual information"),
        _criterion("jmi3", "joint mutual information of three"),
        _criterion("cmim", "least conditional mutual information"),
        _criterion("disr", "symmetrical relevance of pairs"),
        _criterion("icap", "interaction capping"),
        _criterion("cife", "conditional infomax"),
        _greedy("fcbf", "fcbf", "symmetrical uncertainty, no redundancy", sparse=True, levels=True),
        _greedy("cfs", "cfs", "correlation-based subset, best first", sparse=True, levels=True),
        _scores("s2n", "signal_to_noise", "difference of means over deviations", sparse=True),
        _scores("t", "t_test", "Student's t", p=True, sparse=True, equal_var=True),
        _scores("welch", "t_test", "Welch's t", p=True, sparse=True, equal_var=False),
        _scores("f", "f_test", "F of the analysis of variance", "either", p=True, sparse=True),
        _scores("pearson", "pearson", "|linear correlation|", "either", p=True, sparse=True),
        _scores("spearman", "spearman", "|rank correlation|", "either", p=True),
        _scores("auc", "auc", "area under the curve (Mann-Whitney)", p=True),
        _scores("kruskal", "kruskal_wallis", "Kruskal-Wallis H", p=True),
        _scores("chi2", "chi2", "chi-squared of counts", p=True, sparse=True, positive=True),
        _scores("fisher", "fisher_score", "variance between over within classes", sparse=True),
        _levels("gini", "gini", "decrease of the Gini impurity"),
        _levels("infogain", "information_gain", "information gain in bits"),
        _levels("gainratio", "gain_ratio", "information gain over entropy"),
        _levels("su", "symmetrical_uncertainty", "symmetrical uncertainty"),
        _scores("variance", "variance", "variance", "none", sparse=True),
        _scores("laplacian", "laplacian_score", "smoothness over neighbors", "none"),
        _greedy("gs", "gram_schmidt", "forward orthogonalisation", "either"),
    )
}

_ALIASES = {
    "mrmrmid": "mrmr",
    "mutualinformation": "mi",
    "signaltonoise": "s2n",
    "ttest": "t",
    "student": "t",
    "welcht": "welch",
    "ftest": "f",
    "anova": "f",
    "kruskalwallis": "kruskal",
    "mannwhitney": "auc",
    "fisherscore": "fisher",
    "informationgain": "infogain",
    "symmetricaluncertainty": "su",
    "laplacianscore": "laplacian",
    "gramschmidt": "gs",
}


def _plain(name: str) -> str:
    return "".join(c for c in name.casefold().replace("*", "star") if c.isalnum())


def filter_by_name(name: str) -> NamedFilter:
    """Return a method by its name.

    Parameters
    ----------
    name : str
        One of :data:`FILTERS`. Case, spaces, hyphens and underscores do not count, and a star may
        be written as such: "MultiSURF*" is "multisurf-star".

    Returns
    -------
    NamedFilter

    Raises
    ------
    ValueError
        For an unknown name; the message offers the nearest known ones.

    Examples
    --------
    >>> from bitsieve.filters.named import filter_by_name
    >>> filter_by_name("MultiSURF*").name
    'multisurf-star'
    >>> filter_by_name("relif")
    Traceback (most recent call last):
    ValueError: unknown method 'relif': did you mean 'relief' or 'relieff' or 'rrelieff'?
    """
    plain = {_plain(known): known for known in FILTERS}
    found = plain.get(_plain(name)) or _ALIASES.get(_plain(name))
    if found is None:
        near = closest(name, FILTERS)
        every = "" if near.startswith("did") else f" (all: {', '.join(FILTERS)})"
        raise ValueError(f"unknown method {name!r}: {near}{every}")
    return FILTERS[found]
