"""Binary SPSA in plain numpy: slow, and right by inspection.

Delta comes from numpy's own Philox, the recursion from equations 2, 3 and 5 of Aksakalli and
Malekipirbazari (2016) with the sign of a maximisation.
"""

from __future__ import annotations

import math

import numpy as np


def philox(seed: int, stream: int, block: int, n: int) -> np.ndarray:
    """``n`` words from a block on; numpy raises the counter before it uses it."""
    key = np.array([seed, stream], np.uint64)
    generator = np.random.Philox(key=key, counter=(block - 1) % 2**256)
    return generator.random_raw(n)


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
    ):
        self.w = np.array(w, dtype=float)
        self.seed, self.c, self.A, self.alpha, self.a = seed, c, A, alpha, gain
        self.step_fraction, self.n_averaged, self.n_select = step_fraction, n_averaged, n_select
        self.k = 0
        self.mean_square = 0.0

    def delta(self):
        p = len(self.w)
        n_words = math.ceil(p / 64)
        n_blocks = math.ceil(n_words / 4)
        words = philox(self.seed, 1, self.k * n_blocks, n_words)
        bits = [(int(words[f // 64]) >> (f % 64)) & 1 for f in range(p)]
        return np.where(np.array(bits) == 1, 1.0, -1.0)

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
        return np.array([self.round(x) for x in points])

    def tell(self, scores):
        difference = scores[1] - scores[2]
        if math.isnan(self.a):
            weight = min(self.k + 1, self.n_averaged)
            self.mean_square += (difference * difference - self.mean_square) / weight
            scale = self.step_fraction * self.c
            step = scale * difference / math.sqrt(self.mean_square) if self.mean_square else 0.0
        else:
            a_k = self.a / (self.A + self.k + 1.0) ** self.alpha
            step = a_k * difference / (2 * self.c)
        self.w = self.w + step * self.delta()
        self.k += 1
