"""Markov blankets of one variable, of some or of all, by any of the methods."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from bitsieve._checks import check_choice, check_flag, check_int, check_number, is_whole
from bitsieve._errors import closest
from bitsieve._threads import effective_n_jobs
from bitsieve.causal.assembly import Assembly, Finder, Searches, marginal
from bitsieve.causal.blanket import Blanket
from bitsieve.causal.copies import representatives
from bitsieve.causal.hiton import hiton_pc
from bitsieve.causal.iamb import fast_iamb, grow_shrink, iamb, inter_iamb
from bitsieve.causal.independence import IndependenceTest
from bitsieve.causal.mmpc import mmpc, mmpc_interleaved
from bitsieve.causal.neighbors import Rules
from bitsieve.causal.permutation import PermutationTest
from bitsieve.causal.separators import Separator, Separators

__all__ = ["METHODS", "Method", "markov_blanket", "markov_blankets", "skeleton"]

Method = Literal["hiton-mb", "mmmb", "pcmb", "iamb", "inter-iamb", "fast-iamb", "gs"]


@dataclass(frozen=True)
class _Way:
    """How a method searches; ``local``: for parents and children, not for the whole blanket."""

    find: Finder
    local: bool
    always_symmetric: bool = False


METHODS: dict[str, _Way] = {
    "hiton-mb": _Way(hiton_pc, local=True),
    "mmmb": _Way(mmpc, local=True),
    "pcmb": _Way(mmpc_interleaved, local=True, always_symmetric=True),
    "iamb": _Way(iamb, local=False),
    "inter-iamb": _Way(inter_iamb, local=False),
    "fast-iamb": _Way(fast_iamb, local=False),
    "gs": _Way(grow_shrink, local=False),
}
assert set(METHODS) == set(get_args(Method))


def markov_blanket(
    test: IndependenceTest,
    target: int | str,
    *,
    method: Method = "hiton-mb",
    alpha: float = 0.01,
    max_conditioning: int = 3,
    symmetric: bool = True,
    among: Iterable[int | str] | None = None,
    n_jobs: int | None = None,
) -> Blanket:
    """Find the Markov blanket of a variable: parents, children and spouses.

    Given its blanket a variable is independent of all others. Where the data come from a Bayesian
    network and the tests tell the truth, every method with ``symmetric=True`` returns the blanket
    of its graph.

    Parameters
    ----------
    test : IndependenceTest
        Of the data, such as :class:`bitsieve.causal.GSquared`.
    target : int or str
        Position or name of a variable.
    method : str, default "hiton-mb"
        * ``"hiton-mb"``: candidates by their association, each against subsets of those taken
          [1]_, then spouses;
        * ``"mmmb"``: next comes the candidate whose least association is the greatest [2]_;
        * ``"pcmb"``: the same with elimination interleaved, always symmetric [3]_;
        * ``"iamb"``, ``"inter-iamb"`` [4]_, ``"fast-iamb"`` [5]_, ``"gs"`` [6]_: grow and shrink;
          every test is given all that was taken. Quick, but of discrete variables only a few can be
          given before the samples are too few.
    alpha : float, default 0.01
        Independent is what has a p-value above it. Of hundreds of variables 0.001 keeps out
        what chance lets in.
    max_conditioning : int, default 3
        Most variables of a separating set. Methods that grow and shrink use it only to tell
        spouses apart.
    symmetric : bool, default True
        Only those are near that find each other, each in a search from its own side. Without it
        ``"hiton-mb"`` and ``"mmmb"`` may keep descendants that are no children [3]_.
    among : iterable of int or str, optional
        Positions or names of the only variables that are looked at beside the target: all by
        default. The blanket among a few features is not that among all without the rest.
    n_jobs : int or None, default None
        Threads. The result is the same for any number.

    Returns
    -------
    Blanket

    Raises
    ------
    ValueError
        If there is no such variable, a parameter is out of its range, or no p-value of a
        permutation test could be as small as alpha.

    Notes
    -----
    A test that is not reliable is skipped: it neither removes a variable nor adds one. Ties go to
    the lowest position. Of variables that say the same the lowest position stands for all.

    References
    ----------
    .. [1] C. F. Aliferis, I. Tsamardinos, A. Statnikov, "HITON: a novel Markov blanket algorithm
       for optimal variable selection", AMIA 2003, 21-25.
    .. [2] I. Tsamardinos, C. F. Aliferis, A. Statnikov, "Time and sample efficient discovery of
       Markov blankets and direct causal relations", KDD 2003, 673-678.
    .. [3] J. M. Pena, R. Nilsson, J. Bjorkegren, J. Tegner, "Towards scalable and data efficient
       learning of Markov boundaries", Int. J. Approx. Reasoning 45 (2007) 211-232.
    .. [4] I. Tsamardinos, C. F. Aliferis, A. Statnikov, "Algorithms for large scale Markov blanket
       discovery", FLAIRS 2003, 376-381.
    .. [5] S. Yaramakala, D. Margaritis, "Speculative Markov blanket discovery for optimal feature
       selection", ICDM 2005, 809-812.
    .. [6] D. Margaritis, S. Thrun, "Bayesian network induction via local neighborhoods", NIPS 12
       (1999) 505-511.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.causal import FisherZ, markov_blanket
    >>> parent, spouse, *noise = np.random.default_rng(0).normal(size=(5, 1000))
    >>> target = parent + noise[0]
    >>> child = target + spouse + noise[1]
    >>> effect = child + noise[2]
    >>> test = FisherZ(np.column_stack([parent, spouse, child, effect, target]))
    >>> found = markov_blanket(test, 4)
    >>> found.parents_children, found.spouses
    ((0, 2), {1: (2,)})
    >>> found.why_not(3)[:57]
    'variable 3 is not in the blanket of variable 4: given var'
    """
    return markov_blankets(
        test, [target], method=method, alpha=alpha, max_conditioning=max_conditioning,
        symmetric=symmetric, among=among, n_jobs=n_jobs,
    )[0]  # fmt: skip


def markov_blankets(
    test: IndependenceTest,
    targets: Iterable[int | str] | None = None,
    *,
    method: Method = "hiton-mb",
    alpha: float = 0.01,
    max_conditioning: int = 3,
    symmetric: bool = True,
    among: Iterable[int | str] | None = None,
    n_jobs: int | None = None,
) -> list[Blanket]:
    """Find the Markov blankets of some or all variables; searches that they share are made once.

    Parameters
    ----------
    test : IndependenceTest
    targets : iterable of int or str, optional
        Positions or names; all by default.
    method, alpha, max_conditioning, symmetric, among, n_jobs
        See :func:`markov_blanket`.

    Returns
    -------
    list of Blanket
        In the order of the targets.

    Raises
    ------
    ValueError
        If there is no such variable or a parameter is out of its range.

    Examples
    --------
    >>> import numpy as np
    >>> from bitsieve.causal import FisherZ, markov_blankets, skeleton
    >>> a, *noise = np.random.default_rng(0).normal(size=(3, 500))
    >>> chain = np.column_stack([a, a + noise[0], a + noise[0] + noise[1]])
    >>> skeleton(markov_blankets(FisherZ(chain)))
    {0: (1,), 1: (0, 2), 2: (1,)}
    """
    way = METHODS[check_choice("method", method, METHODS)]
    if not isinstance(test, IndependenceTest):
        raise ValueError(
            "test must be a test of independence, such as bitsieve.causal.make_test(X, y), got "
            f"{type(test).__name__}"
        )
    if isinstance(targets, str) or is_whole(targets):
        raise ValueError(f"targets must be a list of positions or names, got {targets!r}")
    check_number("alpha", alpha, 0, 1)
    if isinstance(test, PermutationTest) and alpha * (1 + test.n_permutations) < 1:
        raise ValueError(
            f"no p-value of n_permutations={test.n_permutations} is as small as alpha={alpha:g}: "
            f"give {math.ceil(1 / alpha) - 1:,} or more"
            if alpha > 1e-9
            else f"alpha={alpha:g} is smaller than any p-value by permutation"
        )
    wanted = list(range(test.n_variables)) if targets is None else list(targets)
    positions = [_position(test, target) for target in wanted]
    looked_at = np.arange(test.n_variables, dtype=np.int64)
    if among is not None:
        if isinstance(among, str) or is_whole(among):
            raise ValueError(f"among must be a list of positions or names, got {among!r}")
        few = {_position(test, x, "among") for x in among}
        looked_at = np.array(sorted(few | set(positions)), dtype=np.int64)
    stand_in, groups = _copies(test, looked_at.tolist())
    rules = Rules(
        alpha=float(alpha),
        max_conditioning=min(check_int("max_conditioning", max_conditioning, 0), test.n_variables),
        variables=np.array(sorted(groups), dtype=np.int64),
        looked_at=looked_at,
    )
    symmetric = bool(check_flag("symmetric", symmetric)) or way.always_symmetric
    n_threads = effective_n_jobs(n_jobs)
    searches = Searches(test, rules, way.find)

    def one(target: int) -> Blanket:
        alike = groups[stand_in[target]]
        if len(alike) > 1:
            return _of_a_copy(test, target, alike, stand_in, rules, method)
        assembly = Assembly(searches, target, symmetric=symmetric)
        assembly.local() if way.local else assembly.whole()
        copies = {x: first for x, first in stand_in.items() if x != first}
        return assembly.blanket(method, copies)

    def mapped(function: Callable[[int], Any], items: Sequence[int]) -> list[Any]:
        if n_threads == 1 or len(items) < 2:
            return [function(item) for item in items]
        with ThreadPoolExecutor(n_threads) as pool:
            return list(pool.map(function, items))

    if way.local:
        _make_ahead(searches, [t for t in positions if len(groups[stand_in[t]]) == 1], mapped)
    seen = None if among is None else frozenset(looked_at.tolist())
    return [
        replace(blanket, among=seen, is_conditional=_is_conditional(test, blanket))
        for blanket in mapped(one, positions)
    ]


def skeleton(blankets: Iterable[Blanket]) -> dict[int, tuple[int, ...]]:
    """Return who stands beside whom, for a picture: an undirected graph.

    Parameters
    ----------
    blankets : iterable of Blanket
        Of all variables, or of some.

    Returns
    -------
    dict of int to tuple of int
        Of each target its parents and children. Two targets are neighbors where either has the
        other.

    Examples
    --------
    >>> skeleton([])
    {}
    """
    near = {blanket.target: set(blanket.parents_children) for blanket in blankets}
    for x, beside in list(near.items()):
        for z in beside:
            if z in near:
                near[z].add(x)
    return {x: tuple(sorted(beside)) for x, beside in near.items()}


def _make_ahead(
    searches: Searches, targets: list[int], mapped: Callable[[Callable[[int], Any], Any], Any]
) -> None:
    """Make in threads the searches that all targets need, then those of their members."""
    mapped(searches.of, list(dict.fromkeys(targets)))
    near = dict.fromkeys(x for target in targets for x in searches.of(target).members)
    mapped(searches.of, [x for x in near if x not in searches.made])


def _of_a_copy(
    test: IndependenceTest, target: int, alike: list[int], stand_in: dict[int, int], rules: Rules,
    method: str,
) -> Blanket:  # fmt: skip
    """Of a target that stands twice the other one is the blanket: it leaves nothing open."""
    member = next(x for x in alike if x != target)
    log_p, _ = marginal(test, target, rules.looked_at)
    copies = {x: first for x, first in stand_in.items() if x not in (first, member, target)}
    copies |= {x: member for x in alike if x not in (member, target)}
    out = [x for x in rules.variables.tolist() if x not in (member, target)]
    return Blanket(
        target=target, parents_children=(member,), spouses={},
        separators=Separators(
            {x: Separator((member,), 0.0) for x in out}, log_p, np.zeros(len(log_p), dtype=bool)
        ),
        copies=copies, log_p=log_p, weakest={member: min(log_p[member], rules.log_alpha)},
        n_tests=0, method=method, alpha=rules.alpha, names=test.names,
    )  # fmt: skip


def _is_conditional(test: IndependenceTest, blanket: Blanket) -> bool:
    """Whether a test of the target and a member given another could be reliable."""
    members = np.array(blanket.members, dtype=np.int64)
    return len(members) < 2 or any(
        bool(test.hopeful(members[members != z], blanket.target, (z,)).any())
        for z in members.tolist()
    )


def _copies(
    test: IndependenceTest, variables: list[int]
) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Return of each variable the lowest of these that says the same, and who stand for whom."""
    of_all = representatives(test).tolist()
    first: dict[int, int] = {}
    stand_in = {x: first.setdefault(of_all[x], x) for x in variables}
    groups: dict[int, list[int]] = {}
    for x, lowest in stand_in.items():
        groups.setdefault(lowest, []).append(x)
    return stand_in, groups


def _position(test: IndependenceTest, target: int | str, name: str = "target") -> int:
    if is_whole(target) and 0 <= target < test.n_variables:
        return int(target)
    if isinstance(target, str) and test.names is not None:
        if target in test.names:
            return test.names.index(target)
        raise ValueError(f"there is no variable {target!r}: {closest(target, test.names)}")
    raise ValueError(
        f"{name} must be the position of a variable, from 0 to {test.n_variables - 1}"
        f"{' or its name' if test.names is not None else ''}, got {target!r}"
    )
