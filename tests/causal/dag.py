"""Random graphs, their true blankets, and a test that reads independence off the graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bitsieve.causal.independence import Independence, IndependenceTest

Graph = NDArray[np.int8]  # graph[i, j] = 1 where i is a parent of j


def random_dag(rng: np.random.Generator, p: int, degree: float) -> Graph:
    """Each pair is joined with one probability, in a random order of the variables."""
    upper = np.triu(rng.random((p, p)) < degree / max(p - 1, 1), 1).astype(np.int8)
    order = rng.permutation(p)
    return upper[np.ix_(order, order)]


def parents_children(graph: Graph, target: int) -> set[int]:
    return set(np.flatnonzero(graph[target] | graph[:, target]).tolist())


def spouses(graph: Graph, target: int) -> dict[int, tuple[int, ...]]:
    """The other parents of its children, with all children in common."""
    near, out = parents_children(graph, target), {}
    for s in range(len(graph)):
        through = np.flatnonzero(graph[target] & graph[s])
        if s != target and s not in near and len(through):
            out[s] = tuple(through.tolist())
    return out


def blanket(graph: Graph, target: int) -> set[int]:
    return parents_children(graph, target) | set(spouses(graph, target))


def d_separated(graph: Graph, x: int, y: int, given: Sequence[int]) -> bool:
    """In the moral graph of the ancestors of all, nothing leads from x to y past what is given."""
    kept = np.zeros(len(graph), dtype=bool)
    kept[[x, y, *given]] = True
    while (grown := kept | (graph[:, kept].any(axis=1))).sum() > kept.sum():
        kept = grown
    part = graph * np.outer(kept, kept)
    joined = (part + part.T + part @ part.T) > 0
    reached, open_ = {x}, [x]
    while open_:
        for z in np.flatnonzero(joined[open_.pop()]).tolist():
            if z not in reached and z not in given:
                reached.add(z)
                open_.append(z)
    return y not in reached


class Oracle(IndependenceTest):
    """What infinitely many samples of a graph would tell."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.n_samples, self.n_variables = graph, 10**9, len(graph)
        self.names = None
        self.known: dict[tuple[int, int, frozenset[int]], bool] = {}

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Independence:
        key = (min(x, y), max(x, y), frozenset(given))
        if key not in self.known:
            self.known[key] = d_separated(self.graph, x, y, given)
        return Independence(*((0.0, 0.0) if self.known[key] else (100.0, -50.0)), 1, True)


def f1(found: set[int], true: set[int]) -> float:
    """1 where both are empty."""
    return 2 * len(found & true) / (len(found) + len(true)) if found or true else 1.0
