"""Scores of levels, FCBF and CFS in plain Python: every pair, every set, one at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np


def entropy(*columns: Sequence[Any]) -> float:
    """Joint entropy in nats."""
    n = len(columns[0])
    counts = Counter(zip(*(np.asarray(c).tolist() for c in columns), strict=True))
    return -sum(k / n * math.log(k / n) for k in counts.values())


def information(a: Sequence[Any], b: Sequence[Any]) -> float:
    return entropy(a) + entropy(b) - entropy(a, b)


def uncertainty(a: Sequence[Any], b: Sequence[Any]) -> float:
    total = entropy(a) + entropy(b)
    if entropy(a) < 1e-12 or entropy(b) < 1e-12:
        return 0.0
    return 2 * information(a, b) / total


def gini(a: Sequence[Any], y: Sequence[Any]) -> float:
    """Fall of the impurity."""

    def impurity(labels: list[Any]) -> float:
        return 1 - sum((k / len(labels)) ** 2 for k in Counter(labels).values())

    a, y = np.asarray(a), np.asarray(y)
    parts = [y[a == v].tolist() for v in set(a.tolist())]
    return impurity(y.tolist()) - sum(len(p) / len(y) * impurity(p) for p in parts)


def fcbf(codes: np.ndarray, y: Sequence[Any], threshold: float = 0.0) -> list[int]:
    """Yu and Liu 2004, figure 2."""
    p = codes.shape[1]
    su = [uncertainty(codes[:, f], y) for f in range(p)]
    kept = sorted(
        (f for f in range(p) if su[f] >= threshold and su[f] > 1e-9), key=lambda f: -su[f]
    )
    i = 0
    while i < len(kept):
        rest = kept[i + 1 :]
        kept[i + 1 :] = [
            g for g in rest if uncertainty(codes[:, kept[i]], codes[:, g]) < su[g] - 1e-9
        ]
        i += 1
    return kept


def correlations(codes: np.ndarray, y: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """With the classes, and of every pair."""
    p = codes.shape[1]
    single = [entropy(codes[:, f]) < 1e-12 for f in range(p)]
    with_class = np.array([np.float32(uncertainty(codes[:, f], y)) for f in range(p)], dtype=float)
    pairs = np.ones((p, p))
    for f in range(p):
        for g in range(f):
            if not (single[f] or single[g]):
                su = float(np.float32(uncertainty(codes[:, f], codes[:, g])))
                pairs[f, g] = pairs[g, f] = max(su, 0.0)
    return np.maximum(with_class, 0.0), pairs


def merit(members: Sequence[int], with_class: np.ndarray, pairs: np.ndarray) -> float:
    """Hall 1999, equation 4.2."""
    k = len(members)
    if k == 0:
        return 0.0
    rcf = np.mean([with_class[f] for f in members])
    rff = np.mean([pairs[f, g] for f in members for g in members if f != g]) if k > 1 else 0.0
    return float(k * rcf / math.sqrt(k + k * (k - 1) * rff))


def best_first(with_class: np.ndarray, pairs: np.ndarray, max_stale: int = 5) -> set[int]:
    """Expand the best set not yet expanded; keep a short list."""
    best, best_merit, stale = (), 0.0, 0
    waiting: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    while waiting and stale < max_stale:
        _, node = waiting.pop(0)
        better = False
        for f in range(len(with_class)):
            if f in node:
                continue
            child = (*node, f)
            value = merit(child, with_class, pairs)
            place = 0
            while place < len(waiting) and value <= waiting[place][0] + 1e-12:
                place += 1
            waiting.insert(place, (value, child))
            del waiting[max_stale:]
            if value - best_merit > 1e-5:
                best, best_merit, better = child, value, True
        stale = 0 if better else stale + 1
    return set(best)


def locally_predictive(found: set[int], with_class: np.ndarray, pairs: np.ndarray) -> set[int]:
    """Add what is correlated with the classes at least as much as with any of the set."""
    found = set(found)
    for f in sorted(range(len(with_class)), key=lambda f: -with_class[f]):
        if f in found or with_class[f] <= 0:
            continue
        if all(pairs[f, g] <= with_class[f] for g in found):
            found.add(f)
    return found
