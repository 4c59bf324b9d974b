"""A particle swarm over the unit cube."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve._checks import check_int, check_number, seed
from bitsieve._random import Random, Stream

__all__ = ["ParticleSwarm"]

Floats = NDArray[np.float64]

#: Most that a coordinate changes in a move.
_LIMIT = 0.5


class ParticleSwarm:
    """Particles that fly between where each was best and where any was.

    In an iteration the velocity of each coordinate becomes ``w v + c1 r1 (own - x) + c2 r2
    (best - x)`` with r1 and r2 drawn from [0, 1) for each coordinate, at most half an edge of the
    cube, and the particle moves by it. Who would leave the cube stays at its border, and turns
    round at half the speed. The inertia w falls in equal steps from its first to its last value.

    Parameters
    ----------
    n_dimensions : int
    n_particles : int, default 10
    n_iter : int, default 25
        Moves over which the inertia falls; from then on it stays.
    inertia : pair of float, default (1.2, 0.4)
        First and last.
    cognitive, social : float, default 2.0
        Weights c1 of a particle's own best and c2 of the swarm's.
    key : int, default 0
        In [0, 2**64): the seed.

    Attributes
    ----------
    best : float64 array of shape (n_dimensions,)
        The best position that was told; of equal ones the earliest.
    best_score : float
    iteration : int
        Moves so far.

    References
    ----------
    J. Kennedy and R. Eberhart (1995). Particle swarm optimization. IEEE International Conference
    on Neural Networks, 1942-1948. Y. Shi and R. Eberhart (1998). A modified particle swarm
    optimizer. IEEE International Conference on Evolutionary Computation, 69-73 (the inertia).

    Examples
    --------
    >>> import numpy as np
    >>> swarm = ParticleSwarm(2, n_iter=60)
    >>> for _ in range(61):
    ...     swarm.tell(-np.square(swarm.ask() - 0.3).sum(axis=1))
    >>> swarm.best.round(2)
    array([0.3, 0.3])
    """

    def __init__(
        self,
        n_dimensions: int,
        *,
        n_particles: int = 10,
        n_iter: int = 25,
        inertia: tuple[float, float] = (1.2, 0.4),
        cognitive: float = 2.0,
        social: float = 2.0,
        key: int = 0,
    ) -> None:
        d = check_int("n_dimensions", n_dimensions, 1)
        m = check_int("n_particles", n_particles, 1)
        self._n_iter = check_int("n_iter", n_iter, 0)
        self._inertia = check_inertia(inertia)
        self._cognitive = check_number("cognitive", cognitive, 0, closed="left")
        self._social = check_number("social", social, 0, closed="left")
        self._key = seed("key", key)
        self.iteration = 0
        drawn = Random(self._key, Stream.search).uniform((2, m, d))
        self._position: Floats = drawn[0]
        self._velocity: Floats = drawn[1] - 0.5
        self._own, self._own_score = drawn[0].copy(), np.full(m, -np.inf)
        self.best: Floats = drawn[0, 0].copy()
        self.best_score = -np.inf

    def ask(self) -> Floats:
        """Return where the particles are: float64 of shape (n_particles, n_dimensions)."""
        return self._position.copy()

    def tell(self, scores: ArrayLike) -> None:
        """Take the scores of these positions, greater is better, and move.

        Parameters
        ----------
        scores : array-like of shape (n_particles,)
            NaN is worse than any number.

        Raises
        ------
        ValueError
            If there is another number of scores.
        """
        told = np.asarray(scores, dtype=np.float64)
        if told.shape != self._own_score.shape:
            raise ValueError(f"{len(self._own)} scores are expected, got shape {told.shape}")
        told = np.where(np.isnan(told), -np.inf, told)
        better = told > self._own_score
        self._own[better], self._own_score[better] = self._position[better], told[better]
        first = int(np.argmax(told))
        if told[first] > self.best_score:
            self.best, self.best_score = self._position[first].copy(), float(told[first])
        self._move()

    def _move(self) -> None:
        first, last = self._inertia
        share = min(self.iteration / max(self._n_iter - 1, 1), 1.0)
        self.iteration += 1
        random = Random(self._key, Stream.search, lane=self.iteration)
        own, all_ = random.uniform((2, *self._position.shape))
        velocity = (first + (last - first) * share) * self._velocity
        velocity += self._cognitive * own * (self._own - self._position)
        velocity += self._social * all_ * (self.best - self._position)
        velocity = np.clip(velocity, -_LIMIT, _LIMIT)
        position = self._position + velocity
        self._position = np.clip(position, 0.0, 1.0)
        # Without this particles stick to the corners, where all choices are the first or the last.
        self._velocity = np.where(position == self._position, velocity, -0.5 * velocity)


def check_inertia(value: object) -> tuple[float, float]:
    """Return the first and the last inertia, or say what came."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"inertia must be two numbers, the first and the last, got {value!r}")
    first, last = (check_number("inertia", each, 0, closed="left") for each in value)
    return first, last
