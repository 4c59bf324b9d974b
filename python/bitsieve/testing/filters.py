"""The contract of a filter: one score a feature, or an order, from any form of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, get_args

from bitsieve.testing._contract import Check
from bitsieve.testing._filters import CONTRACT, Given, Target

__all__ = ["check_filter", "filter_checks"]


def filter_checks(
    function: Callable[..., Any],
    *,
    target: Target = "classes",
    n_classes: int = 2,
    greedy: bool = False,
    p_values: bool = False,
    positive: bool = False,
    missing: bool = False,
    categories: bool = False,
    sparse: bool = False,
    skip: Iterable[str] = (),
) -> Iterator[tuple[str, Check]]:
    """Yield the clauses of the filter contract for one filter.

    Parameters
    ----------
    function, target, n_classes, greedy, p_values, positive, missing, categories, sparse, skip
        As in :func:`check_filter`.

    Yields
    ------
    (str, callable)
        Name of a clause, and a function without arguments that raises AssertionError where the
        clause does not hold.

    Raises
    ------
    ValueError
        If ``target`` is none of these, or a name in ``skip`` that of no clause.

    Examples
    --------
    >>> from bitsieve.filters import f_test
    >>> checks = dict(filter_checks(f_test, target="either", p_values=True, sparse=True))
    >>> checks["constant_features_are_last"]()
    """
    if target not in get_args(Target):  # no clause would look at anything
        names = ", ".join(map(repr, get_args(Target)))
        raise ValueError(f"target must be one of {names}, got {target!r}")
    given = Given(
        function, target, n_classes, greedy, p_values, positive, missing, categories, sparse
    )
    inner = function.func if isinstance(function, partial) else function
    yield from CONTRACT.checks(given, getattr(inner, "__name__", repr(inner)), skip)


def check_filter(
    function: Callable[..., Any],
    *,
    target: Target = "classes",
    n_classes: int = 2,
    greedy: bool = False,
    p_values: bool = False,
    positive: bool = False,
    missing: bool = False,
    categories: bool = False,
    sparse: bool = False,
    skip: Iterable[str] = (),
) -> None:
    """Check that a filter keeps its contract, clause by clause.

    Parameters
    ----------
    function : callable
        ``function(X, y)`` returns float64 of shape (n_features,), greater is better; a greedy one
        the features it takes, best first. Options are bound with :func:`functools.partial`.
    target : {"classes", "numbers", "either", "none"}, default="classes"
        What it needs to know of a sample.
    n_classes : int, default=2
        Classes of the tables that it is tried with.
    greedy : bool, default=False
        Whether it returns an order; with ``return_scores=True`` the criterion at each step too.
    p_values : bool, default=False
        Whether ``p_values=True`` makes it return ``(scores, p_values)``.
    positive : bool, default=False
        Whether it is for values from zero on alone.
    missing : bool, default=False
        Whether it takes NaN for missing values.
    categories : bool, default=False
        Whether it takes columns of text.
    sparse : bool, default=False
        Whether it takes sparse matrices.
    skip : iterable of str
        Clauses to leave out.

    Raises
    ------
    AssertionError
        With the clause that does not hold, and for what input.
    ValueError
        If ``target`` is none of these, or a name in ``skip`` that of no clause.

    Examples
    --------
    Checks of X and y are half of the contract; :mod:`bitsieve.data` has them ready:

    >>> import numpy as np
    >>> from bitsieve.data import Table
    >>> from bitsieve.testing import check_filter
    >>> def range_of_means(X, y=None):
    ...     '''How far apart the means of the classes are.'''
    ...     table = X if isinstance(X, Table) else Table(X, y, task="classification")
    ...     if table.codes is None:
    ...         raise ValueError("y is needed: the classes of the samples")
    ...     means = [table.X[table.codes == c].mean(axis=0, dtype=float) for c in (0, 1)]
    ...     return np.abs(means[0] - means[1])
    >>> check_filter(range_of_means)

    A score that is greater for worse features is found out:

    >>> check_filter(lambda X, y=None: -range_of_means(X, y))
    Traceback (most recent call last):
    AssertionError: <lambda> breaks the clause 'greater_is_better' of the filter contract (a feature
    that is the target scores at least as high as noise): ...
    """
    for _, check in filter_checks(
        function,
        target=target,
        n_classes=n_classes,
        greedy=greedy,
        p_values=p_values,
        positive=positive,
        missing=missing,
        categories=categories,
        sparse=sparse,
        skip=skip,
    ):
        check()
