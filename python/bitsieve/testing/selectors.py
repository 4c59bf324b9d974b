"""The contract of a selector: scikit-learn's, and what all selectors of bitsieve add to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bitsieve.testing._contract import Check
from bitsieve.testing._draws import table
from bitsieve.testing._selectors import CONTRACT, Given

__all__ = ["check_selector", "selector_checks"]


def selector_checks(
    selector: Any, *, X: Any = None, y: Any = None, skip: Iterable[str] = ()
) -> Iterator[tuple[str, Check]]:
    """Yield the clauses of the selector contract for one selector.

    Parameters
    ----------
    selector, X, y, skip
        As in :func:`check_selector`.

    Yields
    ------
    (str, callable)
        Name of a clause, and a function without arguments that raises AssertionError where the
        clause does not hold.

    Raises
    ------
    ValueError
        If a name in ``skip`` is that of no clause, or X is given without y.

    Examples
    --------
    >>> from bitsieve import ReliefF
    >>> checks = dict(selector_checks(ReliefF()))
    >>> checks["pickles"]()
    """
    if X is None:
        X, codes = table(60, 12)
        y = np.array(["healthy", "sick"])[codes] if y is None else y
    given = Given(selector, np.asarray(X), y)
    yield from CONTRACT.checks(given, type(selector).__name__, skip)


def check_selector(
    selector: Any, *, X: Any = None, y: Any = None, skip: Iterable[str] = ()
) -> None:
    """Check that a selector keeps its contract, clause by clause.

    Parameters
    ----------
    selector : scikit-learn selector
        An unfitted one; it is cloned and stays as it is. Give it quick options.
    X : ndarray of shape (n_samples, n_features), optional
        By default a table of numbers.
    y : array-like of shape (n_samples,), optional
        By default two classes.
    skip : iterable of str
        Clauses to leave out. ``"scikit_learn"`` (``check_estimator``) takes most of the time.

    Raises
    ------
    AssertionError
        With the clause that does not hold, and for what input.
    ValueError
        If a name in ``skip`` is that of no clause.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from bitsieve import UnivariateSelector
    >>> from bitsieve.testing import check_selector
    >>> check_selector(UnivariateSelector("auc", n_features_to_select=3), skip=["scikit_learn"])

    One of scikit-learn's that says nothing of its ranking is found out:

    >>> check_selector(SelectKBest(k=3), skip=["scikit_learn"])
    Traceback (most recent call last):
    AssertionError: SelectKBest breaks the clause 'scores_ranking_and_support_agree' of the selector
    contract (...): ...
    """
    for _, check in selector_checks(selector, X=X, y=y, skip=skip):
        check()
