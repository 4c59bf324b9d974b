"""Slow and obvious twins of the information filters: dictionaries of counts, plain loops."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = Sequence[Any]
Vector = NDArray[np.float64]


def entropy(*columns: Column, correction: str | None = None, prior: float = 1.0) -> float:
    """Of several columns at once, in nats."""
    rows = list(zip(*columns, strict=True))
    counts = list(Counter(rows).values())
    n = len(rows)
    if correction == "dirichlet":
        cells = math.prod(len(set(c)) for c in columns)
        filled = [k + prior / cells for k in counts] + [prior / cells] * (cells - len(counts))
        return -sum(k / (n + prior) * math.log(k / (n + prior)) for k in filled)
    plain = -sum(k / n * math.log(k / n) for k in counts)
    return plain + (len(counts) - 1) / (2 * n) if correction == "miller_madow" else plain


def information(x: Column, y: Column, **how: Any) -> float:
    return max(0.0, entropy(x, **how) + entropy(y, **how) - entropy(x, y, **how))


def conditional(x: Column, y: Column, *z: Column, **how: Any) -> float:
    value = entropy(x, *z, **how) + entropy(y, *z, **how)
    return max(0.0, value - entropy(x, y, *z, **how) - entropy(*z, **how))


def joint(y: Column, *x: Column, **how: Any) -> float:
    """Of y with all of x at once."""
    return max(0.0, entropy(*x, **how) + entropy(y, **how) - entropy(y, *x, **how))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _criterion(
    name: str, c: Column, chosen: list[Column], y: Column, beta: float, how: dict[str, Any]
) -> float:
    def red(s: Column) -> float:
        return information(c, s, **how)

    def excess(s: Column) -> float:
        return red(s) - conditional(c, s, y, **how)

    def ratio(s: Column) -> float:
        spread = entropy(c, s, y, **how)
        return joint(y, c, s, **how) / spread if spread > 1e-12 else 0.0

    relevance = information(c, y, **how)
    if not chosen or name == "mim":
        return relevance
    if name == "jmi3" and len(chosen) > 1:
        return sum(joint(y, c, s, t, **how) for s, t in itertools.combinations(chosen, 2))
    values: dict[str, Callable[[], float]] = {
        "mifs": lambda: relevance - beta * sum(map(red, chosen)),
        "mid": lambda: relevance - _mean([red(s) for s in chosen]),
        "miq": lambda: relevance / max(_mean([red(s) for s in chosen]), 1e-9),
        "cife": lambda: relevance - sum(map(excess, chosen)),
        "icap": lambda: relevance - sum(max(0.0, excess(s)) for s in chosen),
        "cmim": lambda: min(relevance, *(conditional(c, y, s, **how) for s in chosen)),
        "jmi": lambda: sum(joint(y, c, s, **how) for s in chosen),
        "jmi3": lambda: sum(joint(y, c, s, **how) for s in chosen),
        "jmim": lambda: min(joint(y, c, s, **how) for s in chosen),
        "disr": lambda: sum(map(ratio, chosen)),
        "njmim": lambda: min(map(ratio, chosen)),
    }
    return values[name]()


def lowest_of_best(values: Vector, free: list[int]) -> int:
    """Index of the greatest value; values this close are equal but for rounding."""
    best = max(values[j] for j in free)
    return next(j for j in free if values[j] >= best - 1e-9 * max(1.0, abs(best)))


def selection(
    X: NDArray[Any],
    y: Column,
    n_select: int,
    criterion: str,
    *,
    beta: float = 1.0,
    correction: str | None = None,
    prior: float = 1.0,
) -> tuple[list[int], list[float]]:
    """Greedy selection over columns of levels."""
    how = {"correction": correction, "prior": prior}
    columns = [tuple(column) for column in X.T.tolist()]
    y = tuple(y)
    order: list[int] = []
    scores: list[float] = []
    while len(order) < n_select:
        chosen = [columns[j] for j in order]
        free = [j for j in range(len(columns)) if j not in order]
        values = np.full(len(columns), -np.inf)
        for j in free:
            values[j] = _criterion(criterion, columns[j], chosen, y, beta, how)
        best = lowest_of_best(values, free)
        order.append(best)
        scores.append(float(values[best]))
    return order, scores


def correlation(
    X: NDArray[Any], relevance: Vector, n_select: int, *, quotient: bool, ranks: bool = False
) -> tuple[list[int], list[float]]:
    """Greedy selection by relevance and mean absolute correlation, copies last."""
    from scipy.stats import rankdata

    values = rankdata(X, axis=0) if ranks else np.asarray(X, dtype=np.float64)
    centred = values - values.mean(axis=0)
    centred[:, np.ptp(values, axis=0) == 0] = 0
    length = np.sqrt((centred**2).sum(axis=0))
    unit = centred / np.where(length > 0, length, 1.0)
    r = np.abs(unit.T @ unit)
    order: list[int] = []
    scores: list[float] = []
    while len(order) < n_select:
        free = [j for j in range(X.shape[1]) if j not in order]
        copies = [j for j in free if any(r[j, s] > 1 - 1e-10 for s in order)]
        free = [j for j in free if j not in copies] or copies
        score = np.full(X.shape[1], -np.inf)
        for j in free:
            if not order:
                score[j] = relevance[j]
            elif quotient:
                score[j] = relevance[j] / np.maximum(r[j, order], 0.001).mean()
            else:
                score[j] = relevance[j] - r[j, order].mean()
        best = lowest_of_best(score, free)
        order.append(best)
        scores.append(float(score[best]))
    return order, scores
