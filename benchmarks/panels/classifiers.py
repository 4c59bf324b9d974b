"""Processor time of one fit and its decisions for a panel's classifiers.

    python benchmarks/panels/classifiers.py [--features 50] [--rounds 5]

One BLAS thread; n training samples and a quarter as many others, classes that overlap. Least of
the rounds, each over 50 fits.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from bitsieve.panels.classifiers import CLASSIFIERS, Classifier


def timed(call: Callable[[], object], rounds: int, fits: int = 50) -> float:
    """Least processor time of a call, in seconds: others on the machine count for less."""
    best = float("inf")
    call()
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(fits):
            call()
        best = min(best, (time.process_time() - start) / fits)
    return best


def costs(n: int, count: int, n_features: int, rounds: int) -> list[float]:
    """Seconds of each classifier."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, count, n)
    means = 0.4 * rng.normal(size=(count, n_features))
    Z = rng.normal(size=(n, n_features)) + means[codes]
    others = rng.normal(size=(n // 4, n_features))
    K, cross = Z @ Z.T, others @ Z.T
    diagonal = np.square(others).sum(axis=1)

    def once(model: Classifier) -> object:
        return model.fit(K, codes, count, n_features=n_features).decide(cross, diagonal)

    return [timed(partial(once, model), rounds) for model in CLASSIFIERS.values()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    print(f"microseconds of one fit and its decisions, {args.features} features")
    print("   n  classes" + "".join(f"{name:>8}" for name in CLASSIFIERS))
    with threadpool_limits(1):
        for n in (80, 137):
            for count in (2, 4):
                seconds = costs(n, count, args.features, args.rounds)
                print(f"{n:4}  {count:7}" + "".join(f"{one * 1e6:8.0f}" for one in seconds))


if __name__ == "__main__":
    main()
