"""Sequential selection in its plainest form: sets, and one score after the other."""

from __future__ import annotations

from collections.abc import Callable

Set = frozenset[int]
Score = Callable[[Set], float]


def best_of(sets: list[Set], score: Score) -> Set:
    """The first of the best."""
    return max(sets, key=score)


def grown(now: Set, p: int) -> list[Set]:
    return [now | {f} for f in range(p) if f not in now]


def shrunk(now: Set) -> list[Set]:
    return [now - {f} for f in sorted(now)]


def forward(score: Score, p: int, size: int) -> list[Set]:
    """Every set on the way."""
    path: list[Set] = [frozenset()]
    while len(path[-1]) < size:
        path.append(best_of(grown(path[-1], p), score))
    return path


def backward(score: Score, p: int, size: int) -> list[Set]:
    path: list[Set] = [frozenset(range(p))]
    while len(path[-1]) > size:
        path.append(best_of(shrunk(path[-1]), score))
    return path


def floating_forward(score: Score, p: int, size: int) -> list[Set]:
    """Pudil 1994, the best score of each size remembered."""
    path, best = [frozenset[int]()], dict[int, float]()

    def go(to: Set) -> None:
        path.append(to)
        best[len(to)] = max(score(to), best.get(len(to), float("-inf")))

    while len(path[-1]) < size:
        go(best_of(grown(path[-1], p), score))
        while len(path[-1]) > 1:
            less = best_of(shrunk(path[-1]), score)
            if score(less) <= best[len(less)]:
                break
            go(less)
    return path


def floating_backward(score: Score, p: int, size: int) -> list[Set]:
    path = [frozenset(range(p))]
    best = {p: score(path[0])}

    def go(to: Set) -> None:
        path.append(to)
        best[len(to)] = max(score(to), best.get(len(to), float("-inf")))

    while len(path[-1]) > size:
        go(best_of(shrunk(path[-1]), score))
        while len(path[-1]) < p:
            more = best_of(grown(path[-1], p), score)
            if score(more) <= best[len(more)]:
                break
            go(more)
    return path


def plus_l_minus_r(score: Score, p: int, size: int, plus: int, minus: int) -> list[Set]:
    """From none; the last round ends at the size, and none goes beyond all features."""
    path: list[Set] = [frozenset()]
    while len(path[-1]) < size:
        goal = len(path[-1]) + plus - minus
        top = len(path[-1]) + plus
        if goal > size:
            goal, top = size, size + minus
        if top > p:
            goal, top = size, p
        while len(path[-1]) < top:
            path.append(best_of(grown(path[-1], p), score))
        while len(path[-1]) > goal:
            path.append(best_of(shrunk(path[-1]), score))
    return path
