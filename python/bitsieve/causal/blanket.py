"""A Markov blanket: who is in it, as what, and why everybody else is not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import is_whole
from bitsieve._errors import closest
from bitsieve.causal.separators import Separators

__all__ = ["Blanket"]


@dataclass(frozen=True, eq=False)
class Blanket:
    """The Markov blanket of one variable.

    Attributes
    ----------
    target : int
    parents_children : tuple of int
        Parents and children of the target, ascending; tests of independence alone do not tell
        which of the two.
    spouses : dict of int to tuple of int
        Other parents of its children, each with the children through which it came.
    separators : mapping of int to Separator
        Of variables outside: a set given which they are independent of the target. One outside
        without an entry had no reliable test, or is in `copies`.
    copies : dict of int to int
        Variables that say the same as another one of a lower position, which stands for them.
    log_p : ndarray of shape (n_variables,)
        Float64, natural logarithm of the p-value of each with the target, given nothing; 0 for the
        target and where the test was not reliable.
    weakest : dict of int to float
        Of each member the greatest log p of its reliable tests against the target (of a spouse,
        of those given its children).
    n_tests : int
        Tests that it took, by itself: one that was asked for twice counts twice.
    method : str
    alpha : float
    names : list of str or None
    among : frozenset of int or None
        Of a search among a few variables: which.
    is_conditional : bool
        Whether a test of the target and a member given another member could be reliable. Where
        not, the members are what depends on the target by itself, and nothing is known of what
        they say beside each other.
    """

    target: int
    parents_children: tuple[int, ...]
    spouses: Mapping[int, tuple[int, ...]]
    separators: Separators
    copies: Mapping[int, int]
    log_p: NDArray[np.float64]
    weakest: Mapping[int, float]
    n_tests: int
    method: str
    alpha: float
    names: list[str] | None = None
    among: frozenset[int] | None = None
    is_conditional: bool = True

    @property
    def members(self) -> tuple[int, ...]:
        """Positions of all of the blanket, ascending."""
        return tuple(sorted({*self.parents_children, *self.spouses}))

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Pairs to draw: the target with parents and children, those with spouses."""
        near = [(self.target, x) for x in self.parents_children]
        return near + [(c, s) for s, through in sorted(self.spouses.items()) for c in through]

    @property
    def associations(self) -> NDArray[np.float64]:
        """-log10 of the p-value of each variable with the target, given nothing."""
        return np.abs(self.log_p / math.log(10))

    @property
    def strengths(self) -> NDArray[np.float64]:
        """-log10 of the p-value of what speaks most against each variable.

        In the blanket at least -log10(alpha), outside less; 0 where no test was reliable.
        """
        log_p = self.separators.log_p()
        for member, weakest in self.weakest.items():
            log_p[member] = weakest
        return np.abs(log_p / math.log(10))

    def name(self, variable: int) -> str:
        """Return the name of a variable, or "variable 3" where there are none."""
        return f"variable {variable}" if self.names is None else str(self.names[variable])

    def why_not(self, variable: int | str) -> str:
        """Say in a sentence why a variable is in the blanket, or is not.

        Parameters
        ----------
        variable : int or str
            Its position or name.

        Raises
        ------
        ValueError
            If there is no such variable.
        """
        x = self._position(variable)
        who, target = self.name(x), self.name(self.target)
        inside, outside = (f"{who} is {word} the blanket of {target}" for word in ("in", "not in"))
        weakest = f"p = {np.exp(self.weakest.get(x, 0.0)):.2g} at most"
        if x == self.target:
            return f"{who} is the target"
        if x in self.parents_children and not self.is_conditional:
            return (
                f"{inside} for all that can be told: the two depend on each other ({weakest}), and "
                "no test given another feature is reliable, the samples are too few"
            )
        if x in self.parents_children:
            return f"{inside}, a parent or child: no set separates the two ({weakest})"
        if x in self.spouses:
            through = " and ".join(self.name(c) for c in self.spouses[x])
            by = f"through {through}" if through else "by the tests given the rest of it"
            return f"{inside}, a spouse {by} ({weakest})"
        if x in self.copies:
            return (
                f"{outside}: it says the same as {self.name(self.copies[x])}, which stands for it"
            )
        if self.among is not None and x not in self.among:
            return f"{outside}: it was not looked at"
        if x not in self.separators:
            return f"{outside}: no test of the two was reliable, the samples are too few"
        found = self.separators[x]
        if not found.given:
            return f"{outside}: the two are independent (p = {found.p_value:.2g})"
        given = [self.name(z) for z in found.given]
        told = given[0] if len(given) == 1 else f"{', '.join(given[:-1])} and {given[-1]}"
        return f"{outside}: given {told} the two are independent (p = {found.p_value:.2g})"

    def _position(self, variable: int | str) -> int:
        n = len(self.log_p)
        if is_whole(variable) and 0 <= variable < n:
            return int(variable)
        if isinstance(variable, str) and self.names is not None:
            if variable in self.names:
                return self.names.index(variable)
            raise ValueError(f"there is no variable {variable!r}: {closest(variable, self.names)}")
        raise ValueError(
            f"variable must be a position from 0 to {n - 1}"
            f"{' or a name' if self.names is not None else ''}, got {variable!r}"
        )

    def __repr__(self) -> str:
        who = ", ".join(self.name(x) for x in self.parents_children) or "none"
        out = f"Blanket({self.name(self.target)}: parents and children {who}"
        if self.spouses:
            out += f"; spouses {', '.join(self.name(x) for x in sorted(self.spouses))}"
        return f"{out}; {self.method}, alpha = {self.alpha:g}, {self.n_tests} tests)"
