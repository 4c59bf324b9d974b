"""Rankings of standardised features, best first, as a race of panels asks for them.

::

    Z, codes -> f, relieff, mrmr --- kernels of bitsieve.filters ------\\
                rfe     elimination by a linear SVM (elimination.py) ---> order
                lars    least angle regression (angles.py) ------------/
                aggregate   mean position in the lists of the filters

A ranking is a function of the table and of which samples share a class, in every bit: not of the
names or numbers of the classes, nor of the threads. Features that are constant come last, in the
order of their positions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import check_int
from bitsieve._errors import closest
from bitsieve.filters import f_test, mrmr, relieff
from bitsieve.filters.named import FILTERS, NamedFilter, filter_by_name
from bitsieve.filters.positions import best_first, positions_of_order
from bitsieve.panels.angles import least_angle_order
from bitsieve.panels.elimination import elimination_order

__all__ = ["RANKERS", "Ranker", "ranker_by_name"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Order = NDArray[np.int64]

#: Features of each list that the aggregate looks at, unless more are asked for.
_DEPTH = 200
#: Filters whose mean position the aggregate takes where no lists are given.
_AGGREGATED = ("f", "relieff", "mrmr")


@dataclass(frozen=True, eq=False)
class _Request:
    """What a ranking is asked: no feature of Z is constant, and n_features is not above p."""

    Z: Floats
    codes: Codes
    n_features: int
    n_threads: int
    seed: int
    others: Mapping[str, Order]


@dataclass(frozen=True)
class Ranker:
    """A way to rank features.

    Attributes
    ----------
    name : str
    label : str
        What it is, in plain words.
    is_filter : bool
        Whether it takes milliseconds, so that a race need not spare it.
    """

    name: str
    label: str
    is_filter: bool
    _ranking: Callable[[_Request], Order]
    _cost: Callable[[int, int, int, int], float]

    def cost(self, n_samples: int, n_features: int, n_classes: int, n_wanted: int) -> float:
        """Return what one ranking costs, in units of work.

        A unit is a millisecond of one core of an Intel Xeon at 2.6 GHz with AVX-512, where
        ``benchmarks/panels/rankers.py`` measured the formulas. Elsewhere only ratios hold.
        """
        return self._cost(n_samples, n_features, n_classes, min(n_wanted, n_features))

    def rank(
        self,
        Z: Floats,
        codes: NDArray[np.integer],
        n_features: int,
        *,
        n_threads: int = 1,
        seed: int = 0,
        others: Mapping[str, Order] | None = None,
    ) -> Order:
        """Rank features.

        Parameters
        ----------
        Z : ndarray of shape (n_samples, n_features)
            Standardised float64 in C order; see :class:`bitsieve.panels.Scaling`.
        codes : ndarray of shape (n_samples,)
            Whole numbers that stand for the classes.
        n_features : int
            How many to return; all where there are fewer.
        n_threads : int, default 1
            Of our own kernels. BLAS is to be held to one thread by the caller.
        seed : int, default 0
            For methods that draw.
        others : mapping of str to int64 array, optional
            Orders of other rankers on the same Z, best first; the aggregate makes those of its
            filters itself where there are none.

        Returns
        -------
        ndarray of shape (min(n_features, Z.shape[1]),)
            Int64 positions, all different, best first; ties go to the lowest.

        Raises
        ------
        ValueError
            If there are not two classes, or what a filter says about Z and codes.

        Examples
        --------
        >>> import numpy as np
        >>> from bitsieve.panels.rankers import RANKERS
        >>> Z = np.array([[1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [-1.2, 0.0, 0.5], [-0.8, 0.0, -0.5]])
        >>> RANKERS["f"].rank(Z, np.array([0, 0, 1, 1]), 3)
        array([0, 2, 1])
        """
        check_int("n_features", n_features, 1)
        order = np.empty(0, dtype=np.int64)
        classes = _in_turn(codes)
        if classes.max(initial=0) < 1:
            raise ValueError("codes must hold two classes or more to rank features by, got one")
        still = Z.max(axis=0) == Z.min(axis=0)
        lists = {} if others is None else others
        if not still.any():
            wanted = min(n_features, Z.shape[1])
            return self._ranking(_Request(Z, classes, wanted, n_threads, seed, lists))
        moving = np.flatnonzero(~still)
        if len(moving):
            at = np.cumsum(~still) - 1
            lists = {name: at[found[~still[found]]] for name, found in lists.items()}
            part = np.ascontiguousarray(Z[:, moving])
            wanted = min(n_features, len(moving))
            order = moving[self._ranking(_Request(part, classes, wanted, n_threads, seed, lists))]
        return np.concatenate([order, np.flatnonzero(still)])[:n_features]


def ranker_by_name(name: str) -> Ranker:
    """Return a ranker by its name.

    Parameters
    ----------
    name : str
        One of :data:`RANKERS`, or of the filters of :mod:`bitsieve.filters` that take classes
        (those that ``bitsieve rank --method`` knows).

    Returns
    -------
    Ranker

    Raises
    ------
    ValueError
        For an unknown name, or a filter that cannot rank standardised features by classes.

    Examples
    --------
    >>> from bitsieve.panels.rankers import ranker_by_name
    >>> ranker_by_name("rfe").is_filter, ranker_by_name("jmi").label
    (False, 'joint mutual information')
    >>> ranker_by_name("chi2")
    Traceback (most recent call last):
    ValueError: selector 'chi2' refuses values below zero, and standardised features have them; ...
    """
    if name in RANKERS:
        return RANKERS[name]
    try:
        found = filter_by_name(name)
    except ValueError:
        near = closest(name, [*RANKERS, *FILTERS])
        raise ValueError(f"unknown selector {name!r}: {near}") from None
    if found.name in RANKERS:
        return RANKERS[found.name]
    why = None
    if found.positive_only:
        why = "refuses values below zero, and standardised features have them"
    elif found.target == "numbers":
        why = "needs a target of numbers, and a panel tells classes apart"
    elif found.name == "variance":
        why = "ranks by variance, and all standardised features have the same"
    if why is not None:
        raise ValueError(f"selector {found.name!r} {why}; choose another, such as 'f'")
    return _of_filter(found)


def _in_turn(codes: NDArray[np.integer]) -> Codes:
    """Classes numbered in the order in which they come, so that their names decide nothing."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int32)
    number[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    in_turn: Codes = number[inverse.ravel()]
    return in_turn


def _by_f(ask: _Request) -> Order:
    scores = f_test(ask.Z, ask.codes, task="classification", n_jobs=ask.n_threads)
    return best_first(scores)[: ask.n_features]


def _by_relieff(ask: _Request) -> Order:
    return best_first(relieff(ask.Z, ask.codes, n_jobs=ask.n_threads))[: ask.n_features]


def _by_mrmr(ask: _Request) -> Order:
    return mrmr(
        ask.Z,
        ask.codes,
        ask.n_features,
        criterion="FCQ",
        task="classification",
        n_jobs=ask.n_threads,
    )


def _by_rfe(ask: _Request) -> Order:
    return elimination_order(ask.Z, ask.codes)[: ask.n_features]


def _by_lars(ask: _Request) -> Order:
    return _filled(least_angle_order(ask.Z, ask.codes, ask.n_features), ask)


def _by_positions(ask: _Request) -> Order:
    p = ask.Z.shape[1]
    depth = min(max(ask.n_features, _DEPTH), p)
    lists = ask.others or {
        name: RANKERS[name]._ranking(replace(ask, n_features=depth)) for name in _AGGREGATED
    }
    total = np.zeros(p, dtype=np.int64)
    for order in lists.values():
        total += positions_of_order(order[:depth], p)
    return best_first(-total)[: ask.n_features]


def _of_filter(found: NamedFilter) -> Ranker:
    def ranking(ask: _Request) -> Order:
        ranked = found.rank(
            ask.Z,
            ask.codes,
            n_features=ask.n_features,
            n_jobs=ask.n_threads,
            random_state=ask.seed,
        )
        if ranked.order is None:
            return best_first(ranked.scores)[: ask.n_features]
        return _filled(ranked.order, ask)

    def cost(n: int, p: int, n_classes: int, n_wanted: int) -> float:
        # Of those in named.py the dear ones compare samples in pairs, or features with features.
        return 1e-6 * n * p * (n + n_wanted)

    return Ranker(found.name, found.about, True, ranking, cost)


def _filled(order: Order, ask: _Request) -> Order:
    """Go on by F where a method has no more to say."""
    if len(order) < ask.n_features:
        by_f = _by_f(replace(ask, n_features=ask.Z.shape[1]))
        order = np.concatenate([order, by_f[~np.isin(by_f, order)]])
    return order[: ask.n_features]


#: The rankers that are built in, by name.
RANKERS: dict[str, Ranker] = {
    entry.name: entry
    for entry in (
        Ranker("f", "F of the analysis of variance", True, _by_f, lambda n, p, c, k: 1.0),
        Ranker("relieff", "ReliefF, 10 neighbors", True, _by_relieff, lambda n, p, c, k: 1.0),
        Ranker("mrmr", "F over correlation (mRMR)", True, _by_mrmr, lambda n, p, c, k: 1.0),
        Ranker("rfe", "elimination by a linear SVM", False, _by_rfe, lambda n, p, c, k: 1.0),
        Ranker("lars", "least angle regression", False, _by_lars, lambda n, p, c, k: 1.0),
        Ranker("aggregate", "mean rank of filters", True, _by_positions, lambda n, p, c, k: 1.0),
    )
}
