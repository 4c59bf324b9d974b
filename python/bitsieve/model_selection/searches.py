"""What proposes models: a particle swarm, draws, or Optuna (tpe.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bitsieve._random import Random, Stream
from bitsieve.model_selection.space import ModelSpace
from bitsieve.model_selection.swarm import ParticleSwarm

__all__ = ["SEARCHES", "RandomModels", "SearchOfModels", "SwarmOfModels", "make_search"]

#: Names of searches.
SEARCHES = ("particle_swarm", "optuna", "random")

Settings = dict[str, Any]


class SearchOfModels(Protocol):
    """What proposes models, in turns: ask, then tell."""

    def ask(self) -> list[Settings]:
        """Models to score next."""
        ...

    def tell(self, scores: Sequence[float]) -> None:
        """Take the scores of these, greater is better; NaN is worse than any number."""
        ...


class SwarmOfModels:
    """Models at the positions of a swarm."""

    def __init__(self, space: ModelSpace, swarm: ParticleSwarm) -> None:
        self._space, self._swarm = space, swarm

    def ask(self) -> list[Settings]:
        return [self._space.settings_at(point) for point in self._swarm.ask()]

    def tell(self, scores: Sequence[float]) -> None:
        self._swarm.tell(scores)


class RandomModels:
    """Models at points drawn from the unit cube."""

    def __init__(self, space: ModelSpace, n_models: int, key: int) -> None:
        self._space, self._n, self._key, self._turn = space, n_models, key, 0

    def ask(self) -> list[Settings]:
        shape = (self._n, len(self._space.dimensions))
        points: NDArray[np.float64] = Random(self._key, Stream.search, lane=self._turn).uniform(
            shape
        )
        return [self._space.settings_at(point) for point in points]

    def tell(self, scores: Sequence[float]) -> None:
        self._turn += 1


def make_search(
    name: str,
    space: ModelSpace,
    *,
    n_models: int,
    n_iter: int,
    inertia: tuple[float, float],
    cognitive: float,
    social: float,
    key: int,
) -> SearchOfModels:
    """Return a search by its name.

    Parameters
    ----------
    name : {"particle_swarm", "optuna", "random"}
    space : ModelSpace
    n_models : int
        Of a turn.
    n_iter, inertia, cognitive, social
        Of the swarm.
    key : int
        In [0, 2**64): the seed.
    """
    if name == "random":
        return RandomModels(space, n_models, key)
    if name == "optuna":
        from bitsieve.model_selection.tpe import ParzenModels

        return ParzenModels(space, n_models, key)
    swarm = ParticleSwarm(
        len(space.dimensions),
        n_particles=n_models,
        n_iter=n_iter,
        inertia=inertia,
        cognitive=cognitive,
        social=social,
        key=key,
    )
    return SwarmOfModels(space, swarm)
