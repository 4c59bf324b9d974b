"""Variables that say the same as another one: of them the lowest position stands for all.

Where a parent stands twice in the data, each of the two makes the target independent of the other,
and a search that asks from both sides would keep neither.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from bitsieve.causal.independence import IndependenceTest

__all__ = ["representatives"]

#: Of numbers: 1 - r^2 below it is a copy, as in FisherZ.
_NOTHING_LEFT = 1e-10
_BY_SUM = 4 * np.sqrt(_NOTHING_LEFT)  # by which projections of copies may differ
_ROWS = 64  # samples that are centred at once
_FOUND: MutableMapping[IndependenceTest, NDArray[np.int64]] = WeakKeyDictionary()


def representatives(test: IndependenceTest) -> NDArray[np.int64]:
    """Return for each variable the lowest position that says the same.

    Levels say the same where each belongs to one of the other's and there are two samples a level
    on the average, numbers where their correlation is 1 or -1 and there are more than two samples.
    Tests of other data (an oracle) have no copies. What was found for a test is kept with it.
    """
    found = _FOUND.get(test)
    if found is None:
        found = _FOUND[test] = _representatives(test)
        found.setflags(write=False)
    return found


def _representatives(test: IndependenceTest) -> NDArray[np.int64]:
    test = getattr(test, "base", test)  # p-values by permutation
    if (table := getattr(test, "table", None)) is not None:
        return _of_levels(table.codes)
    if (X := getattr(test, "X", None)) is not None:
        return _of_numbers(np.asarray(X, dtype=np.float64))
    return np.arange(test.n_variables)


def _of_levels(codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    out = np.arange(codes.shape[1])
    seen: dict[bytes, int] = {}
    for f in range(codes.shape[1]):
        _, first, level = np.unique(codes[:, f], return_index=True, return_inverse=True)
        place = np.empty(len(first), dtype=np.uint8)
        place[np.argsort(first)] = np.arange(len(first))  # levels by their first sample
        if 1 < len(first) <= len(level) // 2:  # a level for each sample says the same as any such
            out[f] = seen.setdefault(place[level].tobytes(), f)
    return out


def _of_numbers(X: NDArray[np.float64]) -> NDArray[np.int64]:
    """Only columns whose projections onto two directions are alike are multiplied."""
    n, p = X.shape
    out = np.arange(p)
    if n < 3:  # two points always lie on a line
        return out
    steps = np.arange(n) + 1.0
    directions = np.stack([np.cos(steps * steps), np.sin(steps * steps * np.e)])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        mean = X.mean(axis=0)
        squares, along = np.zeros(p), np.zeros((2, p))
        for begin in range(0, n, _ROWS):
            centred = X[begin : begin + _ROWS] - mean
            squares += np.einsum("ij,ij->j", centred, centred)
            along += directions[:, begin : begin + _ROWS] @ centred
        along = np.abs(along) / np.sqrt(squares)
    order = np.argsort(along[0], kind="stable")
    order = order[np.isfinite(along[:, order]).all(axis=0)]
    for apart in range(1, len(order)):
        a, b = order[:-apart], order[apart:]
        near = along[0, b] - along[0, a] < _BY_SUM
        if not near.any():
            break
        near &= out[a] != out[b]  # of thousands of copies each is compared once
        for i, j in zip(a[near], b[near], strict=True):
            if out[i] == out[j] or abs(along[1, i] - along[1, j]) >= _BY_SUM:
                continue
            if _copies(X[:, i], X[:, j]):
                low, high = sorted((out[i], out[j]))
                out[out == high] = low
    return out


def _copies(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    if (a == a[0]).all() or (b == b[0]).all():
        return False
    a, b = ((v - v.mean()) / np.abs(v - v.mean()).max() for v in (a, b))
    return bool(1.0 - (a @ b) ** 2 / ((a @ a) * (b @ b)) < _NOTHING_LEFT)
