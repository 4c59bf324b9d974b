"""Every candidate panel of a table, scored by repeated cross-validation with its selection inside.

A candidate is a way to a predictor: a ranker, a number of features, a classifier, and whether the
values are logged. One ranking of a training part serves all sizes, and one Gram matrix, grown from
size to size, all classifiers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from bitsieve.panels.classifiers import (
    LinearFitted,
    NeighborsFitted,
    classifier_by_name,
)
from bitsieve.panels.rankers import Ranker, ranker_by_name
from bitsieve.panels.scaling import Scaling

__all__ = [
    "ALL",
    "Candidate",
    "Design",
    "FittedCandidate",
    "Race",
    "Ranked",
    "average_orders",
    "fit_candidates",
    "rank_parts",
    "rank_table",
    "run_race",
]

#: Name of the selection that keeps every feature.
ALL = "all"

Orders = dict[tuple[bool, str], NDArray[np.int64]]


class Candidate(NamedTuple):
    """A way to a predictor.

    Attributes
    ----------
    selector : str
        Name of the ranker, or "all".
    size : int
        Number of features.
    classifier : str
    log : bool
        Whether the values are logged first.
    """

    selector: str
    size: int
    classifier: str
    log: bool


@dataclass(frozen=True)
class Design:
    """What is compared.

    Attributes
    ----------
    selectors, classifiers : tuple of str
    sizes : tuple of int
        Ascending, below the number of features.
    n_features : int
        Of the table.
    has_all : bool
        Whether keeping every feature is a candidate too.
    beside : tuple of str
        Classifiers that are scored on all features for comparison and never chosen.
    logs : tuple of bool
        ``(False,)``, ``(True,)`` or both.
    """

    selectors: tuple[str, ...]
    classifiers: tuple[str, ...]
    sizes: tuple[int, ...]
    n_features: int
    has_all: bool = True
    beside: tuple[str, ...] = ()
    logs: tuple[bool, ...] = (False,)

    @property
    def on_all(self) -> tuple[str, ...]:
        """Classifiers that see all features."""
        return tuple(dict.fromkeys(self.classifiers * self.has_all + self.beside))

    def is_allowed(self, candidate: Candidate) -> bool:
        """Tell whether a candidate may be chosen.

        Parameters
        ----------
        candidate : Candidate

        Returns
        -------
        bool
        """
        if candidate.selector == ALL and not self.has_all:
            return False
        return candidate.classifier in self.classifiers

    @property
    def candidates(self) -> list[Candidate]:
        """Every candidate: by log, selector, size and classifier, all features last."""
        found = []
        for log in self.logs:
            for selector in self.selectors:
                for size in self.sizes:
                    found += [Candidate(selector, size, name, log) for name in self.classifiers]
            found += [Candidate(ALL, self.n_features, name, log) for name in self.on_all]
        return found


@dataclass(frozen=True)
class Race:
    """What the candidates said of samples that they had not seen.

    Attributes
    ----------
    design : Design
    codes : int32 array of shape (n_samples,)
    n_classes : int
    decisions : float64 array of shape (n_candidates, n_repeats, n_samples, n_functions)
        Out of fold. One function for two classes (positive says class 1), else one a class.
    orders : list of dict
        For each inner training part the ranking by (log, selector), best first.
    """

    design: Design
    codes: NDArray[np.int32]
    n_classes: int
    decisions: NDArray[np.float64]
    orders: list[Orders]

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates, in the order of ``decisions``."""
        return self.design.candidates


@dataclass(frozen=True)
class FittedCandidate:
    """A candidate fitted to a training part.

    Attributes
    ----------
    candidate : Candidate
    features : int64 array of shape (size,)
        Best first.
    Z : float64 array of shape (n_samples, size)
        The training samples, scaled.
    fitted : LinearFitted or NeighborsFitted
        On the Gram matrix of Z.
    """

    candidate: Candidate
    features: NDArray[np.int64]
    Z: NDArray[np.float64]
    fitted: LinearFitted | NeighborsFitted


def run_race(
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    n_classes: int,
    design: Design,
    folds: NDArray[np.int32],
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Race:
    """Score every candidate by repeated cross-validation, its selection repeated in each part.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features)
    codes : int32 array of shape (n_samples,)
        Numbers of classes from 0 on.
    n_classes : int
    design : Design
    folds : int32 array of shape (n_repeats, n_samples)
        The test fold of each sample in each repeat.
    seed : int, default 0
        For rankers that draw.
    n_jobs : int or None, default None
        Processes; the answer does not depend on it.

    Returns
    -------
    Race
    """
    parts = [(row, fold) for row in folds for fold in np.unique(row)]
    answers = Parallel(n_jobs=n_jobs)(
        delayed(_part)(X, codes, n_classes, design, row != fold, row == fold, seed)
        for row, fold in parts
    )
    n_functions = 1 if n_classes == 2 else n_classes
    decisions = np.empty((len(design.candidates), len(folds), len(codes), n_functions))
    repeat = 0
    for number, ((row, fold), (found, _)) in enumerate(zip(parts, answers, strict=True)):
        if number and row is not parts[number - 1][0]:
            repeat += 1
        decisions[:, repeat, row == fold] = found
    return Race(design, codes, n_classes, decisions, [orders for _, orders in answers])


@dataclass(frozen=True)
class Ranked:
    """Rankings of a whole table, and the scaling they were made on.

    Attributes
    ----------
    scalings : dict
        By log.
    orders : dict
        Features, best first, by (log, selector).
    """

    scalings: dict[bool, Scaling]
    orders: Orders

    def features(self, candidate: Candidate) -> NDArray[np.int64]:
        """Features of a candidate, best first.

        Parameters
        ----------
        candidate : Candidate

        Returns
        -------
        int64 array of shape (size,)
        """
        if candidate.selector == ALL:
            return np.arange(candidate.size, dtype=np.int64)
        return self.orders[candidate.log, candidate.selector][: candidate.size]


def rank_table(
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    design: Design,
    parts: Sequence[Orders],
    *,
    seed: int = 0,
    n_threads: int = 1,
) -> Ranked:
    """Rank the features of a whole table by every selector of a design.

    The ranking of a selector that is averaged is the mean over the inner training parts, see
    :func:`average_orders`; others look at the whole table.

    Parameters
    ----------
    X, codes, design, seed
        As for :func:`run_race`.
    parts : sequence of dict
        Rankings of the inner training parts: ``Race.orders``, or :func:`rank_parts`.
    n_threads : int, default 1
        The answer does not depend on it.

    Returns
    -------
    Ranked
    """
    averaged = [name for name in design.selectors if ranker_by_name(name).is_averaged]
    single = replace(design, selectors=tuple(s for s in design.selectors if s not in averaged))
    scalings: dict[bool, Scaling] = {}
    orders: Orders = {}
    with threadpool_limits(limits=1, user_api="blas"):
        for log in design.logs:
            scalings[log] = Scaling.fit(X, log="always" if log else "never")
            if design.sizes:
                ranked = _rankings(scalings[log].apply(X), codes, single, seed, n_threads)
                orders |= {(log, name): order for name, order in ranked.items()}
                for name in averaged:
                    mine = [part[log, name] for part in parts]
                    orders[log, name] = average_orders(mine, design.n_features)
    return Ranked(scalings, orders)


def rank_parts(
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    design: Design,
    folds: NDArray[np.int32],
    *,
    seed: int = 0,
) -> list[Orders]:
    """Rank the inner training parts by the selectors that are averaged, without a race.

    Parameters
    ----------
    X, codes, design, folds, seed
        As for :func:`run_race`.

    Returns
    -------
    list of dict
        What ``Race.orders`` holds of these selectors.
    """
    averaged = tuple(name for name in design.selectors if ranker_by_name(name).is_averaged)
    mine = replace(design, selectors=averaged)
    found: list[Orders] = []
    if not averaged:
        return found
    with threadpool_limits(limits=1, user_api="blas"):
        for row in folds:
            for fold in np.unique(row):
                orders: Orders = {}
                values, known = X[row != fold], codes[row != fold]
                for log in design.logs:
                    Z = Scaling.fit(values, log="always" if log else "never").apply(values)
                    ranked = _rankings(Z, known, mine, seed, 1)
                    orders |= {(log, name): order for name, order in ranked.items()}
                found.append(orders)
    return found


def average_orders(orders: Sequence[NDArray[np.int64]], n_features: int) -> NDArray[np.int64]:
    """Rank features by their mean position in several rankings, on a log scale.

    A feature at position r of n that are ranked gets ``log(2 n) - log(r)``, one that is not
    there gets 0; these are summed. Ensembles of eliminations so come again where single ones
    do not [1]_.

    Parameters
    ----------
    orders : sequence of int64 arrays of shape (n_ranked,)
        Best first.
    n_features : int
        Of the table.

    Returns
    -------
    int64 array of shape (n_ranked,)
        Ties go to the lowest index.

    References
    ----------
    .. [1] T. Abeel et al., "Robust biomarker identification for cancer diagnosis with ensemble
       feature selection methods", Bioinformatics 26 (2010) 392-398.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.panels.race import average_orders
    >>> average_orders([np.array([4, 2]), np.array([2, 0]), np.array([2, 4])], 5)
    array([2, 4])
    """
    n_ranked = len(orders[0])
    worth = np.log(2.0 * n_ranked) - np.log(np.arange(1, n_ranked + 1))
    total = np.zeros(n_features)
    for order in orders:
        total[order] += worth
    best: NDArray[np.int64] = np.argsort(-total, kind="stable")[:n_ranked]
    return best


def fit_candidates(
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    n_classes: int,
    ranked: Ranked,
    wanted: Sequence[Candidate],
) -> list[FittedCandidate]:
    """Fit candidates to all samples of a table.

    Parameters
    ----------
    X, codes, n_classes
        As for :func:`run_race`.
    ranked : Ranked
        Of the same table.
    wanted : sequence of Candidate

    Returns
    -------
    list of FittedCandidate
        In the order of ``wanted``.
    """
    found: list[FittedCandidate] = []
    tables: dict[tuple[bool, str, int], tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    scaled = {log: scaling.apply(X) for log, scaling in ranked.scalings.items()}
    with threadpool_limits(limits=1, user_api="blas"):
        for candidate in wanted:
            features = ranked.features(candidate)
            key = (candidate.log, candidate.selector, candidate.size)
            if key not in tables:
                mine = scaled[candidate.log][:, features]
                tables[key] = mine, mine @ mine.T
            Z, gram = tables[key]
            model = classifier_by_name(candidate.classifier)
            fitted = model.fit(gram, codes, n_classes, n_features=len(features))
            assert isinstance(fitted, (LinearFitted, NeighborsFitted))
            found.append(FittedCandidate(candidate, features, Z, fitted))
    return found


class _PanelGrams(NamedTuple):
    is_ranked: bool
    size: int
    gram: NDArray[np.float64]
    cross: NDArray[np.float64]
    diagonal: NDArray[np.float64]


def _part(
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    n_classes: int,
    design: Design,
    train: NDArray[np.bool_],
    test: NDArray[np.bool_],
    seed: int,
) -> tuple[NDArray[np.float64], Orders]:
    """Return what candidates trained on one part decide of another, and their rankings."""
    n_functions = 1 if n_classes == 2 else n_classes
    mine, known = X[train], codes[train]
    out = np.empty((len(design.candidates), int(test.sum()), n_functions))
    orders: Orders = {}
    place = 0
    with threadpool_limits(limits=1, user_api="blas"):
        for log in design.logs:
            scaling = Scaling.fit(mine, log="always" if log else "never")
            Z, others = scaling.apply(mine), scaling.apply(X[test])
            ranked = _rankings(Z, known, design, seed, 1)
            orders |= {(log, name): order for name, order in ranked.items()}
            for panel in _panels(Z, others, ranked, design):
                names = design.classifiers if panel.is_ranked else design.on_all
                for model in map(classifier_by_name, names):
                    fitted = model.fit(panel.gram, known, n_classes, n_features=panel.size)
                    out[place] = fitted.decide(panel.cross, panel.diagonal)
                    place += 1
    return out, orders


def _rankings(
    Z: NDArray[np.float64],
    codes: NDArray[np.int32],
    design: Design,
    seed: int,
    n_threads: int,
) -> dict[str, NDArray[np.int64]]:
    """Return the ranking of each selector, filters first: the aggregate is made of some."""
    if not design.sizes:
        return {}
    found: dict[str, NDArray[np.int64]] = {}
    rankers: list[Ranker] = [ranker_by_name(name) for name in design.selectors]
    for ranker in sorted(rankers, key=lambda one: (not one.is_filter, one.name == "aggregate")):
        found[ranker.name] = ranker.rank(
            Z, codes, design.sizes[-1], n_threads=n_threads, seed=seed, others=dict(found)
        )
    return found


def _panels(
    Z: NDArray[np.float64],
    others: NDArray[np.float64],
    ranked: Mapping[str, NDArray[np.int64]],
    design: Design,
) -> Iterator[_PanelGrams]:
    """Yield the Gram matrices of each panel, in the order of the design."""
    for selector in design.selectors if design.sizes else ():
        order = ranked[selector]
        gram, cross = np.zeros((len(Z), len(Z))), np.zeros((len(others), len(Z)))
        diagonal, before = np.zeros(len(others)), 0
        for size in design.sizes:
            mine, theirs = Z[:, order[before:size]], others[:, order[before:size]]
            gram, cross = gram + mine @ mine.T, cross + theirs @ mine.T
            diagonal = diagonal + np.square(theirs).sum(axis=1)
            before = size
            yield _PanelGrams(True, size, gram, cross, diagonal)
    if design.on_all:
        squares = np.square(others).sum(axis=1)
        yield _PanelGrams(False, design.n_features, Z @ Z.T, others @ Z.T, squares)
