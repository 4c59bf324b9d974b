"""Discretisation in plain Python, one column at a time: slow, and obviously what is written."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np


def entropy(labels: Sequence[int]) -> float:
    """Bits a sample."""
    n = len(labels)
    return -sum(k / n * math.log2(k / n) for k in Counter(labels).values())


def mdl(values: Sequence[float], labels: Sequence[int], cut_cost: str = "samples") -> list[float]:
    """Fayyad and Irani 1993: section 3, equation 9."""
    pairs = sorted((float(v), int(c)) for v, c in zip(values, labels, strict=True) if v == v)
    n = len(pairs)
    classes = [c for _, c in pairs]
    cuts = [i for i in range(1, n) if pairs[i - 1][0] < pairs[i][0]]
    if not cuts:
        return []

    def after(i: int) -> float:
        return i / n * entropy(classes[:i]) + (n - i) / n * entropy(classes[i:])

    found = [after(i) for i in cuts]
    least = min(found)
    best = next(i for i, e in zip(cuts, found, strict=True) if e < least + 1e-11)
    whole, below, above = entropy(classes), entropy(classes[:best]), entropy(classes[best:])
    gain = whole - least
    if gain < 1e-11:
        return []
    k, k_below, k_above = (len(set(c)) for c in (classes, classes[:best], classes[best:]))
    delta = math.log2(3**k - 2) - (k * whole - k_below * below - k_above * above)
    choices = len(cuts) if cut_cost == "distinct" else n - 1
    if gain <= (math.log2(choices) + delta) / n:
        return []
    low, high = pairs[:best], pairs[best:]
    middle = (low[-1][0] + high[0][0]) / 2
    return [
        *mdl(*zip(*low, strict=True), cut_cost),
        middle,
        *mdl(*zip(*high, strict=True), cut_cost),
    ]


def equal_frequency(values: Sequence[float], n_bins: int) -> list[float]:
    """Cut above the value of every (n / n_bins)-th sample, half way to the next greater value."""
    ordered = sorted(float(v) for v in values if v == v)
    cuts = []
    for k in range(1, n_bins):
        at = math.floor(k * len(ordered) / n_bins + 0.5)
        below = ordered[max(at, 1) - 1]
        above = [v for v in ordered if v > below]
        if above and (below + above[0]) / 2 not in cuts:
            cuts.append((below + above[0]) / 2)
    return cuts


def codes(values: Sequence[float], cuts: Sequence[float]) -> list[int]:
    """How many cuts lie below each value."""
    return [sum(v > c for c in cuts) for v in np.asarray(values, dtype=np.float64)]
