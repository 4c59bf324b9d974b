"""Seconds of one fit and its decisions for a panel's classifiers.

    python benchmarks/panels/classifiers.py [--features 50] [--rounds 5]

One BLAS thread; n training samples and a quarter as many others, classes that overlap. Least of
the rounds, each over 50 fits; the SVM also alone, to see what scikit-learn adds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from bitsieve.panels.classifiers import CLASSIFIERS


def timed(call: Callable[[], object], rounds: int, fits: int = 50) -> float:
    """Least seconds of a call."""
    best = float("inf")
    call()
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(fits):
            call()
        best = min(best, (time.perf_counter() - start) / fits)
    return best


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
                rng = np.random.default_rng(0)
                codes = rng.integers(0, count, n)
                means = 0.4 * rng.normal(size=(count, args.features))
                Z = rng.normal(size=(n, args.features)) + means[codes]
                others = rng.normal(size=(n // 4, args.features))
                K, cross = Z @ Z.T, others @ Z.T
                diagonal = np.square(others).sum(axis=1)
                row = f"{n:4}  {count:7}"
                for model in CLASSIFIERS.values():

                    def call(model=model):
                        fitted = model.fit(K, codes, count, n_features=args.features)
                        return fitted.decide(cross, diagonal)

                    row += f"{timed(call, args.rounds) * 1e6:8.0f}"
                print(row)


if __name__ == "__main__":
    main()
