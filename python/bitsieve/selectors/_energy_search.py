"""Ways to the set of least energy: iterated conditional modes, annealing, swaps."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bitsieve._checks import SEEDS
from bitsieve.causal import Energy, EnergyFitness, LocalBlanket
from bitsieve.causal.energy import Minimum
from bitsieve.search import AnnealingMaskSearch, run

__all__ = ["MOST_PAIRED", "SEARCHES", "STARTS", "SearchName", "StartName", "minimize"]

SearchName = Literal["icm", "annealing", "swaps"]
StartName = Literal["features", "pairs", "both"]

SEARCHES: tuple[str, ...] = get_args(SearchName)
STARTS: tuple[str, ...] = get_args(StartName)

#: Features all pairs of which are looked at for a start.
MOST_PAIRED = 5000
_STEPS_OF_A_SWEEP = 100  # of annealing
_MOST_ROUNDS = 10  # searches, the local blanket of one being that of the next


def minimize(
    energy: Energy,
    size: int,
    *,
    search: SearchName,
    start: StartName,
    local: LocalBlanket | None,
    max_sweeps: int,
    key: int,
    n_paired: int = MOST_PAIRED,
) -> Minimum:
    """Look for the configuration of a size with the least energy.

    Parameters
    ----------
    energy : Energy
    size : int
    search : {"icm", "annealing", "swaps"}
        The other two hold the local blanket still, and are repeated with that of what they found
        until it comes again.
    start : {"features", "pairs", "both"}
        The best features, or the best pair and what is best beside it; both: the better of what
        the two searches find.
    local : LocalBlanket or None
    max_sweeps : int
        Of iterated conditional modes; annealing takes 100 steps for each.
    key : int
        Seed of annealing.
    n_paired : int
        Features, the best by equation 5, all pairs of which are looked at for a start.

    Returns
    -------
    Minimum
        Its features in the order of what they take off the energy, the most first.
    """
    from_pairs = bool(energy.terms.association) and size > 1
    starts = []
    if start != "pairs" or not from_pairs:
        starts.append(energy.start(size))
    if start != "features" and from_pairs:
        starts.append(energy.grown(size, n_candidates=n_paired))
    minima = [
        energy.minimize(begin, local_blanket=local, max_sweeps=max_sweeps)
        if search == "icm"
        else _by_search(energy, begin, search, local, max_sweeps, key)
        for begin in starts
    ]
    found = min(minima, key=lambda minimum: minimum.energy)
    inside = local(found.features) if local and energy.terms.local_blanket else ()
    worth = energy.contributions(found.features, inside)[found.features]
    order = np.lexsort((found.features, -worth))
    return Minimum(found.features[order], found.energy, found.energies, found.converged)


def _by_search(
    energy: Energy,
    start: NDArray[np.int64],
    search: SearchName,
    local: LocalBlanket | None,
    max_sweeps: int,
    key: int,
) -> Minimum:
    asks = local if energy.terms.local_blanket else None
    chosen, inside = start, tuple(asks(start)) if asks else ()
    energies, best = [energy.value(chosen, inside)], chosen
    converged = False
    for number in range(_MOST_ROUNDS):
        if search == "swaps":
            chosen = _swapped(energy, chosen, inside)
        else:
            chosen = _annealed(energy, chosen, inside, max_sweeps, (key + number) % SEEDS)
        after = tuple(asks(chosen)) if asks else ()
        energies.append(energy.value(chosen, after))
        if energies[-1] < min(energies[:-1]):
            best = chosen
        converged = after == inside
        if converged:
            break
        inside = after
    return Minimum(best, min(energies), np.array(energies), converged)


def _swapped(
    energy: Energy, start: NDArray[np.int64], inside: tuple[int, ...]
) -> NDArray[np.int64]:
    """The best exchange of two features, again and again, until none lowers the energy."""
    chosen = np.sort(start)
    while (swap := energy.best_swap(chosen, inside)) is not None:
        site, comes = swap
        chosen[site] = comes
        chosen.sort()
    return chosen


def _annealed(
    energy: Energy, start: NDArray[np.int64], inside: tuple[int, ...], max_sweeps: int, key: int
) -> NDArray[np.int64]:
    mask = np.zeros(energy.n_features, dtype=bool)
    mask[start] = True
    steps = max(1, _STEPS_OF_A_SWEEP * max_sweeps)
    found = run(
        AnnealingMaskSearch(len(mask), size=len(start), start=mask, n_steps=steps),
        EnergyFitness(energy, inside),
        choose="recommended",
        random_state=key,
        progress=False,
    )
    return np.flatnonzero(found.support)
