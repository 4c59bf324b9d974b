"""Tests of independence beside a plain twin, SciPy and pyCausalFS, in one run.

    python benchmarks/kernels/independence.py [--data FOLDER] [--peers FOLDER] [--part discrete]

G-squared of `bn_alarm_5000` given sets of 0 to 3 variables: as a search goes through the subsets of
a pool of 12 (nothing remembered), and many at once. Fisher's z of a made table of 1,000 samples and
20,000 variables: all with a target, all given three more, and searches of pools of 10. One thread
each, processor time. `--peers` is a folder in which pyCausalFS was installed: `pip install
--no-deps --target FOLDER pyCausalFS`.

Limits, in words. A table by planes takes (levels of the last - 1) x (cells of the others) x n / 64
ANDs and popcounts, one a cycle; by codes n increments of a counter, at best one a cycle, in
practice one in two where neighbors meet in the same cell. A correlation is n products from memory,
8 n bytes. A partial correlation of k given is k^3 / 6 products and k square roots and divisions.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import bitsieve
from bitsieve.causal import FisherZ, GSquared

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "causal"))
from twin_independence import TwinDiscrete, TwinFisherZ

NEVER = 1 - 1e-16  # an alpha that no test passes: every subset is gone through


def processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def row(what: str, ours: float, **theirs: float | None) -> None:
    """Print microseconds a test, and how many times ours each rival takes."""
    others = "".join(
        f"  {name} {'-':>9s} {'':>8s}" if t is None else f"  {name} {t * 1e6:9.1f} {t / ours:7.0f}x"
        for name, t in theirs.items()
    )
    print(f"{what:44s} {ours * 1e6:8.3f} us {1 / ours:12,.0f} tests/s{others}", flush=True)


def pairs(p: int, count: int) -> list[tuple[int, int]]:
    chosen = np.random.default_rng(0).permutation(list(itertools.combinations(range(p), 2)))
    return [(int(x), int(y)) for x, y in chosen[:count]]


def scipy_g2(table: np.ndarray) -> float:
    return float(stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").pvalue)


def discrete(folder: Path, peers: Path | None) -> None:
    codes = np.load(folder / "bn_alarm_5000.npz")["data"].astype(np.int64)
    codes -= codes.min(0)
    n, p = codes.shape
    theirs: Any = None
    if peers:
        sys.path.insert(0, str(peers))
        from pyCausalFS.CBD.MBs.common.g2test import g2_test_dis as theirs
    print(f"G-squared, {n} x {p}, levels 2 to {codes.max() + 1}")
    twin = TwinDiscrete(codes)
    rng = np.random.default_rng(1)
    for size in range(4):
        test = GSquared(codes, cache_size=0)
        asked = pairs(p, 100)
        pools = {pair: [v for v in range(p) if v not in pair][:12] for pair in asked}

        def search(test: GSquared = test, size: int = size, pools: Any = pools) -> None:
            for (x, y), pool in pools.items():
                test.separate(x, y, pool, alpha=NEVER, min_size=size, max_size=size)

        search()
        before = test.n_tests
        ours = seconds(search) / (test.n_tests - before)
        few = [(x, y, rng.permutation(pool)[:size].tolist()) for (x, y), pool in pools.items()]
        few = [one for one in few if test.test(*one).reliable][:12]
        plain = seconds(lambda few=few: [twin.test(*one) for one in few]) / len(few)
        slow = None
        if theirs:
            ask = [(codes, x, y, given, 0.01) for x, y, given in few[:4]]
            slow = seconds(lambda ask=ask: [theirs(*one) for one in ask]) / len(ask)
        scipys = None
        if size == 0:
            tables = [twin.table(codes[:, x], codes[:, y]) for x, y, _ in few]
            tables = [t[t.sum(1) > 0][:, t.sum(0) > 0] for t in tables]
            scipys = seconds(lambda tables=tables: [scipy_g2(t) for t in tables]) / len(tables)
            for (x, y, _), table in zip(few, tables, strict=True):
                assert np.isclose(test.test(x, y).p_value, scipy_g2(table), rtol=1e-10)
        what = f"in a search, given {size}"
        row(what, ours, twin=plain, pyCausalFS=slow, **{"SciPy (counted)": scipys})
    many = np.arange(2, p)
    test = GSquared(codes, n_jobs=1)
    for given in ([], [1]):
        ours = seconds(lambda given=given: [test.test_arrays(many, 0, given) for _ in range(50)])
        row(f"many at once, given {len(given)}", ours / 50 / len(many))


def numeric(n: int, p: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    for f in range(1, p):
        X[:, f] += 0.5 * X[:, f - 1 - int(rng.integers(0, min(f, 20)))]
    print(f"Fisher's z, {n} x {p} ({X.nbytes / 1e6:.0f} MB)")
    made: list[FisherZ] = []
    spent = seconds(lambda: made.append(FisherZ(X, n_jobs=1)))
    test, twin = made[0], TwinFisherZ(X)
    copy = seconds(lambda: X.T.copy())
    print(f"{'made':44s} {spent * 1e3:8.1f} ms (a transposed copy by numpy {copy * 1e3:.1f} ms)")
    many = np.arange(4, p)

    def screen() -> np.ndarray:
        centred = X - X.mean(0)
        centred /= np.sqrt((centred**2).sum(0))
        z = np.sqrt(n - 3) * np.arctanh(np.abs(centred[:, 0] @ centred))
        return np.log(2) + stats.norm.logsf(z)

    found: list[Any] = []
    ours = seconds(lambda: found.append(test.test_arrays(many, 0)[1])) / len(many)
    theirs = seconds(lambda: found.append(screen()[many])) / len(many)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-8, atol=1e-12)
    reading = seconds(lambda: X.sum()) / len(many)
    row("all with a target", ours, **{"numpy, SciPy": theirs, "reading X once": reading})
    ours = seconds(lambda: test.test_arrays(many, 0, [1, 2, 3])) / len(many)
    few = [(int(x), 0, [1, 2, 3]) for x in many[:: len(many) // 20]]
    plain = seconds(lambda: [twin.test(*one) for one in few]) / len(few)
    row("all given three", ours, twin=plain)
    ours = seconds(lambda: test.test_arrays(many, 0, [1, 2, 3])) / len(many)
    row("all given three, correlations kept", ours)
    for size in range(4):
        fresh = FisherZ(X, n_jobs=1)
        asked = [(int(x), 0, rng.integers(1, p, 10).tolist()) for x in rng.integers(1, p, 300)]
        asked = [(x, y, [v for v in set(pool) if v not in (x, y)]) for x, y, pool in asked if x]

        def search(fresh: FisherZ = fresh, size: int = size, asked: Any = asked) -> None:
            for x, y, pool in asked:
                fresh.separate(x, y, pool, alpha=NEVER, min_size=0, max_size=size)

        ours = seconds(search) / fresh.n_tests
        few = [(x, y, pool[:size]) for x, y, pool in asked[:20]]
        plain = seconds(lambda few=few: [twin.test(*one) for one in few]) / len(few)
        row(f"in a search of a pool of 10, given 0 to {size}", ours, twin=plain)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=os.environ.get("BITSIEVE_TEST_DATA"))
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--part", choices=["discrete", "numeric", "both"], default="both")
    parser.add_argument("--shape", type=int, nargs=2, default=[1_000, 20_000])
    arguments = parser.parse_args()
    print("command: python benchmarks/kernels/independence.py", *sys.argv[1:])
    print(f"processor: {processor()}, ISA {bitsieve.get_isa()}")
    if arguments.part != "numeric":
        discrete(Path(arguments.data), arguments.peers)
    if arguments.part != "discrete":
        numeric(*arguments.shape)


if __name__ == "__main__":
    main()
