"""A number of folds, shuffled from a seed of its own and then kept."""

from __future__ import annotations

from dataclasses import dataclass

from bitsieve._checks import check_int, seed

__all__ = ["ShuffledFolds"]


@dataclass(frozen=True)
class ShuffledFolds:
    """What ``cv=5`` means, but shuffled from a seed instead of in the order of the samples.

    Stratified for classes and plain for numbers, of whole groups where ``fit`` gets groups, drawn
    anew for each training part that the search sees. The folds are the same for the whole search.
    The command line gives it to every search that keeps its folds.

    Parameters
    ----------
    n_folds : int, default 5
    n_repeats : int, default 1
        Rounds of such folds.
    random_state : int, default 0
        What they are drawn from, in [0, 2**64).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.fitness import ShuffledFolds, compile
    >>> X, y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 0, 1, 1, 1])
    >>> fitness = compile(KNeighborsClassifier(1), X, y, cv=ShuffledFolds(3, random_state=1))
    >>> fitness.splits_text
    'shuffled stratified 3-fold'
    >>> [y[test].tolist() for _, test in fitness.splits()]
    [[0, 1], [0, 1], [0, 1]]
    """

    n_folds: int = 5
    n_repeats: int = 1
    random_state: int = 0

    def __post_init__(self) -> None:
        check_int("n_folds", self.n_folds, 2)
        check_int("n_repeats", self.n_repeats, 1)
        seed("random_state", self.random_state)
