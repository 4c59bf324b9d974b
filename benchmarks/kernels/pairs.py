"""Errors of all pairs of features by Gaussian naive Bayes beside scikit-learn, in one run.

    python benchmarks/kernels/pairs.py [--data FOLDER] [--rounds 5] [--sample 20] [--part reged0]

`reged0` (500 x 999, 498,501 pairs), a table of 12,678 x 4,932 zeros and ones (12,159,846 pairs)
whose features are as rare as a beta distribution says and lean to a class as they like, and a
table of 12,678 x 600 numbers; 2 classes, 5 folds. One thread and two, the least seconds of the
clock and of the processor of all threads over the rounds; making the object (reading, moments) is
counted apart. scikit-learn's `cross_val_predict(GaussianNB())` is timed on a sample of pairs, and
must agree; its time of a pair times the number of pairs is what all would take. The share of the
limit is that of the matrix on one thread, at the clock that the system tells:

* numbers: 4 vector operations for each sample of a pair, 2 a cycle (AVX2: 5, 3 a cycle);
* bits: an AND and a popcount of 64 samples, one popcount a cycle.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_limits

import bitsieve
from bitsieve.causal import PairErrors


def processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def clock() -> float:
    """Cycles a second, by what the system says now, or else 3e9."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    found = [float(line.split(":")[1]) for line in lines if "cpu MHz" in line]
    return max(found) * 1e6 if found else 3e9


def bits(n: int, p: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.036).astype(np.int64)
    share = rng.beta(0.6, 3.0, p)
    X = np.empty((n, p))
    for f in range(p):
        of_ones = min(1.0, share[f] * rng.uniform(0.3, 2.5))
        X[:, f] = rng.random(n) < np.where(y == 1, of_ones, share[f])
    return X, y


def numbers(n: int, p: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.3).astype(np.int64)
    return rng.normal(size=(n, p)) + 0.3 * y[:, None] * rng.random(p), y


def least_cycles(errors: PairErrors) -> float:
    """Of all pairs."""
    p, n = errors.n_features, errors.n_samples
    pairs = p * (p - 1) / 2
    if errors.kind == "bits":
        return pairs * n / 64
    if bitsieve.get_isa() == "avx512":
        return pairs * n / 8 * 4 / 2
    return pairs * n / (4 if bitsieve.get_isa() == "avx2" else 2) * 5 / 3


def measure(name: str, X: Any, y: Any, rounds: int, sample: int) -> None:
    print(f"\n{name}: {X.shape[0]} x {X.shape[1]}", flush=True)
    matrix = None
    for threads in (1, 2):
        best = np.full(4, np.inf)
        for _ in range(rounds):
            at = [(time.perf_counter(), time.process_time())]
            errors = PairErrors(X, y, random_state=0, n_jobs=threads)
            at.append((time.perf_counter(), time.process_time()))
            matrix = errors.matrix()
            at.append((time.perf_counter(), time.process_time()))
            best = np.minimum(best, np.diff(np.array(at), axis=0).ravel())
        limit = least_cycles(errors) / clock()
        share = f"   {limit / best[3]:4.0%} of the limit" if threads == 1 else ""
        print(
            f"{errors.kind}, {threads} thread{'s' * (threads > 1)}: made in {best[0]:.3f} s "
            f"(processor {best[1]:.3f}), matrix {best[2]:.3f} s (processor {best[3]:.3f}){share}",
            flush=True,
        )
    start = time.perf_counter()
    errors.row(0)
    print(f"a row: {(time.perf_counter() - start) * 1e3:.2f} ms")

    pairs = np.random.default_rng(1).integers(0, X.shape[1], (sample, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    start = time.process_time()
    with threadpool_limits(1):
        found = [cross_val_predict(GaussianNB(), X[:, pair], y, cv=errors.splits) for pair in pairs]
    theirs = (time.process_time() - start) / len(pairs)
    expected = [1 - balanced_accuracy_score(y, one) for one in found]
    np.testing.assert_allclose(matrix[tuple(pairs.T)], expected, atol=1e-12)
    p = X.shape[1]
    whole = theirs * p * (p - 1) / 2
    ours = best[3]
    print(
        f"scikit-learn, {len(pairs)} pairs, all alike: {theirs * 1e3:.2f} ms a pair, so "
        f"{whole / 3600:.1f} h for all, {whole / ours:,.0f} times the processor time here"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=os.environ.get("BITSIEVE_TEST_DATA"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--part", choices=["reged0", "bits", "numbers", "all"], default="all")
    arguments = parser.parse_args()
    print("command: python benchmarks/kernels/pairs.py", *sys.argv[1:])
    print(f"processor: {processor()}, ISA {bitsieve.get_isa()}, {clock() / 1e9:.2f} GHz")
    rounds, sample = arguments.rounds, arguments.sample
    if arguments.part in ("reged0", "all"):
        with np.load(Path(arguments.data) / "reged0.npz") as archive:
            measure("reged0", archive["X"], archive["y"], rounds, sample)
    if arguments.part in ("bits", "all"):
        measure("zeros and ones", *bits(12_678, 4_932), rounds, sample)
    if arguments.part in ("numbers", "all"):
        measure("numbers", *numbers(12_678, 600), rounds, sample)


if __name__ == "__main__":
    main()
