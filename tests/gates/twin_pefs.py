"""PEFS's distribution in plain numpy, a mask and a variable at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve._random import Random, Stream

Array = NDArray[Any]


def ordinal_utility(losses: Array) -> Array:
    """Equation 5, with ties in the order of the masks."""
    n = len(losses)
    share = math.ceil(n / 4)
    u = np.zeros(n)
    for rank, i in enumerate(np.argsort(losses, kind="stable")):
        if rank < share:
            u[i] += 1
        if rank >= n - share:
            u[i] -= 1
    return u


def fair_utility(losses: Array) -> Array:
    """Equation 5, with the mean of their utilities for losses that tie."""
    u = ordinal_utility(losses)
    return np.array([u[losses == loss].mean() for loss in losses])


class TwinMasks:
    """Equation 6."""

    def __init__(self, d: int, eps: float, rate: float) -> None:
        self.eps, self.rate = eps, rate
        self.theta = np.full(d, 0.5)

    def sample(self, key: int, step: int, n_draws: int) -> Array:
        random = Random(key, Stream.gates, lane=step)
        masks = np.zeros((n_draws, len(self.theta)))
        for draw in masks:
            for i, theta in enumerate(self.theta):
                draw[i] = random.uniform(1)[0] < theta
        return masks

    def learn(self, masks: Array, losses: Array) -> None:
        u, d = fair_utility(losses), len(self.theta)
        for i, theta in enumerate(self.theta.copy()):
            natural = sum(u[k] * (masks[k, i] - theta) for k in range(len(u))) / len(u)
            moved = theta + self.rate * (natural - self.eps * theta * (1 - theta))
            self.theta[i] = min(max(moved, 1 / d), 1 - 1 / d)


class CompactGA:
    """The compact genetic algorithm (Harik, Lobo, Goldberg 1999), figure 2."""

    def __init__(self, d: int, population: float) -> None:
        self.p, self.population = np.full(d, 0.5), population

    def compete(self, a: Array, b: Array, loss_a: float, loss_b: float) -> None:
        winner, loser = (a, b) if loss_a < loss_b else (b, a)
        for i in range(len(self.p)):
            if winner[i] != loser[i]:
                self.p[i] += (1 if winner[i] == 1 else -1) / self.population
