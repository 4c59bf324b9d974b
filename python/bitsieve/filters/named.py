"""Short names of methods, as the command line and :class:`bitsieve.RankAggregation` take them.

A new method joins by adding one line to :data:`FILTERS`. Its function is imported when it is first
used, so that a list of names costs nothing.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitsieve._errors import closest
from bitsieve.filters._input import width_of
from bitsieve.filters._positions import positions_of_order

__all__ = ["FILTERS", "NamedFilter", "Ranked", "filter_by_name"]

Target = Literal["classes", "numbers", "either", "none"]


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
    takes_nan : bool
        Whether NaN may stand for a missing value.
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
            ``n_jobs``, ``random_state``, ``n_neighbors``: handed on where the function has them
            and the value is not None.

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


def _entries() -> list[NamedFilter]:
    room = "bitsieve.filters:"
    criterion = f"{room}information_selection"
    numbers: dict[str, Any] = {"target": "numbers"}
    either: dict[str, Any] = {"target": "either"}
    none: dict[str, Any] = {"target": "none"}
    greedy: dict[str, Any] = {"greedy": True}
    tested: dict[str, Any] = {"has_p_values": True}
    return [
        NamedFilter("relief", f"{room}relief", "nearest hit and miss"),
        NamedFilter("relieff", f"{room}relieff", "k nearest hits and misses of every class"),
        NamedFilter("rrelieff", f"{room}rrelieff", "ReliefF for a numeric target", **numbers),
        NamedFilter("surf", f"{room}surf", "neighbours within the mean distance"),
        NamedFilter("surf-star", f"{room}surf_star", "SURF, far ones counted the other way"),
        NamedFilter("multisurf", f"{room}multisurf", "neighbours within a sample's own distance"),
        NamedFilter("multisurf-star", f"{room}multisurf_star", "MultiSURF with far ones"),
        NamedFilter("swrf-star", f"{room}swrf_star", "neighbours weighted by a sigmoid"),
        NamedFilter("turf", f"{room}turf", "ReliefF, the worst features removed again and again"),
        NamedFilter("mi", f"{room}mutual_information", "mutual information with the classes"),
        NamedFilter(
            "mrmr", f"{room}mrmr", "relevance minus redundancy", **greedy, options={"scheme": "mid"}
        ),
        *(
            NamedFilter(
                f"mrmr-{scheme}", f"{room}mrmr", f"mRMR, {what}", **greedy,
                options={"scheme": scheme},
            )
            for scheme, what in (
                ("miq", "relevance over redundancy"),
                ("fcd", "F minus |correlation|"),
                ("fcq", "F over |correlation|"),
            )
        ),
        *(
            NamedFilter(name, criterion, what, **greedy, options={"criterion": name})
            for name, what in (
                ("mim", "mutual information, one by one"),
                ("mifs", "mutual information minus beta times redundancy"),
                ("jmi", "joint mutual information"),
                ("jmim", "the least joint mutual information"),
                ("jmi3", "joint mutual information of three"),
                ("cmim", "the least conditional mutual information"),
                ("disr", "symmetrical relevance"),
                ("icap", "interaction capping"),
                ("cife", "conditional infomax"),
            )
        ),
        NamedFilter("fcbf", f"{room}fcbf", "fast correlation-based filter", **greedy),
        NamedFilter("cfs", f"{room}cfs", "correlation-based subset, best first", **greedy),
        NamedFilter("s2n", f"{room}signal_to_noise", "difference of means over deviations"),
        NamedFilter(
            "t", f"{room}t_test", "Student's t", **tested, options={"equal_var": True}
        ),
        NamedFilter("welch", f"{room}t_test", "Welch's t", **tested, options={"equal_var": False}),
        NamedFilter("f", f"{room}f_test", "F of the analysis of variance", **either, **tested),
        NamedFilter("pearson", f"{room}pearson", "|linear correlation|", **either, **tested),
        NamedFilter("spearman", f"{room}spearman", "|rank correlation|", **either, **tested),
        NamedFilter("auc", f"{room}auc", "area under the curve (Mann-Whitney)", **tested),
        NamedFilter("kruskal", f"{room}kruskal_wallis", "Kruskal-Wallis H", **tested),
        NamedFilter("chi2", f"{room}chi2", "chi-squared of counts", **tested),
        NamedFilter("fisher", f"{room}fisher_score", "between over within classes"),
        NamedFilter("gini", f"{room}gini", "decrease of the Gini impurity"),
        NamedFilter("infogain", f"{room}information_gain", "information gain"),
        NamedFilter("gainratio", f"{room}gain_ratio", "information gain over entropy"),
        NamedFilter("su", f"{room}symmetrical_uncertainty", "symmetrical uncertainty"),
        NamedFilter("variance", f"{room}variance", "variance", **none),
        NamedFilter("laplacian", f"{room}laplacian_score", "smoothness over neighbours", **none),
        NamedFilter("gs", f"{room}gram_schmidt", "forward orthogonalisation", **either, **greedy),
    ]  # fmt: skip


#: Every method by its name.
FILTERS: dict[str, NamedFilter] = {entry.name: entry for entry in _entries()}

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
