"""Scores of single features beside reading the table once, SciPy and scikit-learn, in one run.

    python benchmarks/kernels/univariate.py [--rounds 7] [--samples 200] [--features 500000]

*Reading* is numpy's sum of the table, half the samples each on two threads. Every score is called
as a user calls it, on two threads, checks of X and y included. Seconds are the least of the rounds
by the clock, and the least of processor time over all threads, which others on the machine disturb
less. The rivals run once, over a tenth of the features, scaled up.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import scipy.stats
from numpy.typing import NDArray
from sklearn.feature_selection import f_classif

import bitsieve
from bitsieve import filters

THREADS = 2


def seconds(call: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Least seconds by the clock and of processor time."""
    clock = processor = float("inf")
    for _ in range(rounds):
        start, start_processor = time.perf_counter(), time.process_time()
        call()
        clock = min(clock, time.perf_counter() - start)
        processor = min(processor, time.process_time() - start_processor)
    return clock, processor


def line(name: str, took: tuple[float, float], once: tuple[float, float]) -> None:
    ratios = f"{took[0] / once[0]:5.1f} {took[1] / once[1]:5.1f}  times reading"
    print(f"  {name:24s} {took[0]:8.4f} s  {took[1]:8.4f} s processor  {ratios}")


def reading(X: NDArray[Any], pool: ThreadPoolExecutor) -> None:
    half = len(X) // 2
    list(pool.map(lambda rows: X[rows].sum(), (slice(0, half), slice(half, None))))


def table(X: NDArray[Any], y: NDArray[Any], rounds: int) -> None:
    numbers = np.random.default_rng(1).normal(size=len(X))
    with ThreadPoolExecutor(THREADS) as pool:
        once = seconds(partial(reading, X, pool), 3 * rounds)
        print(f"\n{X.dtype}, {X.shape[0]} x {X.shape[1]:,}, {X.nbytes / 2**20:.0f} MiB")
        line("reading once", once, once)
        calls: dict[str, Callable[..., object]] = {
            "t_test": filters.t_test,
            "t_test, p-values": partial(filters.t_test, p_values=True),
            "signal_to_noise": filters.signal_to_noise,
            "f_test": filters.f_test,
            "variance": filters.variance,
            "auc": filters.auc,
            "auc, p-values": partial(filters.auc, p_values=True),
            "kruskal_wallis": filters.kruskal_wallis,
        }
        for name, call in calls.items():
            took = seconds(partial(call, X, y, n_jobs=THREADS), rounds)
            line(name, took, once)
        for name, call in (("pearson", filters.pearson), ("spearman", filters.spearman)):
            took = seconds(partial(call, X, numbers, n_jobs=THREADS), rounds)
            line(name + ", numbers", took, once)
        again = seconds(partial(reading, X, pool), 3 * rounds)
        line("reading once, again", again, once)
    part = np.ascontiguousarray(X[:, : X.shape[1] // 10])
    one, two = part[y == 0], part[y == 1]
    rivals: dict[str, Callable[[], object]] = {
        "scipy.stats.ttest_ind": lambda: scipy.stats.ttest_ind(one, two),
        "sklearn f_classif": lambda: f_classif(part, y),
        "scipy.stats.mannwhitneyu": lambda: scipy.stats.mannwhitneyu(one, two, method="asymptotic"),
        "scipy.stats.kruskal": lambda: scipy.stats.kruskal(one, two),
    }
    for name, rival in rivals.items():
        print(f"  {name:24s} {10 * seconds(rival, 1)[0]:8.2f} s  (from a tenth)")


def orthogonalisation(rounds: int) -> None:
    single = np.random.default_rng(0).standard_normal((200, 20_000), dtype=np.float32)
    y = np.arange(200) % 2
    for X in (single, single.astype(np.float64)):
        call = partial(filters.gram_schmidt, X, y, 50, n_jobs=THREADS)
        print(f"\ngram_schmidt, 50 of 200 x 20,000 {X.dtype}: {seconds(call, rounds)[0]:.4f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--features", type=int, default=500_000)
    arguments = parser.parse_args()
    print(f"instruction set {bitsieve.get_isa()}, {THREADS} threads")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((arguments.samples, arguments.features), dtype=np.float32)
    y = np.arange(arguments.samples) % 2
    table(X, y, arguments.rounds)
    table(X.astype(np.float64), y, arguments.rounds)
    orthogonalisation(arguments.rounds)


if __name__ == "__main__":
    main()
