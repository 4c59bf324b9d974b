"""Levels where they should cost nothing: sparse tables, and zeros and ones in ReliefF.

    python benchmarks/kernels/levels.py [--rounds 3] [--threads 2]

Sparse: CSR 4,000 x 800,000 with 100 entries a row, fractions and counts. The dense form, in which
every column is looked at as all its samples, is timed on every sixteenth column and multiplied; on
these the scores of both are compared. ReliefF: zeros and ones, plain and with
``discrete_features``, taking turns; both give the same scores.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from bitsieve import filters, get_isa

SPARSE = (4000, 800_000, 100)
SHARE = 16
SCORES = ("mutual_information", "entropy", "information_gain", "gini")
DISCRETE = ((200, 20_000), (1000, 2000))


def processor() -> str:
    """Name of the processor, where the system tells."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), "?")


def least(call: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Least seconds of the rounds, and what the last one returned."""
    best, found = float("inf"), None
    for _ in range(rounds):
        start = time.perf_counter()
        found = call()
        best = min(best, time.perf_counter() - start)
    return best, found


def dense_form(name: str, part: Any, y: Any, threads: int) -> Any:
    """Score some columns, a few at a time, by all their samples."""
    score, step = getattr(filters, name), 512
    return np.concatenate(
        [
            score(part[:, f : f + step].toarray(), y, n_jobs=threads)
            for f in range(0, part.shape[1], step)
        ]
    )


def sparse(rounds: int, threads: int) -> None:
    n, p, entries = SPARSE
    rng = np.random.default_rng(0)
    columns = rng.integers(0, p, (n, entries)).ravel()
    rows, y = np.repeat(np.arange(n), entries), rng.integers(0, 2, n)
    for kind, values in (
        ("fractions", rng.random(n * entries)),
        ("counts", rng.integers(1, 4, n * entries).astype(np.float64)),
    ):
        X = scipy.sparse.csr_array((values, (rows, columns)), shape=(n, p))
        X.sum_duplicates()
        part = X.tocsc()[:, ::SHARE]
        for name in SCORES:
            score = getattr(filters, name)
            ours, found = least(lambda s=score, X=X: s(X, y, n_jobs=threads), rounds)
            theirs, wanted = least(lambda s=name, T=part: dense_form(s, T, y, threads), 1)
            np.testing.assert_array_equal(found[::SHARE], wanted)
            print(
                f"  {kind:9s} {name:18s} {ours:6.2f} s, dense form {theirs * SHARE:7.1f} s, "
                f"{theirs * SHARE / ours:6.1f} times",
                flush=True,
            )


def discrete(rounds: int, threads: int) -> None:
    rng = np.random.default_rng(0)
    for n, p in DISCRETE:
        X, y = rng.integers(0, 2, (n, p)).astype(np.float64), rng.integers(0, 2, n)
        flags = np.ones(p, dtype=bool)
        for name in ("relieff", "multisurf"):
            score, plain, flagged = getattr(filters, name), [], []
            for _ in range(rounds):
                start = time.perf_counter()
                wanted = score(X, y, n_jobs=threads)
                plain.append(time.perf_counter() - start)
                start = time.perf_counter()
                found = score(X, y, discrete_features=flags, n_jobs=threads)
                flagged.append(time.perf_counter() - start)
            np.testing.assert_array_equal(found, wanted)
            print(
                f"  {n} x {p:,} {name:10s} plain {min(plain) * 1e3:7.1f} ms, discrete_features "
                f"{min(flagged) * 1e3:7.1f} ms, ratio {min(flagged) / min(plain):5.2f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    print(f"{processor()}, {get_isa()}, {arguments.threads} threads")
    n, p, entries = SPARSE
    print(f"sparse, {n:,} x {p:,}, {entries} entries a row")
    sparse(arguments.rounds, arguments.threads)
    print("zeros and ones")
    discrete(3 * arguments.rounds, arguments.threads)


if __name__ == "__main__":
    main()
