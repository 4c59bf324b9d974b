"""SURF, MultiSURF, their starred forms and SWRF* in rational numbers: nothing is rounded.

Near is what is nearer than the limit, so a pair exactly at the limit is not near (SURF, MultiSURF)
and not far (MultiSURF*, SWRF*); SURF* calls far all that is not near. The limit of MultiSURF is
the mean less half of the standard deviation (over n - 1 others, divided by n - 1): whether a
distance d is below it is whether d < mean and (d - mean)^2 > variance / 4. Nothing here imports
the package.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any


def threshold_relief(X: Any, y: Any, algorithm: str, **options: Any) -> list[float]:
    """Scores of one method; options as of `threshold_reliefs`."""
    return threshold_reliefs(X, y, [algorithm], **options)[algorithm]


def threshold_reliefs(
    X: Any,
    y: Any,
    algorithms: Any,
    *,
    rows: Any = None,
    feature_weights: Any = None,
    discrete: Any = None,
    ramp: Any = None,
    missing: str = "probabilistic",
) -> dict[str, list[float]]:
    """Scores by method; only SWRF*'s weights, and the division at the end, are floats."""
    table = [[None if math.isnan(v) else Fraction(float(v)) for v in row] for row in X]
    n, p = len(table), len(table[0])
    labels = sorted(set(y))
    codes = [labels.index(label) for label in y]
    kinds = [False] * p if discrete is None else [bool(d) for d in discrete]
    diffs = [
        differences([row[f] for row in table], codes, kinds[f], ramp, missing) for f in range(p)
    ]
    weights = [Fraction(1)] * p
    if feature_weights is not None:
        weights = [Fraction(float(w)) for w in feature_weights]
    dist = distances(diffs, weights, n)
    rows = range(n) if rows is None else rows
    pairs = [dist[i][j] for i in rows for j in range(n) if i != j]
    mean_of_all = sum(pairs) / len(pairs)
    spread = math.sqrt(sum((d - mean_of_all) ** 2 for d in pairs) / len(pairs))
    return {
        algorithm: scores(algorithm, codes, diffs, dist, rows, mean_of_all, spread)
        for algorithm in algorithms
    }


def scores(
    algorithm: str, codes: Any, diffs: Any, dist: Any, rows: Any, mean_of_all: Any, spread: float
) -> list[float]:
    n, p = len(codes), len(diffs)
    sizes = [codes.count(c) for c in range(max(codes) + 1)]
    exact = [Fraction(0)] * p
    rounded = [0.0] * p
    for i in rows:
        others = [j for j in range(n) if j != i]
        near, far = sides(algorithm, dist[i], others, mean_of_all)
        for sign, side in ((1, near), (-1, far)):
            for c, size in enumerate(sizes):
                members = [j for j in side if codes[j] == c]
                if not members:
                    continue
                own = codes[i]
                factor = sign * (Fraction(-1) if c == own else Fraction(size, n - sizes[own]))
                for f in range(p):
                    known = [j for j in members if diffs[f][i][j] is not None]
                    if not known:
                        continue
                    if algorithm == "swrf_star" and spread > 0:
                        of = {j: sigmoid(dist[i][j] - mean_of_all, spread) for j in members}
                        share = sum(of[j] for j in known)
                        if share > 0:
                            total = sum(of[j] * float(diffs[f][i][j]) for j in known)
                            total *= sum(of.values()) / share / len(members)
                            rounded[f] += float(factor) * total
                    else:
                        exact[f] += factor * sum(diffs[f][i][j] for j in known) / len(known)
    return [(float(a) + b) / len(rows) for a, b in zip(exact, rounded, strict=True)]


def sides(algorithm: str, row: Any, others: Any, mean_of_all: Fraction) -> Any:
    """Who is near, and who is far where that counts."""
    if algorithm.startswith("multisurf"):
        mean = sum(row[j] for j in others) / len(others)
        quarter = sum((row[j] - mean) ** 2 for j in others) / len(others) / 4
        beyond = [j for j in others if (row[j] - mean) ** 2 > quarter]
        near = [j for j in beyond if row[j] < mean]
        far = [j for j in beyond if row[j] > mean]
    else:
        near = [j for j in others if row[j] < mean_of_all]
        far = [j for j in others if row[j] > mean_of_all]
        if algorithm == "surf_star":
            far = [j for j in others if row[j] >= mean_of_all]
    return near, far if algorithm.endswith("_star") else []


def sigmoid(off: Fraction, spread: float) -> float:
    """Size of SWRF*'s weight at a distance off the mean."""
    return abs(2 / (1 + math.exp(-4 * float(off) / spread)) - 1)


def one_difference(a: Any, b: Any, spread: Any, discrete: bool, ramp: Any) -> Fraction:
    """Difference of two known values, in [0, 1]."""
    if spread == 0:
        return Fraction(0)
    if discrete:
        return Fraction(int(a != b))
    share = abs(a - b) / spread
    if ramp is None:
        return share
    low, high = Fraction(str(ramp[0])), Fraction(str(ramp[1]))  # the decimals that are written
    return min(Fraction(1), max(Fraction(0), (share - low) / (high - low)))


def differences(column: Any, codes: Any, discrete: bool, ramp: Any, missing: str) -> Any:
    """(n, n) differences; None where one is unknown and left out."""
    n = len(column)
    known = [v for v in column if v is not None]
    spread = max(known) - min(known) if known else 0
    out: list[list[Any]] = [[Fraction(0)] * n for _ in range(n)]
    if spread == 0:
        return out
    pools = []
    for i in range(n):
        own = [v for v, c in zip(column, codes, strict=True) if c == codes[i] and v is not None]
        pools.append([column[i]] if column[i] is not None else own or known)
    for i in range(n):
        for j in range(n):
            if missing == "ignore" and (column[i] is None or column[j] is None):
                out[i][j] = None
                continue
            total = sum(
                one_difference(a, b, spread, discrete, ramp) for a in pools[i] for b in pools[j]
            )
            out[i][j] = total / (len(pools[i]) * len(pools[j]))
    return out


def distances(diffs: Any, weights: Any, n: int) -> Any:
    """(n, n) sums; with unknown differences, the known part scaled up to the whole."""
    varies = [any(d is None or d > 0 for row in diff for d in row) for diff in diffs]
    total = sum(w for w, v in zip(weights, varies, strict=True) if v)
    out = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            known = [
                (w, diff[i][j])
                for w, v, diff in zip(weights, varies, diffs, strict=True)
                if v and diff[i][j] is not None
            ]
            seen = sum(w for w, _ in known)
            if seen > 0:
                out[i][j] = sum(w * d for w, d in known) * total / seen
            elif i != j:
                out[i][j] = Fraction(total)
    return out
