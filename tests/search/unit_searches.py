"""Searches to put units around: one that walks by flips, and one by swaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bitsieve import Masks
from bitsieve._random import Random, Stream
from bitsieve.search import UnitSearch


class Forward:
    """Adds the best feature until all are in; its mask is the answer."""

    def __init__(self, n_features: int, size: int | None = None) -> None:
        self.n_features, self.size = n_features, n_features if size is None else size
        self.mask = np.zeros(n_features, dtype=bool)

    def ask(self) -> Masks:
        return Masks.neighbors(self.mask, self.n_features, np.flatnonzero(~self.mask))

    def tell(self, masks: Masks, scores: np.ndarray) -> None:
        others = np.flatnonzero(~self.mask)
        if len(scores) != len(others):
            raise ValueError(f"{len(others)} scores are expected, got {len(scores)}")
        assert masks.n_features == self.n_features  # its own masks, not those of the loop
        self.mask[others[np.argmax(scores)]] = True

    def recommend(self) -> Masks:
        return Masks.from_bool(self.mask)

    def eligible(self) -> np.ndarray:
        return np.ones(self.n_features - int(self.mask.sum()), dtype=bool)

    def stop(self) -> dict[str, object]:
        return {"size": self.size} if self.mask.sum() >= self.size else {}

    def state(self) -> dict[str, Any]:
        return {"size": self.size, "mask": self.mask.copy()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.mask = np.array(state["mask"])


class Moves:
    """Draws moves of several features each, compact and some of them twice; weighs the features."""

    stops_itself = False

    def __init__(self, n_features: int, n_moves: int = 5) -> None:
        self.n_features, self.n_moves = n_features, n_moves
        self.seed = self.k = 0
        self.mask = np.arange(n_features) % 2 == 0
        self.total = np.zeros(n_features)

    def set_seed(self, seed: int) -> None:
        self.seed = seed

    def ask(self) -> Masks:
        random = Random(self.seed, Stream.search, lane=self.k)
        flips = random.integers(self.n_features, 3 * self.n_moves)
        lengths = random.integers(5, self.n_moves)
        ends = np.minimum(np.cumsum(np.r_[0, lengths]), len(flips))
        return Masks.from_flips(self.mask, ends, flips[: ends[-1]])

    def tell(self, masks: Masks, scores: np.ndarray) -> None:
        if len(scores) != self.n_moves:
            raise ValueError(f"{self.n_moves} scores are expected, got {len(scores)}")
        self.mask = masks[int(np.argmax(scores))].to_bool()[0]
        self.total = self.total + self.mask
        self.k += 1

    def feature_scores(self) -> np.ndarray:
        return self.total / max(1, self.k)

    def eligible(self) -> np.ndarray:
        return np.arange(self.n_moves) != 1

    def stop(self) -> dict[str, object]:
        return {}

    def state(self) -> dict[str, Any]:
        arrays = {"mask": self.mask.copy(), "total": self.total.copy()}
        return {"n_moves": self.n_moves, "seed": self.seed, "k": self.k, **arrays}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.seed, self.k = int(state["seed"]), int(state["k"])
        self.mask, self.total = np.array(state["mask"]), np.array(state["total"])


def around(kind: Any, n_features: int, units: str, **options: Any) -> UnitSearch:
    """Put units around a search: "all", "fixed" (one forced, one never) or "groups" too."""
    p = n_features
    unit_of, forced = np.arange(p), np.zeros(p, dtype=bool)
    if units != "all" and p > 2:
        forced[p // 2] = True
        unit_of = np.where(forced | (np.arange(p) == p - 1), -1, unit_of)
        free = unit_of >= 0
        unit_of[free] = np.arange(free.sum())
        if units == "groups":
            unit_of[free] = unit_of[free] % (1 + free.sum() // 3)
    return UnitSearch(kind(int(unit_of.max()) + 1, **options), unit_of, forced)
