"""Time of Gaussian naive Bayes beside scikit-learn's, and the share of the processor's limit.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/kernels/additive.py [chowdary.npz]

Batches of 256 new random half masks, 10 x 5-fold, 111 x 11,340, three classes, one thread; the same
with variances that differ as those of raw expression values do, and probabilities in place of
classes; masks asked for alone or in pairs, new ones and those of a walk; all one-flip neighbors of
a 30-feature mask, 5-fold, 104 x 22,283 (of the file, if given).
A time is the processor's, of the best of three batches; the scikit-learn one of two masks, in the
same run. The limit is two vector additions from the first-level cache a cycle (of the additions
that tables of four features leave), at a clock that is measured.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB

import bitsieve
from bitsieve import Masks
from bitsieve.fitness import GeneralFitness, compile

N_MASKS = 256


def best(call: Callable[[], Any], n: int = 3) -> float:
    times = []
    for _ in range(n):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def processor() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return next((line.split(":")[1].strip() for line in lines if "model name" in line), "?")


def clock() -> float:
    """Return cycles a second, from a chain of dependent additions of integers in one thread."""
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        found = [float(line.split(":")[1]) for line in lines if "cpu MHz" in line]
    return 1e6 * (found[0] if found else 2800.0)


def table(n: int, p: int, spread: float = 0.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) * rng.lognormal(0.0, spread, p)
    return X, np.repeat([0, 1, 2], [11, 49, n - 60])


def report(name: str, ours: float, theirs: float, share: float | None = None) -> None:
    beside = "" if share is None else f"{100 * share:7.0f} %"
    print(f"{name:44} {1e3 * ours:9.3f} {1e3 * theirs:10.1f} {theirs / ours:8.0f}x {beside}")


def walks(fitness: Any, masks: Any, theirs: float) -> None:
    """Masks asked for alone or in pairs: new ones, and such as differ from the last in a share."""
    rng = np.random.default_rng(2)
    report(
        "  a new one, alone",
        best(lambda: [fitness.evaluate(m[None]) for m in masks[:20]]) / 20,
        theirs,
    )
    for share in (0.1, 0.01, 0.001):
        mask, steps = masks[0].copy(), []
        for _ in range(40):
            mask = mask.copy()
            mask[rng.choice(len(mask), int(share * len(mask)), replace=False)] ^= True
            steps.append(mask)
        pairs = np.array(steps).reshape(20, 2, -1)
        alone = best(lambda w=steps: [fitness.evaluate(m[None]) for m in w]) / 40
        report(f"  of a walk that changes {100 * share:g} %, alone", alone, theirs)
        paired = best(lambda w=pairs: [fitness.evaluate(m) for m in w]) / 40
        report(f"  of a walk that changes {100 * share:g} %, in pairs", paired, theirs)


def main() -> None:
    print(f"{processor()}, {bitsieve.get_isa()}, one thread")
    print(f"{'ms a mask':44} {'here':>9} {'sklearn':>10} {'':9} of the limit")
    masks = np.random.default_rng(1).random((N_MASKS, 11340)) < 0.5
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
    for name, spread, scoring in [
        ("half masks, 111 x 11,340, 10 x 5-fold", 0.0, None),
        ("the same, variances as of raw values", 1.0, None),
        ("the same, neg_log_loss", 0.0, "neg_log_loss"),
    ]:
        X, y = table(111, 11340, spread)
        fitness: Any = compile(GaussianNB(), X, y, cv=cv, scoring=scoring, n_jobs=1)
        some = masks if scoring is None else masks[:16]
        fitness.evaluate(some)
        ours = best(lambda f=fitness, m=some: f.evaluate(m)) / len(some)
        general = GeneralFitness(fitness.problem, "asked for")
        theirs = best(lambda g=general: g.evaluate(masks[:2]), 2) / 2
        # Columns: a sum a class (twice that with derivatives) and place, a few a split.
        columns = (2 if spread else 1) * 3 * 1110 + 50 * (7 if spread else 4)
        lanes = {"avx512": 16, "avx2": 8}.get(bitsieve.get_isa(), 4)
        limit = columns * 11340 / 4 / lanes / 2 / clock()
        report(name, ours, theirs, limit / ours if scoring is None else None)
        if scoring is None:
            walks(fitness, masks, theirs)
    if len(sys.argv) > 1:
        with np.load(sys.argv[1]) as archive:
            X, y = archive["X"].astype(np.float64), archive["y"]
    else:
        X, y = table(104, 22283)
    p = X.shape[1]
    base = np.zeros(p, dtype=bool)
    base[np.random.default_rng(2).choice(p, 30, replace=False)] = True
    near = Masks.neighbors(base, p)
    fitness = compile(GaussianNB(), X, y, cv=5, n_jobs=1)
    fitness.evaluate(near)
    ours = best(lambda: fitness.evaluate(near)) / p
    general = GeneralFitness(fitness.problem, "asked for")
    theirs = best(lambda: general.evaluate(base[None]), 2)
    report(f"one-flip neighbors of 30 features, {X.shape[0]} x {p:,}", ours, theirs)
    print(f"all {p:,} of them: {ours * p:.4f} s")


if __name__ == "__main__":
    main()
