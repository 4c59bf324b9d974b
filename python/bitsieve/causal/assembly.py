"""A blanket of the searches around a target: corrected by symmetry, with its spouses.

::

    target --> Neighbors of it --> those that find it in turn --> their Neighbors --> spouses

Each search is made once, whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bitsieve.causal.blanket import Blanket
from bitsieve.causal.independence import Independence, IndependenceTest
from bitsieve.causal.neighbors import Neighbors, Rules, tests_of
from bitsieve.causal.separators import Separator, Separators

__all__ = ["Assembly", "Finder", "Searches", "marginal"]

Finder = Callable[[Neighbors], None]


@dataclass(eq=False)
class Searches:
    """The searches of one call, each made once.

    Attributes
    ----------
    test : IndependenceTest
    rules : Rules
    find : callable
        What fills in a search.
    """

    test: IndependenceTest
    rules: Rules
    find: Finder
    made: dict[int, Neighbors] = field(default_factory=dict)

    def of(self, variable: int) -> Neighbors:
        """Return the search from a variable; callers at once may make it twice, alike."""
        found = self.made.get(variable)
        if found is None:
            found = Neighbors(self.test, variable, self.rules)
            self.find(found)
            self.made[variable] = found
        return found


class Assembly:
    """One blanket in the making.

    Parameters
    ----------
    searches : Searches
    target : int
    symmetric : bool
        Whether only those are near that find each other.
    """

    def __init__(self, searches: Searches, target: int, *, symmetric: bool) -> None:
        self.searches, self.target, self.symmetric = searches, target, symmetric
        self.test, self.rules = searches.test, searches.rules
        self._used: set[int] = set()
        self._n_tests = 0
        self._own = self._search(target)
        self._near: list[int] = []
        self._spouses: dict[int, tuple[int, ...]] = {}
        self._log_p: dict[int, float] = {}

    def local(self) -> None:
        """Keep parents and children apart from spouses, of searches that find the former."""
        self._near = [x for x in self._own.members if self._mutual(self.target, x)]
        through: dict[int, list[int]] = {}
        for child in self._near:
            for x in self._search(child).members:
                if x == self.target or x in self._near:
                    continue
                log_p = self._brought_together(x, child)
                if log_p is not None and self._mutual(child, x):
                    through.setdefault(x, []).append(child)
                    self._log_p[x] = max(self._log_p.get(x, log_p), log_p)
        self._spouses = {x: tuple(sorted(children)) for x, children in through.items()}

    def whole(self) -> None:
        """Tell parents and children from spouses, of a search that found all together.

        A spouse is what a subset of the rest separates from the target; it came through the
        members that bring the two together again.
        """
        members = self._own.members
        apart: dict[int, tuple[int, ...]] = {}
        for x in members:
            found = self.test.separate(
                x, self.target, [z for z in members if z != x], alpha=self.rules.alpha,
                max_size=self.rules.max_conditioning,
            )  # fmt: skip
            self._n_tests += found.n_tests
            if found.separator is not None:
                apart[x] = found.separator
        self._near = [x for x in members if x not in apart]
        for x, given in apart.items():
            self._own.separators[x] = Separator(given, 0.0)
            through = [c for c in self._near if self._brought_together(x, c) is not None]
            self._spouses[x] = tuple(sorted(through))

    def blanket(self, method: str, copies: dict[int, int]) -> Blanket:
        """Return what was found."""
        members = {*self._near, *self._spouses}
        outside = np.zeros(self.test.n_variables, dtype=bool)
        outside[self.rules.variables] = True
        outside[[self.target, *members]] = False
        log_p, reliable = marginal(self.test, self.target, self.rules.looked_at)
        alone = outside & reliable & (log_p > self.rules.log_alpha)
        found = {}
        for x in np.flatnonzero(outside & ~alone).tolist():
            separator = self._recorded(x)
            if separator is not None:
                found[x] = separator
        return Blanket(
            target=self.target,
            parents_children=tuple(sorted(self._near)),
            spouses={x: self._spouses[x] for x in sorted(self._spouses)},
            separators=Separators(found, log_p, alone),
            copies=copies,
            log_p=log_p,
            weakest={x: self._log_p.get(x, self._own.log_p.get(x, 0.0)) for x in sorted(members)},
            n_tests=self._n_tests + sum(self.searches.of(v).n_tests for v in self._used),
            method=method,
            alpha=self.rules.alpha,
            names=self.test.names,
        )

    def _search(self, variable: int) -> Neighbors:
        self._used.add(variable)
        return self.searches.of(variable)

    def _separator(self, x: int) -> Separator | None:
        """What separates x from the target."""
        alone = self._ask(x, self.target, ())
        if alone.reliable and alone.log_p > self.rules.log_alpha:
            return Separator((), alone.log_p)
        return self._recorded(x)

    def _recorded(self, x: int) -> Separator | None:
        """What the search from either side found to separate x from the target."""
        found = self._own.separators.get(x)
        if found is None and x in self._used:
            found = self._search(x).separators.get(self.target)
        return found

    def _brought_together(self, x: int, child: int) -> float | None:
        """Log p where x and the target depend on each other once the child is given; else None."""
        separator = self._separator(x)
        if separator is None or child in separator.given:
            return None
        found = self._ask(x, self.target, (*separator.given, child))
        return found.log_p if found.reliable and found.log_p <= self.rules.log_alpha else None

    def _mutual(self, a: int, b: int) -> bool:
        """Whether b, which the search from a found, finds a.

        Where it does not, a set separates the two. That does not count where it rests on a
        variable that says of a what b says: each of the two would be dropped for the other. (No
        graph makes such a pair; near copies do.)
        """
        if not self.symmetric:
            return True
        back = self._search(b)
        if a in back.members or a not in back.separators:
            return True
        given = back.separators[a].given
        near = self._search(a).members
        return any(self._says_the_same(a, b, z, given) for z in given if z not in near)

    def _says_the_same(self, a: int, b: int, z: int, given: tuple[int, ...]) -> bool:
        rest = tuple(v for v in given if v != z)
        instead = self._ask(z, a, (*rest, b))
        if not instead.reliable or instead.log_p <= self.rules.log_alpha:
            return False
        alone = self._ask(b, a, rest)
        return alone.reliable and alone.log_p <= self.rules.log_alpha

    def _ask(self, x: int, y: int, given: tuple[int, ...]) -> Independence:
        self._n_tests += 1
        return self.test.test(x, y, given)


def marginal(
    test: IndependenceTest, target: int, variables: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Test variables with the target given nothing: log p of all, 0 where not reliable or not
    asked for, and which are reliable."""
    others = variables[variables != target]
    _, found, sure = tests_of(test, others, target)
    log_p, reliable = np.zeros(test.n_variables), np.zeros(test.n_variables, dtype=bool)
    log_p[others], reliable[others] = np.where(sure, found, 0.0), sure
    return log_p, reliable
