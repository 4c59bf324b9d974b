"""Costly selectors must earn their repeats: those that fall behind in the first go no further."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bitsieve.panels.choice import score_candidates
from bitsieve.panels.design import Design
from bitsieve.panels.race import Race, run_race
from bitsieve.panels.rankers import ranker_by_name

__all__ = ["costly_selectors", "run_racing"]

#: Paired standard errors that a costly selector may lie behind the best after one repeat.
BEHIND = 2.0


def costly_selectors(design: Design, n_samples: int, n_classes: int) -> tuple[str, ...]:
    """Selectors that are no filters and cost more than all filters together.

    Parameters
    ----------
    design : Design
    n_samples, n_classes : int
        Of a training part.

    Returns
    -------
    tuple of str
        In the order of the design. None where there are no filters: of nothing but costly ones
        none could be left out.

    Examples
    --------
    >>> from bitsieve.panels.design import Design
    >>> from bitsieve.panels.racing import costly_selectors
    >>> costly_selectors(Design(("f", "relieff", "lars"), ("lda",), (5, 200), 12_600), 80, 2)
    ('lars',)
    """
    if not design.sizes:
        return ()
    rankers = {name: ranker_by_name(name) for name in design.selectors}
    cost = {
        name: ranker.cost(n_samples, design.n_features, n_classes, design.sizes[-1])
        for name, ranker in rankers.items()
    }
    filters = sum(cost[name] for name, ranker in rankers.items() if ranker.is_filter)
    if not filters:
        return ()
    return tuple(
        name for name, ranker in rankers.items() if not ranker.is_filter and cost[name] > filters
    )


def run_racing(
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    n_classes: int,
    design: Design,
    folds: NDArray[np.int32],
    *,
    scoring: str | None = None,
    max_features: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> tuple[Race, tuple[str, ...]]:
    """Score every candidate, but for costly selectors that the first repeat shows to be behind.

    Parameters
    ----------
    X, codes, n_classes, design, folds, seed, n_jobs
        As for :func:`bitsieve.panels.race.run_race`.
    scoring : {"accuracy", "balanced_accuracy"} or None, default None
        As for :func:`bitsieve.panels.choice.score_candidates`.
    max_features : int or None, default None
        Larger panels may not be chosen.

    Returns
    -------
    race : Race
        Without the candidates of the selectors that were left behind.
    dropped : tuple of str
        Those selectors: the best of their candidates lies more than two paired standard errors
        below the best of all that may be chosen.
    """
    train = int(np.sum(folds[0] != 0))
    costly = costly_selectors(design, train, n_classes)
    smallest = min(design.sizes, default=0)
    if not costly or len(folds) < 2 or (max_features is not None and max_features < smallest):
        return run_race(X, codes, n_classes, design, folds, seed=seed, n_jobs=n_jobs), ()
    first = run_race(X, codes, n_classes, design, folds[:1], seed=seed, n_jobs=n_jobs)
    scores = score_candidates(first, scoring)
    limit = design.n_features if max_features is None else max_features
    may_win = [
        c for c, one in enumerate(first.candidates) if design.is_allowed(one) and one.size <= limit
    ]
    best = max(may_win, key=lambda c: (scores.score[c], -c))
    dropped = []
    for name in costly:
        mine = [c for c in may_win if first.candidates[c].selector == name]
        own = max(mine, key=lambda c: (scores.score[c], -c))
        if scores.score[best] - scores.score[own] > BEHIND * scores.standard_error(best, own):
            dropped.append(name)
    left = replace(design, selectors=tuple(s for s in design.selectors if s not in dropped))
    rest = run_race(X, codes, n_classes, left, folds[1:], seed=seed, n_jobs=n_jobs)
    place = {one: number for number, one in enumerate(first.candidates)}
    kept = [place[one] for one in left.candidates]
    decisions = np.concatenate([first.decisions[kept], rest.decisions], axis=1)
    orders = [
        {key: order for key, order in part.items() if key[1] not in dropped}
        for part in first.orders
    ]
    raced = Race(left, codes, n_classes, decisions, [*orders, *rest.orders])
    return raced, tuple(dropped)
