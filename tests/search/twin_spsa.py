"""Binary SPSA in plain numpy: slow, and right by inspection.

Delta comes from numpy's own Philox, the recursion from equations 2, 3 and 5 of Aksakalli and
Malekipirbazari (2016) with the sign of a maximisation. Noise is that of Maryak and Chin (2008), the
Hessian that of Spall (2000) in units of scores, where 1 / Delta is Delta.
"""

from __future__ import annotations

import math

import numpy as np

from bitsieve._random import Random, Stream


def philox(seed: int, stream: int, block: int, n: int, lane: int = 0) -> np.ndarray:
    """``n`` words from a block on; numpy raises the counter before it uses it."""
    key = np.array([seed, stream], np.uint64)
    generator = np.random.Philox(key=key, counter=(block + (lane << 64) - 1) % 2**256)
    return generator.random_raw(n)


def signs(words, p):
    bits = [(int(words[f // 64]) >> (f % 64)) & 1 for f in range(p)]
    return np.where(np.array(bits) == 1, 1.0, -1.0)


def total(values):
    """In order, as numpy's own sum is not."""
    result = 0.0
    for value in np.ravel(values):
        result += float(value) * float(value)
    return result


def cholesky(matrix):
    """L of L L', or None where there is none; plain elimination by columns."""
    left = matrix.copy()
    p = len(left)
    for j in range(p):
        if not left[j, j] > 0.0:
            return None
        left[j:, j] = left[j:, j] / math.sqrt(left[j, j])
        for k in range(j + 1, p):
            left[k:, k] = left[k:, k] - left[k, j] * left[k:, j]
    return left


def direction(mean, delta):
    """H^-1 Delta with H the mean made positive definite; None while nothing is known."""
    p = len(delta)
    if mean.ndim == 1:
        size = math.sqrt(total(mean) / p)
        return delta / (np.abs(mean) + size) if size > 0.0 else None
    norm = math.sqrt(total(mean))
    if not norm > 0.0:
        return None
    shift = norm / 1024.0
    while (left := cholesky(mean + shift * np.eye(p))) is None:
        shift *= 2.0
    x = delta.copy()
    for j in range(p):
        x[j] = x[j] / left[j, j]
        x[j + 1 :] = x[j + 1 :] - x[j] * left[j + 1 :, j]
    for j in reversed(range(p)):
        for i in range(j + 1, p):
            x[j] = x[j] - left[i, j] * x[i]
        x[j] = x[j] / left[j, j]
    return x


class TwinSPSA:
    def __init__(
        self,
        w,
        *,
        seed,
        c=0.05,
        A=300.0,
        alpha=0.6,
        gain=math.nan,
        step_fraction=0.03,
        n_averaged=20,
        n_select=0,
        noise=0.0,
        second_order=False,
        patience=None,
    ):
        self.w = np.array(w, dtype=float)
        self.seed, self.c, self.A, self.alpha, self.a = seed, c, A, alpha, gain
        self.step_fraction, self.n_averaged, self.n_select = step_fraction, n_averaged, n_select
        self.noise, self.second_order, self.patience = noise, second_order, patience
        self.k = self.began = 0
        self.mean_square = 0.0
        p = len(self.w)
        self.hessian = np.zeros((p, p) if p <= 500 else p)
        self.live = np.ones(p, bool)
        self.before, self.best, self.best_mask, self.stalled = -math.inf, -math.inf, self.live, 0
        self.n_runs, self.has_ended = 1, False

    def delta(self):
        p = len(self.w)
        n_words = math.ceil(p / 64)
        n_blocks = math.ceil(n_words / 4)
        return signs(philox(self.seed, 1, self.k * n_blocks, n_words), p)

    def second(self):
        p = len(self.w)
        return signs(philox(self.seed, 1, 0, math.ceil(p / 64), lane=2 * self.k + 2), p)

    def omega(self):
        """Normal numbers of the package, whose own twin is in test_rng.py."""
        random = Random(self.seed, Stream.search, lane=2 * self.k + 1)
        return random.normal(len(self.w))

    def round(self, x):
        if self.n_select == 0:
            return np.clip(x, 0.0, 1.0) >= 0.5
        chosen = np.argsort(-x, kind="stable")[: self.n_select]
        mask = np.zeros(len(x), dtype=bool)
        mask[chosen] = True
        return mask

    def ask(self):
        delta = self.delta()
        points = [self.w, self.w + self.c * delta, self.w - self.c * delta]
        if self.second_order:
            second = self.second()
            points += [self.w + self.c * (delta + second), self.w + self.c * (second - delta)]
        return np.array([self.round(x) & self.live for x in points])

    def step(self, difference):
        k = self.k - self.began
        if math.isnan(self.a):
            weight = min(k + 1, self.n_averaged)
            self.mean_square += (difference * difference - self.mean_square) / weight
            scale = self.step_fraction * self.c
            return scale * difference / math.sqrt(self.mean_square) if self.mean_square else 0.0
        return self.a / (self.A + k + 1.0) ** self.alpha * difference / (2 * self.c)

    def newton(self, difference, scores):
        delta, second = self.delta(), self.second()
        h = -((scores[3] - scores[1]) - (scores[4] - scores[2]))
        if self.hessian.ndim == 1:
            estimate = h * (delta * second)
        else:
            estimate = 0.5 * h * (np.outer(second, delta) + np.outer(delta, second))
        self.hessian = self.hessian + (estimate - self.hessian) / (self.k - self.began + 1.0)
        x = direction(self.hessian, delta)
        if x is None:
            return np.zeros(len(delta))
        if math.isnan(self.a):
            return self.step(difference) / math.sqrt(total(x) / len(x)) * x
        return self.step(difference) * (2.0 * self.c * self.c) * x

    def tell(self, scores):
        difference = scores[1] - scores[2]
        iterate = self.round(self.w) & self.live
        if self.second_order:
            self.w = self.w + self.newton(difference, scores)
        else:
            self.w = self.w + self.step(difference) * self.delta()
        if self.noise:
            j = self.k - self.began + 3.0
            size = self.noise * self.c / math.sqrt(j * math.log(math.log(j)))
            self.w = self.w + size * self.omega()
        self.w[~self.live] = 0.0
        self.k += 1
        if self.patience is not None and not self.has_ended:
            self.halve(iterate, scores[0])

    def halve(self, iterate, score):
        """On with the best of a run that stalls, until a run is no better than the one before."""
        if score > self.best and iterate.any():
            self.best, self.best_mask, self.stalled = score, iterate, 0
        else:
            self.stalled += 1
        if self.stalled < self.patience:
            return
        n_live, n_best = self.live.sum(), self.best_mask.sum()
        if self.best <= self.before or n_best == n_live or n_best == 1:
            self.has_ended = True
            return
        self.before, self.best, self.stalled = self.best, -math.inf, 0
        self.n_runs += 1
        self.live = self.best_mask
        self.w = np.where(self.live, 0.5, 0.0)
        self.began, self.mean_square = self.k, 0.0
        self.hessian = np.zeros_like(self.hessian)
