"""Contingency tables, greedy criteria and correlations: seconds, and how far from the limits.

    python benchmarks/kernels/information.py [--rounds 7] [--threads 2]

A *word operation* is an AND and a popcount of 64 samples of two planes; the limit is one a cycle
(``information_kernels.hpp``). A *term* is a candidate beside a chosen feature: three planes by
three without the last levels for MID, n multiply-adds for FCQ. ``all`` is the plain loop, in which
every candidate meets every chosen feature; ``lazy`` is what is used, with the share of the terms
that it computes. Selections of both are compared. Peak memory is that of a fresh process.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitsieve import _core, filters, get_isa

SHAPES = [(100, 10_000, 50), (200, 20_000, 100), (1000, 5000, 100)]


def made(n: int, p: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return a table whose first fiftieth of the features tells two classes apart."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n).astype(np.int32)
    X = rng.normal(size=(n, p))
    X[:, : p // 50] += 0.6 * y[:, None] + 0.5 * rng.normal(size=(n, 1))
    return X, y


def timed(call: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Least seconds of the rounds, and what the last one returned."""
    best, found = float("inf"), None
    for _ in range(rounds):
        start = time.perf_counter()
        found = call()
        best = min(best, time.perf_counter() - start)
    return best, found


def levels(n: int, p: int, k: int, rounds: int, threads: int) -> None:
    X, y = made(n, p)
    codes, n_levels = filters.discretize(X, method="mean_sd")
    seconds, table = timed(lambda: _core.DiscreteTable(codes, n_levels, threads), rounds)
    print(f"  planes from codes          {seconds * 1e3:9.2f} ms")
    seconds, _ = timed(lambda: table.mutual_information(y, 2), rounds)
    words = 2 * p * -(-n // 64)
    print(f"  I(X;y) of all              {seconds * 1e3:9.2f} ms  {words / seconds / 1e9:5.2f} G/s")
    for criterion in ("mid", "miq", "cmim", "jmim", "icap", "jmi", "cife", "disr"):
        how: dict[str, Any] = {"criterion": criterion, "n_select": k, "n_threads": threads}
        lazy, found = timed(lambda how=how: _core.greedy_information(table, y, 2, **how), rounds)
        plain, other = timed(
            lambda how=how: _core.greedy_information(table, y, 2, lazy=False, **how), 1
        )
        assert (found[0] == other[0]).all()
        print(
            f"  {criterion:5s} all {plain * 1e3:9.2f} ms, lazy {lazy * 1e3:9.2f} ms, "
            f"{found[2] / other[2]:6.1%} of the terms"
        )
    seconds, _ = timed(lambda: filters.mrmr(codes, y, k, n_jobs=threads), rounds)
    print(f"  mrmr MID, levels to order  {seconds * 1e3:9.2f} ms")
    seconds, _ = timed(lambda: filters.mrmr(X, y, k, n_jobs=threads), rounds)
    print(f"  mrmr MID, numbers to order {seconds * 1e3:9.2f} ms")


def numbers(n: int, p: int, k: int, rounds: int, threads: int) -> None:
    X, y = made(n, p)
    seconds, unit = timed(
        lambda: _core.UnitColumns(X, codes=y, n_classes=2, n_threads=threads), rounds
    )
    rate = 1.5 * X.nbytes / seconds / 1e9
    print(f"  unit columns and F         {seconds * 1e3:9.2f} ms  {rate:5.1f} GB/s in and out")
    for quotient in (True, False):
        how: dict[str, Any] = {"n_select": k, "quotient": quotient, "n_threads": threads}
        f = unit.f_values()
        lazy, found = timed(lambda f=f, how=how: unit.select(f, **how), rounds)
        plain, other = timed(lambda f=f, how=how: unit.select(f, lazy=False, **how), 1)
        assert (found[0] == other[0]).all()
        print(
            f"  {'FCQ' if quotient else 'FCD'}   all {plain * 1e3:9.2f} ms, lazy "
            f"{lazy * 1e3:9.2f} ms, {found[2] / other[2]:6.1%} of the terms, "
            f"{2e-9 * n * found[2] / lazy:5.1f} GFlop/s"
        )
    seconds, _ = timed(lambda: filters.mrmr(X, y, k, criterion="FCQ", n_jobs=threads), rounds)
    print(f"  mrmr FCQ, numbers to order {seconds * 1e3:9.2f} ms")


def peak(criterion: str, kind: str) -> None:
    """Print how much memory a selection took beyond its input, in units of the input."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 100_000), dtype=np.dtype(kind))  # no other array was as great
    y = np.arange(200) % 2
    filters.mrmr(X[:, :100].copy(), y, 5, criterion=criterion)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    filters.mrmr(X, y, 20, criterion=criterion)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"  {criterion} {kind}: {(after - before) * 1024 / X.nbytes:.2f} of the input more")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peak", nargs=2, metavar=("CRITERION", "DTYPE"))
    arguments = parser.parse_args()
    if arguments.peak:
        peak(*arguments.peak)
        return
    print(f"{get_isa()}, {arguments.threads} threads")
    for n, p, k in SHAPES:
        print(f"{n} x {p:,}, {k} features")
        levels(n, p, k, arguments.rounds, arguments.threads)
        numbers(n, p, k, arguments.rounds, arguments.threads)
    print("200 x 100,000, peak memory", flush=True)
    for criterion in ("MID", "FCQ"):
        for kind in ("float32", "float64"):
            subprocess.run([sys.executable, __file__, "--peak", criterion, kind], check=True)


if __name__ == "__main__":
    main()
