"""Fitnesses without data: functions of (mask, seed) with a known best mask."""

from __future__ import annotations

import hashlib
import time

import numpy as np

from bitsieve.masks import Masks


class Planted:
    """Mean agreement with a planted mask, with noise of (mask, seed) on top.

    With ``resample=False`` the seed is not looked at.
    """

    def __init__(self, truth, *, noise=0.0, scale=1.0, resample=True, sleep=0.0, offset=0.0):
        self.truth = np.asarray(truth, dtype=bool)
        self.noise, self.scale, self.resample, self.sleep = noise, scale, resample, sleep
        self.offset = offset
        self.n_features = len(self.truth)
        self.calls = []  # (number of masks, seeds)

    @property
    def n_evaluations(self):
        return sum(n for n, _ in self.calls)

    def fingerprint(self):
        parts = (self.truth.tolist(), self.noise, self.scale, self.resample, self.offset)
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def evaluate(self, masks, seeds=0):
        self.calls.append((len(masks), seeds))
        if self.sleep:
            time.sleep(self.sleep)
        seeds = np.broadcast_to(np.asarray(seeds, dtype=np.uint64), len(masks))
        agreement = (masks.to_bool() == self.truth).mean(axis=1)
        return self.offset + self.scale * (agreement + self.noise * self._noise(masks, seeds))

    def _noise(self, masks, seeds):
        if not self.noise:
            return np.zeros(len(masks))
        values = []
        for i, seed in enumerate(seeds):
            key = masks.key(i) + (int(seed) if self.resample else 0).to_bytes(8, "little")
            word = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little")
            values.append(2.0 * word / 2**64 - 1.0)
        return np.array(values)


class Resampleable(Planted):
    """Fixed folds, and a way to fresh ones."""

    def resampled(self):
        return Planted(self.truth, noise=self.noise, scale=self.scale, resample=True)


class Scripted:
    """A search that asks for given boolean masks, all of an ask eligible, and then stops."""

    def __init__(self, asks, eligible=None):
        self.asks = [np.asarray(ask, dtype=bool) for ask in asks]
        self.n_features = self.asks[0].shape[1]
        self.step = 0
        self.told = []
        self._eligible = eligible

    def ask(self):
        return Masks.from_bool(self.asks[self.step])

    def tell(self, masks, scores):
        self.told.append(np.array(scores))
        self.step += 1

    def stop(self):
        return {"script": self.step} if self.step == len(self.asks) else {}

    def state(self):
        return {"step": self.step, "asks": np.array([a.sum() for a in self.asks])}

    def set_state(self, state):
        self.step = int(state["step"])

    def eligible(self):
        n = len(self.asks[self.step])
        return np.ones(n, bool) if self._eligible is None else np.asarray(self._eligible)


class Recommending(Scripted):
    """Recommends what is written for each iteration, a boolean mask or None."""

    def __init__(self, asks, recommendations, eligible=None):
        super().__init__(asks, eligible)
        self.recommendations = recommendations

    def recommend(self):
        mask = self.recommendations[self.step - 1] if self.step else None
        return (
            Masks.empty(self.n_features)[:0]
            if mask is None
            else Masks.from_bool(np.array(mask, bool))
        )


class Sequential:
    """Sequential forward selection, or backward elimination, to a given number of features."""

    def __init__(self, n_features, size, *, backward=False):
        self.n_features, self.size, self.backward = n_features, size, backward
        self.mask = np.full(n_features, backward)

    def ask(self):
        self.flips = np.flatnonzero(self.mask == self.backward)
        return Masks.neighbors(self.mask, self.n_features, self.flips)

    def tell(self, masks, scores):
        self.mask[self.flips[np.argmax(scores)]] ^= True

    def recommend(self):
        return Masks.from_bool(self.mask)

    def eligible(self):
        return np.ones(len(self.flips), bool)

    def stop(self):
        return {"size": self.size} if self.mask.sum() == self.size else {}

    def state(self):
        return {"size": self.size, "backward": int(self.backward), "mask": self.mask.copy()}

    def set_state(self, state):
        self.mask = np.array(state["mask"], bool)


def planted(p, seed=0):
    """A random truth over p features, about half of them in it."""
    return np.random.default_rng(seed).random(p) < 0.5
