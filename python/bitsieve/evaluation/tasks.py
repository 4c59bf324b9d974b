"""What is to be run: the outer folds and pairs of them, in processes, or read from files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from bitsieve.evaluation.fold import FoldScores, Procedure
from bitsieve.evaluation.folds import Folds, fold_seed
from bitsieve.evaluation.pairs import PairSplit

if TYPE_CHECKING:
    from bitsieve.evaluation.resume import FoldStore

__all__ = ["Task", "run_tasks", "tasks_of"]

#: Pairs are numbered from here on: above the number of any fold.
FIRST_PAIR = 2**32


class Task(NamedTuple):
    """A fold, or two folds that are left out at once.

    Attributes
    ----------
    fold : int
        Its number; a selector's own seed is drawn for it.
    train, test : int64 arrays
        Positions of samples.
    seed : int
        For every ``random_state=None``.
    beside : bool
        Whether the full set and alternatives are scored beside it.
    """

    fold: int
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int
    beside: bool


def tasks_of(
    folds: Folds, seeds: NDArray[np.int64], pairs: Sequence[PairSplit], key: int
) -> list[Task]:
    """Return the folds and then the pairs of folds.

    Parameters
    ----------
    folds : list of (train, test)
    seeds : int64 array of shape (n_folds,)
    pairs : sequence of PairSplit
    key : int
        What the seeds of the pairs are drawn from.
    """
    found = [
        Task(fold, train, test, int(seed), True)
        for fold, ((train, test), seed) in enumerate(zip(folds, seeds, strict=True))
    ]
    for number, pair in enumerate(pairs, start=FIRST_PAIR):
        found.append(Task(number, pair.train, pair.test, fold_seed(key, number), False))
    return found


def run_tasks(
    procedure: Procedure,
    X: Any,
    y: Any,
    groups: Any,
    tasks: Sequence[Task],
    stores: Sequence[FoldStore] | None,
    *,
    n_jobs: int | None,
) -> list[FoldScores]:
    """Run the tasks that no file holds, each of them stored as soon as it is finished.

    Parameters
    ----------
    procedure : Procedure
    X, y, groups
        The data of all samples.
    tasks : sequence of Task
    stores : sequence of n_tasks FoldStore, or None
    n_jobs : int or None
        Processes.

    Returns
    -------
    list of n_tasks FoldScores
    """
    found: list[FoldScores | None] = [None] * len(tasks)
    if stores is not None:
        found = [store.load() for store in stores]
    missing = [place for place, one in enumerate(found) if one is None]
    if n_jobs is not None:
        n_jobs = min(n_jobs, max(len(missing), 1))  # joblib would start all of them
    computed = Parallel(n_jobs=n_jobs)(
        delayed(_run)(
            procedure, X, y, groups, tasks[place], None if stores is None else stores[place]
        )
        for place in missing
    )
    for place, one in zip(missing, computed, strict=True):
        found[place] = one
    return [one for one in found if one is not None]


def _run(
    procedure: Procedure, X: Any, y: Any, groups: Any, task: Task, store: FoldStore | None
) -> FoldScores:
    found = procedure.run(X, y, groups, **task._asdict())
    if store is not None:
        store.save(found)
    return found
