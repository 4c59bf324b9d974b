"""The contract of a fitness: a score that is a function of mask and seed alone, in every bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bitsieve.testing._contract import Check
from bitsieve.testing._fitness import CONTRACT, Given, MakeFitness

__all__ = ["check_fitness", "fitness_checks"]


def fitness_checks(
    make_fitness: MakeFitness,
    *,
    threads: Sequence[int] = (1, 2),
    others: Iterable[MakeFitness] = (),
    estimator: Any = None,
    X: Any = None,
    y: Any = None,
    scoring: Any = None,
    rtol: float = 1e-9,
    n_masks: int = 8,
    skip: Iterable[str] = (),
) -> Iterator[tuple[str, Check]]:
    """Yield the clauses of the fitness contract for one fitness.

    Parameters
    ----------
    make_fitness, threads, others, estimator, X, y, scoring, rtol, n_masks, skip
        As in :func:`check_fitness`.

    Yields
    ------
    (str, callable)
        Name of a clause, and a function without arguments that raises AssertionError where the
        clause does not hold.

    Raises
    ------
    ValueError
        If a name in ``skip`` is that of no clause.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.fitness import compile
    >>> X, y = load_iris(return_X_y=True)
    >>> def make_fitness(n_jobs):
    ...     return compile(KNeighborsClassifier(1), X, y, n_jobs=n_jobs)
    >>> dict(fitness_checks(make_fitness))["alone_or_together"]()
    """
    given = Given(
        make_fitness, tuple(threads), tuple(others), estimator, X, y, scoring, rtol, n_masks
    )
    yield from CONTRACT.checks(given, type(make_fitness(1)).__name__, skip)


def check_fitness(
    make_fitness: MakeFitness,
    *,
    threads: Sequence[int] = (1, 2),
    others: Iterable[MakeFitness] = (),
    estimator: Any = None,
    X: Any = None,
    y: Any = None,
    scoring: Any = None,
    rtol: float = 1e-9,
    n_masks: int = 8,
    skip: Iterable[str] = (),
) -> None:
    """Check that a fitness keeps its contract, clause by clause.

    Parameters
    ----------
    make_fitness : callable
        ``make_fitness(n_jobs)`` returns a new fitness of the same data and options that uses so
        many threads; one without threads does not look at the number.
    threads : sequence of int, default=(1, 2)
        Numbers of threads under which the bits must be the same.
    others : iterable of callable
        Makers of fitnesses of other data or options: their fingerprints must differ.
    estimator : scikit-learn estimator, optional
        Where it is given, with ``X``, ``y`` and ``scoring`` of the data of ``make_fitness``, each
        score must equal that of ``cross_val_score`` on ``splits(seed)``, and the score of an empty
        mask that of a dummy estimator.
    X : ndarray of shape (n_samples, n_features), optional
    y : ndarray of shape (n_samples,), optional
    scoring : str, callable or None, default=None
    rtol : float, default=1e-9
        Relative tolerance of the equality with ``cross_val_score``.
    n_masks : int, default=8
        Masks of random sizes; there are a dozen more.
    skip : iterable of str
        Clauses to leave out.

    Raises
    ------
    AssertionError
        With the clause that does not hold, and for what input.
    ValueError
        If a name in ``skip`` is that of no clause.

    See Also
    --------
    bitsieve.search.Fitness : What the loop needs.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.testing import check_fitness
    >>> class Count:
    ...     '''Likes the first ten features.'''
    ...     n_features, resample = 40, False
    ...     def evaluate(self, masks, seeds=0):
    ...         chosen = masks.to_bool()
    ...         return chosen[:, :10].sum(axis=1) - 0.5 * chosen[:, 10:].sum(axis=1)
    >>> check_fitness(lambda n_jobs: Count())

    One whose scores depend on their company is found out:

    >>> class Relative(Count):
    ...     def evaluate(self, masks, seeds=0):
    ...         scores = super().evaluate(masks)
    ...         return scores - scores.mean() if len(scores) else scores
    >>> check_fitness(lambda n_jobs: Relative())
    Traceback (most recent call last):
    AssertionError: Relative breaks the clause 'alone_or_together' of the fitness contract (a score
    does not depend on the batch it came in, nor on the batches before): ...
    """
    for _, check in fitness_checks(
        make_fitness,
        threads=threads,
        others=others,
        estimator=estimator,
        X=X,
        y=y,
        scoring=scoring,
        rtol=rtol,
        n_masks=n_masks,
        skip=skip,
    ):
        check()
