"""Variables that say the same as another one: of them the lowest position stands for all.

Where a parent stands twice in the data, each of the two makes the target independent of the other,
and a search that asks from both sides would keep neither.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitsieve.causal.independence import IndependenceTest

__all__ = ["representatives"]

#: Of numbers: 1 - r^2 below it is a copy, as in FisherZ.
_NOTHING_LEFT = 1e-10
_BY_SUM = np.sqrt(_NOTHING_LEFT) * 4  # by which projections of copies may differ


def representatives(test: IndependenceTest) -> NDArray[np.int64]:
    """Return for each variable the lowest position that says the same.

    Levels say the same where each belongs to one of the other's, numbers where their correlation
    is 1 or -1. Tests of other data (an oracle) have no copies.
    """
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
        if len(first) > 1:
            out[f] = seen.setdefault(place[level].tobytes(), f)
    return out


def _of_numbers(X: NDArray[np.float64]) -> NDArray[np.int64]:
    """Only columns whose projections onto one direction are alike are multiplied."""
    n, p = X.shape
    out = np.arange(p)
    scale = np.abs(X).max(axis=0)
    Z = X / np.where(scale > 0, scale, 1.0)
    Z -= Z.mean(axis=0)
    length = np.sqrt(np.einsum("ij,ij->j", Z, Z))
    varies = length > 1e-12 * np.sqrt(n)
    Z /= np.where(varies, length, 1.0)
    direction = np.cos(np.arange(n) ** 2 + 1.0)
    along = np.abs((direction / np.linalg.norm(direction)) @ Z)
    order = np.argsort(along, kind="stable")
    order = order[varies[order]]
    for apart in range(1, len(order)):
        a, b = order[:-apart], order[apart:]
        near = along[b] - along[a] < _BY_SUM
        if not near.any():
            break
        a, b = a[near], b[near]
        for begin in range(0, len(a), 1024):
            some, others = a[begin : begin + 1024], b[begin : begin + 1024]
            r = np.einsum("ij,ij->j", Z[:, some], Z[:, others])
            for i in np.flatnonzero(1.0 - r * r < _NOTHING_LEFT):
                low, high = sorted((out[some[i]], out[others[i]]))
                out[out == high] = low
    return out
