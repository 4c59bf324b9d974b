"""Rankings of training parts and of a whole table, by every selector of a design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bitsieve.panels.design import ALL, Candidate, Design
from bitsieve.panels.rankers import Ranker, ranker_by_name
from bitsieve.panels.scaling import Scaling

__all__ = ["Orders", "Ranked", "average_orders", "rank_parts", "rank_scaled", "rank_table"]

#: Features, best first, by (log, selector).
Orders = dict[tuple[bool, str], NDArray[np.int64]]


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
                ranked = rank_scaled(scalings[log].apply(X), codes, single, seed, n_threads)
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
                    ranked = rank_scaled(Z, known, mine, seed, 1)
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
    >>> from bitsieve.panels.ranking import average_orders
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


def rank_scaled(
    Z: NDArray[np.float64],
    codes: NDArray[np.int32],
    design: Design,
    seed: int,
    n_threads: int,
) -> dict[str, NDArray[np.int64]]:
    """Rank scaled values by each selector of a design, filters first: the aggregate is of some.

    Parameters
    ----------
    Z : float64 array of shape (n_samples, n_features)
    codes : int32 array of shape (n_samples,)
    design : Design
    seed, n_threads : int

    Returns
    -------
    dict of str to int64 array
        Best first.
    """
    if not design.sizes:
        return {}
    found: dict[str, NDArray[np.int64]] = {}
    rankers: list[Ranker] = [ranker_by_name(name) for name in design.selectors]
    for ranker in sorted(rankers, key=lambda one: (not one.is_filter, one.name == "aggregate")):
        found[ranker.name] = ranker.rank(
            Z, codes, design.sizes[-1], n_threads=n_threads, seed=seed, others=dict(found)
        )
    return found
