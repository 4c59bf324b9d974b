"""The whole blanket by growing and shrinking: every test is given all of what was taken.

* IAMB and inter-IAMB: I. Tsamardinos, C. F. Aliferis, A. Statnikov, "Algorithms for large scale
  Markov blanket discovery", FLAIRS 2003, 376-381.
* fast-IAMB: S. Yaramakala, D. Margaritis, "Speculative Markov blanket discovery for optimal feature
  selection", ICDM 2005, 809-812.
* Grow-shrink: D. Margaritis, S. Thrun, "Bayesian network induction via local neighborhoods", NIPS
  12 (1999) 505-511.

Of very many variables some depend on the target by chance whatever is given. So that growing ends,
no more are taken than a tenth of the samples.
"""

from __future__ import annotations

import numpy as np

from bitsieve.causal.neighbors import Neighbors, tests_of
from bitsieve.causal.separators import Separator

__all__ = ["fast_iamb", "grow_shrink", "iamb", "inter_iamb"]

#: Samples that a variable which is taken needs.
_SAMPLES_A_MEMBER = 10


def iamb(search: Neighbors) -> None:
    """Take the most dependent one given all that were taken, until none is; then shrink."""
    while dependent := _dependent(search):
        search.members.append(dependent[0])
    _shrink(search)


def inter_iamb(search: Neighbors) -> None:
    """As IAMB, and shrink whenever one was taken."""
    seen: set[frozenset[int]] = set()
    while dependent := _dependent(search):
        search.members.append(dependent[0])
        _shrink(search)
        if _again(search, seen):
            iamb(search)
            return


def fast_iamb(search: Neighbors) -> None:
    """Take all dependent ones, the most so first, as long as tests are reliable; shrink; repeat."""
    seen: set[frozenset[int]] = set()
    while dependent := _dependent(search):
        search.members.append(dependent[0])
        for x in dependent[1:]:
            if _full(search) or not search.ask(x, search.members).reliable:
                break
            search.members.append(x)
        _shrink(search)
        if _again(search, seen):
            iamb(search)
            return


def grow_shrink(search: Neighbors) -> None:
    """Go through all by their association, take what is dependent, until none is; then shrink."""
    order = search.associated()
    others = search.rules.variables[search.rules.variables != search.target]
    order += [x for x in others.tolist() if x not in set(order)]
    grown = True
    while grown and not _full(search):
        grown = False
        for x in order:
            if _full(search):
                break
            if x not in search.members and not _independent(search, x, search.members):
                search.members.append(x)
                grown = True
    _shrink(search)


def _dependent(search: Neighbors) -> list[int]:
    """All that depend on the target given those taken, the most so first; none that is unsure."""
    if _full(search):
        return []
    out = ~np.isin(search.rules.variables, [search.target, *search.members])
    others = search.rules.variables[out]
    statistic, log_p, reliable = tests_of(search.test, others, search.target, search.members)
    search.n_tests += len(others)
    dependent = reliable & (log_p <= search.rules.log_alpha)
    for k in np.flatnonzero(dependent | (reliable & np.isin(others, list(search.log_p)))):
        _note(search, int(others[k]), search.members, float(log_p[k]))
    near = np.flatnonzero(dependent)
    near = near[np.lexsort((others[near], -statistic[near], log_p[near]))]
    found: list[int] = others[near].tolist()
    return found


def _full(search: Neighbors) -> bool:
    return len(search.members) >= max(1, search.test.n_samples // _SAMPLES_A_MEMBER)


def _shrink(search: Neighbors) -> None:
    """Drop what the others taken make independent, the last taken first."""
    for x in search.members[::-1]:
        rest = [z for z in search.members if z != x]
        found = search.ask(x, rest)
        if found.reliable:
            _note(search, x, rest, found.log_p)
            if found.log_p > search.rules.log_alpha:
                search.members.remove(x)


def _independent(search: Neighbors, x: int, given: list[int]) -> bool:
    """Whether x is independent, or nothing is known of it."""
    found = search.ask(x, given)
    if found.reliable:
        _note(search, x, given, found.log_p)
    return not found.reliable or found.log_p > search.rules.log_alpha


def _note(search: Neighbors, x: int, given: list[int], log_p: float) -> None:
    search.log_p[x] = log_p  # the last test decides
    if given and log_p > search.rules.log_alpha:
        search.separators[x] = Separator(tuple(given), log_p)


def _again(search: Neighbors, seen: set[frozenset[int]]) -> bool:
    """Whether the same were taken before: without an end, as chance makes it in small samples."""
    now = frozenset(search.members)
    known = now in seen
    seen.add(now)
    return known
