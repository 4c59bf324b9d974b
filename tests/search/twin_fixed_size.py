"""Swaps at a given size in plain loops: what the search must do, mask after mask."""

from __future__ import annotations


def walk(score, n_features, start, *, priority=None, tol=0.0, pool=None):
    """Yield (mask, score) at the start and after each swap; masks are frozen sets."""
    priority = [0.0] * n_features if priority is None else priority
    mask, value = frozenset(start), score(frozenset(start))
    while True:
        yield mask, value
        best = None
        for out in sorted(mask, key=lambda f: (priority[f], f)):
            for into in sorted(range(n_features), key=lambda f: (-priority[f], f)):
                if into in mask or (pool is not None and into not in pool):
                    continue
                found = score(mask - {out} | {into})
                if best is None or found > best[0]:
                    best = (found, mask - {out} | {into})
        if best is None or not best[0] - value > tol:
            return
        value, mask = best


def walk_by_pairs(score, n_features, start, k):
    """The same, where the k best adds meet the k best drops."""
    mask, value = frozenset(start), score(frozenset(start))
    while True:
        yield mask, value
        come = [f for f in range(n_features) if f not in mask]
        leave = sorted(mask)
        if len(come) > k:
            come = sorted(come, key=lambda f: (-score(mask | {f}), f))[:k]
        if len(leave) > k:
            leave = sorted(leave, key=lambda f: (-score(mask - {f}), f))[:k]
        best = None
        for out in leave:
            for into in come:
                found = score(mask - {out} | {into})
                if best is None or found > best[0]:
                    best = (found, mask - {out} | {into})
        if best is None or not best[0] > value:
            return
        value, mask = best
