"""The contract of a search: ask, tell, stop, and a state to go on from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bitsieve.testing._contract import Check
from bitsieve.testing._search import CONTRACT, Given, MakeSearch

__all__ = ["check_search", "search_checks"]


def search_checks(
    make_search: MakeSearch,
    *,
    n_features: int = 70,
    n_iterations: int = 12,
    sizes: Sequence[int] = (1, 2, 64, 65),
    variants: Iterable[MakeSearch] = (),
    skip: Iterable[str] = (),
) -> Iterator[tuple[str, Check]]:
    """Yield the clauses of the search contract for one search.

    Parameters
    ----------
    make_search, n_features, n_iterations, sizes, variants, skip
        As in :func:`check_search`.

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
    >>> from bitsieve.search import BinarySPSASearch
    >>> checks = dict(search_checks(BinarySPSASearch))
    >>> checks["state_repeats"]()
    """
    given = Given(make_search, n_features, n_iterations, tuple(sizes), tuple(variants))
    yield from CONTRACT.checks(given, type(make_search(n_features)).__name__, skip)


def check_search(
    make_search: MakeSearch,
    *,
    n_features: int = 70,
    n_iterations: int = 12,
    sizes: Sequence[int] = (1, 2, 64, 65),
    variants: Iterable[MakeSearch] = (),
    skip: Iterable[str] = (),
) -> None:
    """Check that a search keeps its contract, clause by clause.

    Parameters
    ----------
    make_search : callable
        ``make_search(n_features)`` returns a new search, with the same parameters at every call.
    n_features : int, default=70
        Features of the masks.
    n_iterations : int, default=12
        Asks that are answered in a clause. A search that stops before ends its clause there.
    sizes : sequence of int, default=(1, 2, 64, 65)
        Other numbers of features that it is tried with.
    variants : iterable of callable
        Makers of searches of the same kind with other parameters, one changed at a time: each must
        tell itself apart by its first state, or two runs would share a checkpoint.
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
    bitsieve.search.Search : The methods.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve import Masks
    >>> from bitsieve.testing import check_search
    >>> class Climb:
    ...     '''Flips one feature after the other and keeps what is better.'''
    ...     def __init__(self, n_features):
    ...         self.n_features, self.best, self.step = n_features, -np.inf, 0
    ...         self.mask = np.ones(n_features, dtype=bool)
    ...     def ask(self):
    ...         tried = self.mask.copy()
    ...         tried[self.step % self.n_features] ^= self.step > 0
    ...         return Masks.from_bool(tried)
    ...     def tell(self, masks, scores):
    ...         if len(scores) != 1:
    ...             raise ValueError(f"one score is expected, got {len(scores)}")
    ...         if scores[0] > self.best:
    ...             self.best, self.mask = float(scores[0]), masks.to_bool()[0]
    ...         self.step += 1
    ...     def stop(self):
    ...         return {}
    ...     def eligible(self):
    ...         return np.array([True])
    ...     def state(self):
    ...         return {"best": self.best, "mask": self.mask.copy(), "step": self.step}
    ...     def set_state(self, state):
    ...         self.best, self.mask = state["best"], state["mask"].copy()
    ...         self.step = int(state["step"])
    >>> check_search(Climb)

    One that forgets a part of its state is found out:

    >>> class Forgets(Climb):
    ...     def set_state(self, state):
    ...         super().set_state({**state, "step": 0})
    >>> check_search(Forgets)
    Traceback (most recent call last):
    AssertionError: Forgets breaks the clause 'state_repeats' of the search contract (a search that
    was set to a state goes on as the one that gave it): ...
    """
    for _, check in search_checks(
        make_search,
        n_features=n_features,
        n_iterations=n_iterations,
        sizes=sizes,
        variants=variants,
        skip=skip,
    ):
        check()
