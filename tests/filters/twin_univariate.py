"""Scores of single features, slow and obvious: exact fractions, every pair, every sample."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

Column = list[float]


def ratio(above: Fraction | float, below: Fraction | float) -> float:
    """Quotient; 0 / 0 is 0 and x / 0 infinite."""
    if below == 0:
        return 0.0 if above == 0 else math.copysign(math.inf, above)
    return float(above / below) if isinstance(below, Fraction) else float(above) / below


def groups(x: Column, y: Any) -> list[list[Fraction]]:
    return [[Fraction(v) for v, c in zip(x, y, strict=True) if c == k] for k in np.unique(y)]


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def square(values: list[Fraction]) -> Fraction:
    centre = mean(values)
    return sum(((v - centre) ** 2 for v in values), Fraction(0))


def root(value: Fraction) -> float:
    return math.sqrt(value)


def one_against_rest(
    score: Callable[[list[Fraction], list[Fraction]], float], x: Column, y: Any
) -> float:
    parts = groups(x, y)
    if len(parts) == 2:
        return abs(score(parts[0], parts[1]))
    best = 0.0
    for k, part in enumerate(parts):
        rest = [v for j, other in enumerate(parts) if j != k for v in other]
        best = max(best, abs(score(rest, part)))
    return best


def signal_to_noise(x: Column, y: Any) -> float:
    def score(a: list[Fraction], b: list[Fraction]) -> float:
        spread = sum(root(square(g) / max(len(g) - 1, 1)) for g in (a, b))
        return ratio(mean(b) - mean(a), spread)

    return one_against_rest(score, x, y)


def student(x: Column, y: Any) -> float:
    def score(a: list[Fraction], b: list[Fraction]) -> float:
        pooled = (square(a) + square(b)) / (len(a) + len(b) - 2)
        return ratio(mean(b) - mean(a), root(pooled * (Fraction(1, len(a)) + Fraction(1, len(b)))))

    return one_against_rest(score, x, y)


def welch(x: Column, y: Any) -> float:
    def score(a: list[Fraction], b: list[Fraction]) -> float:
        error = sum(square(g) / ((len(g) - 1) * len(g)) for g in (a, b))
        return ratio(mean(b) - mean(a), root(Fraction(error)))

    return one_against_rest(score, x, y)


def between_and_within(x: Column, y: Any) -> tuple[Fraction, Fraction]:
    parts = groups(x, y)
    within = sum((square(g) for g in parts), Fraction(0))
    return square([Fraction(v) for v in x]) - within, within


def fisher_score(x: Column, y: Any) -> float:
    return ratio(*between_and_within(x, y))


def f_test(x: Column, y: Any) -> float:
    between, within = between_and_within(x, y)
    n_classes = len(np.unique(y))
    return ratio(between / (n_classes - 1), within / (len(x) - n_classes))


def pearson(x: Column, y: Any) -> float:
    a, b = [Fraction(v) for v in x], [Fraction(float(v)) for v in y]
    ma, mb = mean(a), mean(b)
    cross = sum(((u - ma) * (v - mb) for u, v in zip(a, b, strict=True)), Fraction(0))
    return ratio(cross, root(square(a) * square(b)))


def variance(x: Column) -> float:
    return float(square([Fraction(v) for v in x]) / len(x))


def ranks(x: Column) -> list[Fraction]:
    """Rank from 1; equal values share the mean."""
    return [Fraction(sum(v < u for v in x)) + Fraction(sum(v == u for v in x) + 1, 2) for u in x]


def ties(x: Column) -> int:
    return sum(x.count(v) ** 2 - 1 for v in x)  # t members give t^2 - 1 each


def auc(x: Column, y: Any) -> float:
    """Share of pairs that the second class wins."""
    low, high = groups(x, y)
    twice = sum((u > v) + (u >= v) for u in high for v in low)
    return twice / 2 / (len(low) * len(high))


def auc_of_classes(x: Column, y: Any) -> list[float]:
    found = [auc(x, np.asarray(y) == c) for c in np.unique(y)]
    return [max(a, 1 - a) for a in found]


def kruskal_wallis(x: Column, y: Any) -> float:
    n = len(x)
    mine = [float(r) for r in ranks(x)]
    between = Fraction(0)
    for part in groups(mine, y):
        between += len(part) * (mean(part) - Fraction(n + 1, 2)) ** 2
    return ratio(between * 12 / (n * (n + 1)), 1 - Fraction(ties(x), n**3 - n))


def spearman(x: Column, y: Any) -> float:
    return pearson([float(r) for r in ranks(x)], [float(r) for r in ranks(list(y))])


def chi2(x: Column, y: Any) -> float:
    parts = groups(x, y)
    total = sum((Fraction(v) for v in x), Fraction(0))
    out = Fraction(0)
    for part in parts:
        expected = total * len(part) / len(x)
        if expected:
            out += (sum(part, Fraction(0)) - expected) ** 2 / expected
    return float(out)


def laplacian_score(X: Any, k: int, bandwidth: float | None) -> list[float]:
    """He, Cai and Niyogi 2005 with full matrices; 1 - L."""
    n, p = X.shape
    squared = np.array([[((a - b) ** 2).sum() for b in X] for a in X])
    near = np.zeros((n, n), dtype=bool)
    for i in range(n):
        others = [j for j in np.argsort(squared[i], kind="stable") if j != i]
        near[i, others[:k]] = True
    width = squared[near].mean() if bandwidth is None else bandwidth
    S = np.where(near | near.T, np.exp(-squared / width), 0.0)
    D = np.diag(S.sum(axis=1))
    one = np.ones(n)
    out = []
    for j in range(p):
        f = X[:, j] - (X[:, j] @ D @ one) / (one @ D @ one)
        out.append(float(1 - (f @ (D - S) @ f) / (f @ D @ f)) if np.ptp(X[:, j]) else -1.0)
    return out


def gram_schmidt(X: Any, Y: Any, n_features: int) -> tuple[list[int], list[float]]:
    """Project the whole table at every step. Y has a row a target."""
    F = X - X.mean(axis=0)
    Y = Y - Y.mean(axis=1, keepdims=True)
    length = (F**2).sum(axis=0)
    order: list[int] = []
    scores: list[float] = []
    for _ in range(n_features):
        squares = (F**2).sum(axis=0)
        cosine = np.where(
            squares > 1e-10 * np.maximum(length, 1e-300),
            ((Y @ F) ** 2).sum(axis=0) / np.maximum(squares, 1e-300) / (Y**2).sum(),
            -1.0,
        )
        cosine[order] = -1.0
        best = int(np.argmax(cosine))
        if cosine[best] < 0:
            break
        order.append(best)
        scores.append(float(cosine[best]))
        q = F[:, best] / np.sqrt(squares[best])
        F = F - np.outer(q, q @ F)
        Y = Y - np.outer(Y @ q, q)
    return order, scores
