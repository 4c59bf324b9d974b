"""All swaps of a panel of 20 of 22,283 features: asked for, measured and told; the search's share.

    OMP_NUM_THREADS=1 python benchmarks/peers/swaps.py

A table of the shape of chowdary (104 x 22,283), 5-fold. A pass is 445,260 masks, asked for,
measured and told by `bitsieve.search.run`. scikit-learn's time for them is extrapolated from 40 of
such masks, measured in the same run. The search's own time is that of runs whose fitness answers
from a table. Seconds of processor time on one thread, the least and the median.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import bitsieve
from bitsieve.fitness import compile as compile_fitness
from bitsieve.search import FixedSizeMaskSearch, run

N_SAMPLES, N_FEATURES, SIZE = 104, 22_283, 20


def made(seed: int) -> tuple[Any, Any]:
    """Return two classes, which fifty of the features tell apart a little."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], N_SAMPLES // 2)
    X = rng.normal(size=(N_SAMPLES, N_FEATURES))
    X[:, :50] += 0.5 * y[:, None]
    return X, y


class Answers:
    """A fitness that takes no time: its numbers are ready."""

    resample = False
    n_features = N_FEATURES

    def __init__(self) -> None:
        self.scores = np.random.default_rng(0).random(SIZE * (N_FEATURES - SIZE))

    def evaluate(self, masks: Any, seeds: Any = 0) -> Any:
        return self.scores[: len(masks)]


def passes(fitness: Any, n: int) -> list[float]:
    """Return the processor time of each pass of a search that makes n of them."""
    start = np.arange(N_FEATURES) < SIZE
    priority = -np.arange(N_FEATURES, dtype=np.float64)
    search = FixedSizeMaskSearch(N_FEATURES, size=SIZE, start=start, priority=priority)
    marks: list[float] = []

    def mark(iteration: Any) -> None:
        marks.append(time.process_time())

    run(
        search,
        fitness,
        choose="recommended",
        max_iter=n + 1,
        random_state=0,
        callbacks=[mark],
    )
    return np.diff(marks).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    load = os.getloadavg()[0]
    print(f"{names[0]}, {bitsieve.get_isa()}, load {load:.1f} of {os.cpu_count()} cores")
    own = [s for _ in range(options.runs) for s in passes(Answers(), 2)]
    print(
        f"the search itself: {1e3 * min(own):.0f} ms, median {1e3 * np.median(own):.0f} ms a pass"
    )
    for estimator in (KNeighborsClassifier(1), GaussianNB()):
        X, y = made(0)
        seconds = []
        for seed in range(options.runs):
            table = made(seed)
            fitness = compile_fitness(estimator, *table, cv=5, resample=False, n_jobs=1)
            seconds += passes(fitness, 2)
        rng, began, n = np.random.default_rng(1), time.process_time(), 40
        for _ in range(n):
            cross_val_score(estimator, X[:, rng.choice(N_FEATURES, SIZE)], y, cv=5)
        theirs = (time.process_time() - began) / n * SIZE * (N_FEATURES - SIZE)
        print(
            f"{estimator}: {SIZE * (N_FEATURES - SIZE):,} masks in {min(seconds):.2f} s, median "
            f"{np.median(seconds):.2f} s; scikit-learn {theirs / 60:.0f} min (extrapolated); the "
            f"search's share {100 * min(own) / min(seconds):.1f} %",
            flush=True,
        )


if __name__ == "__main__":
    main()
