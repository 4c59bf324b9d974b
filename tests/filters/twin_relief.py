"""The Relief family in the slowest and plainest form: one pair, one feature, one line at a time.

Robnik-Sikonja and Kononenko (2003), Theoretical and empirical analysis of ReliefF and RReliefF,
Machine Learning 53, for Relief, ReliefF (figure 2) and RReliefF (figure 3); Greene et al. (2009,
2010) for SURF and SURF*; Urbanowicz et al. (2018) for MultiSURF and MultiSURF*; Stokes and
Visweswaran (2012) for SWRF*. Nothing here imports the package.
"""

from __future__ import annotations

import math

import numpy as np


def one_difference(a, b, *, discrete, spread, ramp):
    """Difference of two known values of one feature, in [0, 1]."""
    if spread == 0:
        return 0.0
    if discrete:
        return float(a != b)
    share = abs(a - b) / spread
    if ramp is None:
        return share
    low, high = ramp
    return min(1.0, max(0.0, (share - low) / (high - low)))


def differences(X, codes, *, discrete=None, ramp=None, missing="probabilistic"):
    """(p, n, n) differences; NaN where a value is missing and ``missing`` is "ignore"."""
    X = np.asarray(X, dtype=np.float64)
    n, p = X.shape
    discrete = np.zeros(p, dtype=bool) if discrete is None else np.asarray(discrete)
    out = np.zeros((p, n, n))
    for f in range(p):
        known = [v for v in X[:, f] if not math.isnan(v)]
        if not known:
            continue
        spread = max(known) - min(known)
        kind = {"discrete": discrete[f], "spread": spread, "ramp": ramp}
        for i in range(n):
            for j in range(n):
                left, right = [X[i, f]], [X[j, f]]
                if math.isnan(X[i, f]) or math.isnan(X[j, f]):
                    if missing == "ignore":
                        out[f, i, j] = math.nan if spread > 0 else 0.0
                        continue
                    left = candidates(X[:, f], codes, i)
                    right = candidates(X[:, f], codes, j)
                total = sum(one_difference(a, b, **kind) for a in left for b in right)
                out[f, i, j] = total / (len(left) * len(right))
    return out


def candidates(column, codes, i):
    """The value of a sample, or all that it may have: those known in its class, else anywhere."""
    if not math.isnan(column[i]):
        return [column[i]]
    own = [v for v, c in zip(column, codes, strict=True) if c == codes[i] and not math.isnan(v)]
    return own or [v for v in column if not math.isnan(v)]


def distances(diffs, feature_weights=None):
    """(n, n) sums of differences; with unknown ones, the known part scaled up to the whole."""
    p, n, _ = diffs.shape
    weights = np.ones(p) if feature_weights is None else np.asarray(feature_weights, dtype=float)
    varies = np.array([bool(np.nansum(d) > 0 or np.isnan(d).any()) for d in diffs])
    out = np.zeros((n, n))
    seen = np.zeros((n, n))
    for f in range(p):
        if varies[f]:
            unknown = np.isnan(diffs[f])
            out += np.where(unknown, 0.0, diffs[f]) * weights[f]
            seen += np.where(unknown, 0.0, weights[f])
    if not np.isnan(diffs).any():
        return out
    total = weights[varies].sum()
    return np.where(seen > 0, out * total / np.where(seen > 0, seen, 1.0), total)


def rank_weights(count, sigma):
    """Weights of the nearest, second nearest ... that add up to 1; equal where sigma is None."""
    if sigma is None:
        return [1.0 / count] * count
    raw = [math.exp(-(((r + 1) / sigma) ** 2)) for r in range(count)]
    return [w / sum(raw) for w in raw]


def mean_difference(diffs, i, members, weights):
    """One number a feature: the mean of the known differences of row i to ``members``."""
    out = np.zeros(len(diffs))
    for f in range(len(diffs)):
        known = [(w, diffs[f, i, j]) for w, j in zip(weights, members, strict=True)]
        known = [(w, d) for w, d in known if not math.isnan(d)]
        share = sum(w for w, _ in known)
        if share > 0:
            out[f] = sum(w * d for w, d in known) / share * sum(weights)
    return out


def nearest(dist, i, members, k):
    """The k nearest of ``members`` to row i, nearest first, ties to the lowest index."""
    return sorted((j for j in members if j != i), key=lambda j: (dist[i, j], j))[:k]


def relieff(X, y, *, k=10, sigma=None, rows=None, feature_weights=None, **kind):
    """Figure 2 of 2003; a class with fewer than k members is averaged over those."""
    classes, codes = np.unique(y, return_inverse=True)
    n = len(codes)
    diffs = differences(X, codes, **kind)
    dist = distances(diffs, feature_weights)
    prior = [np.mean(codes == c) for c in range(len(classes))]
    rows = range(n) if rows is None else rows
    scores = np.zeros(len(diffs))
    for i in rows:
        for c in range(len(classes)):
            members = nearest(dist, i, np.flatnonzero(codes == c).tolist(), k)
            if not members:
                continue
            mean = mean_difference(diffs, i, members, rank_weights(len(members), sigma))
            own = codes[i]
            scores += -mean if c == own else prior[c] / (1 - prior[own]) * mean
    return scores / len(rows)


def relief(X, y, *, rows=None, feature_weights=None, **kind):
    """Figure 1 of 2003: the nearest hit, and the nearest miss whatever its class."""
    _, codes = np.unique(y, return_inverse=True)
    diffs = differences(X, codes, **kind)
    dist = distances(diffs, feature_weights)
    rows = range(len(codes)) if rows is None else rows
    scores = np.zeros(len(diffs))
    for i in rows:
        for sign, where in ((-1, codes == codes[i]), (1, codes != codes[i])):
            members = nearest(dist, i, np.flatnonzero(where).tolist(), 1)
            if members:
                scores += sign * mean_difference(diffs, i, members, [1.0])
    return scores / len(rows)


def rrelieff(X, y, *, k=10, sigma=None, rows=None, feature_weights=None, **kind):
    """Figure 3 of 2003, with N_dC and m counted a feature (they differ only with unknown pairs)."""
    y = np.asarray(y, dtype=np.float64)
    n = len(y)
    diffs = differences(X, np.zeros(n, dtype=int), **kind)
    dist = distances(diffs, feature_weights)
    spread = y.max() - y.min()
    if spread == 0:
        return np.zeros(len(diffs))
    rows = range(n) if rows is None else rows
    n_c, n_a, n_ca, m = (np.zeros(len(diffs)) for _ in range(4))
    for i in rows:
        members = nearest(dist, i, range(n), k)
        weights = rank_weights(len(members), sigma)
        for f in range(len(diffs)):
            share = sum(
                w for w, j in zip(weights, members, strict=True) if not math.isnan(diffs[f, i, j])
            )
            for w, j in zip(weights, members, strict=True):
                d = diffs[f, i, j]
                if not math.isnan(d):
                    of_y = abs(y[i] - y[j]) / spread
                    n_c[f] += w / share * of_y
                    n_a[f] += w / share * d
                    n_ca[f] += w / share * of_y * d
                    m[f] += w / share
    scores = np.zeros(len(diffs))
    for f in range(len(diffs)):
        if n_c[f] > 0:
            scores[f] += n_ca[f] / n_c[f]
        if m[f] - n_c[f] > 1e-12 * m[f]:
            scores[f] -= (n_a[f] - n_ca[f]) / (m[f] - n_c[f])
    return scores


def threshold_relief(X, y, algorithm, *, rows=None, feature_weights=None, with_self=False, **kind):
    """SURF, SURF*, MultiSURF, MultiSURF* and SWRF*: all neighbors within a distance.

    Near ones count as in ReliefF, far ones (of the starred) with the opposite sign; each class is
    a mean of its own, other classes weighted by P(c) / (1 - P(class)). ``with_self`` counts the
    distances of samples to themselves in the mean over all pairs, which nobody should.
    """
    classes, codes = np.unique(y, return_inverse=True)
    n = len(codes)
    diffs = differences(X, codes, **kind)
    dist = distances(diffs, feature_weights)
    prior = [np.mean(codes == c) for c in range(len(classes))]
    rows = list(range(n) if rows is None else rows)
    pairs = np.array([dist[i, j] for i in rows for j in range(n) if with_self or i != j])
    scores = np.zeros(len(diffs))
    for i in rows:
        others = [j for j in range(n) if j != i]
        own = np.array([dist[i, j] for j in others])
        if algorithm.startswith("multisurf"):
            low, high = own.mean() - own.std() / 2, own.mean() + own.std() / 2
        else:
            low = high = pairs.mean()
        sides = [(1, [j for j in others if dist[i, j] < low])]
        if algorithm == "surf_star":
            sides.append((-1, [j for j in others if dist[i, j] >= high]))
        elif algorithm.endswith("_star"):
            sides.append((-1, [j for j in others if dist[i, j] > high]))
        for sign, side in sides:
            for c in range(len(classes)):
                members = [j for j in side if codes[j] == c]
                if not members:
                    continue
                weights = [1.0 / len(members)] * len(members)
                if algorithm == "swrf_star" and pairs.std() > 0:
                    weights = [
                        w * abs(2 / (1 + math.exp(-4 * (low - dist[i, j]) / pairs.std())) - 1)
                        for w, j in zip(weights, members, strict=True)
                    ]
                mean = mean_difference(diffs, i, members, weights)
                own_class = codes[i]
                factor = -1.0 if c == own_class else prior[c] / (1 - prior[own_class])
                scores += sign * factor * mean
    return scores / len(rows)
