"""The Relief family in numpy: any difference, any missing value, one sample at a time.

::

    Differences (a block of features) -> pair_distances -> group_neighbors -> scores
                    \\______________________________________________________/

Two passes over the table, neither of which holds more than a block of features for all samples
and the distances of the rows that are looked at. Distances are sums of whole steps of a
feature's range, as in the compiled core: the order of the features is of no account, and what
ties there ties here. What is as close to a limit as these steps are wide is decided exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitsieve.filters.relief._differences import Differences, feature_blocks
from bitsieve.filters.relief._neighbors import Group, Method, group_neighbors
from bitsieve.filters.relief._problem import Problem

__all__ = ["general_scores", "pair_distances"]

Floats = NDArray[np.float64]

# Bits of distances that are ordered, and of those that are added up too; as in the core.
_FINEST, _SUMMABLE = 50, 40


def general_scores(problem: Problem, method: Method) -> Floats:
    """Score all features; the same as the compiled core, and more than it can."""
    weighted = method.name == "swrf_star"
    bits = _FINEST if method.rank_weights.size or weighted else _SUMMABLE
    distances, reach = _shares(problem, bits)
    groups = list(group_neighbors(problem, method, distances, reach))
    if method.name == "rrelieff":
        return _regression_scores(problem, groups)
    scores = np.zeros(problem.n_features)
    for part in feature_blocks(problem):
        differences = Differences(problem, part)
        for i, own in zip(problem.rows, groups, strict=True):
            if not own:
                continue
            distinct = differences.of(int(i), np.concatenate([g.members for g in own]))
            if differences.complete:
                weights = np.concatenate([g.factor * g.weights for g in own])
                scores[part] += (distinct * weights).sum(axis=1)
            else:
                begin = 0
                for g in own:
                    end = begin + len(g.members)
                    scores[part] += g.factor * _known_mean(distinct[:, begin:end], g.weights)
                    begin = end
    return scores / len(problem.rows)


def pair_distances(problem: Problem) -> Floats:
    """Distances of each row that is looked at to all samples: (n_rows, n_samples).

    With ``missing="ignore"`` the known part of a distance is scaled up by the weight of all
    features that vary over the weight of those known in both samples; two samples that share no
    known feature are as far apart as any can be.
    """
    return _shares(problem, _SUMMABLE)[0] * float(problem.feature_weights.max())


def _shares(problem: Problem, bits: int) -> tuple[Floats, float]:
    """Distances as shares of the largest weight, in whole steps of 2^-bits.

    Also by how much they and their means, and limits made of these, may be off together.
    """
    shape = len(problem.rows), problem.n_samples
    total = np.zeros(shape, dtype=np.int64)
    seen = np.zeros(shape) if problem.ignore and problem.incomplete else None
    possible = 0.0
    weights = problem.feature_weights
    # Room for the sum of all steps in 63 bits.
    step = 2.0 ** min(bits, 62 - int(np.ceil(np.log2(problem.n_features))))
    largest = float(weights.max())
    for part in feature_blocks(problem):
        differences = Differences(problem, part)
        own = np.where(differences.varies, weights[part], 0.0)
        possible += float(own.sum()) / largest
        scale = (own / largest * step)[:, None]
        for row, i in enumerate(problem.rows):
            distinct = differences.of(int(i), slice(None))
            if seen is not None:
                known = ~np.isnan(distinct)
                seen[row] += (known * own[:, None]).sum(axis=0) / largest
                distinct = np.where(known, distinct, 0.0)
            total[row] += np.rint(distinct * scale).astype(np.int64).sum(axis=0)
    distances: Floats = total.astype(np.float64) / step
    # A step a feature, and the roundings of means over a class where values are missing.
    reach = 4.0 * problem.n_features * (1.0 / step + problem.n_samples * 2.0**-50)
    if seen is not None:
        shared = seen > 0.0
        whole = np.where(shared, possible / np.where(shared, seen, 1.0), 0.0)
        reach *= max(1.0, float(whole.max()))
        distances *= whole
        distances[~shared] = possible
    distances[np.arange(len(problem.rows)), problem.rows] = 0.0
    return distances, reach


def _known_mean(distinct: Floats, weights: Floats) -> Floats:
    """Weighted mean of the known differences a feature, 0 where there is none."""
    known = ~np.isnan(distinct)
    share = (known * weights).sum(axis=1)
    total = (np.where(known, distinct, 0.0) * weights).sum(axis=1)
    some = share > 0.0
    mean: Floats = np.where(some, total / np.where(some, share, 1.0) * weights.sum(), 0.0)
    return mean


def _regression_scores(problem: Problem, groups: list[list[Group]]) -> Floats:
    """Figure 3 of 2003: N_dC, N_dA and N_dC&dA a feature, then their quotients."""
    scores = np.zeros(problem.n_features)
    spread = float(np.ptp(problem.y))
    for part in feature_blocks(problem):
        differences = Differences(problem, part)
        sums: Floats = np.zeros((4, part.stop - part.start))
        of_y, of_feature, of_both, rows = sums
        for i, own in zip(problem.rows, groups, strict=True):
            for g in own:
                distinct = differences.of(int(i), g.members)
                known = ~np.isnan(distinct)
                share = (known * g.weights).sum(axis=1, keepdims=True)
                weights = np.where(known, g.weights, 0.0) / np.where(share > 0.0, share, 1.0)
                distinct = np.where(known, distinct * weights, 0.0)
                of_target = np.abs(problem.y[g.members] - problem.y[i]) / spread
                of_y += (weights * of_target).sum(axis=1)
                of_feature += distinct.sum(axis=1)
                of_both += (distinct * of_target).sum(axis=1)
                rows += weights.sum(axis=1)
        changed = of_y > 0.0
        stayed = rows - of_y > 1e-12 * rows
        scores[part] = np.where(changed, of_both / np.where(changed, of_y, 1.0), 0.0) - np.where(
            stayed, (of_feature - of_both) / np.where(stayed, rows - of_y, 1.0), 0.0
        )
    return scores
