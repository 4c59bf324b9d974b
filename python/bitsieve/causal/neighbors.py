"""Parents and children of a variable as one search from its side found them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bitsieve.causal.independence import Independence, IndependenceTest, Separation
from bitsieve.causal.separators import Separator

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Neighbors", "Rules", "tests_of"]


@dataclass(frozen=True)
class Rules:
    """What all searches of one call share.

    Attributes
    ----------
    alpha : float
    max_conditioning : int
        Most variables of a separating set.
    variables : ndarray
        Int64, ascending: the positions that may be in a blanket; copies are not among them.
    looked_at : ndarray
        Int64, ascending: those and their copies.
    """

    alpha: float
    max_conditioning: int
    variables: NDArray[np.int64]
    looked_at: NDArray[np.int64]

    @property
    def log_alpha(self) -> float:
        """Independent is what has a log p above it."""
        return math.log(self.alpha)


@dataclass(eq=False)
class Neighbors:
    """A search for what is near one variable, and what it found so far.

    Attributes
    ----------
    test : IndependenceTest
    target : int
    rules : Rules
    members : list of int
        In the order in which they were taken.
    log_p : dict of int to float
        Of each variable that was associated the greatest log p of its reliable tests.
    separators : dict of int to Separator
        Of sets other than the empty one, which a test of the two alone tells.
    n_tests : int
    """

    test: IndependenceTest
    target: int
    rules: Rules
    members: list[int] = field(default_factory=list)
    log_p: dict[int, float] = field(default_factory=dict)
    separators: dict[int, Separator] = field(default_factory=dict)
    n_tests: int = 0

    def associated(self) -> list[int]:
        """Test all given nothing; return those that depend on the target, the most so first."""
        others = self.rules.variables[self.rules.variables != self.target]
        statistic, log_p, reliable = tests_of(self.test, others, self.target)
        self.n_tests += len(others)
        near = np.flatnonzero(reliable & (log_p <= self.rules.log_alpha))
        near = near[np.lexsort((others[near], -statistic[near], log_p[near]))]
        found: list[int] = others[near].tolist()
        self.log_p |= zip(found, log_p[near].tolist(), strict=True)
        return found

    def separate(self, x: int, pool: Sequence[int], among: Sequence[int] = ()) -> bool:
        """Whether a subset of a pool, not the empty one, with all of `among` separates x."""
        if not among and not self._any_hopeful(x, pool):
            return False  # no test given any of them is reliable
        found: Separation = self.test.separate(
            x, self.target, pool, alpha=self.rules.alpha, max_size=self.rules.max_conditioning,
            among=among, min_size=1,
        )  # fmt: skip
        self.n_tests += found.n_tests
        if found.weakest.reliable:
            log_p = found.weakest.log_p
            self.log_p[x] = max(self.log_p.get(x, log_p), log_p)
            if found.separator is not None:
                self.separators[x] = Separator(found.separator, log_p)
        return found.separator is not None

    def _any_hopeful(self, x: int, pool: Sequence[int]) -> bool:
        # The cells of a test given z are those of z and the target given x.
        return bool(self.test.hopeful(np.array(pool, dtype=np.int64), self.target, (x,)).any())

    def drop_separated_by(self, new: int) -> None:
        """Drop members that sets with a new one in them separate, the last taken first."""
        hopeful = self.test.hopeful(
            np.array(self.members[::-1], dtype=np.int64), self.target, (new,)
        )
        for z, may in zip(self.members[::-1], hopeful.tolist(), strict=True):
            if may and self.separate(z, [v for v in self.members if v != z], among=(new,)):
                self.members.remove(z)

    def ask(self, x: int, given: Sequence[int]) -> Independence:
        """Test x and the target once."""
        self.n_tests += 1
        return self.test.test(x, self.target, given)


def tests_of(
    test: IndependenceTest, xs: NDArray[np.int64], y: int, given: Sequence[int] = ()
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Test each of xs and y given one set: statistic, log p and reliable as arrays."""
    arrays = getattr(test, "test_arrays", None)
    if arrays is not None:
        statistic, log_p, _, reliable = arrays(xs, y, given)
        return statistic, log_p, reliable
    found = test.test_many(xs, y, given)
    return (
        np.array([one.statistic for one in found], dtype=np.float64),
        np.array([one.log_p for one in found], dtype=np.float64),
        np.array([one.reliable for one in found], dtype=bool),
    )
