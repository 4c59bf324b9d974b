"""Rankings of standardised features, best first, as a race of panels asks for them.

::

    Z, codes -> f, relieff, mrmr --- kernels of bitsieve.filters ------\\
                rfe     elimination by a linear SVM (elimination.py) ---> order
                lars    least angle regression (angles.py) ------------/
                aggregate   mean position in the lists of f, relieff and mrmr

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
from bitsieve.panels.elimination import elimination_order, sizes_of_steps

__all__ = ["RANKERS", "Ranker", "ranker_by_name"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Order = NDArray[np.int64]

#: Features of each list that the aggregate looks at, unless more are asked for.
_DEPTH = 200
#: Filters whose mean position the aggregate takes, whatever else is compared.
_AGGREGATED = ("f", "relieff", "mrmr")


@dataclass(frozen=True, eq=False)
class _Request:
    """What a ranking is asked; n_features is not above the features that there are."""

    Z: Floats
    still: NDArray[np.bool_]  # features that are constant, which come last
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
    is_averaged : bool
        Whether a single ranking depends so much on which samples it saw that the ranking of a
        whole table is the mean of those of its inner training parts.
    """

    name: str
    label: str
    is_filter: bool
    _ranking: Callable[[_Request], Order]
    _cost: Callable[[int, int, int, int], float]
    is_averaged: bool = False

    def cost(self, n_samples: int, n_features: int, n_classes: int, n_wanted: int) -> float:
        """Return what one ranking costs, in units of work.

        A unit is a millisecond of one core of an Intel Xeon at 2.6 GHz with AVX-512, where
        ``benchmarks/panels/rankers.py`` measured the formulas. Elsewhere only ratios hold. That of
        the aggregate is for lists which are there already.
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
            filters itself where they are not there, or not as deep as it looks.

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
        classes = _in_turn(codes)
        if classes.max(initial=0) < 1:
            raise ValueError("codes must hold two classes or more to rank features by, got one")
        wanted = min(n_features, Z.shape[1])
        lists = {} if others is None else others
        return self._ranking(_Request(Z, _constant(Z), classes, wanted, n_threads, seed, lists))


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
    if not isinstance(name, str):
        raise ValueError(f"a selector must be named by text, such as 'f', got {name!r}")
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


def _constant(Z: Floats) -> NDArray[np.bool_]:
    """Which features are; row by row, since most are out after a few."""
    maybe = np.arange(Z.shape[1])
    for row in Z[1:]:
        maybe = maybe[row[maybe] == Z[0, maybe]]
    still = np.zeros(Z.shape[1], dtype=bool)
    still[maybe] = True
    return still


def _in_turn(codes: NDArray[np.integer]) -> Codes:
    """Classes numbered in the order in which they come, so that their names decide nothing."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int32)
    number[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    in_turn: Codes = number[inverse.ravel()]
    return in_turn


def _by_f(ask: _Request) -> Order:
    scores = f_test(ask.Z, ask.codes, task="classification", n_jobs=ask.n_threads)
    return _best(ask, np.asarray(scores))


def _by_relieff(ask: _Request) -> Order:
    return _best(ask, relieff(ask.Z, ask.codes, n_jobs=ask.n_threads))


def _by_mrmr(ask: _Request) -> Order:
    return _varying(_by_mrmr_of_varying, ask)


def _by_mrmr_of_varying(ask: _Request) -> Order:
    return mrmr(
        ask.Z,
        ask.codes,
        ask.n_features,
        criterion="FCQ",
        task="classification",
        n_jobs=ask.n_threads,
    )


def _by_rfe(ask: _Request) -> Order:
    order = elimination_order(ask.Z, ask.codes)
    if ask.still.any():  # their coefficients are 0, but for rounding
        order = np.concatenate([order[~ask.still[order]], np.flatnonzero(ask.still)])
    return order[: ask.n_features]


def _by_lars(ask: _Request) -> Order:
    return _filled(least_angle_order(ask.Z, ask.codes, ask.n_features), ask)


def _by_positions(ask: _Request) -> Order:
    p = ask.Z.shape[1]
    depth = min(max(ask.n_features, _DEPTH), p)
    total = np.zeros(p)
    for name in _AGGREGATED:
        order = ask.others.get(name, ())
        if len(order) < depth:
            order = RANKERS[name]._ranking(replace(ask, n_features=depth))
        total += positions_of_order(order[:depth], p)
    return _best(ask, -total)


def _of_filter(found: NamedFilter) -> Ranker:
    def of_varying(ask: _Request) -> Order:
        ranked = found.rank(
            ask.Z,
            ask.codes,
            n_features=ask.n_features,
            n_jobs=ask.n_threads,
            random_state=ask.seed,
        )
        return _best(ask, ranked.scores) if ranked.order is None else _filled(ranked.order, ask)

    is_quick = found.name != "jmi3"  # of triples

    def cost(n: int, p: int, n_classes: int, n_wanted: int) -> float:
        values = n * p / 1e6
        if not found.greedy:
            return values * (20 + 0.3 * n)
        return values * (30 + 0.5 * n_wanted if is_quick else 0.7 * n_wanted**2)

    return Ranker(found.name, found.about, is_quick, lambda ask: _varying(of_varying, ask), cost)


def _best(ask: _Request, scores: Floats) -> Order:
    """Order by falling score."""
    if ask.still.any():
        scores = np.where(ask.still, -np.inf, scores)
    return best_first(scores)[: ask.n_features]


def _filled(order: Order, ask: _Request) -> Order:
    """Go on by F where a method has no more to say."""
    if len(order) < ask.n_features:
        by_f = _by_f(replace(ask, n_features=ask.Z.shape[1]))
        order = np.concatenate([order, by_f[~np.isin(by_f, order)]])
    return order[: ask.n_features]


def _varying(ranking: Callable[[_Request], Order], ask: _Request) -> Order:
    """Rank features that vary, and put the others behind them."""
    if not ask.still.any():
        return ranking(ask)
    varying, still = np.flatnonzero(~ask.still), np.flatnonzero(ask.still)
    if not len(varying):
        return still[: ask.n_features]
    part = replace(
        ask,
        Z=np.ascontiguousarray(ask.Z[:, varying]),
        still=np.zeros(len(varying), dtype=bool),
        n_features=min(ask.n_features, len(varying)),
    )
    return np.concatenate([varying[ranking(part)], still])[: ask.n_features]


def _cost_of_f(n: int, p: int, n_classes: int, n_wanted: int) -> float:
    return 0.3 + n * p / 6e5 + p / 1e4


def _cost_of_relieff(n: int, p: int, n_classes: int, n_wanted: int) -> float:
    return 0.5 + n * p / 1e6 * (3.5 + 0.035 * n) + p / 1e4


def _cost_of_mrmr(n: int, p: int, n_classes: int, n_wanted: int) -> float:
    return 1 + n * p / 1e6 * (8 + 0.047 * n_wanted) + p / 1e4 * (1 + 0.052 * n_wanted)


def _cost_of_rfe(n: int, p: int, n_classes: int, n_wanted: int) -> float:
    n_machines = n_classes if n_classes > 2 else 1
    n_steps = sum(1 for _ in sizes_of_steps(p))
    return n_steps * (0.03 + 8e-6 * n_machines * n**2) + n * p / 4.5e4


def _cost_of_lars(n: int, p: int, n_classes: int, n_wanted: int) -> float:
    paths, share = (n_classes, 0.5) if n_classes > 2 else (1, 1.0)  # side by side costs less
    n_steps = min(paths * (n - 1), 1.15 * n_wanted, 1.15 * p)
    return 1 + n_steps * (0.03 + 0.0005 * n + share * (p / 5e4 + n * p / 3e6))


def _cost_of_positions(n: int, p: int, n_classes: int, n_wanted: int) -> float:
    return 0.2 + p / 1.2e4  # of lists that are there


#: The rankers that are built in, by name.
RANKERS: dict[str, Ranker] = {
    entry.name: entry
    for entry in (
        Ranker("f", "F of the analysis of variance", True, _by_f, _cost_of_f),
        Ranker("relieff", "ReliefF, 10 neighbors", True, _by_relieff, _cost_of_relieff),
        Ranker("mrmr", "F over correlation (mRMR)", True, _by_mrmr, _cost_of_mrmr),
        Ranker("rfe", "elimination by a linear SVM", False, _by_rfe, _cost_of_rfe, True),
        Ranker("lars", "least angle regression", False, _by_lars, _cost_of_lars),
        Ranker("aggregate", "mean rank of filters", True, _by_positions, _cost_of_positions),
    )
}
