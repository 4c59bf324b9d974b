"""Stochastic local search again, slow and obvious: lists of features, and enumeration."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np


class Adaptive:
    """P_r and P_n after each score of the walk, by the formulas as they stand."""

    def __init__(self, p_restart, p_noise, alpha_r, alpha_n, window):
        self.p = [p_restart, p_noise]
        self.alpha = [alpha_r, alpha_n]
        self.window, self.since, self.reference = window, 0, None

    def step(self, score):
        if self.reference is None:
            self.reference = score
            return
        self.since += 1
        if score > self.reference:
            for i in (0, 1):
                self.p[i] -= self.alpha[i] * self.p[i] / 2.0
        elif self.since >= self.window:
            for i in (0, 1):
                self.p[i] += self.alpha[i] * (1.0 - self.p[i])
        else:
            return
        self.reference, self.since = score, 0


def transitions(p, scores, *, p_restart, p_noise, greedy, n_neighbors, restart):
    """The whole matrix of a chain, every subset of neighbors written down."""
    n = 2**p
    T = np.zeros((n, n))
    subsets = list(combinations(range(p), n_neighbors))
    for a in range(n):
        T[a] += p_restart * restart
        for j in range(p):
            T[a, a ^ (1 << j)] += (1 - p_restart) * p_noise / p
        for subset in subsets:
            mass = (1 - p_restart) * (1 - p_noise) / len(subsets)
            best = max(scores[a ^ (1 << j)] for j in subset)
            if greedy == "strict" and scores[a] >= best:
                T[a, a] += mass
                continue
            ties = [j for j in subset if scores[a ^ (1 << j)] == best]
            for j in ties:
                T[a, a ^ (1 << j)] += mass / len(ties)
    return T


def hitting_times(T, scores):
    """Solve (I - T) h = 1 over the states that are not optimal, densely."""
    others = np.flatnonzero(scores < scores.max())
    h = np.zeros(len(scores))
    h[others] = np.linalg.solve(
        np.eye(len(others)) - T[np.ix_(others, others)], np.ones(len(others))
    )
    return h


def corners(p):
    """All masks, bit j of the row's number being feature j."""
    return np.array([bits[::-1] for bits in product((False, True), repeat=p)])
